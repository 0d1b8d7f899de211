#!/bin/sh
# lmroof run on block formats: right results, integer operations, bytes as stored, the kernels'
# ceilings, and rows that are no whole number of blocks.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/config.json" <<'JSON'
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 96,
 "intermediate_size": 250, "num_attention_heads": 3, "num_key_value_heads": 1,
 "num_hidden_layers": 2, "vocab_size": 1001, "max_position_embeddings": 2048,
 "tie_word_embeddings": false, "torch_dtype": "bfloat16"}
JSON
"$LMROOF" run -m "$work/config.json" --phase decode --batch 1,5 --context 16 --threads 1 \
    --dtype q8_0,q4_0 --repeat 3 --counters off --quiet -o "$work/run.json" >"$work/out" ||
    { echo "FAIL: run: exit $?"; exit 1; }
python3 - "$work/run.json" <<'PYTHON' || exit 1
import json
import sys

document = json.load(open(sys.argv[1]))
points = [p for p in document["points"] if p["operator"] != "attention"]
assert len(points) == 2 * 2 * 5, [p["id"] for p in points]
per_32 = {"q8_0": 34, "q4_0": 18}
for p in points:
    blocks = p["operator"] != "down"  # its rows of 250 values are stored as f16
    assert p["op_kind"] == ("int" if blocks else "float"), p["id"]
    assert p["verified"] and p["result_check"]["max_relative_error"] is not None, p["id"]
    n, k = p["shape"]["n"], p["shape"]["k"]
    row = k // 32 * per_32[p["dtype"]] if blocks else 2 * k
    assert p["bytes_modelled"] == n * row, (p["id"], p["bytes_modelled"])
    assert p["roof"]["class"].endswith("/i32") == blocks, p["roof"]
kernels = {c["dtype"] for c in document["machine"]["compute"] if c["kind"] == "kernel"}
assert kernels == {"q8_0", "q4_0", "f16"}, kernels
PYTHON
"$LMROOF" run --dtype q4_k >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || { echo "FAIL: --dtype q4_k was accepted"; exit 1; }
grep -q "q4_k.*accepted f32, bf16, f16, q8_0, q4_0" "$work/err" || { cat "$work/err"; exit 1; }
"$LMROOF" run --kv-dtype q8_0 >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || { echo "FAIL: --kv-dtype q8_0 was accepted"; exit 1; }
echo ok

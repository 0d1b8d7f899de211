#!/bin/sh
# lmroof run on block formats: right results, integer operations, bytes as stored, the kernels'
# ceilings, and rows that are no whole number of blocks.
set -u
command=run
. "$TESTS/cli/common.sh"
small_llama "$work/config.json" 96 250 3 1 2 1001
"$LMROOF" run -m "$work/config.json" --phase decode --batch 1,5 --context 16 --threads 1 \
    --dtype q8_0,q4_0 --repeat 3 --counters off --quiet -o "$work/run.json" >"$work/out" ||
    { echo "FAIL: run: exit $?"; exit 1; }
python3 - "$work/run.json" <<'PYTHON' || exit 1
import json
import sys

document = json.load(open(sys.argv[1]))
points = [p for p in document["points"] if p["operator"] not in ("attention", "act_quant")]
for p in document["points"]:
    if p["operator"] == "act_quant": # the inputs of 96 values; those of 250 are not quantised
        rows, k = p["shape"]["m"], p["shape"]["k"]
        assert (rows, k, p["layers"]) == (p["batch"], 96, 7), p
        assert p["bytes_modelled"] == rows * k * (4 + 12 * 4 / 32) and p["flop"] == 4 * rows * k, p
        assert p["op_kind"] == "float" and p["resident_level"] == "L1" and p["verified"], p
        assert p["seconds"]["value"] > 0 and p["roof"]["name"], p
assert sum(p["operator"] == "act_quant" for p in document["points"]) == 2 * 2
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
# Super-blocks of 256: what is no multiple of it falls back as in llama.cpp; int8 takes any row.
sed -i 's/"hidden_size": 96/"hidden_size": 256/; s/heads": 3/heads": 4/; s/"intermediate_size": 250/"intermediate_size": 288/' \
    "$work/config.json"
"$LMROOF" run -m "$work/config.json" --phase decode --batch 1,3 --context 16 --threads 1 \
    --dtype q4_k,q5_k,q6_k,int8,int4_g128,mxfp4 --repeat 3 --counters off --quiet \
    -o "$work/run.json" >"$work/out" || { echo "FAIL: run: exit $?"; exit 1; }
python3 - "$work/run.json" <<'PYTHON' || exit 1
import json
import sys

document = json.load(open(sys.argv[1]))
points = [p for p in document["points"] if p["operator"] not in ("attention", "act_quant")]
assert len(points) == 6 * 2 * 5, [p["id"] for p in points]
bytes_of_256 = {"q4_k": 144, "q5_k": 176, "q6_k": 210, "int4_g128": 132, "mxfp4": 136}
bytes_of_288 = {"q4_k": 198, "q5_k": 216, "q6_k": 306, "int4_g128": 576, "mxfp4": 153}
for p in points:
    n, k = p["shape"]["n"], p["shape"]["k"]
    assert k == (288 if p["operator"] == "down" else 256), p["shape"]
    table = bytes_of_288 if k == 288 else bytes_of_256
    assert p["bytes_modelled"] == n * table.get(p["dtype"], k + 4), (p["id"], p["bytes_modelled"])
    assert p["verified"] and p["result_check"]["max_relative_error"] is not None, p["id"]
kernels = {c["dtype"] for c in document["machine"]["compute"] if c["kind"] == "kernel"}
assert kernels == {"q4_k", "q5_k", "q6_k", "q5_0", "q5_1", "q8_0", "int8", "int4_g128", "f16",
                   "mxfp4"}, kernels
PYTHON
"$LMROOF" run --dtype q2_k >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || { echo "FAIL: --dtype q2_k was accepted"; exit 1; }
grep -q "q2_k.*accepted f32 bf16 f16 q8_0 .*q4_k.* mxfp4$" "$work/err" || { cat "$work/err"; exit 1; }
# The help names what is accepted.
"$LMROOF" run --help | tr -s ' \n' '  ' >"$work/help"
for dtype in $(sed 's/.*accepted//' "$work/err"); do
    grep -q "of the weights:[^(]* $dtype[, ]" "$work/help" ||
        { echo "FAIL: --help does not name $dtype"; exit 1; }
done
# Caches of integers: bytes of 32 + 2 or k + 4 a head's row, and right products after the appended ones.
for kv in q8_0 int8; do
    "$LMROOF" run -m "$work/config.json" --phase decode,prefill --batch 1 --context 31 --prompt 5 \
        --threads 1 --dtype bf16 --kv-dtype $kv --repeat 3 --counters off --quiet \
        -o "$work/run.json" >"$work/out" || { echo "FAIL: --kv-dtype $kv: exit $?"; exit 1; }
    python3 - "$work/run.json" $kv <<'PYTHON' || exit 1
import json
import sys

row = {"q8_0": 68, "int8": 68}[sys.argv[2]]  # heads of 64 values
for p in json.load(open(sys.argv[1]))["points"]:
    assert p["verified"], p["id"]
    if p["operator"] == "attention":
        tokens = 32 if p["phase"] == "decode" else 5
        assert p["kv_dtype"] == sys.argv[2] and p["bytes_modelled"] == 2 * row * tokens, p
PYTHON
done
"$LMROOF" run --kv-dtype q4_0 >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || { echo "FAIL: --kv-dtype q4_0 was accepted"; exit 1; }
echo ok

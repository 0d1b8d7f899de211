#!/bin/sh
# GGUF files whose tensors have several types (Q4_K_M): points by operator and type, with the bytes
# of the file's tensor table; the whole step of them; a type without kernels is named.
set -u
command -v python3 >/dev/null 2>&1 || { echo "SKIP: no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/check.py" <<'PYTHON'
import json
import sys

document, want = (json.load(open(path)) for path in sys.argv[1:3])
whole = sys.argv[3] == "whole"
steps = {}
for p in document["points"]:
    steps.setdefault((p["phase"], p["batch"]), []).append(p)
for points in steps.values():
    found = {}
    assert len({p["id"] for p in points}) == len(points), [p["id"] for p in points]
    for p in points:
        quantise = p["operator"] == "act_quant"
        assert p["op_kind"] == "int" or quantise or p["operator"] == "attention", p["id"]
        assert not whole or p["verified"], p["id"]
        if p["operator"] == "attention":
            assert p["dtype"] == "stored" and "recipe" not in p, p
            continue
        assert p["recipe"] == "stored" and "/%s/" % p["dtype"] in p["id"], p["id"]
        if quantise:
            continue
        row = {"q4_k": 144, "q6_k": 210}[p["dtype"]]
        assert p["bytes_modelled"] == p["shape"]["n"] * p["shape"]["k"] // 256 * row, p["id"]
        by_type = found.setdefault(p["operator"], {})
        by_type[p["dtype"]] = by_type.get(p["dtype"], 0) + p["layers"] * p["bytes_modelled"]
    assert found == want["operators"], (found, want["operators"])
    if whole:
        shares = sum(p["time_share_fraction"] for p in points)
        assert abs(shares - 1) < 1e-6, shares
if whole:
    measured = document["steps"] if "steps" in document else [document["step"]]
    assert len(measured) == len(steps), measured
    for s in measured:
        assert s["dtype"] == "stored" and s["tokens_per_s"]["value"] > 0, s
        assert s["result_check"]["max_relative_error"] <= s["result_check"]["tolerance"], s
    kernels = {c["dtype"] for c in document["machine"]["compute"] if c["kind"] == "kernel"}
    assert kernels == {"q4_k", "q6_k"}, kernels
PYTHON
python3 "$TESTS/gguf/recipe.py" "$work/tiny.gguf" tiny >"$work/tiny.json" || exit 1
"$LMROOF" run -m "$work/tiny.gguf" --step --batch 1,3 --context 16 --prompt 8 --threads 1 \
    --repeat 3 --counters off --quiet -o "$work/run.json" >"$work/out" 2>"$work/err" ||
    { echo "FAIL: run: exit $?"; cat "$work/err"; exit 1; }
python3 "$work/check.py" "$work/run.json" "$work/tiny.json" whole || exit 1
grep -qE "down(\.[0-9]+)? q6_k" "$work/out" && grep -qE "down(\.[0-9]+)? q4_k" "$work/out" ||
    { echo "FAIL: the table does not tell the types"; cat "$work/out"; exit 1; }
# A published shape; what the budget does not reach is planned all the same. A machine too slow for a
# single point replaces no document.
python3 "$TESTS/gguf/recipe.py" "$work/tinyllama.gguf" tinyllama >"$work/want.json" || exit 1
"$LMROOF" run -m "$work/tinyllama.gguf" --phase decode --context 16 --threads 1 --no-twins \
    --budget 15 --repeat 3 --counters off --quiet -o "$work/run.json" >"$work/out" 2>"$work/err"
code=$?
[ $code -eq 0 ] || { [ $code -eq 1 ] && grep -q "budget" "$work/err"; } ||
    { echo "FAIL: run: exit $code"; cat "$work/err"; exit 1; }
if [ $code -eq 0 ]; then
    python3 "$work/check.py" "$work/run.json" "$work/want.json" planned || exit 1
fi
python3 - "$work/iq.gguf" <<PYTHON || exit 1
import sys
sys.path.insert(0, "$TESTS/gguf")
import recipe
model = recipe.models.decoder("llama", 2, 256, 4, 512, 1001, matrix="Q4_K",
                              special={"ffn_down": "IQ4_XS"})
open(sys.argv[1], "wb").write(model.file.bytes())
PYTHON
"$LMROOF" run -m "$work/iq.gguf" >"$work/out" 2>"$work/err"
[ $? -eq 2 ] || { echo "FAIL: iq4_xs was accepted"; exit 1; }
grep -q "down is stored as iq4_xs.*--dtype" "$work/err" || { cat "$work/err"; exit 1; }
echo ok

#!/bin/sh
# lmroof run --step: whole steps of small models, their operators' sum, documents
# that are valid, and what is refused: families without a workload, too little memory.
set -u
command=run
. "$TESTS/cli/common.sh"
small_llama "$work/config.json" 256 512 8 2 3 1001
with_twins="--repeat 3 --counters off --quiet --threads 1"
common="$with_twins --no-twins"
"$LMROOF" run -m "$work/config.json" --step --batch 3 --context 40 --prompt 33 \
    --dtype f16,q8_0 $common -o "$work/run.json" >"$work/out" 2>"$work/err" ||
    fail "run --step: exit $?: $(cat "$work/err")"
grep -q "whole step, batch 3: [0-9.e+]* tokens/s" "$work/out" || fail "no step in the table"
python3 - "$work/run.json" <<'PYTHON' || fail "the document of run --step"
import json
import sys

document = json.load(open(sys.argv[1]))
assert document["complete"]
steps = document["steps"]
wanted = {(d, p, b) for d in ("f16", "q8_0")
          for p, b in (("decode", 3), ("prefill", 1))}
assert {(s["dtype"], s["phase"], s["batch"]) for s in steps} == wanted
assert document["step"] == steps[0]
for s in steps:
    name = (s["dtype"], s["phase"], s["batch"])
    prefill = s["phase"] == "prefill"
    time = s["ttft_seconds"] if prefill else s["tpot_seconds"]
    assert (s["tpot_seconds"] if prefill else s["ttft_seconds"]) is None, name
    tokens = s["batch"] * (s["prompt"] if prefill else 1)
    assert abs(s["tokens_per_s"]["value"] * time["value"] / tokens - 1) < 1e-9, name
    assert s["layers"] == s["layers_measured"] == 3, name
    assert s["verified"] and s["result_check"]["max_relative_error"] > 0, name
    operators = {o["name"]: o["seconds"] for o in s["operators"]}
    expected = {"norms", "qkv", "rope", "attention", "attn_out", "gate_up", "down", "head"}
    if s["dtype"] == "q8_0":
        expected.add("act_quant")
    assert set(operators) == expected, (name, set(operators))
    # Sample by sample the operators and the remainder are the step.
    samples = zip(*[o["samples"] for o in operators.values()])
    for whole, parts in zip(time["samples"], samples):
        assert all(p > 0 for p in parts) and sum(parts) <= whole * (1 + 1e-9), (name, whole, parts)
    shares = sum(o["time_share_fraction"] for o in s["operators"])
    assert 0.5 < shares < 1.2, (name, shares)
    assert s["estimated_seconds"] is None, name # no twins: the kernels' rates are not known
    assert s["why_absent"]["estimated_seconds"]["state"] == "not_asked", name
PYTHON
valid "$work/run.json"

# With twins there is an estimate.
"$LMROOF" run -m "$work/config.json" --step --phase decode --batch 1 --context 16 --dtype f32 \
    $with_twins --json >"$work/twins.json" 2>"$work/err" || fail "with twins: $(cat "$work/err")"
python3 - "$work/twins.json" <<'PYTHON' || fail "no estimate of a step with twins"
import json, sys
assert json.load(open(sys.argv[1]))["step"]["estimated_seconds"] > 0
PYTHON

# Another family: LayerNorm, GELU, biases, learned positions, tied head.
cat >"$work/gpt2.json" <<'JSON'
{"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 500,
 "n_positions": 64, "torch_dtype": "float32"}
JSON
"$LMROOF" run -m "$work/gpt2.json" --step --phase decode --context 10 $common --json \
    >"$work/out" 2>"$work/err" || fail "gpt2: exit $?: $(cat "$work/err")"
grep -q '"tpot_seconds"' "$work/out" || fail "gpt2: no step"

# Experts and latent attention: distinct experts beside their expectation, operators that sum up.
for shape in mixtral deepseek; do
    phases=decode,prefill
    [ $shape = mixtral ] || phases=decode
    "$LMROOF" run -m "$TESTS/models/small-$shape.json" --step --phase $phases --batch 4 \
        --context 70 --prompt 33 --dtype q8_0 $common -o "$work/$shape.json" >"$work/out" 2>"$work/err" ||
        fail "$shape: exit $?: $(cat "$work/err")"
    grep -q "experts a layer (expected" "$work/out" || fail "$shape: no experts in the table"
    python3 - "$work/$shape.json" "$shape" <<'PYTHON' || fail "the document of $shape"
import json
import sys

document, shape = json.load(open(sys.argv[1])), sys.argv[2]
total, used, width, layers = (8, 2, 896, 4) if shape == "mixtral" else (16, 4, 256, 4)
expert = 3 * 512 * width * 34 / 32
for s in document["steps"]:
    (e,) = s["experts"]
    tokens = s["batch"] * s.get("prompt", 1)
    expected = total * (1 - (1 - used / total) ** tokens)
    assert (e["experts"], e["experts_used"], e["layers"]) == (total, used, layers), e
    assert abs(e["distinct_expected"] - expected) < 1e-9 * expected, e
    assert abs(e["weight_bytes"] / (layers * expert) - e["distinct"]) < 1e-6, e
    assert abs(e["weight_bytes_expected"] / (layers * expert) - expected) < 1e-6, e
    assert e["steps"] >= 3 and e["distinct_expected_error"] > 0 and e["within_error"], e
    assert abs(e["distinct"] - expected) <= 3 * e["distinct_expected_error"] + 1e-6, e
    assert s["verified"] and s["layers"] == s["layers_measured"], s
    time = s["ttft_seconds"] or s["tpot_seconds"]
    names = {o["name"] for o in s["operators"]}
    assert {"router", "experts", "qkv", "attention", "rope", "head"} <= names, names
    assert ("gate_up" in names) == (shape == "deepseek"), names
    samples = zip(time["samples"], *[o["seconds"]["samples"] for o in s["operators"]])
    for whole, *parts in samples:
        assert 0.95 * whole <= sum(parts) <= whole * (1 + 1e-9), (whole, parts)
decode = [p for p in document["points"] if p["phase"] == "decode"]
assert all(p["verified"] for p in document["points"])
assert sum(p["time_share_fraction"] * 1 for p in decode) > 0.999
(experts,) = [p for p in decode if p["operator"] == "experts"]
distinct = total * (1 - (1 - used / total) ** 4)
assert abs(experts["bytes_modelled"] / (distinct * expert) - 1) < 1e-6, experts
if shape == "deepseek":
    # c + 1 latent rows of 128 + 32 halves, for 4 sequences, read once.
    (attention,) = [p for p in decode if p["operator"] == "attention"]
    assert attention["bytes_modelled"] == 4 * 71 * 160 * 2, attention
    assert len([p for p in decode if p["operator"] == "qkv"]) == 4
PYTHON
    valid "$work/$shape.json"
    "$LMROOF" report "$work/$shape.json" -o "$work/$shape.html" 2>"$work/err" ||
        fail "$shape: no report: $(cat "$work/err")"
done

# Without --step it is absent, with a reason and a remedy.
"$LMROOF" run -m "$work/gpt2.json" --phase decode --context 10 $common --json >"$work/out" ||
    fail "without --step: exit $?"
python3 - "$work/out" <<'PYTHON' || fail "a step that was not asked for"
import json
import sys

step = json.load(open(sys.argv[1]))["step"]
assert step["tpot_seconds"] is None and step["layers_measured"] == 0 and not step["operators"]
assert step["why_absent"]["tpot_seconds"]["state"] == "not_asked"
assert step["why_absent"]["tpot_seconds"]["try"] == "--step"
PYTHON

# refused PATTERN ARGS...: exit 2 or 1 as told by CODE, one line, nothing on stdout.
refused() {
    code=$1
    pattern=$2
    shift 2
    "$LMROOF" run --step $common "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ $got -eq "$code" ] || fail "$*: exit $got, want $code: $(cat "$work/err")"
    grep -q -e "$pattern" "$work/err" || fail "$*: lacks '$pattern': $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: not one line: $(cat "$work/err")"
    [ -s "$work/out" ] && fail "$*: figures after an error"
}
refused 2 "bloom.*no workload; accepted llama" -m "$TESTS/models/bloom-560m.json"
refused 2 "llama4.*no workload; accepted llama" -m "$TESTS/models/llama-4-scout.json"
refused 2 "position 65.*learned 64" -m "$work/gpt2.json" --phase decode --context 64
# No machine has room for one layer of this.
sed 's/"vocab_size": 1001/"vocab_size": 16000000/; s/"hidden_size": 256/"head_dim": 32, "hidden_size": 262144/' \
    "$work/config.json" >"$work/large.json"
refused 1 "one layer of .*needs .*are to be had" -m "$work/large.json" --phase decode --dtype f32
[ $failed -eq 0 ] && echo ok
exit $failed

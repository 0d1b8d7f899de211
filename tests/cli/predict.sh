#!/bin/sh
# lmroof predict: numbers, documents, messages and exit codes.
set -u
command=predict
. "$TESTS/cli/common.sh"
machine="$TESTS/documents/machine.json"

refuses 'no model' epyc-9654
refuses 'no machine' -m gpt2
refuses 'no-such' -m gpt2 no-such
refuses 'no-such-model' -m no-such-model epyc-9654
refuses '--frob' -m gpt2 epyc-9654 --frob
refuses '--batch' -m gpt2 epyc-9654 --batch 0
refuses '--context' -m gpt2 epyc-9654 --context 1,,2
refuses '--prompt' -m gpt2 epyc-9654 --prompt 0
refuses 'fancy' -m gpt2 epyc-9654 --dtype f32,fancy
refuses '--kv-dtype' -m gpt2 epyc-9654 --kv-dtype q8_k
refuses '/CORES' -m gpt2 epyc-9654/97
refuses '@MT' -m gpt2 --machine epyc-9654@7
refuses '--price' -m gpt2 epyc-9654 --price epyc-9654=free
refuses 'no such machine' -m gpt2 epyc-9654 --price other=1
refuses 'NAME=VALUE' -m gpt2 epyc-9654 --price 3
refuses 'missing' -m gpt2 epyc-9654 -o "$work/missing/x.json"
refuses 'not a whole JSON document' -m gpt2 /dev/null
refuses 'Is a directory' -m gpt2 /
printf '{"schema": "lmroof.machine/1"' >"$work/cut.json"
refuses 'line 1' -m gpt2 "$work/cut.json"
printf '{"schema": "lmroof.model/1"}' >"$work/other.json"
refuses 'lmroof.machine/1' -m gpt2 "$work/other.json"
sed 's/"sockets": 1/"sockets": 1e9/' "$TESTS/documents/datasheet.json" >"$work/sheet.json"
refuses 'sockets' -m gpt2 "$work/sheet.json"
head -c 20000 /dev/urandom >"$work/noise.json"
refuses 'noise.json' -m gpt2 "$work/noise.json"

refuses '--price' -m gpt2 epyc-9654 --price epyc-9654=0x10
python3 - "$machine" "$work/bare.json" <<'EOF'
import json, sys
document = json.load(open(sys.argv[1]))
document["bandwidth"], document["compute"] = [], []
json.dump(document, open(sys.argv[2], "w"))
EOF
refuses 'no ceiling' -m gpt2 "$work/bare.json"

"$LMROOF" predict --list >"$work/list" || fail "--list"
[ "$(grep -c 'B/s$' "$work/list")" -ge 30 ] || fail "fewer than 30 machines"
"$LMROOF" predict -m llama-3-8b --dtype q4_0,bf16 --batch 1,16 --context 512,4096 --prompt 64,512 \
    "$machine" --machine epyc-9654 "$TESTS/documents/machine_slow.json" graviton4 \
    "$TESTS/documents/datasheet.json" --price graviton4=2 -o "$work/saved.json" \
    >"$work/text" 2>"$work/err" || fail "predict: $(cat "$work/err")"
for word in 'decode, batch 16, context 4096, q4_0' 'prefill of 64 tokens' '* data sheet' 'Unlike'; do
    grep -qF -- "$word" "$work/text" || fail "no '$word' in the table"
done
"$LMROOF" predict -m gpt2 "$machine" --json >"$work/document.json" 2>/dev/null || fail "--json"
python3 - "$work/saved.json" <<'PYTHON' || fail "a range goes beyond its bound"
import json, sys
steps = [s for m in json.load(open(sys.argv[1]))["machines"] for s in m["steps"]]
high = [s for s in steps if s["tokens_per_s_high"] is not None]
assert high and all(s["tokens_per_s_high"] <= s["tokens_per_s_bound"] * (1 + 1e-9) for s in high)
PYTHON
python3 "$TESTS/schema.py" "$SOURCE/profiler/schemas" "$work/saved.json" "$work/document.json"
code=$?
[ "$code" -eq 77 ] && echo "SKIP: no validator" && exit 77
[ "$code" -eq 0 ] || fail "the documents are not valid"

# By hand: a token of llama-3-8b in bf16 at context 512 reads 15010123776 bytes of weights and
# embedding, 67108864 of cache and writes 131072, at 460.8 GB/s.
python3 - "$work/saved.json" <<'EOF' || failed=1
import json, sys
document = json.load(open(sys.argv[1]))
def pick(name, **want):
    machine = next(m for m in document["machines"] if m["name"] == name)
    return machine, next(s for s in machine["steps"] if all(s[k] == v for k, v in want.items()))
machine, step = pick("epyc-9654", phase="decode", dtype="bf16", batch=1, context=512)
weights = 8030261248 * 2 - 128256 * 4096 * 2 + 4096 * 2
want = 460.8e9 / (weights + 513 * 131072)
assert abs(step["tokens_per_s_bound"] / want - 1) < 1e-9, (step["tokens_per_s_bound"], want)
assert abs(step["tokens_per_s"] / want / machine["decode_band"]["median_fraction"] - 1) < 1e-9
assert step["tokens_per_s_low"] < step["tokens_per_s"] < step["tokens_per_s_high"]
assert step["joules_per_token"] is None and step["why_absent"]["joules_per_token"]["text"]
assert machine["origin"] == "datasheet" and machine["sources"]["memory"]
machine, step = pick("graviton4", phase="decode", dtype="q4_0", batch=1, context=512)
assert abs(step["tokens_per_price"] - step["tokens_per_s"] * 3600 / 2) < 1e-6
for m in document["machines"]:
    for s in m["steps"]:
        if s["tokens_per_s"] is not None:
            assert s["tokens_per_s"] <= s["tokens_per_s_bound"] * 1.0000001, (m["name"], s)
ranks = [m["rank"] for m in document["machines"]]
assert ranks == sorted(ranks) and document["machines"][-1]["name"] == "machine_slow.json"
bounds = [m["steps"][0]["tokens_per_s_bound"] for m in document["machines"][:-1]]
assert bounds == sorted(bounds, reverse=True) and document["machines"][-1]["steps"][0]["tokens_per_s"] is None
assert any(w["code"] == "unlike_origins" for w in document["warnings"])
measured = next(m for m in document["machines"] if m["name"] == "machine.json")
assert measured["origin"] == "timed" and measured["decode_band"] is None
EOF
# Parts that were read faster than the roof in their minute: no end of the range is beyond the bound.
python3 - "$machine" "$work/faster.json" <<'EOF'
import json, sys
document = json.load(open(sys.argv[1]))
for row in document["weight_reads"]:
    rate = row["bytes_per_s"]
    rate.update(value=1000 * rate["value"], ci95=[900 * rate["value"], 1100 * rate["value"]])
json.dump(document, open(sys.argv[2], "w"))
EOF
"$LMROOF" predict -m llama-3.2-1b --dtype q8_0 --batch 4 "$work/faster.json" --json --quiet >"$work/out" || fail "faster"
python3 - "$work/out" <<'EOF' || fail "a range beyond the bound: $(cat "$work/out")"
import json, sys
step = json.load(open(sys.argv[1]))["machines"][0]["steps"][0]
low, rate, high = (step["tokens_per_s" + end] for end in ("_low", "", "_high"))
assert low <= rate <= high <= step["tokens_per_s_bound"] * (1 + 1e-12), step
EOF
[ "$failed" -eq 0 ] && echo "predict: ok"
exit "$failed"

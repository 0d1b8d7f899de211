#!/bin/sh
# lmroof place: every format of every tool, findings, documents, messages and exit codes.
set -u
command=place
. "$TESTS/cli/common.sh"
machine="$TESTS/documents/machine.json"
samples="$TESTS/place"
bench="$samples/llama-bench.json"
refuses 'no --from' "$bench"
refuses 'no file' --from llama-bench
refuses 'accepted llama-bench' --from ollama "$bench"
refuses 'two files' --from llama-bench "$bench" "$bench"
refuses '-m MODEL' --from vllm "$samples/vllm-serve.json"
refuses 'cannot open' --from llama-bench "$work/none.json"
refuses 'no-such' --from llama-bench "$bench" --machine no-such
refuses 'no-model' --from llama-bench "$bench" -m no-model
refuses '--threads' --from llama-bench "$bench" --threads 0
refuses 'fancy' --from llama-bench "$bench" --dtype fancy
refuses 'missing' --from llama-bench "$bench" -o "$work/missing/x.json"
refuses '--batch N' --from vllm "$samples/vllm-latency.json" -m gpt2
refuses '--generated' --from vllm "$samples/vllm-throughput.json" -m gpt2 --batch 4
refuses "found no 'avg_latency'" --from vllm "$bench" -m gpt2
refuses "found no 'n_prompt" --from llama-bench "$samples/vllm-latency.json"
head -c 300 "$bench" >"$work/cut.json"
refuses 'not JSON' --from llama-bench "$work/cut.json"
sed 's/"avg_ts": [0-9.]*/"avg_ts": "fast"/' "$bench" >"$work/word.json"
refuses "'avg_ts': found 'fast'" --from llama-bench "$work/word.json"
sed 's/"n_prompt": 512/"n_prompt": 1e30/' "$bench" >"$work/huge.json"
refuses 'n_prompt' --from llama-bench "$work/huge.json"
sed 's/"avg_ts": [0-9.]*/"avg_ts": 0/' "$bench" >"$work/zero.json"
refuses 'more than 0' --from llama-bench "$work/zero.json"
head -c 5000 /dev/urandom >"$work/noise"
refuses 'noise' --from llama-bench "$work/noise"
: >"$work/empty"
refuses 'empty' --from llama-bench "$work/empty"
# What the user tells and what the file tells: two figures are not mixed.
for format in json jsonl csv md; do
    refuses 'llama-3-8b has 8.03 G parameters, the file tells 1.24 G' --from llama-bench \
        "$samples/llama-bench.$format" -m llama-3-8b
done
refuses 'has 1.24 G parameters, the file tells 6.74 G' --from llama-bench \
    "$samples/llama-bench-2023.md" -m llama-3.2-1b
refuses '--dtype q4_0, but the file tells q8_0' --from llama-bench "$bench" -m llama-3.2-1b --dtype q4_0
refuses 'row 6: --dtype q8_0, but the file tells q4_0' --from llama-bench "$bench" --dtype q8_0
refuses '--threads 4, but the file tells 2' --from llama-bench "$bench" --threads 4
refuses '--prompt 64, but the file tells 512' --from vllm "$samples/vllm-serve.json" -m llama-3.2-1b \
    --prompt 64
python3 "$TESTS/gguf/recipe.py" "$work/tiny.gguf" tinyllama >/dev/null || exit 1
sed 's/1169072128/1700000000/' "$samples/llama-bench-2026.json" >"$work/large.json"
refuses 'tiny stores 636 MiB, the file tells 1.58 GiB' --from llama-bench "$work/large.json" \
    -m "$work/tiny.gguf"
sed 's/1169072128/668000000/; s/Q8_0/Q4_K - Medium/' "$samples/llama-bench-2026.json" >"$work/same.json"
shows 'decode reaches' --from llama-bench "$work/same.json" -m "$work/tiny.gguf" --machine "$machine" \
    --threads 2 --dtype q4_k

# The same measurements in four formats give the same rates and the same causes.
for format in json jsonl csv md; do
    "$LMROOF" place --from llama-bench "$samples/llama-bench.$format" -m llama-3.2-1b \
        --machine "$machine" -o "$work/$format.json" >"$work/$format.txt" 2>"$work/err" ||
        fail "$format: $(cat "$work/err")"
    grep -q 'attention_kernel (row3' "$work/$format.txt" || fail "$format: no attention kernel"
done
"$LMROOF" place --from llama-bench "$bench" --json >"$work/bare.json" 2>"$work/err" ||
    fail "without model and machine: $(cat "$work/err")"
"$LMROOF" place --from llama-bench - --json <"$samples/llama-bench-2023.md" >"$work/old.json" ||
    fail "2023"
# What the program of 2026 writes; and the answer comes first, with what was assumed.
"$LMROOF" place --from llama-bench "$samples/llama-bench-2026.json" --machine "$machine" \
    -o "$work/new.json" >"$work/new.txt" 2>"$work/err" || fail "2026: $(cat "$work/err")"
head -1 "$work/new.txt" | grep -Eq '^decode reaches [0-9]+ % of what memory allows' ||
    fail "no answer in the first line: $(head -1 "$work/new.txt")"
grep -q 'assumed: the model is tinyllama-1.1b' "$work/new.txt" || fail "the model is guessed silently"
grep -q 'warning: machine.json: turbo_unknown' "$work/err" || fail "the profile's warnings are lost"
[ "$(wc -l <"$work/err")" -eq 2 ] || fail "not the worst warning and a count: $(cat "$work/err")"
grep -q 'machine.json: and 1 more .* --verbose' "$work/err" || fail "no count of the profile's warnings"
"$LMROOF" place --from llama-bench "$samples/llama-bench-2026.json" --machine "$machine" --verbose \
    2>"$work/err" >/dev/null
grep -q 'warning: machine.json: not_saturated' "$work/err" || fail "--verbose lacks a warning"
"$LMROOF" place --from llama-bench "$samples/llama-bench-2026.json" --machine "$machine" --quiet \
    2>"$work/err" >/dev/null
[ -s "$work/err" ] && fail "--quiet wrote $(cat "$work/err")"
"$LMROOF" place --from llama-bench "$samples/llama-bench-ik.md" -m llama-3.2-1b --json \
    >"$work/ik.json" 2>/dev/null || fail "ik"
"$LMROOF" place --from llama-batched-bench "$samples/llama-sweep-bench.md" -m llama-3.2-1b \
    --dtype q8_0 --json >"$work/sweep.json" 2>/dev/null || fail "sweep-bench"
for format in jsonl md; do
    "$LMROOF" place --from llama-batched-bench "$samples/llama-batched-bench.$format" \
        -m llama-3.2-1b --dtype q8_0 --machine "$machine" -o "$work/batched-$format.json" \
        >"$work/text" || fail "batched $format"
    grep -q batch_not_shared "$work/text" || fail "batched $format: no unshared batch"
done
"$LMROOF" place --from vllm "$samples/vllm-serve.json" -m llama-3.2-1b --machine epyc-9654 \
    -o "$work/serve.json" >/dev/null || fail "serve"
"$LMROOF" place --from vllm "$samples/vllm-latency.json" -m llama-3.2-1b --machine "$machine" \
    --batch 8 --prompt 32 --generated 128 --threads 2 -o "$work/latency.json" >/dev/null ||
    fail "latency"
"$LMROOF" place --from vllm "$samples/vllm-throughput.json" -m llama-3.2-1b --machine "$machine" \
    --batch 8 --prompt 512 --generated 128 -o "$work/throughput.json" >/dev/null || fail "throughput"
python3 "$TESTS/schema.py" "$SOURCE/profiler/schemas" "$work/json.json" "$work/jsonl.json" \
    "$work/csv.json" "$work/md.json" "$work/bare.json" "$work/old.json" "$work/batched-jsonl.json" \
    "$work/batched-md.json" "$work/serve.json" "$work/latency.json" "$work/throughput.json" \
    "$work/new.json" "$work/ik.json" "$work/sweep.json"
code=$?
[ "$code" -eq 77 ] && echo "SKIP: no validator" && exit 77
[ "$code" -eq 0 ] || fail "the documents are not valid"
python3 - "$work" <<'EOF' || failed=1
import json, sys
load = lambda name: json.load(open("%s/%s.json" % (sys.argv[1], name)))
formats = [load(name) for name in ("json", "jsonl", "csv", "md")]
for other in formats[1:]:
    assert len(other["points"]) == len(formats[0]["points"]) == 6
    assert [f["code"] for f in other["findings"]] == [f["code"] for f in formats[0]["findings"]]
    for a, b in zip(formats[0]["points"], other["points"]):
        assert abs(a["tokens_per_s"]["value"] / b["tokens_per_s"]["value"] - 1) < 1e-3
        assert abs(a["bytes_modelled"] / b["bytes_modelled"] - 1) < 0.01
        assert (a["dtype"], a["phase"], a["threads"]) == (b["dtype"], b["phase"], b["threads"])
point = formats[0]["points"][1]
assert point["tokens_per_s"] == {"value": 21.5, "ci95": None, "n": 1, "best": 21.5,
                                 "samples": [21.5], "origin": "imported"}, point["tokens_per_s"]
assert point["roof_fraction"]["from"] == {"flop": "modelled", "bytes": "modelled", "seconds": "imported"}
assert abs(point["roof_fraction"]["value"] * point["speedup_left"] - 1) < 1e-9
# All weights of the file but the tied table count once: 1313251456 bytes, and the cache.
weights = 1313251456
assert 0.99 < point["bytes_modelled"] / 128 / (weights + 64 * 32768) < 1.01, point["bytes_modelled"]
fraction = load("new")["points"][1]["roof_fraction"]
assert fraction["ci95"][0] < fraction["value"] < fraction["ci95"][1], fraction
assert {w["code"] for w in load("new")["warnings"]} >= {"turbo_unknown", "not_saturated"}
ik = load("ik")["points"]
assert [(p["phase"], p["context"], p["prompt"], p["generated"], p["kv_dtype"]) for p in ik] == [
    ("prefill", 0, 512, 0, "q8_0"), ("decode", 0, 0, 128, "q8_0"), ("decode", 2048, 0, 64, "q8_0")]
sweep = load("sweep")["points"]
assert [(p["phase"], p["batch"], p["context"]) for p in sweep] == [
    ("prefill", 1, 0), ("decode", 1, 512), ("prefill", 1, 512), ("decode", 1, 1024),
    ("prefill", 1, 1024), ("decode", 1, 1536)], sweep
bare = load("bare")
assert bare["machine"] is None and bare["points"][1]["model_from"] == "matched by its parameters"
assert bare["points"][1]["roof_fraction"] is None
assert load("old")["points"][1]["model_from"] == "size only"
latency = load("latency")["points"][0]
assert latency["phase"] == "mixed" and abs(latency["tokens_per_s"]["value"] - 8 * 160 / 14.2) < 1e-9
throughput = load("throughput")["points"][0]
assert abs(throughput["tokens_per_s"]["value"] - 64 * 640 / 421.0) < 1e-9
serve = load("serve")["points"][0]
assert (serve["batch"], serve["prompt"], serve["generated"]) == (8, 512, 128)
EOF
# What is on already is not what to try.
python3 - "$bench" "$work" <<'EOF' || fail "flash attention"
import json, sys
rows = json.load(open(sys.argv[1]))
for value in (0, 1, True, -1):
    json.dump([dict(row, flash_attn=value) for row in rows],
              open("%s/flash%s.json" % (sys.argv[2], value), "w"))
EOF
for value in 0 1 True -1; do
    "$LMROOF" place --from llama-bench "$work/flash$value.json" >"$work/out" 2>"$work/err" ||
        fail "flash $value: $(cat "$work/err")"
    grep -q 'attention_kernel' "$work/out" || fail "flash $value: no attention_kernel"
    case $value in
    0 | -1) grep -q 'try: flash attention (-fa 1)' "$work/out" || fail "flash $value: no -fa 1" ;;
    *) grep -q 'flash attention was on' "$work/out" || fail "flash $value: told to try it" ;;
    esac
done
[ "$failed" -eq 0 ] && echo "place: ok"
exit "$failed"

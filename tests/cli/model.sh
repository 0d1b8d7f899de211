#!/bin/sh
# lmroof model: counts, documents, messages and exit codes.
set -u
command=model
. "$TESTS/cli/common.sh"

refuses 'no model given'
refuses 'no-such' no-such
refuses '--frob' gpt2 --frob
refuses '--batch' gpt2 --batch 0
refuses '--batch' gpt2 --batch 1,,4
refuses '--context' gpt2 --context=-1
refuses '--prompt' gpt2 --prompt 99999999999999999999
refuses 'fancy' gpt2 --dtype fancy
refuses '--kv-dtype' gpt2 --kv-dtype q4_k
refuses 'bogus' gpt2 --phase decode,bogus
refuses '--tokens' gpt2 --phase train
refuses '--devices' gpt2 --phase train --tokens 1e9 --devices 8
refuses 'missing' gpt2 -o "$work/missing/x.json"
refuses 'two models' gpt2 opt-125m
refuses 'neither config.json nor' "$work"
printf '{"model_type": "llama", "hidden_size": 64' >"$work/cut.json"
refuses 'not valid JSON' "$work/cut.json"
printf '{"model_type": "nobody"}' >"$work/nobody.json"
refuses 'nobody' "$work/nobody.json" --json
printf 'GGUF' >"$work/config.json" # told by content, not by name
refuses 'config.json' "$work"

shows 'mixtral-8x7b' --list
shows 'deepseek_v3' --list
shows '202,383,360, of which attention 33.2 %, MLP 66.8 %' llama-2-7b --explain
shows '= 1 x 32 x 2 x 32 x 256 x 513 = 268,959,744 FLOP' llama-2-7b --explain --phase decode
shows 'never: at most' llama-3-8b --ridge 80 --context 1600 --phase decode
shows 'prefill, batch 1, prompt 512, 512 tokens cached' gpt2
shows '7.928e+22 FLOP (P = 6607077376)' llama-2-7b --phase train --tokens 2e12
cp "$SOURCE/workloads/models/qwen3-8b.json" "$work/config.json"
shows 'parameters 8190735360' "$work"
shows 'parameters 8190735360' -m "$work/config.json" --phase decode

for word in gpt2 llama-2-7b deepseek-v3 "$TESTS/models/gemma-3-4b.json"; do
    "$LMROOF" model "$word" --json --batch 1,4 --context 0,100 --prompt 16,300 --ubatch 64 \
        --ridge 40 --phase decode,prefill,train --tokens 1e9 -o "$work/saved.json" \
        >"$work/document.json" 2>/dev/null || fail "$word: no document"
    python3 "$TESTS/schema.py" "$SOURCE/profiler/schemas" "$work/document.json" "$work/saved.json"
    code=$?
    [ "$code" -eq 77 ] && echo "SKIP: no validator" && exit 77
    [ "$code" -eq 0 ] || fail "$word: the document is not valid"
done
"$LMROOF" model gpt2 >/dev/full 2>"$work/err"
[ $? -eq 1 ] || fail "a full disk is not exit 1"
[ "$failed" -eq 0 ] && echo "model: ok"
exit "$failed"

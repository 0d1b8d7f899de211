#!/bin/sh
# A foreign engine seen from outside beside what it says of itself: `lmroof exec` around llama-bench,
# `lmroof attach` to a running one, and our own step of the same file. Prints tokens/s of each, the
# ratio seen/said, and fractions of the roof. Nothing here builds an engine. Needs a quiet machine.
#   foreign.sh LLAMA_BENCH FILE.gguf [THREADS [TOKENS]]
set -u
: "${LMROOF:?path of lmroof}"
bench=${1:?a llama-bench}
file=${2:?a .gguf}
threads=${3:-$(nproc)}
tokens=${4:-256}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
[ -x "$bench" ] || { echo "SKIP: no $bench"; exit 77; }
decode="$bench -m $file -t $threads -p 0 -n $tokens -r 1 -o json"

# tell WORD DOCUMENT: what was seen from outside beside what llama-bench printed ($work/said).
tell() {
    python3 - "$1" "$2" "$work/said" <<'PYTHON'
import json, sys
word, seen, said = sys.argv[1], json.load(open(sys.argv[2])), json.load(open(sys.argv[3]))[-1]["avg_ts"]
window, place = seen["window"], seen["placement"]
rate, roof = place["tokens_per_s"]["value"], place["roof_fraction"]["value"]
print(f"{word}: window {window['begin_seconds']:.2f} to {window['end_seconds']:.2f} s, phase "
      f"{window['phase']}; {rate:.2f} tokens/s seen, {said:.2f} said, ratio {rate / said:.3f}; "
      f"{place['bytes_per_s_modelled']['value'] / 1e9:.1f} GB/s, {roof:.2f} of the roof")
PYTHON
}

# shellcheck disable=SC2086
"$LMROOF" exec --quiet -m "$file" --tokens "$tokens" -o "$work/exec.json" -- $decode >"$work/said" || exit 1
tell exec "$work/exec.json"

# shellcheck disable=SC2086
$decode >"$work/said" 2>/dev/null &
"$LMROOF" attach --quiet --pid $! -m "$file" --tokens "$tokens" -o "$work/attach.json" || exit 1
wait
tell attach "$work/attach.json"

"$LMROOF" run -m "$file" --step --phase decode --context $((tokens / 2)) --threads "$threads" \
    --no-twins --counters off --budget 15 --quiet -o "$work/own.json" >/dev/null || exit 1
python3 - "$work/own.json" <<'PYTHON'
import json, sys
step = json.load(open(sys.argv[1]))["step"]
print(f"own step: {step['tokens_per_s']['value']:.2f} tokens/s")
PYTHON

#!/bin/sh
# commands.sh PORTABLE: the commands whose threads share data, under ThreadSanitizer: each must end as
# it should, and no race be reported. Results are other tests' matter. PORTABLE is the program with
# the kernels in plain C.
set -u
fastest=$LMROOF
LMROOF=$1
command=run
. "$TESTS/cli/common.sh"
small_llama "$work/config.json" 64 128 2 1 1 99

races() { # ARG...: validate may end with 0, 3 or 4, all others with 0
    begin=$(date +%s)
    "$LMROOF" "$@" >"$work/out" 2>"$work/err"
    code=$?
    echo "$(($(date +%s) - begin)) s, exit $code: $*"
    case "$1 $code" in
    *" 0" | "validate 3" | "validate 4") ;;
    *) fail "$*: exit $code: $(head -n 60 "$work/err")" ;;
    esac
    grep -A 40 "WARNING: ThreadSanitizer" "$work/err" && fail "$*: a race"
}
few="--repeat 3 --counters off --quiet --threads 2"
short="--phase decode --context 130" # three pages of the cache: threads share a sequence
races run -m "$work/config.json" --repeat 3 --counters off --quiet --threads 2,1 --step --batch 2 \
    --context 130 --prompt 33 -o "$work/run.json"
for dtype in q8_0 q4_k int8 mxfp4; do
    races run -m "$work/config.json" $few $short --dtype $dtype --kv-dtype int8
done
for numa in interleave replicate; do
    races run -m "$work/config.json" $few $short --no-twins --step --numa $numa
done
for shape in mixtral deepseek; do
    races run -m "$TESTS/models/small-$shape.json" $few $short --no-twins --step --batch 3 --dtype q8_0
done
python3 "$TESTS/gguf/recipe.py" "$work/tiny.gguf" tiny >"$work/tiny.json" || fail "recipe.py"
races run -m "$work/tiny.gguf" $few --no-twins --step --batch 1,3 --context 16 --prompt 8
LMROOF=$fastest # other ways to share the work
races run -m "$work/config.json" $few --step --batch 2 --context 130 --prompt 33 --dtype bf16,q8_0
LMROOF=$1
races validate -m "$work/config.json" --repeat 3 --threads 2 --context 40 --quiet
# The 10 seconds of --quick are less than the checks of the kernels take here.
races probe --quiet --threads 2,1 --levels L1,L2 --dtype f32 -o "$work/machine.json"
races exec --quiet --interval 0.05 --machine "$work/machine.json" -- sleep 0.3
many=$(yes "$work/machine.json" | head -n 20) # more than 16 are read by several threads
races predict -m pythia-160m $many
# So are more than 256 points.
python3 "$TESTS/report/make_run.py" --points 600 >"$work/points.json" || fail "make_run.py"
races report "$work/points.json" -o "$work/points.md"
[ "$failed" -eq 0 ] && echo "tsan: ok"
exit "$failed"

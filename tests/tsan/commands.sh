#!/bin/sh
# The commands whose threads share data, under ThreadSanitizer: each must end as it should, and no
# race be reported. Results are other tests' matter.
set -u
command=run
. "$TESTS/cli/common.sh"
small_llama "$work/config.json" 64 128 2 1 1 99

races() { # ARG...
    "$LMROOF" "$@" >"$work/out" 2>"$work/err" || fail "$*: exit $?: $(head -n 20 "$work/err")"
    grep -A 20 ThreadSanitizer "$work/err" && fail "$*: a race"
}
few="--repeat 3 --counters off --quiet"
races run -m "$work/config.json" $few --threads 2,1 --step --batch 2 --context 40 --prompt 33 \
    -o "$work/run.json"
for dtype in q8_0 q4_k int8; do
    races run -m "$work/config.json" $few --phase decode --context 40 --dtype $dtype --kv-dtype int8
done
races run -m "$TESTS/models/small-mixtral.json" $few --no-twins --step --phase decode --batch 3 \
    --context 40 --dtype q8_0
races probe --quick --quiet --levels L1,L2 --dtype f32 -o "$work/machine.json"
races exec --quiet --interval 0.05 --machine "$work/machine.json" -- sleep 0.3
many=$(yes "$work/machine.json" | head -n 20) # more than 16 are read by several threads
races predict -m pythia-160m $many
races report "$work/run.json" -o "$work/run.html"
[ "$failed" -eq 0 ] && echo "tsan: ok"
exit "$failed"

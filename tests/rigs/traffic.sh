#!/bin/sh
# traffic.sh RIG: bytes that decode operators read from memory, as callgrind's cache simulator sees
# them, against the model's prediction: within 2 %. The same comparison must refuse predictions
# that are 5 % off. Needs valgrind. Half a minute.
set -u
rig=$1
command -v valgrind >/dev/null || { echo "SKIP: needs valgrind"; exit 77; }
grep -q __asan_init "$rig" && { echo "SKIP: valgrind does not run instrumented programs"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# near PREDICTED SIMULATED: exit status 0 if they are within 2 % of each other.
near() {
    awk -v p="$1" -v s="$2" 'BEGIN { exit !(p > 0 && s > 0 && (s - p) * (s - p) <= (0.02 * p) ^ 2) }'
}
cases=$("$rig") || exit 1
[ "$cases" -ge 6 ] || { echo "FAIL: only $cases cases"; exit 1; }
failed=0
case=0
while [ "$case" -lt "$cases" ]; do
    # A last-level cache of 1 MiB, which no operand but the activations fits.
    valgrind -q --tool=callgrind --cache-sim=yes --instr-atstart=no --I1=32768,8,64 \
        --D1=32768,8,64 --LL=1048576,16,64 --callgrind-out-file="$work/out.$case" \
        "$rig" "$case" >"$work/text" 2>"$work/log" || { cat "$work/log"; exit 1; }
    predicted=$(sed -n 's/^predicted //p' "$work/text")
    # The dump of the operator is the first; its columns are named by the line of events.
    simulated=$(awk '/^events:/ { for (i = 2; i <= NF; i++) if ($i == "DLmr") column = i }
                     /^totals:|^summary:/ { if (column) { print $column * 64; exit } }' "$work/out.$case.1")
    name=$(head -n 1 "$work/text")
    echo "$name: predicted $predicted, simulated $simulated"
    near "$predicted" "$simulated" || { echo "FAIL: more than 2 % apart"; failed=1; }
    for factor in 0.95 1.05; do
        wrong=$(awk -v p="$predicted" -v f="$factor" 'BEGIN { printf "%.0f", p * f }')
        near "$wrong" "$simulated" && { echo "FAIL: a prediction $factor times as large passes"; failed=1; }
    done
    case=$((case + 1))
done
[ "$failed" -eq 0 ] && echo "traffic: ok"
exit "$failed"

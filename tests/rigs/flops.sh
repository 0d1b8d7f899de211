#!/bin/sh
# flops.sh RIG PLUGIN: floating-point operations that the decode linears execute, counted by an
# emulator, against the model's 2 N K B: its multiply-adds within 0.5 %, and less than 2 % besides
# (partial sums). The same comparison must refuse a prediction that is 2 % off. Needs qemu-user (qemu-x86_64 with plugins).
set -u
rig=$1
plugin=$2
command -v qemu-x86_64 >/dev/null || { echo "SKIP: needs qemu-x86_64 (qemu-user)"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "SKIP: the plugin reads x86 instructions"; exit 77; }
grep -q __asan_init "$rig" && { echo "SKIP: instrumented programs do other work too"; exit 77; }
qemu-x86_64 -plugin "$plugin" /bin/true 2>&1 | grep -q '^executed ' || {
    echo "SKIP: this qemu-x86_64 has no plugins"
    exit 77
}

# executed CASE REPEATS KIND: operations of the whole program, 1 fused, 2 others.
executed() {
    OMP_NUM_THREADS=1 qemu-x86_64 -cpu max -plugin "$plugin" "$rig" "$1" "$2" 2>&1 >/dev/null |
        awk -v kind="$3" '/^executed / { print $(kind + 1) }'
}
near() { # PREDICTED FOUND
    awk -v p="$1" -v f="$2" 'BEGIN { exit !(p > 0 && f > 0 && (f - p) * (f - p) <= (0.005 * p) ^ 2) }'
}
failed=0
tried=0
for case in 0 1 2; do
    text=$("$rig" "$case")
    predicted=$(printf '%s\n' "$text" | sed -n 's/^flop //p')
    # What the program does besides drops out of the difference.
    found=$((($(executed "$case" 3 1) - $(executed "$case" 1 1)) / 2))
    others=$((($(executed "$case" 3 2) - $(executed "$case" 1 2)) / 2))
    echo "$(printf '%s\n' "$text" | head -n 1): predicted $predicted, executed $found and $others"
    [ $((others * 50)) -lt "$predicted" ] || { echo "FAIL: 2 % and more besides"; failed=1; }
    near "$predicted" "$found" || { echo "FAIL: more than 0.5 % apart"; failed=1; }
    for factor in 0.98 1.02; do
        wrong=$(awk -v p="$predicted" -v f="$factor" 'BEGIN { printf "%.0f", p * f }')
        near "$wrong" "$found" && { echo "FAIL: a prediction $factor times as large passes"; failed=1; }
    done
    tried=$((tried + 1))
done
[ "$tried" -eq 3 ] || failed=1
[ "$failed" -eq 0 ] && echo "flops: ok"
exit "$failed"

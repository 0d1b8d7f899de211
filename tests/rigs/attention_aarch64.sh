#!/bin/sh
# The aarch64 attention kernels against their reference under qemu-user. Needs
# gcc-aarch64-linux-gnu and qemu-user.
set -u
cc=${AARCH64_CC:-aarch64-linux-gnu-gcc}
command -v "$cc" >/dev/null && command -v qemu-aarch64 >/dev/null || {
    echo "SKIP: needs $cc and qemu-aarch64"
    exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
workloads=$SOURCE/workloads
for file in "$workloads"/attention*.c "$workloads/line.c" "$workloads/line_block.c" \
    "$workloads/isa.c" "$SOURCE/roofline/status.c" "$TESTS/rigs/attention_rig.c"; do
    case $file in *_avx*) continue ;; esac
    "$cc" -std=c17 -D_GNU_SOURCE -I"$SOURCE" -Wall -Wextra -Wno-unknown-pragmas -Werror -O1 \
        -c "$file" -o "$work/$(basename "$file" .c).o" || exit 1
done
"$cc" -static "$work"/*.o -lm -o "$work/check" || exit 1
qemu-aarch64 -cpu cortex-a72 "$work/check" >"$work/out" || { cat "$work/out"; exit 1; }
for type in f32 bf16 f16 q8_0 int8; do
    grep -qx "attention $type neon/fmla/f32 ok" "$work/out" || {
        echo "FAIL: $type did not run"
        exit 1
    }
done

#!/bin/sh
# The aarch64 linear kernels against their reference under qemu-user: a plain core, one with
# dot products, one with matrix products, SVE vectors of several lengths. Needs gcc-aarch64-linux-gnu and qemu-user.
set -u
cc=${AARCH64_CC:-aarch64-linux-gnu-gcc}
command -v "$cc" >/dev/null && command -v qemu-aarch64 >/dev/null || {
    echo "SKIP: needs $cc and qemu-aarch64"
    exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
build() {
    file=$1
    shift
    "$cc" -std=c17 -D_GNU_SOURCE -I"$SOURCE" -Wall -Wextra -Wno-unknown-pragmas -Werror "$@" \
        -c "$file" -o "$work/$(basename "$file" .c).o" || exit 1
}
workloads=$SOURCE/workloads
build "$workloads/linear_neoni8mm.c" -O1 -march=armv8.2-a+dotprod+i8mm
build "$workloads/linear_neonbf16.c" -O1 -march=armv8.2-a+bf16
build "$workloads/linear_sve.c" -O1 -march=armv8.2-a+sve
build "$workloads/linear_neondot.c" -O1 -march=armv8.2-a+dotprod
build "$workloads/linear_neon.c" -O1
build "$workloads/linear_portable.c" -O1
for file in "$workloads/linear.c" "$workloads/linear_pack.c" "$workloads/linear_check.c" \
    "$workloads/line.c" "$workloads/line_block.c" "$workloads/isa.c" "$workloads/kernel_evidence.c" \
    "$SOURCE/roofline/status.c" "$TESTS/rigs/linear_rig.c"; do
    build "$file" -O2
done
"$cc" -static "$work"/*.o -lm -o "$work/check" || exit 1
# expect CPU PREFIX LINE...: all kernels whose class begins with PREFIX pass there, and each line is
# among the output.
expect() {
    cpu=$1
    prefix=$2
    shift 2
    qemu-aarch64 -cpu "$cpu" "$work/check" "$prefix" >"$work/out" || {
        echo "FAIL on $cpu:"
        grep -v ' ok$' "$work/out"
        exit 1
    }
    for line in "$@"; do
        grep -qx "$line ok" "$work/out" || { echo "FAIL: '$line' did not run on $cpu"; exit 1; }
    done
}
expect cortex-a72 "" "f32 neon/fmla/f32" "q8_0 portable/c/i32" "q4_k portable/c/i32"
expect neoverse-n1 neon "bf16 neon/fmla/f32" "q8_0 neon_dotprod/sdot/i32" \
    "q4_0 neon_dotprod/sdot/i32" "q4_k neon_dotprod/sdot/i32" "q6_k neon_dotprod/sdot/i32" \
    "mxfp4 neon_dotprod/sdot/i32"
expect max neon_i8mm "q8_0 neon_i8mm/smmla/i32" "q4_0 neon_i8mm/smmla/i32" \
    "q5_1 neon_i8mm/smmla/i32" "q4_k neon_i8mm/smmla/i32" "q6_k neon_i8mm/smmla/i32" \
    "int8 neon_i8mm/smmla/i32" "int4_g128 neon_i8mm/smmla/i32" "mxfp4 neon_i8mm/smmla/i32"
expect max neon_bf16 "bf16 neon_bf16/bfmmla/f32"
# By default a guest's vectors end at 512 bits.
for vq in 1 2 3 4 16; do
    expect "max,sve-max-vq=$vq,sve-default-vector-length=$((16 * vq))" sve "f32 sve/fmla/f32" \
        "bf16 sve/fmla/f32" "f16 sve/fmla/f32" "q8_0 sve/sdot/i32" "q4_0 sve/sdot/i32" \
        "int8 sve/sdot/i32" "int4_g128 sve/sdot/i32"
done

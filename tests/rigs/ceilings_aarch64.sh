#!/bin/sh
# The aarch64 ceiling kernels against their references under qemu-user: a plain core, one with dot
# products, and all extensions at several SVE lengths. Needs gcc-aarch64-linux-gnu and qemu-user.
set -u
cc=${AARCH64_CC:-aarch64-linux-gnu-gcc}
command -v "$cc" >/dev/null && command -v qemu-aarch64 >/dev/null || {
    echo "SKIP: needs $cc and qemu-aarch64"
    exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
build() {
    "$cc" -std=c17 -D_GNU_SOURCE -I"$SOURCE" -I"$work" -Wall -Wextra -Werror -O3 -fno-builtin \
        -ffp-contract=off -c "$1" -o "$work/$(basename "$1" .c).o" $2 || exit 1
}
names="compute_sve compute_neonext compute_neon streams_base compute_base"
for name in $names; do
    echo "X($name)"
done >"$work/ceiling_set_registry.inc"
ceilings=$SOURCE/workloads/ceilings
build "$ceilings/compute_sve.c" -march=armv8.2-a+sve+fp16
build "$ceilings/compute_neonext.c" -march=armv8.2-a+fp16+dotprod+i8mm+bf16
for file in "$ceilings/compute_neon.c" "$ceilings/streams_base.c" "$ceilings/compute_base.c" \
    "$SOURCE/workloads/ceiling_check.c" "$SOURCE/workloads/ceiling_kernel.c" \
    "$SOURCE/workloads/isa.c" "$SOURCE/workloads/kernel_evidence.c" "$SOURCE/roofline/status.c" "$TESTS/rigs/ceilings_check.c"; do
    build "$file" ""
done
"$cc" -static "$work"/*.o -lm -o "$work/check" || exit 1
# expect CPU WORD...: all kernels pass there, and each word names one that ran.
expect() {
    cpu=$1
    shift
    qemu-aarch64 -cpu "$cpu" "$work/check" >"$work/out" || {
        echo "FAIL on $cpu:"
        grep -v ' ok$' "$work/out"
        exit 1
    }
    for word in "$@"; do
        grep -q "^$word .*ok$" "$work/out" || { echo "FAIL: $word did not run on $cpu"; exit 1; }
    done
    echo "$cpu: $(grep -c ' ok$' "$work/out") kernels ok"
}
expect cortex-a53 neon/fmla/f32 load
expect neoverse-n1 neon_dotprod/sdot/i32 neon_fp16/fmla/f16
expect max,sve128=on sve/fmla/f64 sve/sdot/i32 neon_i8mm/smmla/i32 neon_bf16/bfmmla/f32
expect max,sve512=on sve/fmla/f32 sve/sdot/i32 neon_bf16/bfdot/f32

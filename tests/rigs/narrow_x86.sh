#!/bin/sh
# The program on x86 CPUs without AVX-512 under qemu-user: it starts, takes the kernels of that CPU
# and their results agree with the reference. $1: linear_rig of this build. Needs qemu-user.
set -u
rig=$1
[ "$(uname -m)" = x86_64 ] && command -v qemu-x86_64 >/dev/null || {
    echo "SKIP: needs x86_64 and qemu-x86_64"
    exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat >"$work/config.json" <<EOF
{"model_type": "llama", "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 2,
 "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512,
 "max_position_embeddings": 2048, "torch_dtype": "bfloat16"}
EOF
# expect CPU PREFIX LINE...: all linear kernels whose class begins with PREFIX pass, these among them.
expect() {
    cpu=$1
    prefix=$2
    shift 2
    qemu-x86_64 -cpu "$cpu" "$rig" "$prefix" >"$work/out" 2>"$work/err" || {
        echo "FAIL on $cpu:"
        grep -v ' ok$' "$work/out"
        cat "$work/err"
        exit 1
    }
    for line in "$@"; do
        grep -qx "$line ok" "$work/out" || { echo "FAIL: '$line' did not run on $cpu"; exit 1; }
    done
    ! grep -q avx512 "$work/out" || { echo "FAIL: AVX-512 on $cpu"; cat "$work/out"; exit 1; }
}
# run_on CPU ISA: all points that a short run measures are that instruction set's, and verified.
run_on() {
    qemu-x86_64 -cpu "$1" "$LMROOF" run -m "$work/config.json" --phase decode --context 16 \
        --dtype q8_0 --threads 1 --no-twins --repeat 3 --budget 300 --json >"$work/run.json" \
        2>"$work/err" || { echo "FAIL: run on $1"; cat "$work/err"; exit 1; }
    python3 - "$work/run.json" "$2" <<'EOF' || exit 1
import json, sys
points = [p for p in json.load(open(sys.argv[1]))["points"] if p["seconds"]]
wrong = [(p["id"], p["isa"]) for p in points if p["isa"] != sys.argv[2] or not p["verified"]]
if not points or wrong:
    sys.exit(f"FAIL: {len(points)} points, not of {sys.argv[2]} or not verified: {wrong}")
EOF
}
expect Haswell avx2 "f32 avx2/vfmadd231ps/f32" "bf16 avx2/vfmadd231ps/f32" \
    "f16 avx2/vfmadd231ps/f32" "q8_0 avx2/vpmaddubsw/i32" "q4_0 avx2/vpmaddubsw/i32" \
    "q4_k avx2/vpmaddubsw/i32" "q6_k avx2/vpmaddubsw/i32" "int8 avx2/vpmaddubsw/i32" \
    "mxfp4 avx2/vpmaddubsw/i32"
run_on Haswell avx2
run_on Nehalem portable

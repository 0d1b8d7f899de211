#!/bin/sh
# Our ceilings against likwid-bench, in turns, at the same sizes and threads. For each ceiling the
# peer's best kernel is found first; then ROUNDS times ours, the peer, the peer again (A/A). The
# verdict is on the 95 % interval of the paired ratio: good if it reaches 1.0 and the median is at
# least 0.97. Needs likwid-bench and a quiet machine; names the load when it was not. Bytes are user
# bytes on both sides, without write-allocate; that ours touch every one of them is what
# stream_kernel_check() proves before (a load's sum is over all words, a copy arrives whole).
#   ceilings.sh SAMPLER [THREADS [ROUNDS [ONLY]]]      SAMPLER: build/tests/ceiling_sampler;
#   ONLY: a regular expression of the names
set -u
sampler=${1:?ceiling_sampler}
threads=${2:-$(nproc)}
rounds=${3:-10}
only=${4:-}
stream=$(dirname "$sampler")/stream_rules
command -v likwid-bench >/dev/null || { echo "SKIP: no likwid-bench"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"; [ -n "${pid:-}" ] && kill "$pid" 2>/dev/null' EXIT
failed=0

# peer KERNEL KB: the peer's rate in units per second; bytes, or FLOP for peakflops.
peer() {
    case $1 in
    STREAM_*)
        "$stream" "$threads" "$(($2 * 1000))" "${1#STREAM_}"
        return
        ;;
    esac
    column='MByte/s'
    case $1 in peakflops*) column='MFlops/s' ;; esac
    # A third of a second or so: 10 GB of memory, 100 GB of a cache.
    enough=$((100000000 / $2))
    [ "$2" -lt 100000 ] || enough=$((10000000 / $2 + 1))
    case $1 in peakflops*) enough="-s 1" ;; *) enough="-i $enough" ;; esac
    # shellcheck disable=SC2086
    likwid-bench -t "$1" -w "N:$2kB:$threads" $enough 2>/dev/null |
        awk -v c="$column:" '$1 == c { printf "%.6g\n", $2 * 1e6 }'
}
# compare NAME KB "PEER KERNELS" SAMPLER_ARGS...
compare() {
    name=$1
    kb=$2
    kernels=$3
    shift 3
    echo "$name" | grep -qE -- "$only" || return
    best=0
    kernel=
    for candidate in $kernels; do
        rate=$(peer "$candidate" "$kb")
        if [ -n "$rate" ] && awk "BEGIN { exit !($rate > $best) }"; then
            best=$rate
            kernel=$candidate
        fi
    done
    [ -n "$kernel" ] || { echo "$name: no peer kernel runs here"; return; }
    rm -f "$work/in" "$work/out"
    mkfifo "$work/in" "$work/out"
    "$sampler" "$threads" "$@" <"$work/in" >"$work/out" 2>"$work/said" &
    pid=$!
    exec 3>"$work/in" 4<"$work/out"
    : >"$work/ours"
    : >"$work/same"
    i=0
    while [ $i -lt "$rounds" ]; do
        echo go >&3
        read -r ours <&4 || { cat "$work/said"; failed=1; break; }
        first=$(peer "$kernel" "$kb")
        second=$(peer "$kernel" "$kb")
        echo "$ours $first" >>"$work/ours"
        echo "$second $first" >>"$work/same"
        i=$((i + 1))
    done
    exec 3>&- 4<&-
    wait "$pid"
    pid=
    ratio=$("$sampler" ratio <"$work/ours")
    same=$("$sampler" ratio <"$work/same")
    middle=$(sort -g "$work/ours" | awk '{ a[NR] = $1; b[NR] = $2 } END {
        printf "%.4g %.4g", a[int((NR + 1) / 2)], b[int((NR + 1) / 2)] }')
    verdict=$(echo "$ratio" | awk '{ print ($3 >= 1.0 && $1 >= 0.97) ? "good" : "BEHIND" }')
    [ "$verdict" = good ] || failed=1
    echo "$name: $verdict; ours/$kernel $ratio; A/A $same; about $middle; $(cat "$work/said"); load $(cut -d' ' -f1 /proc/loadavg)"
}
echo "$threads threads, $rounds rounds, load $(cut -d' ' -f1-3 /proc/loadavg); ratio: median low high"
# At least four times the last-level cache, whatever a tenant's share of it is.
llc=$(sed 's/K$//' /sys/devices/system/cpu/cpu0/cache/index3/size 2>/dev/null)
[ -n "$llc" ] || llc=$(($(getconf LEVEL3_CACHE_SIZE 2>/dev/null || echo 0) / 1024))
gb=$((llc * 4 * 1024 / 1000 + 128000))
bytes=$((gb * 1000))
compare "DRAM load" $gb "load load_avx load_avx512" stream DRAM load $bytes
compare "DRAM store_nt" $gb "store_mem store_mem_avx store_mem_avx512" stream DRAM store_nt $bytes
compare "DRAM copy_nt" $gb "copy_mem copy_mem_avx copy_mem_avx512" stream DRAM copy_nt $bytes
compare "DRAM triad_nt" $gb "stream_mem_avx stream_mem_avx512" stream DRAM triad_nt $bytes
compare "DRAM copy" $gb "copy_avx copy_avx512" stream DRAM copy $bytes
compare "DRAM triad" $gb "stream_avx stream_avx512" stream DRAM triad $bytes
l1=$((16 * threads))
compare "L1 load" $l1 "load_avx load_avx512" stream L1 load $((l1 * 1000))
l2=$((512 * threads))
compare "L2 load" $l2 "load_avx load_avx512" stream L2 load $((l2 * 1000))
compare "L3 load" 16000 "load_avx load_avx512" stream L3 load 16000000
compare "f32 FMA" 32 "peakflops_sp_avx_fma peakflops_sp_avx512_fma" compute f32
compare "f64 FMA" 32 "peakflops_avx_fma peakflops_avx512_fma" compute f64
# STREAM reports the best of its times; so do ours here.
for kernel in copy scale add triad; do
    compare "STREAM $kernel" $gb "STREAM_$kernel" best DRAM $kernel $bytes
done
exit "$failed"

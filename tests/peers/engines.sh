#!/bin/sh
# Whole steps against inference engines, in turns, on the same files and threads: decode tokens/s of
# every format at batch 1, at larger batches, and a prefill. ROUNDS times ours, each engine, the
# first engine again (A/A). Ratios are ours over the engine, paired by round: median and 95 %
# interval; at batch 1 also how much of the read roof either takes: no ratio can exceed 1 over the
# engine's. Nothing here builds an engine: give the folders of their llama-bench and
# llama-batched-bench. Needs a quiet machine; names the load when it was not.
#   engines.sh SAMPLER GGUF_DIR "ENGINE_DIR..." [THREADS [ROUNDS [WHAT [FORMATS]]]]
#     SAMPLER: build/tests/ceiling_sampler (its `ratio`); GGUF_DIR: one file a format,
#     *-f32.gguf, *-f16.gguf, ...; WHAT: decode, batched or prefill, several in quotes
set -u
: "${LMROOF:?path of lmroof}"
sampler=${1:?ceiling_sampler}
files=${2:?folder of .gguf files}
engines=${3:?folders with llama-bench}
threads=${4:-$(nproc)}
rounds=${5:-7}
what=${6:-decode batched prefill}
formats=${7:-f32 f16 bf16 q8_0 q4_0}
tokens=${TOKENS:-24} # that an engine decodes, from an empty context: ours is measured in their middle
prompt=${PROMPT:-512}
batches=${BATCHES:-2 4 8 16}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
skip() {
    echo "SKIP: $*"
    exit 77
}
for engine in $engines; do
    [ -x "$engine/llama-bench" ] || skip "no llama-bench in $engine"
done

# ours FILE PHASE BATCH LENGTH: tokens/s of the whole step.
ours() {
    length="--context $4"
    [ "$2" = prefill ] && length="--prompt $4"
    # shellcheck disable=SC2086
    "$LMROOF" run -m "$1" --step --phase "$2" --batch "$3" $length --threads "$threads" --repeat 7 \
        --no-twins --counters off --quiet --budget "${OURS_BUDGET:-20}" --json 2>"$work/err" |
        python3 -c '
import json, sys
step = json.load(sys.stdin)["step"]
print(step["tokens_per_s"]["value"] if step["verified"] else "")'
}
# bench ENGINE FILE ARGS...: llama-bench tokens/s.
bench() {
    engine=$1
    file=$2
    shift 2
    "$engine/llama-bench" -m "$file" -t "$threads" -r 1 -o json "$@" 2>/dev/null |
        python3 -c 'import json, sys; print(json.load(sys.stdin)[-1]["avg_ts"])'
}
# batched ENGINE FILE BATCH: llama-batched-bench tokens/s of decoding, all sequences together.
batched() {
    "$1/llama-batched-bench" -m "$2" -t "$threads" -tb "$threads" -c $((3 * 16 * (tokens + 8))) \
        -npp 8 -ntg "$tokens" -npl "$3" 2>&1 | # one engine's table goes to stdout, the other's to stderr
        awk -F'|' 'NF > 9 && $2 + 0 > 0 { rate = $9 } END { print rate + 0 }'
}
# roof: bytes/s of the read roof at this moment.
roof() {
    echo | "$sampler" "$threads" stream DRAM load $((512 << 20)) 2>/dev/null | head -1
}
# step_bytes FILE CONTEXT: that a decode step of one sequence reads.
step_bytes() {
    "$LMROOF" model "$1" --phase decode --batch 1 --context "$2" --json |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["steps"][0]["bytes"]["dram_lower_bound"])'
}
# of_roof FILE COLUMN: its median over that of the third column.
of_roof() {
    awk -v a="$(middle "$1" "$2")" -v b="$(middle "$1" 3)" \
        'BEGIN { if (b > 0) printf "%.2f", a / b; else printf "?" }'
}
# peer KIND ENGINE FILE BATCH
peer() {
    case $1 in
    decode) bench "$2" "$3" -p 0 -n "$tokens" ;;
    prefill) bench "$2" "$3" -p "$prompt" -n 0 ;;
    batched) batched "$2" "$3" "$4" ;;
    esac
}
# middle FILE COLUMN: its median.
middle() {
    awk -v c="$2" '{ print $c }' "$1" | sort -g |
        awk '{ a[NR] = $1 } END { printf "%.4g", a[int((NR + 1) / 2)] }'
}
# compare KIND FORMAT BATCH
compare() {
    file=$(find "$files" -name "*-$2.gguf" | head -1)
    [ -n "$file" ] || { echo "$2: no *-$2.gguf in $files"; return; }
    case $1 in
    decode) set -- "$1" "$2" "$3" decode $((tokens / 2)) ;;
    batched) set -- "$1" "$2" "$3" decode $((8 + tokens / 2)) ;;
    prefill) set -- "$1" "$2" "$3" prefill "$prompt" ;;
    esac
    rm -f "$work"/pair.* "$work/same"
    bytes=0
    [ "$1" = decode ] && bytes=$(step_bytes "$file" "$5")
    i=0
    while [ $i -lt "$rounds" ]; do
        own=$(ours "$file" "$4" "$3" "$5")
        [ -n "$own" ] || { echo "$1 $2 b$3: no figure of ours: $(head -c 300 "$work/err")"; return; }
        top=0 # tokens/s at the read roof
        [ "$1" = decode ] && top=$(roof | awk -v bytes="$bytes" '{ print $1 / bytes }')
        n=0
        for engine in $engines; do
            rate=$(peer "$1" "$engine" "$file" "$3")
            [ $n -eq 0 ] && first=$rate
            [ -n "$rate" ] && echo "$own $rate $top" >>"$work/pair.$n"
            n=$((n + 1))
        done
        again=$(peer "$1" "${engines%% *}" "$file" "$3")
        [ -n "$again$first" ] && echo "$again $first" >>"$work/same"
        i=$((i + 1))
    done
    n=0
    for engine in $engines; do
        pair=$work/pair.$n
        n=$((n + 1))
        [ -s "$pair" ] || { echo "$1 $2 b$3: no figure of $engine"; continue; }
        echo "$1 $2 b$3: ours $(middle "$pair" 1), $engine $(middle "$pair" 2) tokens/s;" \
            "ratio $(cut -d' ' -f1,2 "$pair" | "$sampler" ratio); A/A $("$sampler" ratio <"$work/same");" \
            "load $(cut -d' ' -f1 /proc/loadavg)"
        [ "$1" = decode ] && echo "  of the read roof in turns with them:" \
            "ours $(of_roof "$pair" 1), the engine $(of_roof "$pair" 2)"
    done
}
echo "$threads threads, $rounds rounds, load $(cut -d' ' -f1-3 /proc/loadavg); ratio: median low high"
for kind in $what; do
    for format in $formats; do
        case $kind in
        batched) for batch in $batches; do compare "$kind" "$format" "$batch"; done ;;
        *) compare "$kind" "$format" 1 ;;
        esac
    done
done

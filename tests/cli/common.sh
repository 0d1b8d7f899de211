# Of the scripts that try one command ($command): a folder for their files, messages, refusals, a
# small model, documents by their schemas.
# Sourced; the script ends with `exit $failed`.
failed=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAIL: $*"
    failed=1
}
# refuses WORDS ARG...: exit 2, nothing on stdout, one line on stderr that holds WORDS.
refuses() {
    words=$1
    shift
    "$LMROOF" "$command" "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -eq 2 ] || fail "$command $*: exit $code, wanted 2"
    [ -s "$work/out" ] && fail "$command $*: wrote to stdout"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$command $*: not one line: $(cat "$work/err")"
    grep -qF -- "$words" "$work/err" || fail "$command $*: no '$words' in: $(cat "$work/err")"
}
# shows WORDS ARG...: exit 0 and WORDS on stdout.
shows() {
    words=$1
    shift
    "$LMROOF" "$command" "$@" >"$work/out" 2>"$work/err" || fail "$command $*: $(cat "$work/err")"
    grep -qF -- "$words" "$work/out" || fail "$command $*: no '$words'"
}
# small_llama FILE HIDDEN INNER HEADS KV_HEADS LAYERS VOCABULARY: a config of these extents.
small_llama() {
    cat >"$1" <<JSON
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": $2,
 "intermediate_size": $3, "num_attention_heads": $4, "num_key_value_heads": $5,
 "num_hidden_layers": $6, "vocab_size": $7, "max_position_embeddings": 2048,
 "tie_word_embeddings": false, "torch_dtype": "bfloat16"}
JSON
}
# valid DOCUMENT...: by the shipped schemas; where nothing can validate, $skipped says so.
skipped=
valid() {
    sh "$TESTS/schema.sh" "$@" >"$work/schema" 2>&1
    code=$?
    [ "$code" -eq 77 ] && skipped="no python3-jsonschema: documents were not validated"
    [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || fail "not valid: $(grep FAIL "$work/schema" | head -3)"
}

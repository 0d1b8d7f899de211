# Of the scripts that try one command ($command): a folder for their files, messages, refusals.
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

#!/bin/sh
# What bash completes is what the program accepts.
set -u
command -v bash >/dev/null 2>&1 || { echo "skip: no bash"; exit 77; }
failed=0

# completes EXPECTED WORD...: the last WORD is under the cursor and completes to at least EXPECTED.
completes() {
    expected=$1
    shift
    found=$(bash -c '
        source "$SOURCE/profiler/lmroof.bash"
        COMP_WORDS=("$LMROOF" "$@") COMP_CWORD=$#
        _lmroof
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@")
    for word in $expected; do
        printf '%s\n' "$found" | grep -qxF -- "$word" ||
            { echo "FAIL: 'lmroof $*' does not complete to $word, but to:" $found; failed=1; }
    done
}
completes 'probe run validate --help' ''
completes 'run report' 'r'
completes '--batch --budget' run --b
completes '--quick --quiet' probe --q
completes '--output' report --o
completes 'llama-2-7b llama-3-8b llama-3.2-1b' model -m llama
completes 'decode' run --phase d
completes 'decode' run --phase = d
completes 'epyc-9654 epyc-9754' predict --machine epyc
completes 'bf16' predict --dtype b
completes 'llama-bench llama-batched-bench' place --from l
completes 'huge' run --pages h
completes 'bf16' run --dtype b
completes 'int8 f64' probe --dtype ''

# The check itself must be able to fail.
before=$failed
completes 'no-such-command' '' >/dev/null
[ "$failed" -ne "$before" ] && failed=$before || { echo "FAIL: a missing word is not seen"; failed=1; }
[ "$failed" -eq 0 ] && echo "completion: ok"
exit "$failed"

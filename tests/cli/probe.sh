#!/bin/sh
# lmroof probe from outside: usage errors, documents, drift, interruption, closed outputs.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
# expect CODE PATTERN ARG...: exit status, and one line on stderr that matches.
expect() {
    code=$1
    pattern=$2
    shift 2
    "$LMROOF" probe "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ "$got" -eq "$code" ] || fail "probe $*: exit $got, want $code: $(cat "$work/err")"
    if [ -n "$pattern" ]; then
        grep -qE -e "$pattern" "$work/err" || fail "probe $*: stderr lacks '$pattern': $(cat "$work/err")"
        [ "$(wc -l <"$work/err")" -eq 1 ] || fail "probe $*: more than one line on stderr"
        [ -s "$work/out" ] && fail "probe $*: figures after an error"
    fi
}
small="--quick --quiet --threads 1 --levels L1 --dtype f32"

expect 0 '' --help
grep -q -e '--check' "$work/out" || fail "--help does not list --check"
expect 2 '--threads.*0' --threads 0
expect 2 '4096' --threads 4096
expect 2 'L9' --levels L1,L9
expect 2 'f7' --dtype f7
expect 2 '--frob' --frob
expect 2 'nowhere' --quick -o "$work/nowhere/x.json"
expect 2 'missing.json' --check "$work/missing.json"
echo '{"schema": "lmroof.machine/1",' >"$work/cut.json"
expect 2 'cut.json' --check "$work/cut.json"

expect 0 '' $small --json -o "$work/a.json"
cmp -s "$work/out" "$work/a.json" || fail "--json and -o differ"
for key in '"schema": "lmroof.machine/1"' '"complete": true' '"level": "L1"' '"profile_id"' \
    '"topology"' '"conditions"' '"core_hz"' '"theoretical_flop_per_s"' '"saturating_threads"'; do
    grep -qF "$key" "$work/a.json" || fail "the document lacks $key"
done
grep -qE '(nan|inf)[,}]' "$work/a.json" && fail "NaN or infinity in the document"
grep -q '"level": "DRAM", *$' "$work/a.json" && fail "DRAM was measured though not asked for"

# What the doctor finds reaches the document; without a library that is what it says.
grep -qF '"code": "blas_core"' "$work/a.json" && fail "the library's kernels are poor though lmroof chose them"
if [ "$(uname -m)" = x86_64 ] && grep -q '"blas_core": "[A-Z]' "$work/a.json"; then
    OPENBLAS_CORETYPE=Prescott "$LMROOF" probe $small --json >"$work/out" 2>"$work/err" ||
        fail "OPENBLAS_CORETYPE: $(cat "$work/err")"
    grep -qF '"code": "blas_core"' "$work/out" || fail "kernels of 2004 are no finding"
else
    grep -qF '"code": "blas_missing"' "$work/a.json" || echo "SKIPPED: the library's core type"
fi

# A profile of a machine a million times slower has drifted; the same file against itself would not.
expect 5 '' $small --check "$TESTS/documents/machine_slow.json"
grep -q 'DRIFTED' "$work/out" || fail "drift is not shown"

"$LMROOF" probe $small >&- 2>"$work/err"
[ $? -eq 1 ] || fail "closed stdout is not exit 1"
if [ -c /dev/full ]; then
    "$LMROOF" probe $small --json >/dev/full 2>"$work/err"
    [ $? -eq 1 ] || fail "full disk is not exit 1"
fi

# A signal in the middle: within a second or so, the document valid and marked incomplete.
"$LMROOF" probe --quiet -o "$work/int.json" >"$work/out" 2>"$work/err" &
pid=$!
sleep 2
kill -INT "$pid"
wait "$pid"
[ $? -eq 130 ] || fail "SIGINT is not exit 130: $(cat "$work/err")"
grep -qF '"complete": false' "$work/int.json" || fail "an interrupted document is not marked"
ls "$work" | grep -q 'int.json.' && fail "a temporary file is left behind"

if command -v taskset >/dev/null; then
    cpu=$(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')
    taskset -c "$cpu" "$LMROOF" probe --quick --quiet --levels L1 --dtype f32 --json >"$work/out" 2>&1
    grep -qF '"threads": 1' "$work/out" || fail "one thread under taskset"
    grep -qF '"threads": 2' "$work/out" && fail "two threads on one cpu"
    taskset -c "$cpu" "$LMROOF" probe --threads 2 >"$work/out" 2>&1
    [ $? -eq 2 ] || fail "more threads than cpus is not exit 2"
fi
[ "$failed" -eq 0 ] && echo "probe: ok"
exit "$failed"

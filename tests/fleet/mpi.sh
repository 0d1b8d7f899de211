# For the tests of lmroof-fleet to read: mpirun as root, on fewer cores than ranks.
command -v mpirun >/dev/null 2>&1 || { echo "SKIP: no mpirun (openmpi-bin)"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export ASAN_OPTIONS=detect_leaks=0 # the MPI library keeps what it allocates
work=$(mktemp -d) || exit 1
failed=0
fail() { echo "FAIL: $*"; failed=1; }
# expect CODE PATTERN COMMAND...: exit status, and one line of lmroof-fleet on stderr that matches.
expect() {
    code=$1
    pattern=$2
    shift 2
    timeout 120 "$@" >"$work/stdout" 2>"$work/err"
    got=$?
    [ "$got" -eq "$code" ] || fail "$*: exit $got, want $code: $(cat "$work/err")"
    [ -z "$pattern" ] && return
    grep '^lmroof-fleet: ' "$work/err" >"$work/said"
    grep -qE -e "$pattern" "$work/said" || fail "$*: stderr lacks '$pattern': $(cat "$work/err")"
    [ "$(wc -l <"$work/said")" -eq 1 ] || fail "$*: more than one line: $(cat "$work/said")"
}

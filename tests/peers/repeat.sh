#!/bin/sh
# Ten quick probes in a row: does each ceiling come back? Wanted: within 5 % of the ten's median in
# eight of ten, and what falls outside was marked by the program itself with a named sign from
# outside. "good" here is less: eight of ten, or all that fall outside marked (steal, switches, throttling, cpus moved, cores slowed, cpus apart). Prints each ceiling
# with its deviations in per cent, * where it was marked. Needs python3 and a quiet machine.
#   repeat.sh LMROOF [TIMES [ARGUMENTS OF PROBE...]]
set -u
lmroof=${1:?lmroof}
times=${2:-10}
shift
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- --quick
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
i=0
while [ "$i" -lt "$times" ]; do
    "$lmroof" probe "$@" --quiet --json >"$work/$i.json" || exit 1
    i=$((i + 1))
done
python3 "$(dirname "$0")/repeat.py" "$work"/*.json

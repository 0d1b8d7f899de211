#!/bin/sh
# lmroof-fleet probe: profiles and an index; a rank that dies, hangs or is killed loses its own.
set -u
. "$TESTS/fleet/mpi.sh"
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
small="--quick --levels L1 --dtype f32"
[ "$(nproc)" -ge 2 ] || { echo "SKIP: two ranks need two cores"; exit 77; }

expect 0 '' "$FLEET" --help
expect 0 '' "$FLEET" probe --help
expect 2 'frob' "$FLEET" frob
expect 2 '-o: found nothing' "$FLEET" probe
expect 2 "'cores' is no unit" mpirun -n 2 "$FLEET" probe --per cores -o out
expect 2 "'nowhere' does not exist" mpirun -n 2 "$FLEET" probe -o nowhere/out
expect 2 "'L9' is no level" mpirun -n 2 "$FLEET" probe --per core --levels L9 -o bad
expect 2 'no node left' mpirun -n 2 "$FLEET" probe $small -o bad

# Two profiles and an index, each profile of one cpu.
expect 0 '' mpirun -n 2 "$FLEET" probe --per core $small -o out
[ "$(ls -A out | wc -l)" -eq 3 ] || fail "not two profiles and an index: $(ls -A out)"
grep -qF '"complete": true' out/index.json || fail "the index is not complete"
sh "$TESTS/schema.sh" out/*.json >schema.log || { [ $? -eq 77 ] || fail "$(cat schema.log)"; }
[ "$(grep -l '"usable_cpus": "1"' out/*-cpu*.json | wc -l)" -eq 2 ] || fail "not one cpu each"
expect 0 '' "$FLEET" rank out


# One after the other, twice.
expect 0 '' mpirun -n 2 "$FLEET" probe --per core --solo --repeat 2 $small --json -o solo
grep -qF '"lmroof.fleet/1"' "$work/stdout" || fail "--json prints no index"
[ "$(ls solo | grep -c 'r[01].json')" -eq 4 ] || fail "not four profiles: $(ls solo)"

# pid_of COMM PARENT: waits for the process of that name below mpirun: a keeper, or
# a keeper's child that measures (whose own children check kernels).
pid_of() {
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        sleep 0.3
        found=$(ps -eo pid=,ppid=,comm= | awk -v c="$1" -v top="$2" -v keeper="$([ "$1" = lmroof-fleet ] && echo fleet-keeper || echo mpirun)" '
            {parent[$1] = $2; name[$1] = $3}
            END {for (p in name) if (name[p] == c && name[parent[p]] == keeper) {
                q = p; while (q in parent && q > 1 && q != top) q = parent[q]
                if (q == top) print p}}' | sort -n | head -n 1)
        [ -n "$found" ] && [ "$(ls "$3" 2>/dev/null | wc -l)" -gt 0 ] && break
    done
    sleep 0.5
    echo "$found"
}
# A process that measures is killed: exit 1, its name, the other's profile whole.
mpirun -n 2 "$FLEET" probe --per core --quick -o killed >k.out 2>k.err &
job=$!
victim=$(pid_of lmroof-fleet "$job" killed)
[ -n "$victim" ] && kill -KILL "$victim"
wait "$job"
[ $? -eq 1 ] || fail "a killed process is not exit 1: $(cat k.err)"
grep -qE '^lmroof-fleet: rank [01] \(host .*, cpus .*\).*killed by signal 9' k.err ||
    fail "the killed rank is not named: $(cat k.err)"
grep -qF '"complete": false' killed/index.json || fail "the index says complete"
[ "$(grep -c '"state": "done"' killed/index.json)" -eq 1 ] || fail "the other rank has no result"
sh "$TESTS/schema.sh" killed/*.json >schema.log || { [ $? -eq 77 ] || fail "$(cat schema.log)"; }

# A rank itself is killed: mpirun ends the job, the index is valid and names it.
mpirun -n 2 "$FLEET" probe --per core --quick -o lost >k.out 2>k.err &
job=$!
victim=$(pid_of fleet-keeper "$job" lost)
[ -n "$victim" ] && kill -KILL "$victim"
wait "$job" && fail "a killed rank is a success"
grep -qF '"state": "lost"' lost/index.json || fail "the lost rank is not in the index"
sh "$TESTS/schema.sh" lost/index.json >schema.log || { [ $? -eq 77 ] || fail "$(cat schema.log)"; }

# A process that hangs is given up.
mpirun -n 2 "$FLEET" probe --per core $small --timeout 15 -o hung >k.out 2>k.err &
job=$!
victim=$(pid_of lmroof-fleet "$job" hung)
[ -n "$victim" ] && kill -STOP "$victim"
wait "$job"
code=$?
if grep -q '"state": "timed_out"' hung/index.json; then
    [ "$code" -eq 1 ] || fail "a hanging process is exit $code, not 1"
else
    echo "note: the process was done before it could be stopped"
fi

[ "$failed" -eq 0 ] && echo "fleet probe: ok"
exit "$failed"

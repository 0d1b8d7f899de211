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

# pid_of COMM RANK FOLDER: the process of that name in a rank of the job into that folder, once all
# ranks measure; nothing after two minutes. Names: fleet-guardian (mpirun's child), fleet-keeper (its
# child), lmroof-fleet (the keeper's, which measures; children of that check kernels).
pid_of() {
    for _ in $(seq 1200); do
        sleep 0.1
        [ "$(cat "$3"/.ranks/[01] 2>/dev/null | grep -c '^running')" -eq 2 ] || continue
        ps -eo pid=,ppid=,comm= | awk -v c="$1" '{pid[NR] = $1; parent[NR] = $2; name[$1] = $3}
            END {for (i = 1; i <= NR; i++) if (name[pid[i]] == c &&
                (c != "lmroof-fleet" || name[parent[i]] == "fleet-keeper")) print pid[i]}' >pids
        while read -r pid; do
            [ "$(readlink "/proc/$pid/cwd")" = "$(pwd -P)" ] &&
                tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$2" &&
                tr '\0' '\n' <"/proc/$pid/cmdline" | grep -qx "$3" && echo "$pid" && return
        done <pids 2>/dev/null
    done
}
# hit SIGNAL COMM RANK FOLDER OPTION...: a job of two ranks one process of which gets a signal;
# $code is mpirun's exit status.
hit() {
    number=$1
    name=$2
    rank=$3
    folder=$4
    shift 4
    mpirun -n 2 "$FLEET" probe --per core --quick --dtype f32 -o "$folder" "$@" >k.out 2>k.err &
    job=$!
    victim=$(pid_of "$name" "$rank" "$folder")
    [ -n "$victim" ] || fail "no $name of rank $rank was seen: $(cat k.err)"
    [ -n "$victim" ] && kill "-$number" "$victim"
    wait "$job"
    code=$?
    sh "$TESTS/schema.sh" "$folder/index.json" >schema.log || { [ $? -eq 77 ] || fail "$(cat schema.log)"; }
    grep -qF '"complete": false' "$folder/index.json" || fail "$name: the index says complete"
}
# A process that measures is killed, or one that watches it: exit 1, the rank's name, and the
# other's profile is whole.
for victims in lmroof-fleet:1 fleet-keeper:0 fleet-keeper:1; do
    hit KILL "${victims%:*}" "${victims#*:}" "k-$victims" --levels L1
    [ "$code" -eq 1 ] || fail "$victims killed: exit $code, not 1: $(cat k.err)"
    grep -qE "^lmroof-fleet: rank ${victims#*:} \(host .*, cpus .*\).*killed by signal 9" k.err ||
        fail "$victims killed: the rank is not named: $(cat k.err)"
    [ "$(grep -c '"state": "done"' "k-$victims/index.json")" -eq 1 ] ||
        fail "$victims killed: the other rank has no result: $(cat "k-$victims/index.json")"
done

# mpirun's own child is killed: it ends the job, the index is valid and names the rank.
hit KILL fleet-guardian 1 lost --levels L1
[ "$code" -ne 0 ] || fail "a killed guardian is a success"
grep -qF '"state": "lost"' lost/index.json || fail "the lost rank is not in the index"

# A process that hangs is given up.
hit STOP lmroof-fleet 1 hung --levels L1 --timeout 12
[ "$code" -eq 1 ] || fail "a hanging process is exit $code, not 1"
grep -qF '"state": "timed_out"' hung/index.json || fail "a hanging process is not given up"

[ "$failed" -eq 0 ] && echo "fleet probe: ok"
exit "$failed"

#!/bin/sh
# lmroof-fleet under Slurm's srun, where it runs: two ranks of this host, and one that is killed.
set -u
. "$TESTS/fleet/mpi.sh"
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
skip() { echo "SKIP: $1: srun was not tested"; exit 77; }
[ "$(nproc)" -ge 2 ] || skip "two ranks need two cores"
command -v srun >/dev/null 2>&1 || skip "no srun (slurm-wlm)"
timeout 10 srun --mpi=list 2>&1 | grep -q pmix || skip "no Slurm with PMIx answers"
timeout 20 srun --immediate=10 -N 1 -n 2 true >/dev/null 2>&1 || skip "Slurm does not run here, or is busy"
run() { timeout 120 srun -N 1 -n 2 --mpi=pmix --cpu-bind=none --kill-on-bad-exit=0 "$@"; }

run "$FLEET" probe --per core --quick --levels L1 --dtype f32 -o out >s.out 2>s.err ||
    fail "srun: exit $?: $(cat s.err)"
[ "$(ls -A out | wc -l)" -eq 3 ] || fail "not two profiles and an index: $(ls -A out)"
grep -qF '"complete": true' out/index.json || fail "the index is not complete"
run "$FLEET" net --sizes 8,65536 --repeat 3 -o net.json >s.out 2>s.err || fail "net: $(cat s.err)"
grep -qF '"ranks": 2' net.json || fail "net: not two ranks"
run "$FLEET" probe --per core --quick --levels L1 --dtype f32 -o killed >s.out 2>s.err &
job=$!
victim=
for _ in $(seq 600); do
    sleep 0.1
    [ "$(cat killed/.ranks/[01] 2>/dev/null | grep -c '^running')" -eq 2 ] || continue
    for pid in $(ps -eo pid=,comm= | awk '$2 == "fleet-keeper" {print $1}'); do
        [ "$(readlink "/proc/$pid/cwd")" = "$(pwd -P)" ] &&
            tr '\0' '\n' <"/proc/$pid/environ" | grep -qx SLURM_PROCID=1 && victim=$pid
    done 2>/dev/null
    [ -n "$victim" ] && break
done
[ -n "$victim" ] && kill -KILL "$victim" || fail "rank 1 was not seen: $(cat s.err)"
wait "$job"
code=$?
[ "$code" -eq 1 ] || fail "a killed rank is exit $code, not 1: $(cat s.err)"
grep -q '^lmroof-fleet: rank 1 .*killed by signal 9' s.err || fail "it is not named: $(cat s.err)"
[ "$(grep -c '"state": "done"' killed/index.json)" -eq 1 ] || fail "the other rank has no result"
[ "$failed" -eq 0 ] && echo "fleet slurm: ok"
exit "$failed"

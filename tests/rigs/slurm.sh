#!/bin/sh
# lmroof-fleet under srun: a Slurm cluster of two nodes on this host, started for the test (its own
# munged, slurmctld and two slurmd). probe, net and tp, a rank that is killed, the batch example.
set -u
for program in munged slurmctld slurmd srun sbatch setsid; do
    PATH=$PATH:/usr/sbin command -v "$program" >/dev/null 2>&1 || {
        echo "SKIP: no $program (Debian: slurm-wlm munge): srun was not tested"
        exit 77
    }
done
PATH=$PATH:/usr/sbin
[ "$(id -u)" -eq 0 ] || { echo "SKIP: not root: srun was not tested"; exit 77; }
[ "$(nproc)" -ge 2 ] || { echo "SKIP: two ranks need two cores"; exit 77; }
work=$(mktemp -d) || exit 1
chmod 755 "$work" # munged wants to
failed=0
fail() { echo "FAIL: $*"; failed=1; }
clean() {
    for pid in "$work"/*.pid; do
        [ -f "$pid" ] && kill "$(cat "$pid")" 2>/dev/null
    done
    # The daemons write their last state: not after the folder is gone.
    i=0
    while [ "$i" -lt 100 ] && ls "$work"/*.pid >/dev/null 2>&1; do
        i=$((i + 1))
        sleep 0.1
    done
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM
cd "$work" || exit 1
skip() {
    tail -n 3 "$work"/*.log 2>/dev/null
    echo "SKIP: $1: srun was not tested"
    exit 77
}

host=$(hostname -s)
base=$((20000 + $$ % 5000 * 4)) # ports of this process alone
export SLURM_CONF="$work/slurm.conf"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0
cat >"$SLURM_CONF" <<CONF
ClusterName=lmroof
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.sock
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmctldPort=$base
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool.%n
TmpFS=$work/tmp.%n
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.%n.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.%n.log
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 1)) CPUs=2
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((base + 2)) CPUs=2
PartitionName=all Nodes=n1,n2 Default=YES State=UP
CONF
mkdir state spool.n1 spool.n2 tmp.n1 tmp.n2
head -c 128 /dev/urandom >key && chmod 600 key
munged --force --key-file="$work/key" --socket="$work/munge.sock" --pid-file="$work/munged.pid" \
    --log-file="$work/munged.log" --seed-file="$work/munged.seed" 2>munge.err || skip "munged: $(cat munge.err)"
slurmctld -f "$SLURM_CONF" || skip "slurmctld does not start"
for n in n1 n2; do
    slurmd -f "$SLURM_CONF" -N "$n" || skip "slurmd does not start"
done
# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
    left=$(($1 * 5))
    shift
    until "$@"; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || return 1
        sleep 0.2
    done
}
both_idle() { [ "$(sinfo -h -N -o '%T' 2>/dev/null | grep -c '^idle')" -eq 2 ]; }
wait_for 60 both_idle || skip "the nodes do not become idle: $(sinfo -h -N 2>&1)"
srun --mpi=list 2>&1 | grep -q pmix || skip "this Slurm has no --mpi=pmix"

small="--quick --levels L1 --dtype f32"
launch="timeout 300 srun --mpi=pmix --cpu-bind=none -n 2"
check() { sh "$TESTS/schema.sh" "$@" >schema.out || { [ $? -eq 77 ] || fail "$(cat schema.out)"; }; }
for nodes in 1 2; do
    $launch -N "$nodes" "$FLEET" probe --per core $small -o "out$nodes" >text 2>err ||
        fail "probe on $nodes nodes: $(cat err)"
    [ "$(ls -A "out$nodes" | wc -l)" -eq 3 ] || fail "not two profiles and an index: $(ls -A "out$nodes")"
    grep -qF '"complete": true' "out$nodes/index.json" || fail "the index is not complete"
    check "out$nodes"/*.json
done
[ "$(grep -c 'done$' text)" -eq 2 ] || fail "other ranks print too, or none: $(cat text)"
$launch -N 2 "$FLEET" probe --per core --solo --repeat 2 $small -o solo >text 2>err ||
    fail "--solo: $(cat err)"
[ "$(ls solo | grep -c 'r[01].json')" -eq 4 ] || fail "not four profiles: $(ls solo)"
$launch -N 2 "$FLEET" net --sizes 8,65536 --repeat 3 -o net.json >text 2>err || fail "net: $(cat err)"
check net.json
$launch -N 2 "$FLEET" tp --per core -m "$TESTS/fleet/tiny.json" --repeat 3 -o tp.json >text 2>err ||
    fail "tp: $(cat err)"
check tp.json
$launch "$FLEET" probe --per cores -o bad >text 2>err
[ $? -eq 2 ] || fail "bad usage is not exit 2: $(cat err)"
[ "$(grep -c '^lmroof-fleet: ' err)" -eq 1 ] || fail "not one line: $(cat err)"

# A process that measures is killed: exit 1, its name, the other's profile whole.
measures() { # the worker of a rank of the step, once the index says it runs
    grep -qF '"state": "running"' killed/index.json 2>/dev/null || return 1
    victim=$(ps -eo pid=,ppid=,comm=,args= | awk '
        $3 == "lmroof-fleet" && / -o killed/ {worker[$1] = $2}
        $3 != "lmroof-fleet" {other[$1] = 1}
        END {for (p in worker) if (worker[p] in other) {print p; exit}}')
    [ -n "$victim" ]
}
$launch -N 2 --kill-on-bad-exit=0 "$FLEET" probe --per core --quick -o killed >text 2>err &
job=$!
wait_for 120 measures || fail "no process measures"
[ -n "$victim" ] && kill -KILL "$victim"
wait "$job"
code=$?
[ "$code" -eq 1 ] || fail "a killed process is exit $code, not 1: $(cat err)"
grep -qE '^lmroof-fleet: rank [01] \(host .*, cpus .*\).*killed by signal 9' err ||
    fail "the killed rank is not named: $(cat err)"
[ "$(grep -c '"state": "done"' killed/index.json)" -eq 1 ] || fail "the other rank has no result"
check killed/*.json

# The batch example, as it stands; both nodes are this host, hence by core.
PATH=$(dirname "$FLEET"):$PATH
timeout 300 sbatch --wait --output=batch.out "$TESTS/../profiler/fleet/fleet.sbatch" --per core $small \
    >text 2>err || fail "the batch example: $(cat err batch.out)"
id=$(sed -n 's/^Submitted batch job //p' text)
[ "$(ls "fleet-$id" | grep -c 'r[0-4].json')" -eq 10 ] || fail "not ten profiles: $(ls "fleet-$id")"
[ -s "fleet-$id.html" ] && [ -s "fleet-$id-net.json" ] || fail "no heat map or network: $(ls)"
[ "$failed" -eq 0 ] && echo "rig slurm: ok"
exit "$failed"

#!/bin/sh
# lmroof-fleet net and tp: documents, heads that do not divide, 2 and 4 ranks; in two network
# namespaces with a link of 1 Gbit/s the verdict names the network.
set -u
. "$TESTS/fleet/mpi.sh"
namespaces=lf$$
clean() {
    for i in 1 2; do
        ip netns del "${namespaces}n$i" 2>/dev/null
    done
    ip link del "${namespaces}b" 2>/dev/null
    rm -rf "$work"
}
trap clean EXIT
cd "$work" || exit 1
tiny=$TESTS/fleet/tiny.json
check() { sh "$TESTS/schema.sh" "$@" >schema.log || { [ $? -eq 77 ] || fail "$(cat schema.log)"; }; }
memory=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
[ "$memory" -ge 6 ] || { echo "SKIP: less than 6 GiB of memory"; exit 77; }

expect 2 'found 1 rank, accepted 2 or more' mpirun -n 1 "$FLEET" net
expect 2 'found 1 rank, accepted 2 or more' "$FLEET" net
expect 2 'multiples of 4' mpirun -n 2 "$FLEET" net --sizes 7
expect 2 'do not divide over 3 ranks; accepted: 1, 2, 4, 8 ranks' mpirun -n 3 "$FLEET" tp
expect 2 'nowhere.json' mpirun -n 2 "$FLEET" tp -m nowhere.json
expect 1 'experts' mpirun -n 2 "$FLEET" tp -m mixtral-8x7b
for ranks in 2 4; do
    expect 0 '' mpirun -n $ranks "$FLEET" net --sizes 8,65536 --repeat 3 -o net.json
    check net.json
    grep -qF "\"ranks\": $ranks" net.json || fail "not $ranks ranks"
done
grep -q 'All-reduce over 4 ranks' "$work/stdout" || fail "no all-reduce is shown"
if [ "$(nproc)" -ge 2 ]; then
    expect 0 '' mpirun -n 2 "$FLEET" tp --per core -m "$tiny" --repeat 3 -o tp.json
    check tp.json
    grep -q 'Bound by: ' "$work/stdout" || fail "no verdict: $(cat "$work/stdout")"
    grep -qF '"count": 8' tp.json || fail "not two all-reduces a layer"
else
    echo "note: one core: tp was not run"
fi

# Two "nodes": network namespaces with their own host names, joined by a bridge. The burst is small:
# a bucket that fills up while the ranks compute would hide the link.
skip() {
    [ "$failed" -eq 0 ] || exit 1
    echo "SKIP: $1: the network's verdict was not tested"
    exit 77
}
[ "$(id -u)" -eq 0 ] || skip "not root"
command -v ip >/dev/null && command -v tc >/dev/null && command -v unshare >/dev/null &&
    command -v taskset >/dev/null || skip "no ip, tc, unshare or taskset"
ip link add "${namespaces}b" type bridge 2>/dev/null || skip "no bridges here"
ip addr add 10.203.77.254/24 dev "${namespaces}b" && ip link set "${namespaces}b" up
for i in 1 2; do
    n=${namespaces}n$i
    ip netns add "$n" 2>/dev/null || skip "no network namespaces here"
    ip link add "${namespaces}v$i" type veth peer name eth0 netns "$n" || skip "no veth here"
    ip link set "${namespaces}v$i" master "${namespaces}b" up
    ip -n "$n" addr add "10.203.77.$i/24" dev eth0
    ip -n "$n" link set eth0 up
    ip -n "$n" link set lo up
    ip netns exec "$n" tc qdisc add dev eth0 root tbf rate 1gbit burst 16kb latency 50ms 2>/dev/null ||
        skip "no tbf here"
done
cat >agent <<'SH'
#!/bin/sh
# In place of ssh: "host" is a namespace.
host=$1
shift
cpu=$((${host##*n} - 1))
[ "$cpu" -lt "$(nproc)" ] || cpu=0
exec taskset -c "$cpu" ip netns exec "$host" unshare --uts sh -c "hostname $host; $*"
SH
chmod +x agent
nodes="--mca plm_rsh_agent $work/agent --mca oob_tcp_if_include ${namespaces}b,eth0 --mca btl tcp,self
    --mca btl_tcp_if_include 10.203.77.0/24 --host ${namespaces}n1:1,${namespaces}n2:1 --bind-to none -n 2"
expect 0 '' mpirun $nodes "$FLEET" net --sizes 8,4194304 --repeat 3 -o net.json
python3 - <<'PY' || fail "a link of 1 Gbit/s is measured as another"
import json
link = json.load(open("net.json"))["links"][0]
rate = link["messages"][-1]["bytes_per_s"]["value"]
# No lower limit: ranks that wait for a core see less of the link, never more.
assert link["from_host"] != link["to_host"] and 0 < rate < 150e6, link
PY
# Of a layer of hidden size h a rank computes 7 h^2 B FLOP here and the two all-reduces carry 8 h B
# bytes: at h = 128 and 1 Gbit/s the link takes 0.5 ms a layer, the work a tenth of that (measured).
# names_network RATE: with links of that rate the step is bound by them, in one of three runs: other
# work on these cores makes the ranks slower, not the link.
names_network() {
    for i in 1 2; do
        ip netns exec "${namespaces}n$i" tc qdisc replace dev eth0 root tbf rate "$1" burst 16kb \
            latency 50ms
    done
    for try in 1 2 3; do
        expect 0 '' mpirun $nodes "$FLEET" tp --per core -m "$TESTS/fleet/narrow.json" --batch 64 \
            --context 16 --repeat 5 -o tp.json
        check tp.json
        grep -qF '"bound": "network"' tp.json && grep -q 'Bound by: network' "$work/stdout" && return
    done
    echo "not at $1, run $try: $(cat "$work/stdout")"
    return 1
}
load=$(awk '{print int($1 * 10)}' /proc/loadavg)
if ! names_network 1gbit; then
    [ "$load" -gt $((15 * $(nproc))) ] || fail "the network is not named at 1 Gbit/s"
    echo "note: a load of $load / 10 on $(nproc) cores: tried at 100 Mbit/s"
    names_network 100mbit || fail "the network is not named"
fi
[ "$failed" -eq 0 ] && echo "fleet tp: ok"
exit "$failed"

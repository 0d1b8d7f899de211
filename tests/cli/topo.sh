#!/bin/sh
# lmroof topo: exit codes, one line for each bad input, what it says of known machines.
set -u
failed=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

fail() {
    echo "FAIL: $*"
    failed=1
}
# expect CODE WORDS ARGUMENT...: exit code; where it is not 0, one line on stderr that has WORDS
# and nothing on stdout.
expect() {
    code=$1
    words=$2
    shift 2
    "$LMROOF" topo "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    [ "$got" -eq "$code" ] || fail "topo $*: exit $got, expected $code"
    if [ "$code" -ne 0 ]; then
        [ "$(wc -l <"$dir/err")" -eq 1 ] || fail "topo $*: not one line: $(cat "$dir/err")"
        grep -qF -- "$words" "$dir/err" || fail "topo $*: no '$words' in: $(cat "$dir/err")"
        [ -s "$dir/out" ] && fail "topo $*: results beside an error"
    else
        [ -s "$dir/err" ] && fail "topo $*: stderr: $(cat "$dir/err")"
        grep -qF -- "$words" "$dir/out" || fail "topo $*: no '$words' in: $(cat "$dir/out")"
    fi
}
machines=$TESTS/machines
# A saved root with two settings that cost something.
mkdir -p "$dir/slow/sys/kernel/mm/transparent_hugepage" "$dir/slow/sys/devices/system/cpu/intel_pstate"
tar xzf "$machines/16em64t-4s2c2t.tar.gz" -C "$dir/slow" || exit 1
echo 'always madvise [never]' >"$dir/slow/sys/kernel/mm/transparent_hugepage/enabled"
echo 1 >"$dir/slow/sys/devices/system/cpu/intel_pstate/no_turbo"
mkdir -p "$dir/arm" "$dir/xeon" "$dir/nosys/proc" "$dir/nothing"
tar xzf "$machines/2arm-2c.tar.gz" -C "$dir/arm" || exit 1
tar xzf "$machines/16em64t-4s2c2t.tar.gz" -C "$dir/xeon" || exit 1
cp "$dir/xeon/proc/cpuinfo" "$dir/nosys/proc/"
head -c 3000 "$machines/32em64t-2n8c2t-pci-noio.xml" >"$dir/cut.xml"
echo '<topology version="2.0"><object type="Foo"/></topology>' >"$dir/foo.xml"

expect 0 "machine" --quiet
expect 0 "Usage:" --help
expect 0 "4 packages, 1 NUMA node, 8 cores, 16 PUs, SMT" --input "$dir/xeon"
expect 0 "1 package, 1 NUMA node, 2 cores, 2 PUs, no SMT" --input "$dir/arm"
expect 0 "caches        not told" --input "$dir/nosys"
expect 0 "2 packages, 2 NUMA nodes, 16 cores, 32 PUs, SMT" --input "$machines/32em64t-2n8c2t-pci-noio.xml"
expect 0 '"code": "caches_hidden"' --input "$dir/arm" --json
expect 0 '"llc_total_bytes": 16777216' --input "$dir/xeon" --json
expect 0 '"numa_nodes": 4' --json --input "$machines/40intel64-2g2n4c+pcilocality.hwloc29.xml"
expect 0 '"governor": null' --json --input "$machines/hybrid-hbm.xml"

expect 0 '"code": "turbo_off"' --input "$dir/slow" --json
expect 0 '  thp_off: transparent huge pages are off' --input "$dir/slow"
expect 0 '      try: echo madvise' --input "$dir/slow"
expect 0 '"warnings": []' --input "$dir/xeon" --json

expect 2 "$dir/cut.xml" --input "$dir/cut.xml"
expect 2 "$dir/foo.xml" --input "$dir/foo.xml" --json
expect 2 "$dir/missing.xml" --input "$dir/missing.xml"
expect 2 "$dir/nothing" --input "$dir/nothing"
expect 2 "$dir/xeon/proc/stat" --input "$dir/xeon/proc/stat"
expect 2 "/dev/null" --input /dev/null
expect 2 "--bogus" --bogus
expect 2 "stray" stray
expect 2 "--input" --input
expect 2 "no/such/folder" -o "$dir/no/such/folder/out.json"

"$LMROOF" topo -o "$dir/topo.json" --input "$dir/xeon" >/dev/null || fail "-o failed"
grep -q '"schema": "lmroof.topology/1"' "$dir/topo.json" || fail "-o wrote no document"
cp "$dir/topo.json" "$dir/before.json"
"$LMROOF" topo -o "$dir/topo.json" --input "$dir/cut.xml" >/dev/null 2>&1 && fail "a damaged input passed"
cmp -s "$dir/topo.json" "$dir/before.json" || fail "an error changed the file of -o"
[ "$(find "$dir" -maxdepth 1 -name 'topo.json*' | wc -l)" -eq 1 ] || fail "-o left a temporary behind"
if [ -w /dev/full ]; then
    "$LMROOF" topo >/dev/full 2>"$dir/err"
    [ $? -eq 1 ] || fail "a full disk behind stdout is not exit 1"
    [ "$(wc -l <"$dir/err")" -eq 1 ] || fail "a full disk: $(cat "$dir/err")"
fi
"$LMROOF" topo >&- 2>"$dir/err"
[ $? -eq 1 ] || fail "a closed stdout is not exit 1"

# With findings or without: that they were looked for is said.
"$LMROOF" topo | grep -q '^Warnings$' || fail "topo does not say whether there are findings"
"$LMROOF" topo | sed -n '/^Warnings$/,$p' | grep -Eq '^  (none|[a-z_0-9]+): ' || fail "neither findings nor none"

# The affinity mask is a limit, and what a user exported for hwloc is not the machine.
first=$("$LMROOF" topo | sed -n 's/^usable .*(\([0-9]*\).*/\1/p')
taskset -c "$first" "$LMROOF" topo | grep -q "^usable  *1 cpu ($first) on 1 core" ||
    fail "taskset -c $first is not one usable cpu"
HWLOC_SYNTHETIC='pack:7 core:1 pu:1' "$LMROOF" topo | grep -q '7 packages' &&
    fail "HWLOC_SYNTHETIC replaced the machine"

[ "$failed" -eq 0 ] && echo "topo: ok"
exit "$failed"

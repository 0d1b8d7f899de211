#!/bin/sh
# lmroof under the limits that people run it in: one cpu of several, a quota of 1.5 cores, 1 GiB of
# memory, /sys hidden, no privileges, and all of that at once. Right threads and sizes, or one
# clear line. What this environment forbids to set up is named; 77 if that is everything.
set -u
work=$(mktemp -d) || exit 1
chmod 755 "$work"
mkdir -m 777 "$work/open"
groups=
cleanup() {
    for group in $groups; do rmdir "$group" 2>/dev/null; done
    rm -rf "$work"
}
trap cleanup EXIT
failed=0
ran=0
fail() {
    echo "FAIL: $*"
    failed=1
}
skip() { echo "SKIPPED: $*"; }
gib=$((1 << 30))
cp "$LMROOF" "$work/lmroof" && chmod 755 "$work/lmroof"
lmroof=$work/lmroof
nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"

# number KEY FILE: the first figure of that key.
number() { sed -n "s/.*\"$1\": \([0-9][0-9.]*\).*/\1/p" "$2" | head -n 1; }
# sizes NAME: DRAM is measured beyond the caches that the process reaches, L1 within its own.
sizes() {
    llc=$(number llc_total_bytes "$work/topo.json")
    l1=$(awk '/"cache_level": 1,/ { on = 1 } on && /"type": "data"/ { data = 1 }
        on && data && /"bytes":/ { gsub(/[^0-9]/, ""); print; exit }' "$work/topo.json")
    awk -v name="$1" -v llc="${llc:-0}" -v l1="${l1:-0}" '
        /"level":/ { level = $2; gsub(/[^A-Z0-9]/, "", level) }
        /"working_set_bytes":/ { gsub(/[^0-9]/, ""); seen[level]++
            if (level == "DRAM" && $0 + 0 < 4 * llc) print "DRAM in " $0 " bytes, caches " llc
            if (level == "L1" && l1 > 0 && $0 + 0 > l1) print "L1 in " $0 " bytes of " l1 }
        END { if (!seen["L1"]) print "no L1" }' "$work/out" >"$work/wrong"
    [ -s "$work/wrong" ] && fail "$1: $(cat "$work/wrong")"
}
# one_line NAME CODE: a refusal is exit 1, one line that says what is there, and no figures.
one_line() {
    [ "$2" -eq 1 ] || fail "$1: exit $2: $(cat "$work/err")"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$1: not one line: $(cat "$work/err")"
    grep -q 'available' "$work/err" || fail "$1: the refusal lacks a reason: $(cat "$work/err")"
    [ -s "$work/out" ] && fail "$1: figures beside a refusal"
}
# topo NAME PREFIX...
topo() {
    name=$1
    shift
    "$@" "$lmroof" topo --json >"$work/topo.json" 2>"$work/err" ||
        fail "$name: topo: exit $?: $(cat "$work/err")"
    ran=$((ran + 1))
}
# threads NAME WANTED PREFIX...: the probe and a run use exactly that many.
threads() {
    name=$1
    wanted=$2
    shift 2
    topo "$name" "$@"
    "$@" "$lmroof" probe --quick --quiet --levels L1,DRAM --dtype f32 --json >"$work/out" 2>"$work/err"
    code=$?
    if [ "$code" -ne 0 ]; then
        one_line "$name: probe" "$code"
    else
        bad=$(grep -o '"threads": [0-9][0-9]*' "$work/out" | sort -u | grep -v "\"threads\": $wanted\$")
        [ -z "$bad" ] || fail "$name: probe: $bad, not $wanted"
        grep -q '"threads":' "$work/out" || fail "$name: probe: no ceiling"
        available=$(number memory_available_bytes "$work/topo.json")
        used=$(number memory_used_bytes "$work/out")
        [ -n "$used" ] && [ "$used" -gt 0 ] || fail "$name: probe: memory_used_bytes is '$used'"
        [ "$((used / 1024))" -le "$((available / 1024 / 5 * 4))" ] ||
            fail "$name: probe used $used bytes of $available"
        sizes "$name"
    fi
    "$@" "$lmroof" run --quiet -m pythia-160m --phase decode --batch 1 --dtype bf16 --repeat 3 \
        --no-twins --budget 300 --json >"$work/out" 2>"$work/err"
    code=$?
    if [ "$code" -ne 0 ]; then
        one_line "$name: run" "$code"
    else
        bad=$(grep -o '"threads": [0-9][0-9]*' "$work/out" | sort -u | grep -v "\"threads\": $wanted\$")
        [ -z "$bad" ] || fail "$name: run: $bad, not $wanted"
    fi
}
# Commands that set one limit and become what follows. $1 of in_group: cgroup.procs.
printf '#!/bin/sh\nulimit -v 1048576 || exit 99\nexec "$@"\n' >"$work/in_1gib"
printf '#!/bin/sh\necho $$ >"$1" || exit 99\nshift\nexec "$@"\n' >"$work/in_group"
printf '#!/bin/sh\nmount -t tmpfs none /sys || exit 99\nexec "$@"\n' >"$work/without_sys"
chmod 755 "$work/in_1gib" "$work/in_group" "$work/without_sys"
# group CONTROLLER FILE VALUE: prints a new group's folder with that limit, or nothing.
group() {
    mount=$(awk -v c="$1" '$0 ~ / - cgroup / && $NF ~ "(^|,)" c "(,|$)" { print $5; exit }' /proc/self/mountinfo)
    [ -n "$mount" ] || return 1
    made=$mount/lmroof-limits-$1-$$
    mkdir "$made" 2>/dev/null || return 1
    if echo "$3" 2>/dev/null >"$made/$2" && [ -w "$made/cgroup.procs" ]; then
        echo "$made"
    else
        rmdir "$made"
        return 1
    fi
}

topo "no limit"
cores=$(sed -n 's/.*"cores": \([0-9]*\).*/\1/p' "$work/topo.json" | head -n 1)
usual=$("$lmroof" topo | sed -n 's/^usable.* \([0-9]*\) threads\{0,1\} by default.*/\1/p')
[ -n "$usual" ] && [ "$usual" -ge 1 ] && [ "$usual" -le "$cores" ] || fail "threads by default: '$usual'"

cpu=$(taskset -cp $$ | sed 's/.*[: ,-]//')
threads "one cpu" 1 taskset -c "$cpu"
taskset -c "$cpu" "$lmroof" probe --quick --quiet --levels L1 --dtype f32 --json >"$work/out"
[ "$(grep -o '"cpus": "[^"]*"' "$work/out" | sort -u)" = "\"cpus\": \"$cpu\"" ] ||
    fail "one cpu: measured on $(grep -o '"cpus": "[^"]*"' "$work/out" | sort -u | tr '\n' ' '), not $cpu"

quota=$(group cpu cpu.cfs_quota_us 150000) && groups="$groups $quota"
if [ -n "$quota" ]; then
    threads "quota of 1.5 cores" 1 "$work/in_group" "$quota/cgroup.procs"
    [ "$(number cpu_quota_cores "$work/topo.json")" = 1.5 ] || fail "quota: topo does not tell 1.5 cores"
else
    skip "a quota: no cgroup of version 1 to write to"
fi

# A quota of version 2, two levels up, from a saved root.
mkdir -p "$work/v2/proc/self" "$work/v2/sys/fs/cgroup/pod/box"
tar xzf "$TESTS/machines/16em64t-4s2c2t.tar.gz" -C "$work/v2"
echo '0::/pod/box' >"$work/v2/proc/self/cgroup"
echo '30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw' >"$work/v2/proc/self/mountinfo"
echo 'max 100000' >"$work/v2/sys/fs/cgroup/pod/box/cpu.max"
echo '150000 100000' >"$work/v2/sys/fs/cgroup/pod/cpu.max"
echo 1073741824 >"$work/v2/sys/fs/cgroup/pod/memory.max"
echo 73741824 >"$work/v2/sys/fs/cgroup/pod/memory.current"
"$lmroof" topo --input "$work/v2" >"$work/out" || fail "version 2: topo"
grep -q 'CFS quota of 1.5 cores; 1 thread by default' "$work/out" ||
    fail "version 2: $(grep '^usable' "$work/out")"
"$lmroof" topo --input "$work/v2" --json >"$work/topo.json"
[ "$(number memory_available_bytes "$work/topo.json")" = 1000000000 ] ||
    fail "version 2: memory $(number memory_available_bytes "$work/topo.json"), not 1000000000"

# One GiB, as a limit of address space and as a cgroup's. Alone, lmroof wants more and says so.
refuses() {
    name=$1
    shift
    (cd "$work/open" && "$@" "$lmroof" >"$work/out" 2>"$work/err")
    one_line "$name: lmroof alone" $?
    [ -e "$work/open/lmroof-report.html" ] && fail "$name: a report without figures"
}
one_gib() {
    [ "$(number memory_available_bytes "$work/topo.json")" -le "$gib" ] ||
        fail "$1: topo tells $(number memory_available_bytes "$work/topo.json") bytes"
}
if "$work/in_1gib" "$LMROOF" --version 2>&1 | grep -q Sanitizer; then
    skip "1 GiB of addresses: a sanitizer maps terabytes of them"
else
    threads "1 GiB of addresses" "$usual" "$work/in_1gib"
    one_gib "1 GiB of addresses"
    refuses "1 GiB of addresses" "$work/in_1gib"
fi
memory=$(group memory memory.limit_in_bytes $gib) && groups="$groups $memory"
if [ -n "$memory" ]; then
    threads "1 GiB of a cgroup" "$usual" "$work/in_group" "$memory/cgroup.procs"
    one_gib "1 GiB of a cgroup"
else
    skip "memory of a cgroup: none of version 1 to write to"
fi

if unshare -m "$work/without_sys" true 2>/dev/null; then
    threads "/sys hidden" "$usual" unshare -m "$work/without_sys"
    [ "$(number cores "$work/topo.json")" = "$cores" ] || fail "/sys hidden: other cores than $cores"
    # The caches come from CPUID then, or are not told: never a made-up size.
    grep -q '"code": "caches_hidden"' "$work/topo.json" ||
        [ "$(number llc_total_bytes "$work/topo.json")" -ge 4096 ] || fail "/sys hidden: caches"
else
    skip "/sys hidden: unshare -m or mount is refused"
fi

if [ "$(id -u)" -ne 0 ]; then
    echo "unprivileged: all of the above was"
elif $nobody true 2>/dev/null; then
    threads "unprivileged" "$usual" $nobody
else
    skip "unprivileged: setpriv is refused"
fi

# With /sys go the files of the cgroups: what is left must be seen, and what is not be said.
if [ -n "$quota" ] && unshare -m "$work/without_sys" $nobody true 2>/dev/null; then
    all="$work/in_group $quota/cgroup.procs taskset -c $cpu unshare -m $work/without_sys"
    all="$all $work/in_1gib $nobody"
    threads "all at once" 1 $all
    one_gib "all at once"
    grep -q '"code": "limits_hidden"' "$work/topo.json" || fail "all at once: hidden limits are not told"
    refuses "all at once" $all
else
    skip "all at once"
fi

[ "$ran" -gt 0 ] || exit 77
[ "$failed" -eq 0 ] && echo "limits: ok"
exit "$failed"

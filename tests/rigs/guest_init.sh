#!/bin/busybox sh
# The first process of the emulated x86 machine: `scene=` of the kernel's command line says which
# commands it shows.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp OMP_WAIT_POLICY=passive
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
chmod 1777 /tmp
mkdir -p /etc
echo 'root:x:0:0::/:/bin/sh
user:x:1000:1000::/tmp:/bin/sh' >/etc/passwd
paranoid() {
    echo "$1" >/proc/sys/kernel/perf_event_paranoid
}

show() { # NAME COMMAND...: its output between lines that name it
    name=$1
    shift
    "$@" >/tmp/out 2>/tmp/err
    status=$?
    echo "=== begin $name"
    cat /tmp/out
    echo "=== end $name $status $(head -c 300 /tmp/err | tr '\n' ' ')"
    echo "=== at $name $(cut -d ' ' -f 1 /proc/uptime)" # where the time goes
}

load() { # BOXES RULES
    insmod /scripted_pmu.ko "boxes=$1"
    while read -r rule; do
        echo "$rule" >/dev/scripted_pmu || echo "=== refused: $rule"
    done <"$2"
}

run() { # COUNTERS THREADS
    show "run-$1-$2" lmroof run -m /tiny/config.json --phase decode --dtype f32 --context 64 \
        --threads "$2" --counters "$1" --repeat 3 --no-twins --quiet --json
}

as_user() { # NAME COMMAND: in the shell of somebody who is not root
    show "$1" su user -c "$2"
}

papi() { # two sockets and nodes of which the first may be all that a run uses
    paranoid -1
    show topology lmroof topo --json
    load uncore_imc_0,uncore_imc_1,power /rules.skx
    run papi 1
    run papi 4
}

perf() { # the same without PAPI, a foreign process, and what may not be counted
    paranoid -1
    show without lmroof counters --threads 1 --quiet --json # no PMU yet
    load uncore_imc_0,uncore_imc_1,power /rules.skx
    run perf 1
    run perf 4
    show exec lmroof exec --json --interval 0.05 -- /told.sh
    for level in 4 3 2 1 0; do
        paranoid $level
        as_user "user-$level" 'lmroof counters --threads 1 --quiet --json'
    done
    paranoid 2
    as_user doctor-2 'lmroof probe --quick --levels L1 --dtype f32 --threads 1 -q --json'
    show root-without-rights restricted capabilities lmroof counters --threads 1 --quiet --json
    paranoid 4
    as_user doctor-4 'lmroof probe --quick --levels L1 --dtype f32 --threads 1 -q --json'
    paranoid 3
    show root-3 lmroof counters --threads 1 --quiet --json
    paranoid 0
    show sandboxed restricted seccomp lmroof counters --threads 1 --quiet --json
}

placed() { # NUMA: where the data of a run lies; it is refused if the kernel put it elsewhere
    show "run-$1" lmroof run -m /tiny/config.json --phase decode --dtype f32 --context 64 \
        --threads 2 --counters off --repeat 3 --no-twins --quiet --json --numa "$1"
}

umc() { # the matrix of two nodes and one of memory alone, data on nodes, another maker's controllers
    paranoid -1
    show nodes nodes_rig
    placed interleave
    placed replicate
    load amd_umc_0,amd_umc_1,amd_umc_2,power /rules.zen4-umc
    run auto 1
}

"$(sed 's/.*scene=\([a-z]*\).*/\1/' /proc/cmdline)"
echo "=== done"
poweroff -f

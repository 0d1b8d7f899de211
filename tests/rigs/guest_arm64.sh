#!/bin/sh
# The program on an emulated Arm machine: Debian's arm64 kernel under qemu-system-aarch64, the
# program as Neoverse N1 with QEMU's own PMU, which counts instructions exactly (-icount). Its
# certificate must be exact for instructions, its kernels pass their checks, exec counts a foreign
# process by inheritance, and a machine of two sockets and nodes is described as one. Needs
# gcc-aarch64-linux-gnu, qemu-system-arm, cpio and the network for 60 MB of packages (kept in the
# build folder).
set -u
work=$PWD/aarch64
. "$TESTS/rigs/arm64.sh"
need $cc qemu-system-aarch64 cpio apt-get dpkg-deb cmake python3
mkdir -p "$work"
build_arm64
# The kernel's package carries the ABI in its name: the metapackage says which it is.
update_packages
image=$(dependencies linux-image-cloud-arm64 linux-image- | head -n 1)
[ -n "$image" ] || skip "no arm64 kernel package is known"
fetch_packages "$image" busybox-static libgomp1 libc6 libgcc-s1
kernel=$(ls "$root"/boot/vmlinuz-* | tail -n 1)

"$cc" -O2 -std=c17 -D_GNU_SOURCE -I"$SOURCE" "$TESTS/rigs/linear_rig.c" \
    "$work/build/workloads/liblmroof_workloads.a" "$work/build/roofline/liblmroof_roofline.a" \
    -fopenmp -lm -ldl -o "$work/linear_rig" || exit 1

# --- the initial file system: the program, its libraries, and a shell
disk=$work/disk
rm -rf "$disk"
mkdir -p "$disk/bin" "$disk/proc" "$disk/sys" "$disk/dev" "$disk/tmp" "$disk/lib/aarch64-linux-gnu"
chmod 755 "$disk"
cp "$root/bin/busybox" "$work/build/lmroof" "$work/linear_rig" "$disk/bin/"
for name in libpapi.so.7.0 libpfm.so.4 libhwloc.so.15 libjansson.so.4 libudev.so.1 libgomp.so.1 \
    libc.so.6 libm.so.6 libgcc_s.so.1 libdl.so.2 libpthread.so.0 libsde.so.1.0; do
    found=$(find "$root/lib" "$root/usr/lib" -name "$name*" | head -n 1)
    [ -z "$found" ] || cp -L "$found" "$disk/lib/aarch64-linux-gnu/$name"
done
cp -L "$(find "$root" -name 'ld-linux-aarch64.so.1' | head -n 1)" "$disk/lib/"
cat >"$disk/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp OMP_WAIT_POLICY=passive
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
echo -1 >/proc/sys/kernel/perf_event_paranoid
show() { # NAME COMMAND...: its output between lines that name it
    name=$1
    shift
    "$@" >/tmp/out 2>/tmp/err
    status=$?
    echo "=== begin $name"
    cat /tmp/out
    echo "=== end $name $status $(head -c 300 /tmp/err | tr '\n' ' ')"
}
if grep -q topology /proc/cmdline; then
    show topology lmroof topo --json
else
    show counters lmroof counters --certify --counters perf --threads 1 --json
    show kernels linear_rig
    show exec lmroof exec --json --interval 0.05 -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.2'
fi
echo "=== done"
poweroff -f
INIT
chmod 755 "$disk/init"
(cd "$disk" && find . | LC_ALL=C sort | cpio -o -H newc --quiet) >"$work/initrd" || exit 1

boot() { # LOG WORD OPTION...
    log=$1
    word=$2
    shift 2
    timeout 280 qemu-system-aarch64 -M virt,gic-version=3 -m 1024 -kernel "$kernel" \
        -initrd "$work/initrd" -append "console=ttyAMA0 panic=-1 loglevel=4 $word" \
        -nographic -no-reboot -nodefaults -serial "file:$log" -monitor none "$@" </dev/null \
        >"$log.qemu" 2>&1
    grep -aq '^=== done' "$log" || {
        echo "FAIL: the guest did not come to its end: $(tail -n 3 "$log" "$log.qemu" | tr '\r' ' ')"
        exit 1
    }
    tr -d '\r' <"$log" >"$log.text"
}

boot "$work/counting" counting -cpu neoverse-n1 -smp 1 -icount shift=0,sleep=off
boot "$work/topology" topology -cpu cortex-a57 -smp 4,sockets=2,cores=2,threads=1 \
    -object memory-backend-ram,id=m0,size=512M -object memory-backend-ram,id=m1,size=512M \
    -numa node,nodeid=0,memdev=m0,cpus=0-1 -numa node,nodeid=1,memdev=m1,cpus=2-3 \
    -numa dist,src=0,dst=1,val=21
exec python3 "$TESTS/rigs/guest_arm64.py" "$work/counting.text" "$work/topology.text"

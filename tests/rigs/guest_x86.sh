#!/bin/sh
# guest_x86.sh NODES_RIG: the program on emulated x86 machines whose kernel counts what it is told:
# Debian's amd64 kernel under qemu-system-x86_64, and the module of scripted_pmu/ that feeds known
# counts to the real perf subsystem. The intensity in the documents must be the one that was fed,
# through PAPI and without it, by one thread and by four on two sockets; what may not be counted
# must be told rightly. Needs qemu-system-x86, cpio, a compiler and the network for 45 MB of
# packages (kept in the build folder).
set -u
arch=amd64
work=$PWD/x86
root=$work/sysroot
here=$TESTS/rigs
. "$here/packages.sh"
[ "$(uname -m)" = x86_64 ] || skip "boots this machine's own program as an x86 machine"
need qemu-system-x86_64 cpio apt-get dpkg-deb python3 cc make ldd
mkdir -p "$work"

# The kernel's packages carry the ABI in their names: the metapackages say which it is.
update_packages
image=$(dependencies linux-image-cloud-amd64 linux-image- | head -n 1)
headers=$(dependencies linux-headers-cloud-amd64 linux-headers- | head -n 1)
[ -n "$image" ] && [ -n "$headers" ] || skip "no amd64 kernel package is known"
common=$(dependencies "$headers" linux-headers- | head -n 1)
kbuild=$(dependencies "$headers" linux-kbuild- | head -n 1)
fetch_packages "$image" "$headers" "$common" "$kbuild" busybox-static
kernel=$root/boot/vmlinuz-${image#linux-image-}

# --- the module
rm -rf "$work/module"
cp -R "$here/scripted_pmu" "$work/module"
echo "include $root/usr/src/$common/Makefile" >"$root/usr/src/$headers/Makefile"
make -s -C "$root/usr/src/$headers" M="$work/module" modules >"$work/module.log" 2>&1 || {
    tail -n 5 "$work/module.log"
    skip "the kernel module cannot be built by this machine's compiler"
}

# --- the initial file system: the program, its libraries, and a shell
disk=$work/disk
rm -rf "$disk"
mkdir -p "$disk/bin" "$disk/proc" "$disk/sys" "$disk/dev" "$disk/tmp" "$disk/tiny"
chmod 755 "$disk"
cp "$root/bin/busybox" "$LMROOF" "$disk/bin/" && cp "$1" "$disk/bin/nodes_rig" || exit 1
cp "$work/module/scripted_pmu.ko" "$disk/"
ldd "$LMROOF" "$1" | tr '\t' ' ' | sed -n 's/^[^/]* \(\/[^ ]*\) (.*/\1/p' | while read -r library; do
    mkdir -p "$disk${library%/*}"
    cp -L "$library" "$disk$library"
done
cc -O2 -static -o "$disk/bin/restricted" "$here/restricted.c" || exit 1
cp "$here/guest_init.sh" "$disk/init"
python3 "$here/guest_x86.py" files "$disk" || exit 1
chmod 755 "$disk/init" "$disk/told.sh"
(cd "$disk" && find . | LC_ALL=C sort | cpio -o -H newc --quiet) >"$work/initrd" || exit 1

boot() ( # SCENE OPTION...
    scene=$1
    shift
    rm -f "$work/$scene"
    exec timeout 800 qemu-system-x86_64 -M pc -accel tcg -m 1536 -kernel "$kernel" \
        -initrd "$work/initrd" -append "console=ttyS0 panic=-1 loglevel=4 no_timer_check mitigations=off scene=$scene" \
        -nographic -no-reboot -nodefaults -serial "file:$work/$scene" -monitor none "$@" \
        </dev/null >"$work/$scene.qemu" 2>&1
)
ended() { # SCENE: it came to its end, and its console is a text
    grep -aq '^=== at\|=== begin' "$work/$1" ||
        skip "the kernel of this guest did not start: $(tail -n 3 "$work/$1.qemu" | tr '\n' ' ')"
    grep -aq '^=== done' "$work/$1" || {
        echo "FAIL: the guest did not come to its end: $(tail -n 3 "$work/$1" "$work/$1.qemu" | tr '\r' ' ')"
        exit 1
    }
    tr -d '\r' <"$work/$1" >"$work/$1.text"
}

nodes='-smp 4,sockets=2,cores=2,threads=1
    -object memory-backend-ram,id=m0,size=768M -object memory-backend-ram,id=m1,size=768M
    -numa node,nodeid=0,memdev=m0,cpus=0-1 -numa node,nodeid=1,memdev=m1,cpus=2-3
    -numa dist,src=0,dst=1,val=21'
# The same and a node of memory alone, as HBM or CXL show themselves.
more='-smp 4,sockets=2,cores=2,threads=1
    -object memory-backend-ram,id=m0,size=640M -object memory-backend-ram,id=m1,size=640M
    -object memory-backend-ram,id=m2,size=256M
    -numa node,nodeid=0,memdev=m0,cpus=0-1 -numa node,nodeid=1,memdev=m1,cpus=2-3
    -numa node,nodeid=2,memdev=m2 -numa dist,src=0,dst=1,val=21
    -numa dist,src=0,dst=2,val=17 -numa dist,src=1,dst=2,val=28'
# All at once: two cores have something to do while one guest waits.
boot papi -cpu Skylake-Server,l3-cache=off $nodes &
guests=$!
boot perf -cpu Skylake-Server,l3-cache=off $nodes &
guests="$guests $!"
boot umc -cpu EPYC-Milan,family=25,model=17,l3-cache=off $more &
guests="$guests $!"
trap 'kill $guests 2>/dev/null; exit 1' INT TERM
wait
for scene in papi perf umc; do
    ended "$scene"
done
exec python3 "$here/guest_x86.py" check "$work"

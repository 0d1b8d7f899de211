#!/bin/sh
# The whole program as Neoverse N1 and V2: built for aarch64, run under qemu-user with the real
# PAPI and libpfm4 of Debian's arm64 packages on the scripted PMU. Needs gcc-aarch64-linux-gnu,
# qemu-user and the network for about 4 MB of packages (kept in the build folder).
set -u
work=$PWD/aarch64
. "$TESTS/rigs/arm64.sh"
need $cc qemu-aarch64 apt-get dpkg-deb cmake python3
mkdir -p "$work"
build_arm64
fake=$TESTS/fakepmu
$cc -D_GNU_SOURCE -shared -fPIC -fvisibility=hidden -O1 -o "$work/libfakepmu.so" \
    "$fake/preload.c" "$fake/events.c" "$fake/script.c" "$fake/cpuid.c" -ldl || exit 1

# as MACHINE CPU: the program's documents as that machine, one and two threads.
as() {
    cat >"$work/lmroof-$1" <<WRAPPER
#!/bin/sh
exec qemu-aarch64 -cpu $2 -L /usr/aarch64-linux-gnu -E LD_PRELOAD=$work/libfakepmu.so \\
    -E LD_LIBRARY_PATH=$lib $work/build/lmroof "\$@"
WRAPPER
    chmod +x "$work/lmroof-$1"
    python3 "$fake/program.py" "$work/lmroof-$1" "" "$1:1" "$1:2" || exit 1
}
as n1 neoverse-n1
as v2 max,sve128=on

#!/bin/sh
# The whole program as Neoverse N1 and V2: built for aarch64, run under qemu-user with the real
# PAPI and libpfm4 of Debian's arm64 packages on the scripted PMU. Needs gcc-aarch64-linux-gnu,
# qemu-user and the network for about 4 MB of packages (kept in the build folder).
set -u
cc=aarch64-linux-gnu-gcc
skip() {
    echo "SKIP: $1"
    exit 77
}
for tool in $cc qemu-aarch64 apt-get dpkg-deb cmake python3; do
    command -v $tool >/dev/null || skip "needs $tool (gcc-aarch64-linux-gnu, qemu-user)"
done
work=$PWD/aarch64
mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/sysroot"

# A package state of its own: the system's is not touched.
fetch() {
    apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$work/state" \
        -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" -o Debug::NoLocking=1 "$@"
}
if [ ! -e "$work/fetched" ]; then
    fetch update -qq >"$work/apt.log" 2>&1 &&
        (cd "$work/debs" && fetch download libpapi7.0 libpapi-dev libpfm4 libhwloc15 libhwloc-dev \
            libjansson4 libjansson-dev libudev1 libopenblas-openmp-dev) >>"$work/apt.log" 2>&1 ||
        skip "arm64 packages cannot be fetched: $(tail -n 1 "$work/apt.log")"
    for deb in "$work"/debs/*.deb; do
        dpkg-deb -x "$deb" "$work/sysroot" || exit 1
    done
    touch "$work/fetched"
fi
root=$work/sysroot
lib=$root/usr/lib/aarch64-linux-gnu
PKG_CONFIG_LIBDIR=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root cmake -S "$SOURCE" -B "$work/build" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=$cc -DLMROOF_TESTS=OFF -DPAPI_INCLUDE_DIR="$root/usr/include" \
    -DPAPI_LIBRARY="$lib/libpapi.so" \
    -DCBLAS_INCLUDE_DIR="$root/usr/include/aarch64-linux-gnu/openblas-openmp" \
    -DCMAKE_C_FLAGS="-isystem $root/usr/include/aarch64-linux-gnu" \
    -DCMAKE_EXE_LINKER_FLAGS="-Wl,-rpath-link,$lib" >"$work/build.log" 2>&1 &&
    cmake --build "$work/build" --target lmroof --parallel >>"$work/build.log" 2>&1 || {
    tail -n 20 "$work/build.log"
    echo "FAIL: the program does not build for aarch64"
    exit 1
}
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

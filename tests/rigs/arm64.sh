# Sourced: the program built for aarch64 with the libraries of Debian's arm64 packages, below $work.
# fetch_arm64 PACKAGE... and build_arm64 skip the test where something is missing.
cc=aarch64-linux-gnu-gcc
root=$work/sysroot
lib=$root/usr/lib/aarch64-linux-gnu

skip() {
    echo "SKIP: $1"
    exit 77
}

need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || skip "needs $tool"
    done
}

# A package state of its own: the system's is not touched.
arm64_apt() {
    apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$work/state" \
        -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" -o Debug::NoLocking=1 "$@"
}

update_arm64() {
    mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/debs" "$root"
    [ -e "$work/updated" ] || arm64_apt update -qq >"$work/apt.log" 2>&1 ||
        skip "arm64 packages cannot be listed: $(tail -n 1 "$work/apt.log")"
    touch "$work/updated"
}

fetch_arm64() {
    update_arm64
    for package in "$@"; do
        [ -e "$work/have-$package" ] && continue
        rm -f "$work/debs/"*.deb
        (cd "$work/debs" && arm64_apt download "$package") >>"$work/apt.log" 2>&1 ||
            skip "arm64 packages cannot be fetched: $(tail -n 1 "$work/apt.log")"
        dpkg-deb -x "$work/debs/"*.deb "$root" || exit 1
        touch "$work/have-$package"
    done
}

libraries_arm64="libpapi7.0 libpapi-dev libpfm4 libhwloc15 libhwloc-dev libjansson4 libjansson-dev
    libudev1 libopenblas-openmp-dev"

build_arm64() {
    fetch_arm64 $libraries_arm64
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
}

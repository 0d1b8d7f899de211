# Sourced: the program built for aarch64 with the libraries of Debian's arm64 packages, below $work.
# build_arm64 skips the test where something is missing.
cc=aarch64-linux-gnu-gcc
root=$work/sysroot
lib=$root/usr/lib/aarch64-linux-gnu
arch=arm64
. "$TESTS/rigs/packages.sh"

libraries_arm64="libpapi7.0 libpapi-dev libpfm4 libhwloc15 libhwloc-dev libjansson4 libjansson-dev
    libudev1 libopenblas-openmp-dev"

build_arm64() {
    fetch_packages $libraries_arm64
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

# Sourced: Debian packages of $arch unpacked below $root, with a package state of their own below
# $work: the system's is not touched. A test is skipped, and says why, where something is missing.

skip() {
    echo "SKIP: $1"
    exit 77
}

need() {
    for tool in "$@"; do
        command -v "$tool" >/dev/null || skip "needs $tool"
    done
}

private_apt() { # TOOL ARGUMENT...
    tool=$1
    shift
    "$tool" -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$work/state" \
        -o Dir::State::status=/dev/null -o Dir::Cache="$work/cache" -o Debug::NoLocking=1 "$@"
}

update_packages() {
    mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/debs" "$root"
    [ -e "$work/updated" ] || private_apt apt-get update -qq >"$work/apt.log" 2>&1 ||
        skip "$arch packages cannot be listed: $(tail -n 1 "$work/apt.log")"
    touch "$work/updated"
}

fetch_packages() { # PACKAGE...
    update_packages
    for package in "$@"; do
        [ -e "$work/have-$package" ] && continue
        rm -f "$work/debs/"*.deb
        (cd "$work/debs" && private_apt apt-get download "$package") >>"$work/apt.log" 2>&1 ||
            skip "$arch packages cannot be fetched: $(tail -n 1 "$work/apt.log")"
        dpkg-deb -x "$work/debs/"*.deb "$root" || exit 1
        touch "$work/have-$package"
    done
}

# The packages that PACKAGE depends on and whose names begin so: a kernel's carry its ABI.
dependencies() { # PACKAGE BEGINNING
    private_apt apt-cache depends "$1" 2>/dev/null | sed -n "s/^ *Depends: *\($2[^ ]*\)\$/\1/p"
}

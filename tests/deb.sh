#!/bin/sh
# deb.sh BUILD: the package that `cpack -G DEB` makes holds the program, its pages and schemas, names
# what it needs, and its program runs.
set -u
for tool in cpack dpkg-deb dpkg-shlibdeps; do
    command -v "$tool" >/dev/null 2>&1 || { echo "SKIP: no $tool"; exit 77; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

# Ninja has no target to build before installing: what is built is packed, nothing is built here.
cpack --config "$1/CPackConfig.cmake" -G DEB -B "$work" -D CPACK_CMAKE_GENERATOR=Ninja \
    >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
deb=$(find "$work" -maxdepth 1 -name '*.deb')
[ "$(printf '%s\n' "$deb" | wc -l)" -eq 1 ] && [ -s "$deb" ] || { echo "FAIL: found '$deb'"; exit 1; }
version=$("$LMROOF" --version | sed 's/^lmroof //')
[ "$(dpkg-deb -f "$deb" Package)" = lmroof ] || fail "package $(dpkg-deb -f "$deb" Package)"
[ "$(dpkg-deb -f "$deb" Version)" = "$version" ] || fail "version $(dpkg-deb -f "$deb" Version)"
for library in libhwloc libjansson libpapi; do
    dpkg-deb -f "$deb" Depends | grep -q "$library" || fail "does not depend on $library"
done
dpkg-deb -f "$deb" Recommends | grep -q libopenblas || fail "does not recommend OpenBLAS"
dpkg-deb -c "$deb" >"$work/content"
for path in usr/bin/lmroof usr/share/man/man1/lmroof.1 \
    usr/share/bash-completion/completions/lmroof usr/share/doc/lmroof/copyright \
    usr/share/doc/lmroof/README.md usr/share/doc/lmroof/roofline/METHOD.md \
    usr/include/lmroof.h usr/share/doc/lmroof/profiler/marker/example.c \
    usr/share/doc/lmroof/profiler/FAQ.md usr/share/doc/lmroof/profiler/COUNTERS.md; do
    grep -q " \./$path\$" "$work/content" || fail "no $path"
done
for schema in "$SOURCE"/profiler/schemas/*.json; do
    grep -q " \./usr/share/lmroof/schemas/${schema##*/}\$" "$work/content" || fail "no ${schema##*/}"
done
grep -vE ' \./(usr/((bin|share)(/.*)?|include/(lmroof\.h)?|lib/([^/]*/)?(liblmroof\.a)?)?)?$' "$work/content" | grep . && fail "stray files"
grep -vE ' root/root ' "$work/content" | grep . && fail "files that are not root's"
dpkg-deb -x "$deb" "$work/root" && [ "$("$work/root/usr/bin/lmroof" --version)" = "lmroof $version" ] ||
    fail "the packed program does not run"
# Data sheets, models and the page are in the program: it answers from an empty folder.
(cd "$work" && "$work/root/usr/bin/lmroof" predict -m llama-3-8b epyc-9654 graviton4 >answer) ||
    fail "the packed program does not predict"
grep -q '^epyc-9654\*: .* tokens/s' "$work/answer" || fail "no answer: $(head -3 "$work/answer")"
[ "$failed" -eq 0 ] && echo "deb: ok"
exit "$failed"

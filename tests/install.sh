#!/bin/sh
# install.sh BUILD [COMPILER SANITIZERS]: what `cmake --install` puts into a prefix is whole and runs
# from there.
set -u
prefix=$(mktemp -d) || exit 1
trap 'rm -rf "$prefix"' EXIT
failed=0
fail() { echo "FAIL: $*"; failed=1; }

cmake --install "$1" --prefix "$prefix" >"$prefix/log" 2>&1 || { cat "$prefix/log"; exit 1; }
rm "$prefix/log"
[ "$("$prefix/bin/lmroof" --version)" = "$("$LMROOF" --version)" ] || fail "bin/lmroof does not run"
(cd / && "$prefix/bin/lmroof" model gpt2 --quiet -o "$prefix/model.json" >"$prefix/log") &&
    grep -q '"lmroof.model/1"' "$prefix/model.json" || fail "the installed program has no models"
rm -f "$prefix/log" "$prefix/model.json"
for file in share/man/man1/lmroof.1 share/bash-completion/completions/lmroof; do
    [ -s "$prefix/$file" ] || fail "no $file"
done
for schema in "$SOURCE"/profiler/schemas/*.json; do
    cmp -s "$schema" "$prefix/share/lmroof/schemas/${schema##*/}" || fail "no ${schema##*/}"
done
doc=$prefix/share/doc/lmroof
for file in README.md CHANGELOG.md copyright; do
    [ -s "$doc/$file" ] || fail "no $file"
done
# Pictures and pages that the README shows.
for link in $(sed -n 's/.*](\([a-z]*\/[^)]*\.[a-z]*\)).*/\1/p' "$doc/README.md"); do
    [ -e "$doc/$link" ] || fail "README.md points to $link, which is not installed"
done
# A program of a user's: header, library and the example.
cc=${2:-cc}
sanitize=${3:+-fsanitize=$3} # as the library has them
if command -v "$cc" >/dev/null 2>&1; then
    library=$(find "$prefix" -name liblmroof.a)
    "$cc" $sanitize -pthread -I"$prefix/include" "$doc/profiler/marker/example.c" -o "$prefix/bin/example" \
        -L"${library%/*}" -llmroof && [ "$("$prefix/bin/example" 64 1)" = "y[0] = 189" ] ||
        fail "the marker's example does not build or run"
    rm -f "$prefix/bin/example"
fi
stray=$(find "$prefix" -type f | grep -vE '/(bin|share)/|/include/lmroof\.h$|/liblmroof\.a$')
[ -z "$stray" ] || fail "stray files: $stray"
[ "$failed" -eq 0 ] && echo "install: ok"
exit "$failed"

#!/bin/sh
# --version, and the list of kernels: METHOD.md holds what the program prints, and is made to by
# LMROOF_UPDATE=1 ctest -R cli.version.
set -u
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
[ "$("$LMROOF" --version | wc -l)" -eq 1 ] || { echo "FAIL: --version is more than a line"; exit 1; }
"$LMROOF" --version --verbose >"$work/out" || { echo "FAIL: --version --verbose"; exit 1; }
sed 1d "$work/out" >"$work/kernels"
grep -q '^linear .* verified on silicon ' "$work/kernels" || { cat "$work/out"; exit 1; }
sed -n '/^    Kernels, and where/,/^$/s/^    //p' "$SOURCE/roofline/METHOD.md" >"$work/documented"
if [ -n "${LMROOF_UPDATE:-}" ]; then
    sed 's/^/    /' "$work/kernels" >"$work/table"
    sed -e "/^    Kernels, and where/,/^\$/{/^\$/!d;}" "$SOURCE/roofline/METHOD.md" |
        sed "/executed (\`lmroof --version --verbose\`):\$/{n;r $work/table
        }" >"$work/method" && cp "$work/method" "$SOURCE/roofline/METHOD.md"
    exit
fi
diff "$work/documented" "$work/kernels" || {
    echo "FAIL: METHOD.md differs from lmroof --version --verbose"
    exit 1
}
echo ok

#!/bin/sh
# tidy.sh BUILD: clang-format, clang-tidy and cppcheck over our own files, by the compile commands of
# a build folder. (gcc -fanalyzer runs while the preset `tidy` compiles.) SOURCE is the project.
set -u
build=$1
cd "$SOURCE" || exit 1
failed=0
fail() {
    echo "FAIL: $*"
    failed=1
}
for tool in clang-format clang-tidy; do
    for name in $tool-14 $tool; do
        if command -v $name >/dev/null && $name --version | grep -q 'version 14\.'; then
            eval "$(echo $tool | tr - _)=$name"
            break
        fi
    done
done
if [ -z "${clang_format:-}" ] || [ -z "${clang_tidy:-}" ] || ! command -v cppcheck >/dev/null; then
    echo "SKIP: needs clang-format and clang-tidy 14, and cppcheck"
    exit 77
fi

own="roofline machines workloads profiler"
find $own tests -name '*.[ch]' | sort >"$build/tidy.files"
xargs "$clang_format" --dry-run -Werror <"$build/tidy.files" || fail "clang-format"

checks=$("$clang_tidy" --list-checks | grep -c '^    ')
[ "$checks" -ge 100 ] || fail "only $checks checks are enabled: .clang-tidy was not understood"

# Compile commands that clang understands; generated files are data.
python3 - "$build" <<'PYTHON' || fail "no compile commands"
import json, sys
build = sys.argv[1]
gcc_only = {"-fanalyzer", "-fno-analyzer", "-fno-tree-loop-distribute-patterns",
            "-Wlogical-op", "-Wduplicated-cond", "-Wduplicated-branches", "-Wno-format-truncation",
            "-Wno-analyzer-use-of-uninitialized-value"}
with open(build + "/compile_commands.json") as file:
    commands = json.load(file)
commands = [c for c in commands if "/generated/" not in c["file"]]
for command in commands:
    words = command["command"].split(" ")
    command["command"] = " ".join(word for word in words if word not in gcc_only)
import os
os.makedirs(build + "/tidy", exist_ok=True)
with open(build + "/tidy/compile_commands.json", "w") as file:
    json.dump(commands, file)
with open(build + "/tidy/files", "w") as file:
    file.write("".join(c["file"] + "\n" for c in commands))
PYTHON
# Kernels are written once in macros and widened by the compiler's own intrinsics.
kernels='/(ceilings/.*|(attention|linear)_(portable|latent|amx|avx.*|vnni.*|neon.*|sve.*))\.c$'
tidy="xargs -n 4 -P ${JOBS:-2} $clang_tidy --quiet -p $build/tidy"
grep -vE "$kernels" "$build/tidy/files" | grep -v /tests/ | $tidy 2>/dev/null || fail "clang-tidy"
grep -E "$kernels" "$build/tidy/files" | $tidy --checks=-bugprone-macro-parentheses,-readability-\*,\
-bugprone-implicit-widening-of-multiplication-result 2>/dev/null || fail "clang-tidy: kernels"

cppcheck --quiet --error-exitcode=1 -j "${JOBS:-2}" --std=c11 --enable=warning,portability,performance \
    --suppressions-list=tests/cppcheck.txt --library=posix -D_GNU_SOURCE -I . $own ||
    fail "cppcheck"
[ "$failed" -eq 0 ] && echo "tidy: ok, $checks checks on $(wc -l <"$build/tidy/files") files"
exit "$failed"

#!/bin/sh
# No mutable file-scope variable in any library: nothing of ours in .data or .bss.
# (The one exception, the signal flag, is in main.c, which is in no library.)
set -u
failed=0
for library in "$@"; do
    objects=$(objdump -t "$library" 2>/dev/null) || { echo "SKIP: no objdump"; exit 77; }
    if printf '%s\n' "$objects" | grep -qE '__asan|__ubsan'; then
        echo "SKIP: instrumented build has globals of its own"
        exit 77
    fi
    printf '%s\n' "$objects" | grep -q 'F \.text' || { echo "FAIL: no code in $library"; exit 1; }
    bad=$(printf '%s\n' "$objects" | grep -E ' O (\.data|\.bss|\.tdata|\.tbss)(\.[a-z_0-9]+)*[[:space:]]' |
        grep -vE '\.data\.rel\.ro')
    if [ -n "$bad" ]; then
        echo "FAIL: mutable globals in $library:"
        echo "$bad"
        failed=1
    fi
done
[ "$failed" -eq 0 ] && echo "globals: ok"
exit "$failed"

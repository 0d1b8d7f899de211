#!/bin/sh
# Includes obey the arrows profiler/fleet -> profiler -> {machines, workloads} -> roofline, and each foreign
# header has one home.
set -u
cd "$SOURCE" || exit 1
failed=0

# forbid FOLDER PATTERN WHY: no file of FOLDER includes what PATTERN matches.
forbid() {
    if grep -rnE --include='*.[ch]' "#include [<\"]($2)" "$1"; then
        echo "FAIL: $1/ must not include $2: $3"
        failed=1
    fi
}
# home HEADER FILE_PATTERN: HEADER is included only in files whose path matches.
home() {
    bad=$(grep -rlE --include='*.[ch]' "#include <$1>" roofline machines workloads profiler |
        grep -vE "$2")
    if [ -n "$bad" ]; then
        echo "FAIL: <$1> belongs in $2, found in: $bad"
        failed=1
    fi
}
forbid roofline 'machines/|workloads/|profiler/' 'arrows point down'
forbid machines 'workloads/|profiler/' 'arrows point down'
forbid workloads 'machines/|profiler/' 'arrows point down'
if grep -rnE --include='*.[ch]' --exclude-dir=fleet '#include "profiler/fleet/' profiler; then
    echo "FAIL: profiler/ must not include profiler/fleet/: arrows point down"
    failed=1
fi
forbid roofline 'time\.h|unistd\.h|fcntl\.h|pthread\.h|omp\.h|sys/|linux/|papi|hwloc|jansson' \
    'roofline/ is arithmetic: no clock, file, thread or counter'
if grep -rnE --include='*.c' '\b(fopen|getenv|clock_gettime|malloc|printf)\(' roofline; then
    echo "FAIL: roofline/ takes numbers and returns numbers"
    failed=1
fi
home 'hwloc.h' '_hwloc\.c$'
home 'jansson.h' '_json\.[ch]$'
home 'mpi.h' 'profiler/fleet/world_mpi\.c$'
home 'papi.h' 'profiler/counters_papi\.c$'
home 'cblas.h' 'workloads/blas\.c$'
home 'dnnl' 'workloads/dnnl_product\.c$'
home 'linux/perf_event.h' 'profiler/(counters_perf|marker/marker)\.c$'

# The check itself must be able to fail: it sees the includes that exist.
grep -rqE '#include "roofline/status.h"' profiler || { echo "FAIL: the search finds nothing"; exit 1; }
[ "$failed" -eq 0 ] && echo "layers: ok"
exit "$failed"

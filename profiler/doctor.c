#include "profiler/doctor.h"

#include "profiler/result_build.h"

#include <limits.h>
#include <string.h>

static void examine_blas(struct result_run *run, const struct doctor_facts *facts)
{
    const struct blas_facts *blas = facts->blas;
    if (blas == NULL) {
        result_warn(run, "blas_missing", "install libopenblas0-openmp",
                    "no GEMM roof: %s. Prefill through a library cannot be judged",
                    facts->blas_absent);
        return;
    }
    if (blas->core_is_poor) {
        result_warn(run, "blas_core",
                    "unset OPENBLAS_CORETYPE (lmroof then chooses), or set it to SkylakeX, Zen or "
                    "Haswell as the CPU allows",
                    "OpenBLAS uses its %s kernels, narrower than this CPU's vectors: matrix "
                    "products run at a fraction of the peak",
                    blas->core);
    }
    if (blas->core_was_set) {
        result_warn(run, "blas_core_chosen",
                    "for other programs: export OPENBLAS_CORETYPE, or a newer OpenBLAS",
                    "OpenBLAS does not know this CPU and would use its %s kernels; lmroof asked "
                    "for %s. Programs that do not ask run slower",
                    blas->core_of_its_own, blas->core);
    }
    if (!blas->openmp) {
        result_warn(run, "blas_build", "install libopenblas0-openmp",
                    "%s is not the OpenMP build: its threads are neither bound nor counted, and "
                    "compete with ours",
                    blas->path);
    }
}

static void examine_threads(struct result_run *run, const struct doctor_facts *facts)
{
    const struct machine *machine = facts->machine;
    if (machine->cpu_quota_cores > 0 && machine->cpu_quota_cores < machine->usable_cores) {
        result_warn(run, "cpu_quota", "raise the container's CPU limit or match it with threads",
                    "a CPU quota of %.3g cores is below the %u usable cores: more threads than "
                    "%u would be stopped in the middle of their work",
                    machine->cpu_quota_cores, machine->usable_cores,
                    machine_default_threads(machine, false));
    }
    if (machine->limits_hidden) {
        result_warn(run, "limits_hidden", "mount /sys/fs/cgroup in the container",
                    "this process is in a control group whose limits cannot be read: a quota of "
                    "CPU time would stop its threads, a limit of memory end it");
    }
    if (machine->smt && facts->threads > machine->usable_cores) {
        result_warn(run, "smt_siblings", "--threads with the number of cores",
                    "%u threads share %u cores: siblings share the vector units and the first two "
                    "caches",
                    facts->threads, machine->usable_cores);
    }
    if (machine->usable_count > 0 && machine->usable_count < machine->pus) {
        result_warn(run, "cpus_hidden", "taskset, cpuset or the container's CPU set",
                    "this process may use %zu of %u cpus: the figures are of those alone",
                    machine->usable_count, machine->pus);
    }
}

static void examine_memory(struct result_run *run, const struct doctor_facts *facts)
{
    const struct machine *machine = facts->machine;
    if (strcmp(machine->thp, "never") == 0) {
        result_warn(run, "thp_off",
                    "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled (as root)",
                    "transparent huge pages are off: weights on 4 KiB pages cost address "
                    "translations on every page");
    }
    if (machine->numa_balancing > 0 && machine->numa_nodes > 1) {
        result_warn(run, "numa_balancing", "echo 0 > /proc/sys/kernel/numa_balancing (as root)",
                    "automatic NUMA balancing is on: pages are unmapped and moved while they are "
                    "read");
    }
    if (facts->memory_slots > facts->memory_slots_used && facts->memory_slots_used > 0) {
        result_warn(run, "memory_slots", "one module in every channel",
                    "%u of %u memory slots are filled: empty channels are bandwidth that is not "
                    "there",
                    facts->memory_slots_used, facts->memory_slots);
    }
    if (facts->memory_mt_per_s > 0 && facts->memory_mt_per_s < facts->memory_mt_per_s_rated) {
        result_warn(run, "memory_speed", "the memory profile in the firmware's settings",
                    "memory runs at %.0f MT/s, its modules are rated for %.0f: decode loses that "
                    "share",
                    facts->memory_mt_per_s, facts->memory_mt_per_s_rated);
    }
}

static void examine_settings(struct result_run *run, const struct doctor_facts *facts)
{
    const struct machine *machine = facts->machine;
    if (strcmp(machine->governor, "powersave") == 0) {
        result_warn(run, "governor", "cpupower frequency-set -g performance (as root)",
                    "the frequency governor is powersave: clocks may stay low under short bursts "
                    "of work");
    }
    if (machine->cache_count == 0 || machine->llc_total_bytes == 0) {
        result_warn(run, "caches_hidden", "lmroof probe --sweep; mount /sys in the container",
                    "the system does not tell the cache sizes: working sets cannot be chosen by "
                    "level");
    }
    if (facts->perf_event_paranoid != INT_MIN && facts->perf_event_paranoid > 2) {
        result_warn(run, "counters_blocked",
                    "sysctl kernel.perf_event_paranoid=1 (as root); lmroof counters tells more",
                    "hardware counters are closed to this user (perf_event_paranoid is %d): bytes "
                    "and FLOPs are modelled, not counted",
                    facts->perf_event_paranoid);
    }
}

void doctor_examine(struct result_run *run, const struct doctor_facts *facts)
{
    examine_blas(run, facts);
    examine_threads(run, facts);
    examine_memory(run, facts);
    examine_settings(run, facts);
}

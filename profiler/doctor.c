#include "profiler/doctor.h"

#include "profiler/doctor_rules.h"
#include "profiler/result_build.h"
#include "roofline/units.h"

#include <stdio.h>

static void examine_blas(struct result_run *run, const struct doctor_facts *facts)
{
    const struct blas_facts *blas = facts->blas;
    if (blas == NULL) {
        if (facts->blas_absent != NULL) {
            result_warn(run, "blas_missing", "install libopenblas0-openmp",
                        "no GEMM roof: %s. Prefill through a library cannot be judged",
                        facts->blas_absent);
        }
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
                    "for %s. Programs that do not ask get a fraction of the FLOP/s",
                    blas->core_of_its_own, blas->core);
    }
    if (!blas->openmp) {
        result_warn(run, "blas_build", "install libopenblas0-openmp",
                    "%s is not the OpenMP build: its threads are neither bound nor counted, and "
                    "compete with ours for the cores, so that products reach fewer FLOP/s",
                    blas->path);
    }
}

static void examine_limits(struct result_run *run, const struct doctor_facts *facts)
{
    const struct machine *machine = facts->machine;
    char limit[UNITS_TEXT];
    char all[UNITS_TEXT];
    if (machine->cpu_quota_cores > 0 && machine->cpu_quota_cores < machine->usable_cores) {
        result_warn(run, "cpu_quota", "raise the container's CPU limit or match it with threads",
                    "a CPU quota of %.3g cores is below the %u usable cores: more threads than "
                    "%u would be stopped in the middle of their work, and FLOP/s and bandwidth "
                    "end at what that many cores reach",
                    machine->cpu_quota_cores, machine->usable_cores,
                    machine_default_threads(machine, false));
    }
    if (machine->limits_hidden) {
        result_warn(run, "limits_hidden", "mount /sys/fs/cgroup in the container",
                    "this process is in a control group whose limits cannot be read: a quota of "
                    "CPU time would stop its threads in the middle of their work, a limit of "
                    "memory end it");
    }
    if (machine->memory_limit_bytes > 0 &&
        machine->memory_limit_bytes < facts->memory_total_bytes) {
        result_warn(run, "memory_limit",
                    "raise the container's memory limit above the model's file and its cache",
                    "a control group limits memory to %s of %s: a model beyond it is "
                    "ended, or its mapped file is read again from storage for every token",
                    units_format_binary(limit, machine->memory_limit_bytes),
                    units_format_binary(all, facts->memory_total_bytes));
    }
}

static void examine_cpus(struct result_run *run, const struct doctor_facts *facts)
{
    const struct machine *machine = facts->machine;
    if (machine->smt && facts->threads > machine->usable_cores) {
        result_warn(run, "smt_siblings", "--threads with the number of cores",
                    "%u threads share %u cores: siblings share the vector units, the first two "
                    "caches and the reads in flight, so neither FLOP/s nor bandwidth grows",
                    facts->threads, machine->usable_cores);
    }
    if (machine->usable_count > 0 && machine->usable_count < machine->pus) {
        char isolated[DOCTOR_TEXT] = "";
        if (facts->cpus_isolated > 0) {
            (void)snprintf(isolated, sizeof isolated, " (%u are isolated from the scheduler)",
                           facts->cpus_isolated);
        }
        result_warn(
            run, "cpus_hidden",
            "taskset, cpuset or the container's CPU set; isolated cpus (isolcpus=) need "
            "taskset",
            "this process may use %zu of %u cpus%s: FLOP/s and bandwidth are of those alone",
            machine->usable_count, machine->pus, isolated);
    }
    if (facts->cpus_offline > 0) {
        result_warn(run, "cpus_offline",
                    "echo 1 > /sys/devices/system/cpu/cpuN/online (as root); maxcpus= or nr_cpus= "
                    "in the kernel's command line",
                    "%u cpus are switched off: their cores add neither FLOP/s nor reads in flight",
                    facts->cpus_offline);
    }
}

void doctor_examine(struct result_run *run, const struct doctor_facts *facts)
{
    examine_blas(run, facts);
    examine_limits(run, facts);
    examine_cpus(run, facts);
    doctor_examine_memory(run, facts);
    doctor_examine_core(run, facts);
}

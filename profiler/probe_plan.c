#include "profiler/probe_plan.h"

#include "profiler/placement.h"
#include "profiler/result_build.h"

#include <stdlib.h>
#include <string.h>

static struct status no_memory(void)
{
    return status_error(STATUS_SYSTEM, "no memory for a plan");
}

static struct status keep_cpus(size_t *first, struct probe_plan *plan, const unsigned *cpus,
                               unsigned count)
{
    *first = plan->cpu_count;
    unsigned *more = realloc(plan->cpus, (plan->cpu_count + count) * sizeof *more);
    if (more == NULL) {
        return no_memory();
    }
    plan->cpus = more;
    memcpy(plan->cpus + plan->cpu_count, cpus, count * sizeof *cpus);
    plan->cpu_count += count;
    return status_ok();
}

static struct status add_task(struct probe_plan *plan, struct probe_task task)
{
    struct probe_task *slot = result_append(&plan->tasks, &plan->task_count, sizeof *slot);
    if (slot == NULL) {
        return no_memory();
    }
    *slot = task;
    return status_ok();
}

static struct status add_set(struct probe_plan *plan, enum probe_task_kind kind,
                             const unsigned *cpus, unsigned threads)
{
    struct probe_task task = {.kind = kind, .threads = threads};
    TRY(keep_cpus(&task.first_cpu, plan, cpus, threads));
    return add_task(plan, task);
}

static struct status add_count(struct probe_plan *plan, enum probe_task_kind kind,
                               const struct machine *machine, unsigned threads)
{
    unsigned cpus[MACHINE_CPUS_MAX];
    TRY(placement_cpus(cpus, machine, threads));
    return add_set(plan, kind, cpus, threads);
}

static struct status add_teams(struct probe_plan *plan, const struct machine *machine,
                               const struct probe_options *options)
{
    unsigned defaults[] = {machine_default_threads(machine, false), 1};
    size_t count = options->quick || defaults[0] == 1 ? 1 : 2;
    const unsigned *threads = defaults;
    if (options->thread_count > 0) {
        threads = options->threads;
        count = options->thread_count;
    }
    for (size_t i = 0; i < count; i++) {
        TRY(add_count(plan, PROBE_TEAM, machine, threads[i]));
    }
    return status_ok();
}

// Other sets than one cpu per core: all hardware threads, and each kind of core alone, as many as
// the quota lets run.
static struct status add_other_sets(struct probe_plan *plan, const struct machine *machine)
{
    unsigned cores = machine_default_threads(machine, false);
    unsigned all = machine_default_threads(machine, true);
    if (all > cores) {
        TRY(add_count(plan, PROBE_TEAM_BRIEF, machine, all));
    }
    for (unsigned kind = 0; machine->core_kind_count > 1 && kind < machine->core_kind_count;
         kind++) {
        unsigned cpus[MACHINE_CPUS_MAX];
        unsigned count = placement_cpus_of_kind(cpus, MACHINE_CPUS_MAX, machine, kind);
        count = count < cores ? count : cores;
        if (count > 0) {
            TRY(add_set(plan, PROBE_TEAM_BRIEF, cpus, count));
        }
    }
    return status_ok();
}

// All counts up to 16, then every second, fourth ... so that at most about 40 are measured.
static unsigned next_count(unsigned threads, unsigned all)
{
    unsigned step = threads < 16 ? 1 : threads / 16 * 2;
    unsigned next = threads + step;
    return threads < all && next > all ? all : next;
}

static struct status add_curve(struct probe_plan *plan, const struct machine *machine)
{
    unsigned all = machine_default_threads(machine, false);
    for (unsigned n = 1; n <= all; n = next_count(n, all)) {
        TRY(add_count(plan, PROBE_SCALING, machine, n));
    }
    return status_ok();
}

static struct status add_row(struct probe_plan *plan, const struct machine *machine, unsigned from)
{
    unsigned cpus[MACHINE_CPUS_MAX];
    unsigned threads = placement_cpus_of_node(cpus, MACHINE_CPUS_MAX, machine, from);
    unsigned most = machine_default_threads(machine, false);
    struct probe_task task = {.kind = PROBE_PAIR, .from = from};
    task.threads = threads < most ? threads : most;
    if (threads == 0) {
        return status_ok(); // memory without cpus is read by the others
    }
    TRY(keep_cpus(&task.first_cpu, plan, cpus, task.threads));
    for (size_t i = 0; i < machine->node_count; i++) {
        task.to = machine->nodes[i].os_index;
        if (machine->nodes[i].bytes > 0) {
            TRY(add_task(plan, task));
        }
    }
    return status_ok();
}

static struct status add_all(struct probe_plan *plan, const struct machine *machine,
                             const struct probe_options *options, bool dram)
{
    TRY(add_teams(plan, machine, options));
    if (options->quick) {
        return status_ok();
    }
    if (options->thread_count == 0) {
        TRY(add_other_sets(plan, machine));
    }
    if (dram) {
        TRY(add_curve(plan, machine));
    }
    for (size_t i = 0; dram && machine->node_count > 1 && i < machine->node_count; i++) {
        TRY(add_row(plan, machine, machine->nodes[i].os_index));
    }
    return status_ok();
}

struct status probe_plan_make(struct probe_plan *out, const struct machine *machine,
                              const struct probe_options *options, bool dram)
{
    memset(out, 0, sizeof *out);
    struct status status = add_all(out, machine, options, dram);
    if (status.code != STATUS_OK) {
        probe_plan_free(out);
    }
    return status;
}

const unsigned *probe_plan_cpus(const struct probe_plan *plan, const struct probe_task *task)
{
    return plan->cpus + task->first_cpu;
}

void probe_plan_free(struct probe_plan *plan)
{
    free(plan->tasks);
    free(plan->cpus);
    memset(plan, 0, sizeof *plan);
}

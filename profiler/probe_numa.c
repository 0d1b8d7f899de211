// Threads of one node against the memory of another.
#include "profiler/probe_session.h"
#include "profiler/result_build.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NODE_BITS = 1024, LONG_BITS = 8 * sizeof(unsigned long), POLICY_BIND = 2 };

// mbind(2) by number: glibc has no wrapper, and libnuma is not needed for one call. Refused
// (seccomp, no NUMA in the kernel) means that pages go where they are touched.
static bool bind_memory(const struct arena *arena, unsigned node)
{
    unsigned long mask[NODE_BITS / LONG_BITS] = {0};
    if (node >= NODE_BITS) {
        return false;
    }
    mask[node / LONG_BITS] = 1ul << node % LONG_BITS;
    return syscall(SYS_mbind, arena->mapping, arena->mapping_bytes, POLICY_BIND, mask,
                   (unsigned long)NODE_BITS + 1, 0ul) == 0;
}

static struct status measure_pair(struct reading *out, struct probe *probe, const unsigned *cpus,
                                  unsigned threads, unsigned to)
{
    struct arena remote;
    struct ceilings *session = NULL;
    struct ceiling ceiling;
    struct team *team = NULL;
    TRY(arena_map(&remote, probe->arena.bytes, true));
    struct status status = status_error(STATUS_UNAVAILABLE, "mbind() is refused");
    if (bind_memory(&remote, to)) {
        status = team_create(&team, cpus, threads);
    }
    if (status.code == STATUS_OK) {
        status = ceilings_create(&session, probe->host->machine, team, &remote, &probe->kernels);
    }
    if (status.code == STATUS_OK) {
        ceilings_stop_for(session, probe->limit);
        status = ceilings_fill(session);
    }
    if (status.code == STATUS_OK) {
        status =
            ceiling_choose_stream_in(&ceiling, session, LEVEL_DRAM, "load", probe->arena.bytes / 2);
    }
    if (status.code == STATUS_OK) {
        ceiling_read(out, NULL, NULL, session, &ceiling, probe_repeats(probe));
    }
    ceilings_destroy(session);
    team_destroy(team);
    arena_unmap(&remote);
    return status;
}

static void push_pair(struct probe *probe, unsigned threads, unsigned from, unsigned to,
                      const struct reading *rate)
{
    struct result_machine *machine = &probe->run->machine;
    struct result_numa *row = result_append(&machine->numa, &machine->numa_count, sizeof *row);
    if (row != NULL) {
        *row = (struct result_numa){
            .kernel = "load", .threads = threads, .from = from, .to = to, .bytes_per_s = *rate};
    }
}

// The only node's figure is the DRAM roof of all its threads.
static void copy_only_node(struct probe *probe)
{
    const struct result_machine *machine = &probe->run->machine;
    const struct machine *host = probe->host->machine;
    unsigned node = host->node_count > 0 ? host->nodes[0].os_index : 0;
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        const struct result_bandwidth *row = &machine->bandwidth[i];
        if (strcmp(row->level, "DRAM") == 0 && strcmp(row->kernel, "load") == 0) {
            struct reading rate = row->bytes_per_s;
            push_pair(probe, row->threads, node, node, &rate);
            return;
        }
    }
}

static struct status measure_task(struct probe *probe, const struct probe_task *task)
{
    struct reading rate;
    struct status status =
        measure_pair(&rate, probe, probe_plan_cpus(&probe->plan, task), task->threads, task->to);
    if (limit_is_why(&probe->limit, status)) {
        return probe_in_time(probe, status, "pairs of", "nodes");
    }
    if (status.code == STATUS_OK && reading_is_present(&rate)) {
        push_pair(probe, task->threads, task->from, task->to, &rate);
    } else if (status.code != STATUS_OK && status.code != STATUS_INTERRUPTED) {
        result_warn(probe->run, "numa", NULL, "memory of node %u from node %u: %s", task->to,
                    task->from, status.detail);
        return status_ok();
    }
    return status;
}

struct status probe_numa(struct probe *probe)
{
    if (!probe->dram) {
        return status_ok();
    }
    if (probe->host->machine->node_count <= 1) {
        copy_only_node(probe);
        return status_ok();
    }
    for (size_t i = 0; i < probe->plan.task_count; i++) {
        const struct probe_task *task = &probe->plan.tasks[i];
        TRY(probe_interrupted(probe));
        if (task->kind == PROBE_PAIR && probe_has_time_for(probe, "pairs of", "nodes")) {
            probe_progress(probe, "NUMA");
            TRY(measure_task(probe, task));
        }
    }
    return status_ok();
}

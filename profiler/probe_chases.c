// Latency of the caches among the roofs of one team, in memory of its own.
#include "profiler/clock.h"
#include "profiler/probe_items.h"

#include <string.h>

// What the path of a level is scattered over. Clearly longer than the level inside: it comes round
// before a line is used again. No longer than that, because a tenant's share of the level may end.
static size_t path_bytes(const struct probe *probe, const struct probe_session *session,
                         enum memory_level level)
{
    struct working_set set;
    if (!probe->options->levels[level] ||
        !status_is_ok(working_set_of(&set, probe->host->machine, session->cpus, 1, level))) {
        return 0; // an unknown size was warned of with the bandwidth
    }
    uint64_t bytes = set.least_bytes > 0 ? set.least_bytes : set.bytes;
    return (size_t)((bytes + STREAM_BLOCK - 1) / STREAM_BLOCK * STREAM_BLOCK);
}

static struct status add_chase(struct item_list *list, struct probe_session *session,
                               enum memory_level level, unsigned char *base, size_t bytes)
{
    struct latency_chase *chase = NULL;
    TRY(latency_chase_create(&chase, session->team, base, bytes));
    struct probe_item *item = probe_add_item(list, ROLE_CHASE, NULL);
    if (item == NULL) {
        latency_chase_destroy(chase);
        return status_ok();
    }
    // Bringing the path of L3 back into it takes as long as several windows.
    item->every = level == LEVEL_L3 ? 2 : 1;
    item->samples.shared = level == LEVEL_L3;
    item->chase = chase;
    item->level = level;
    item->bytes = bytes;
    return status_ok();
}

struct status probe_add_chases(struct item_list *list, struct probe *probe,
                               struct probe_session *session)
{
    size_t bytes[LEVEL_COUNT] = {0};
    size_t sum = 0;
    for (unsigned level = 0; level < LEVEL_DRAM; level++) {
        bytes[level] = path_bytes(probe, session, (enum memory_level)level);
        sum += bytes[level];
    }
    if (sum == 0 || !status_is_ok(arena_map(&list->chased, sum, true))) {
        return status_ok(); // without memory they are not measured
    }
    memset(list->chased.base, 1, list->chased.bytes);
    unsigned char *base = list->chased.base;
    for (unsigned level = 0; level < LEVEL_DRAM; level++) {
        const char *name = memory_level_name((enum memory_level)level);
        if (bytes[level] > 0 && clock_seconds() >= list->prepare_by) {
            probe_leave_out(probe, name, "latency");
        } else if (bytes[level] > 0) {
            TRY(add_chase(list, session, (enum memory_level)level, base, bytes[level]));
        }
        base += bytes[level];
    }
    return status_ok();
}

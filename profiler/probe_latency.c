// Latency per level on huge and on base pages, and under load.
#include "profiler/latency.h"
#include "profiler/probe_session.h"
#include "profiler/result_build.h"

#include <stdio.h>
#include <string.h>

static struct latency_place place_of(const struct probe *probe, struct probe_session *session,
                                     const struct arena *arena)
{
    return (struct latency_place){
        .team = session->team, .arena = arena, .sweeper = probe->kernels.streams[0]};
}

static unsigned samples_of(const struct probe *probe)
{
    return probe->options->quick ? 5 : 11;
}

static struct status read_levels(struct probe *probe, struct probe_session *session,
                                 const struct arena *arena, uint64_t page_bytes)
{
    struct result_machine *machine = &probe->run->machine;
    for (unsigned level = 0; level < LEVEL_COUNT; level++) {
        struct working_set set;
        bool asked = probe->options->levels[level] && (level != LEVEL_DRAM || probe->dram);
        TRY(probe_interrupted(probe));
        if (!asked || !probe_has_time(probe, probe->deadline) ||
            !status_is_ok(working_set_of(&set, probe->host->machine, session->cpus, 1,
                                         (enum memory_level)level))) {
            continue; // an unknown size was warned of with the bandwidth
        }
        struct latency_place place = place_of(probe, session, arena);
        place.working_set_bytes = set.bytes;
        place.memory = level == LEVEL_DRAM;
        struct result_latency *row =
            result_append(&machine->latency, &machine->latency_count, sizeof *row);
        if (row != NULL) {
            (void)snprintf(row->level, sizeof row->level, "%s",
                           memory_level_name((enum memory_level)level));
            row->working_set_bytes = set.bytes < arena->bytes ? set.bytes : arena->bytes;
            row->page_bytes = page_bytes;
            latency_read(&row->seconds, &place, samples_of(probe));
        }
    }
    return status_ok();
}

static void read_load(struct probe *probe, const struct latency_place *place, unsigned loaders,
                      unsigned pause)
{
    struct result_machine *machine = &probe->run->machine;
    struct result_loaded_latency *row =
        result_append(&machine->loaded_latency, &machine->loaded_latency_count, sizeof *row);
    if (row != NULL) {
        row->threads = loaders;
        latency_read_loaded(&row->seconds, &row->bytes_per_s, place, loaders, pause,
                            samples_of(probe));
    }
}

// All other threads with rests of falling length, from nearly idle to full speed.
static struct status read_loads(struct probe *probe, struct probe_session *session)
{
    static const unsigned pauses[] = {100000, 20000, 5000, 0};
    struct latency_place place = place_of(probe, session, &probe->arena);
    place.working_set_bytes = probe->arena.bytes;
    place.memory = true;
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        TRY(probe_interrupted(probe));
        if (probe_has_time(probe, probe->deadline)) {
            read_load(probe, &place, session->threads - 1, pauses[i]);
        }
    }
    return status_ok();
}

static void touch(void *context, unsigned thread, unsigned threads)
{
    const struct arena *arena = context;
    size_t share = arena->bytes / threads;
    memset(arena->base + thread * share, 1, share);
}

// The same on base pages, in memory of its own if there is room for a second arena.
static struct status read_small_pages(struct probe *probe, struct probe_session *session)
{
    uint64_t left = probe->host->machine->memory_available_bytes / 5 * 4;
    struct arena small;
    if (arena_page_bytes(&probe->arena) <= probe->host->machine->base_page_bytes ||
        !probe_has_time(probe, probe->deadline) || (left > 0 && 2 * probe->arena.bytes > left)) {
        return status_ok();
    }
    TRY(arena_map(&small, probe->arena.bytes, false));
    team_run(session->team, (struct team_body){touch, &small});
    struct status status = read_levels(probe, session, &small, arena_page_bytes(&small));
    arena_unmap(&small);
    return status;
}

struct status probe_latency(struct probe *probe, struct probe_session *session)
{
    if (probe->run->machine.latency_count > 0) {
        return status_ok(); // one thread chases, whatever the team: once is enough
    }
    probe_progress(probe, "latency");
    TRY(read_levels(probe, session, &probe->arena, arena_page_bytes(&probe->arena)));
    if (probe->options->quick) {
        return status_ok();
    }
    if (probe->dram && session->threads > 1) {
        probe_progress(probe, "latency under load");
        TRY(read_loads(probe, session));
    }
    return read_small_pages(probe, session);
}

// Latency per level on huge and on base pages, and under load.
#include "profiler/latency.h"
#include "profiler/probe_session.h"
#include "profiler/result_build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct latency_place place_of(const struct probe *probe, struct probe_session *session,
                                     const struct arena *arena)
{
    return (struct latency_place){.team = session->team,
                                  .arena = arena,
                                  .sweeper = probe->kernels.streams[0],
                                  .limit = probe->limit};
}

static unsigned samples_of(const struct probe *probe)
{
    return probe->options->quick ? 11 : 21;
}

// Why not to rely on it: involuntary switches and the like, or cores that were slower than at best
// in this session (dependent loads follow the clock).
static void judge_latency(struct result_latency *row, unsigned disturbed, double loop_fraction)
{
    double width = (row->seconds.ci95_high - row->seconds.ci95_low) / row->seconds.value;
    char slowed[64] = "";
    bool slow = loop_fraction < PROBE_SLOWED_FRACTION;
    if (slow) {
        (void)snprintf(slowed, sizeof slowed, ", cores slowed to %.0f %%", 100 * loop_fraction);
    }
    if (disturbed > 0 || width > 0.10 || slow) {
        (void)snprintf(row->unsteady, sizeof row->unsteady,
                       "interval %.0f %% wide, %u of %zu samples had involuntary switches, stolen "
                       "or throttled time%s",
                       100 * width, disturbed, row->seconds.n, slowed);
    }
}

static void read_level(struct probe *probe, struct probe_session *session,
                       const struct latency_place *place, uint64_t page_bytes,
                       enum memory_level level)
{
    struct result_machine *machine = &probe->run->machine;
    struct result_latency *row =
        result_append(&machine->latency, &machine->latency_count, sizeof *row);
    unsigned disturbed = 0;
    if (row == NULL) {
        return;
    }
    (void)snprintf(row->level, sizeof row->level, "%s", memory_level_name(level));
    row->working_set_bytes = place->working_set_bytes < place->arena->bytes
                                 ? place->working_set_bytes
                                 : place->arena->bytes;
    row->page_bytes = page_bytes;
    double before = session->last.loop_per_s;
    latency_read(&row->seconds, &disturbed, place, samples_of(probe));
    if (!reading_is_present(&row->seconds)) { // the limit was reached before the first sample
        (void)probe_has_time_for(probe, memory_level_name(level), "latency");
        machine->latency_count--;
        return;
    }
    witness_look(&session->last, session->witness);
    // No roofs, no best loop: then nothing is slower than it.
    double best = session->view.loop_best_per_s > 0 ? session->view.loop_best_per_s : before;
    judge_latency(row, disturbed, fmin(before, session->last.loop_per_s) / best);
}

// The caches' latency on huge pages came with the roofs.
static bool is_known(const struct result_machine *machine, unsigned level, uint64_t page_bytes)
{
    for (size_t i = 0; i < machine->latency_count; i++) {
        const struct result_latency *row = &machine->latency[i];
        if (strcmp(row->level, memory_level_name((enum memory_level)level)) == 0 &&
            row->page_bytes == page_bytes) {
            return true;
        }
    }
    return false;
}

static struct status read_levels(struct probe *probe, struct probe_session *session,
                                 const struct arena *arena, uint64_t page_bytes)
{
    for (unsigned level = 0; level < LEVEL_COUNT; level++) {
        struct working_set set;
        bool asked = probe->options->levels[level] && (level != LEVEL_DRAM || probe->dram);
        TRY(probe_interrupted(probe));
        if (!asked || is_known(&probe->run->machine, level, page_bytes) ||
            !status_is_ok(working_set_of(&set, probe->host->machine, session->cpus, 1,
                                         (enum memory_level)level)) ||
            !probe_has_time_for(probe, memory_level_name((enum memory_level)level), "latency")) {
            continue; // an unknown size was warned of with the bandwidth
        }
        struct latency_place place = place_of(probe, session, arena);
        // A path clearly longer than the level inside finds nothing there: it comes round before a
        // line is used again. No longer than that, because a tenant's share of the level may end.
        place.working_set_bytes = set.least_bytes > 0 ? set.least_bytes : set.bytes;
        place.memory = level == LEVEL_DRAM;
        read_level(probe, session, &place, page_bytes, (enum memory_level)level);
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
        bool missed = !reading_is_present(&row->seconds) &&
                      !probe_has_time_for(probe, "DRAM", "loaded latency");
        machine->loaded_latency_count -= missed ? 1 : 0;
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
        if (probe_has_time_for(probe, "DRAM", "loaded latency")) {
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
        (left > 0 && 2 * probe->arena.bytes > left) ||
        !probe_has_time_for(probe, "latency on", "small pages")) {
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
    if (probe->latency_done) {
        return status_ok();
    }
    probe->latency_done = true;
    probe_progress(probe, "latency");
    witness_look(&session->last, session->witness);
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

// Levels from the data: bandwidth over sizes, its plateaus, and what the topology claims.
#include "profiler/probe_session.h"
#include "profiler/result_build.h"
#include "roofline/stats.h"
#include "roofline/units.h"

#include <string.h>

enum { PLATEAU_POINTS = 3 }; // of four to the octave

// Points from first on that stay within 15 % of their common median.
static size_t run_length(const struct probe_size *sizes, size_t first, size_t count)
{
    double rates[PROBE_SIZES_MAX];
    size_t length = 0;
    for (size_t i = first; i < count; i++) {
        rates[length] = sizes[i].bytes_per_s;
        double middle = stats_median(rates, length + 1);
        for (size_t j = 0; j <= length; j++) {
            if (rates[j] < 0.85 * middle || rates[j] > 1.15 * middle) {
                return length;
            }
        }
        length++;
    }
    return length;
}

size_t probe_plateaus(struct probe_size *out, size_t max, const struct probe_size *sizes,
                      size_t count)
{
    size_t found = 0;
    count = count < PROBE_SIZES_MAX ? count : PROBE_SIZES_MAX;
    for (size_t first = 0; first < count;) {
        double rates[PROBE_SIZES_MAX];
        size_t length = run_length(sizes, first, count);
        if (length < PLATEAU_POINTS) {
            first++; // a slope between two levels
            continue;
        }
        for (size_t i = 0; i < length; i++) {
            rates[i] = sizes[first + i].bytes_per_s;
        }
        double rate = stats_median(rates, length);
        uint64_t end = sizes[first + length - 1].bytes;
        if (found > 0 && rate > 0.8 * out[found - 1].bytes_per_s) {
            out[found - 1].bytes = end; // a wobble, not a level
        } else if (found < max) {
            out[found++] = (struct probe_size){.bytes = end, .bytes_per_s = rate};
        }
        first += length;
    }
    return found;
}

// Some plateau must end near each size that the topology claims for these threads.
static void check_claims(struct probe *probe, const struct probe_session *session)
{
    const struct probe_extras *extras = probe->extras;
    for (unsigned level = LEVEL_L1; level <= LEVEL_L3; level++) {
        struct working_set set;
        bool near = false;
        if (!status_is_ok(working_set_of(&set, probe->host->machine, session->cpus,
                                         session->threads, (enum memory_level)level))) {
            continue;
        }
        double claimed = 2 * (double)set.bytes;
        for (size_t i = 0; i < extras->plateau_count; i++) {
            double end = (double)extras->plateaus[i].bytes;
            near = near || (end > 0.4 * claimed && end < 1.7 * claimed);
        }
        if (!near) {
            char text[UNITS_TEXT];
            result_warn(probe->run, "sweep_disagrees", "trust the sweep for this process's share",
                        "the topology tells %s of %s for %u threads, but no plateau of the sweep "
                        "ends near there",
                        units_format_binary(text, (uint64_t)claimed),
                        memory_level_name((enum memory_level)level), session->threads);
        }
    }
}

bool probe_adopt_levels(struct machine *machine, const struct probe_size *plateaus, size_t count,
                        unsigned threads)
{
    size_t levels = count > 0 ? count - 1 : 0;
    levels = levels < 3 ? levels : 3;
    if (levels == 0) {
        return false;
    }
    for (size_t i = 0; i < levels; i++) {
        bool last = i + 1 == levels;
        machine->caches[i] =
            (struct machine_cache){.level = (unsigned)i + 1,
                                   .type = last ? MACHINE_CACHE_UNIFIED : MACHINE_CACHE_DATA,
                                   .bytes = last ? plateaus[i].bytes : plateaus[i].bytes / threads,
                                   .instances = last ? 1 : threads,
                                   .usable_instances = last ? 1 : threads,
                                   .shared_by_pus = last ? machine->pus : 1};
    }
    machine->cache_count = levels;
    machine->llc_total_bytes = plateaus[levels - 1].bytes;
    return true;
}

struct status probe_sweep_first(struct probe *probe, struct probe_session *session)
{
    const struct probe_extras *extras = probe->extras;
    struct machine found = *probe->host->machine;
    char text[UNITS_TEXT];
    TRY(probe_sweep(probe, session));
    if (!probe_adopt_levels(&found, extras->plateaus, extras->plateau_count, session->threads)) {
        result_warn(probe->run, "sweep_found_nothing", "repeat it on a quiet machine",
                    "%s, and a sweep up to %s found no two levels: nothing can be measured by "
                    "level",
                    probe->why_sweep,
                    units_format_binary(text, (uint64_t)session->threads *
                                                  (probe->arena.bytes / session->threads)));
        probe->swept.cache_count = 0;
        probe->swept.llc_total_bytes = 0;
        probe->dram = false;
        return status_ok();
    }
    probe->swept = found;
    // The triad's three arrays rotate over four times the caches.
    probe->dram =
        probe->options->levels[LEVEL_DRAM] && 4 * found.llc_total_bytes <= probe->arena.bytes;
    result_warn(probe->run, "levels_swept", "mount /sys in the container",
                "%s: working sets follow the %zu levels that a sweep found, the outermost of %s%s",
                probe->why_sweep, found.cache_count,
                units_format_binary(text, found.llc_total_bytes),
                probe->dram ? "" : "; four times that are not there, so memory is not measured");
    return status_ok();
}

// Sizes from 4 KiB per thread to the whole arena, four to the octave.
struct status probe_sweep(struct probe *probe, struct probe_session *session)
{
    struct probe_extras *extras = probe->extras;
    const struct stream_kernel *kernel = probe->kernels.streams[0]; // widest, no prefetch
    double most = (double)probe->arena.bytes / session->threads;
    if (extras->size_count > 0) {
        return status_ok();
    }
    for (double size = 2 * STREAM_BLOCK; size <= most && extras->size_count < PROBE_SIZES_MAX;
         size *= 1.1892) {
        struct ceiling ceiling;
        uint64_t total = (uint64_t)(size * session->threads);
        TRY(probe_interrupted(probe));
        // One size at least, so that a busy machine has a figure to show for the sweep.
        if (extras->size_count > 0 && !probe_has_time_for(probe, "larger sizes of", "the sweep")) {
            break;
        }
        probe_progress(probe, "sweep");
        // As a cache: the same bytes again and again, warm.
        if (!status_is_ok(
                ceiling_prepare_stream(&ceiling, session->ceilings, LEVEL_L3, kernel, total))) {
            break;
        }
        bool again = extras->size_count > 0 && extras->sizes[extras->size_count - 1].bytes ==
                                                   ceiling.working_set_bytes; // whole blocks
        if (!again) {
            struct reading rate;
            ceiling_read(&rate, NULL, NULL, session->ceilings, &ceiling, 5);
            if (!reading_is_present(&rate)) {
                continue; // the time is up
            }
            extras->sizes[extras->size_count++] =
                (struct probe_size){.bytes = ceiling.working_set_bytes, .bytes_per_s = rate.value};
        }
    }
    extras->plateau_count =
        probe_plateaus(extras->plateaus, PROBE_PLATEAUS_MAX, extras->sizes, extras->size_count);
    if (probe->why_sweep[0] == '\0') {
        check_claims(probe, session);
    }
    return status_ok();
}

// Which kernels at which levels and sizes, and which arithmetic: the fastest of each, before they
// are sampled.
#include "profiler/clock.h"
#include "profiler/probe_items.h"
#include "profiler/result_build.h"
#include "roofline/units.h"

#include <math.h>
#include <string.h>

static const char *const kernels_quick[] = {"load",    "store", "store_nt", "copy",
                                            "copy_nt", "triad", "triad_nt", NULL};
static const char *const kernels_full[] = {"load",  "store", "store_nt", "copy",     "copy_nt",
                                           "scale", "add",   "triad",    "triad_nt", NULL};
static const char *const kernels_brief[] = {"load", NULL};
static const char *const all_dtypes[] = {"f32", "f64", "bf16", "f16", "int8"};

struct probe_item *probe_add_item(struct item_list *list, enum item_role role,
                                  const struct ceiling *ceiling)
{
    struct probe_item *item = result_append(&list->items, &list->count, sizeof *item);
    if (item == NULL) {
        return NULL;
    }
    item->role = role;
    item->every = 1;
    if (ceiling != NULL) {
        item->ceiling = *ceiling;
        item->samples.heeds_copy = ceiling->kind == CEILING_STREAM &&
                                   ceiling->level != LEVEL_DRAM && !ceiling->stream->nontemporal;
        item->samples.shared = ceiling->kind == CEILING_STREAM &&
                               (ceiling->level >= LEVEL_L3 || ceiling->stream->nontemporal);
    }
    return item;
}

static void keep_variants(struct probe *probe, const struct ceiling *ceiling)
{
    struct probe_extras *extras = probe->extras;
    if (extras->variant_count > 0) {
        return;
    }
    for (size_t i = 0; i < ceiling->trial_count && i < PROBE_VARIANTS_MAX; i++) {
        extras->variants[extras->variant_count++] = (struct probe_variant){
            .name = ceiling->trials[i].variant, .bytes_per_s = ceiling->trials[i].per_s};
    }
}

// A second, smaller size that the same level must serve as fast.
static void add_plateau(struct item_list *list, struct probe_session *session,
                        const struct ceiling *ceiling, const struct working_set *set)
{
    struct ceiling plateau;
    if (set->plateau_bytes > 0 &&
        status_is_ok(ceiling_prepare_stream(&plateau, session->ceilings, ceiling->level,
                                            ceiling->stream, set->plateau_bytes))) {
        (void)probe_add_item(list, ROLE_PLATEAU, &plateau);
    }
}

// A tenant's share of a big cache can be far below its size. The largest of a few sizes, from
// clearly more than the level inside up to half of the level, whose load is as fast as that of all
// smaller ones.
static void fit_share(struct working_set *set, struct probe *probe, struct probe_session *session,
                      enum memory_level level, double by)
{
    enum { TRIAL_SAMPLES = 9 };
    struct working_set fits = {.bytes = 0};
    double most = 0;
    double rate_above = 0;
    for (uint64_t bytes = set->least_bytes; bytes > 0 && bytes <= set->bytes; bytes *= 2) {
        struct ceiling load;
        struct reading rate;
        if (clock_seconds() >= by ||
            !status_is_ok(ceiling_prepare_stream(&load, session->ceilings, level,
                                                 probe->kernels.streams[0], bytes))) {
            break;
        }
        ceiling_read(&rate, NULL, NULL, session->ceilings, &load, TRIAL_SAMPLES);
        // The bests: what this process can have, whatever neighbours take in the meantime.
        most = rate.best > most ? rate.best : most;
        if (rate.best < 0.9 * most) {
            rate_above = rate.best;
            break;
        }
        fits = (struct working_set){.bytes = bytes, .plateau_bytes = fits.bytes};
    }
    if (rate_above > 0) {
        char text[4][UNITS_TEXT];
        result_warn(probe->run, "cache_share", "lmroof probe --sweep shows where the levels end",
                    "%s loads of %u threads fall from %s to %s above %s: this process has a part "
                    "of the %s that the topology tells, and its ceilings are those of %s",
                    memory_level_name(level), session->threads,
                    units_format_decimal(text[0], most, "B/s"),
                    units_format_decimal(text[1], rate_above, "B/s"),
                    units_format_binary(text[2], fits.bytes), memory_level_name(level),
                    units_format_binary(text[3], fits.bytes));
        set->bytes = fits.bytes;
        set->plateau_bytes = fits.plateau_bytes;
    }
}

// On a busy machine each level still has its load, uncompared: the widest plain one.
static struct status only_load(struct ceiling *out, struct probe_session *session,
                               const struct ceiling_kernels *kernels, enum memory_level level,
                               uint64_t bytes)
{
    const struct stream_kernel *widest = NULL;
    for (size_t i = 0; i < kernels->stream_count; i++) {
        const struct stream_kernel *kernel = kernels->streams[i];
        bool plain = strcmp(kernel->kernel, "load") == 0 && kernel->streams == 1 &&
                     kernel->prefetch_bytes == 0;
        if (plain && (widest == NULL || kernel->width_bits > widest->width_bits)) {
            widest = kernel;
        }
    }
    return widest == NULL ? status_error(STATUS_UNAVAILABLE, "no plain load")
                          : ceiling_prepare_stream(out, session->ceilings, level, widest, bytes);
}

static struct status choose_level(struct item_list *list, struct probe *probe,
                                  struct probe_session *session, enum memory_level level,
                                  const char *const *kernels, double by)
{
    struct working_set set;
    const char *name = memory_level_name(level);
    struct status status =
        working_set_of(&set, probe->host->machine, session->cpus, session->threads, level);
    if (status.code != STATUS_OK) {
        result_warn(probe->run, "level_unknown", "lmroof probe --sweep finds levels from the data",
                    "%s was not measured: %s", name, status.detail);
        return status_ok();
    }
    if (level == LEVEL_L3) {
        fit_share(&set, probe, session, level, list->choose_by);
    }
    for (size_t i = 0; kernels[i] != NULL; i++) {
        struct ceiling ceiling;
        TRY(probe_interrupted(probe));
        bool late = clock_seconds() >= (i == 0 ? list->choose_by : by);
        if (late) {
            probe_leave_out(probe, name, i == 0 ? "load's comparison" : kernels[i]);
        }
        if (late && i > 0) {
            continue;
        }
        struct status chosen = late
                                   ? only_load(&ceiling, session, &probe->kernels, level, set.bytes)
                                   : ceiling_choose_stream_in(&ceiling, session->ceilings, level,
                                                              kernels[i], set.bytes);
        TRY(probe_in_time(probe, chosen, name, kernels[i]));
        if (chosen.code != STATUS_OK) {
            continue;
        }
        (void)probe_add_item(list, ROLE_STREAM, &ceiling);
        if (strcmp(kernels[i], "load") == 0) {
            add_plateau(list, session, &ceiling, &set);
            if (level == LEVEL_DRAM) {
                keep_variants(probe, &ceiling);
            }
        }
    }
    return status_ok();
}

struct status probe_choose_streams(struct item_list *list, struct probe *probe,
                                   struct probe_session *session, bool brief)
{
    const char *const *kernels = probe->options->quick ? kernels_quick : kernels_full;
    // The slower a level, the longer its trials; what one leaves is the next one's.
    static const struct {
        enum memory_level level;
        double until; // of the time to choose
    } order[] = {{LEVEL_DRAM, 0.5}, {LEVEL_L3, 0.7}, {LEVEL_L2, 0.85}, {LEVEL_L1, 1}};
    double begin = clock_seconds();
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        enum memory_level level = order[i].level;
        bool asked = probe->options->levels[level] && (level != LEVEL_DRAM || probe->dram);
        if (asked && (!brief || level == LEVEL_DRAM)) {
            probe_progress(probe, memory_level_name(level));
            TRY(choose_level(list, probe, session, level, brief ? kernels_brief : kernels,
                             begin + order[i].until * (list->choose_by - begin)));
        }
    }
    return status_ok();
}

// Classes that can do the dtype's arithmetic, each once: the fastest chain count of each.
static struct status choose_classes(struct item_list *list, struct probe *probe,
                                    struct probe_session *session, const char *dtype)
{
    struct ceiling best;
    struct status status = ceiling_choose_compute(&best, session->ceilings, dtype, NULL);
    if (limit_is_why(&probe->limit, status)) {
        return probe_in_time(probe, status, dtype, "fma");
    }
    if (status.code == STATUS_UNAVAILABLE) {
        return status_ok(); // this CPU has no such instructions: nothing to report
    }
    TRY(status);
    (void)probe_add_item(list, ROLE_CHAIN, &best);
    for (size_t i = 0; i < best.trial_count; i++) {
        const char *class_ = best.trials[i].variant;
        bool again = strcmp(class_, best.chain->class_) == 0 ||
                     (i > 0 && strcmp(class_, best.trials[i - 1].variant) == 0);
        struct ceiling other;
        if (again || probe->options->quick) {
            continue;
        }
        if (clock_seconds() >= list->prepare_by) {
            probe_leave_out(probe, class_, "fma");
        } else if (status_is_ok(ceiling_choose_compute(&other, session->ceilings, dtype, class_))) {
            (void)probe_add_item(list, ROLE_CHAIN, &other);
        }
    }
    return status_ok();
}

struct status probe_choose_chains(struct item_list *list, struct probe *probe,
                                  struct probe_session *session, bool brief)
{
    const struct probe_options *options = probe->options;
    size_t count =
        options->dtype_count > 0 ? options->dtype_count : sizeof all_dtypes / sizeof *all_dtypes;
    count = brief ? 1 : count;
    for (size_t i = 0; i < count; i++) {
        const char *dtype = options->dtype_count > 0 ? options->dtypes[i] : all_dtypes[i];
        TRY(probe_interrupted(probe));
        double left = list->prepare_by - clock_seconds();
        if (i > 0 && left <= 0) {
            probe_leave_out(probe, dtype, "fma");
            continue;
        }
        probe_progress(probe, dtype);
        // Twice: the type's own instructions, then wider ones.
        ceilings_be_patient(session->ceilings, left / (double)(count - i) / 2);
        TRY(choose_classes(list, probe, session, dtype));
    }
    ceilings_be_patient(session->ceilings, HUGE_VAL);
    return status_ok();
}

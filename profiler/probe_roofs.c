// The roofs of one team: which kernels at which levels, sampled in rounds.
#include "profiler/clock.h"
#include "profiler/probe_session.h"
#include "profiler/result_build.h"
#include "profiler/uarch.h"
#include "roofline/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum item_role { ROLE_STREAM, ROLE_PLATEAU, ROLE_CHAIN };

struct probe_item {
    enum item_role role;
    struct ceiling ceiling;
    struct ceiling_record record;
    struct reading per_s;
    struct reading core_hz;
    unsigned disturbed;
};

struct item_list {
    struct probe_item *items;
    size_t count;
    double choose_by; // shares of the time that is left: choosing, sampling, everything after
    double sample_by;
};

static const char *const kernels_quick[] = {"load",    "store", "store_nt", "copy",
                                            "copy_nt", "triad", "triad_nt", NULL};
static const char *const kernels_full[] = {"load",  "store", "store_nt", "copy",     "copy_nt",
                                           "scale", "add",   "triad",    "triad_nt", NULL};
static const char *const kernels_brief[] = {"load", NULL};
static const char *const all_dtypes[] = {"f32", "f64", "bf16", "f16", "int8"};

static struct probe_item *add_item(struct item_list *list, enum item_role role,
                                   const struct ceiling *ceiling)
{
    struct probe_item *item = result_append(&list->items, &list->count, sizeof *item);
    if (item != NULL) {
        item->role = role;
        item->ceiling = *ceiling;
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
        (void)add_item(list, ROLE_PLATEAU, &plateau);
    }
}

static struct status choose_level(struct item_list *list, struct probe *probe,
                                  struct probe_session *session, enum memory_level level,
                                  const char *const *kernels)
{
    struct working_set set;
    struct status status =
        working_set_of(&set, probe->host->machine, session->cpus, session->threads, level);
    if (status.code != STATUS_OK) {
        result_warn(probe->run, "level_unknown", "lmroof probe --sweep finds levels from the data",
                    "%s was not measured: %s", memory_level_name(level), status.detail);
        return status_ok();
    }
    for (size_t i = 0; kernels[i] != NULL; i++) {
        struct ceiling ceiling;
        TRY(probe_interrupted(probe));
        if (!probe_has_time(probe, list->choose_by)) {
            return status_ok();
        }
        TRY(ceiling_choose_stream_in(&ceiling, session->ceilings, level, kernels[i], set.bytes));
        (void)add_item(list, ROLE_STREAM, &ceiling);
        if (strcmp(kernels[i], "load") == 0) {
            add_plateau(list, session, &ceiling, &set);
            if (level == LEVEL_DRAM) {
                keep_variants(probe, &ceiling);
            }
        }
    }
    return status_ok();
}

static struct status choose_streams(struct item_list *list, struct probe *probe,
                                    struct probe_session *session, bool brief)
{
    const char *const *kernels = probe->options->quick ? kernels_quick : kernels_full;
    static const enum memory_level order[] = {LEVEL_DRAM, LEVEL_L3, LEVEL_L2, LEVEL_L1};
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        enum memory_level level = order[i];
        bool asked = probe->options->levels[level] && (level != LEVEL_DRAM || probe->dram);
        if (asked && (!brief || level == LEVEL_DRAM)) {
            probe_progress(probe, memory_level_name(level));
            TRY(choose_level(list, probe, session, level, brief ? kernels_brief : kernels));
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
    if (status.code == STATUS_UNAVAILABLE) {
        return status_ok(); // this CPU has no such instructions: nothing to report
    }
    TRY(status);
    (void)add_item(list, ROLE_CHAIN, &best);
    for (size_t i = 0; i < best.trial_count; i++) {
        const char *class_ = best.trials[i].variant;
        bool again = strcmp(class_, best.chain->class_) == 0 ||
                     (i > 0 && strcmp(class_, best.trials[i - 1].variant) == 0);
        struct ceiling other;
        if (!again && !probe->options->quick && probe_has_time(probe, list->choose_by) &&
            status_is_ok(ceiling_choose_compute(&other, session->ceilings, dtype, class_))) {
            (void)add_item(list, ROLE_CHAIN, &other);
        }
    }
    return status_ok();
}

static struct status choose_chains(struct item_list *list, struct probe *probe,
                                   struct probe_session *session, bool brief)
{
    const struct probe_options *options = probe->options;
    size_t count =
        options->dtype_count > 0 ? options->dtype_count : sizeof all_dtypes / sizeof *all_dtypes;
    count = brief ? 1 : count;
    for (size_t i = 0; i < count; i++) {
        const char *dtype = options->dtype_count > 0 ? options->dtypes[i] : all_dtypes[i];
        TRY(probe_interrupted(probe));
        probe_progress(probe, dtype);
        TRY(choose_classes(list, probe, session, dtype));
    }
    return status_ok();
}

static struct status sample_rounds(struct item_list *list, struct probe *probe,
                                   struct probe_session *session)
{
    unsigned repeats = probe_repeats(probe);
    for (unsigned round = 0; round < 2 * repeats; round++) {
        probe_progress(probe, "sampling");
        for (size_t i = 0; i < list->count; i++) {
            TRY(probe_interrupted(probe));
            bool wanted = round < repeats || list->items[i].record.count < repeats;
            bool allowed = round == 0 || probe_has_time(probe, list->sample_by);
            if (wanted && allowed) {
                ceiling_record_sample(&list->items[i].record, session->ceilings,
                                      &list->items[i].ceiling);
            }
        }
    }
    return status_ok();
}

static void report_unsteady(struct result_run *run, const struct probe_item *item, const char *what,
                            const char *which)
{
    double width = (item->per_s.ci95_high - item->per_s.ci95_low) / item->per_s.value;
    if (item->disturbed > 0 || width > 0.10 || item->per_s.n < 3) {
        result_warn(run, "unsteady", "repeat it on a quiet machine",
                    "%s %s: 95 %% interval is %.0f %% wide; %u of %zu samples had involuntary "
                    "switches, stolen or throttled time",
                    what, which, 100 * width, item->disturbed, item->per_s.n);
    }
}

static void push_stream(struct probe *probe, struct probe_session *session,
                        const struct probe_item *item)
{
    struct result_machine *machine = &probe->run->machine;
    struct result_bandwidth *row =
        result_append(&machine->bandwidth, &machine->bandwidth_count, sizeof *row);
    if (row != NULL) {
        ceiling_describe_stream(row, session->ceilings, &item->ceiling);
        row->bytes_per_s = item->per_s;
        report_unsteady(probe->run, item, row->level, row->kernel);
    }
}

// Published instructions per cycle at the clock that was measured inside the loop.
static struct reading theory_of(const struct probe *probe, const struct probe_item *item,
                                unsigned threads)
{
    const struct compute_kernel *chain = item->ceiling.chain;
    uint32_t bytes = chain->vector_bytes != 0 ? chain->vector_bytes : probe->kernels.isa.sve_bytes;
    double per_cycle = uarch_fma_per_cycle(NULL, probe->host->machine, bytes);
    if (chain->meaning != COMPUTE_FMA || isnan(per_cycle) || !reading_is_present(&item->core_hz)) {
        return reading_absent(ABSENT_UNSUPPORTED,
                              "no published rate of this instruction on this core, or no clock",
                              NULL);
    }
    return reading_plain(per_cycle * (bytes / 8.0) * chain->flop_per_8_bytes * threads *
                             item->core_hz.value,
                         ORIGIN_DATASHEET);
}

static void push_chain(struct probe *probe, struct probe_session *session,
                       const struct probe_item *item)
{
    struct result_machine *machine = &probe->run->machine;
    struct result_compute *row =
        result_append(&machine->compute, &machine->compute_count, sizeof *row);
    if (row != NULL) {
        ceiling_describe_compute(row, session->ceilings, &item->ceiling);
        row->flop_per_s = item->per_s;
        row->core_hz = item->core_hz;
        row->theoretical_flop_per_s = theory_of(probe, item, session->threads);
        report_unsteady(probe->run, item, row->dtype, row->class_);
    }
}

static void check_plateau(struct result_run *run, const struct probe_item *full,
                          const struct probe_item *plateau)
{
    double ratio = full->per_s.value / plateau->per_s.value;
    if (ratio < 0.85) {
        const char *level = memory_level_name(full->ceiling.level);
        char rates[2][UNITS_TEXT];
        char sizes[2][UNITS_TEXT];
        result_warn(run, "no_plateau", "lmroof probe --sweep shows where the levels end",
                    "%s load is not the same at two sizes (%s over %s, %s over %s): this process's "
                    "share of the %s is unknown",
                    level, units_format_decimal(rates[0], full->per_s.value, "B/s"),
                    units_format_binary(sizes[0], full->ceiling.working_set_bytes),
                    units_format_decimal(rates[1], plateau->per_s.value, "B/s"),
                    units_format_binary(sizes[1], plateau->ceiling.working_set_bytes), level);
    }
}

// Bytes moved per byte stored, from copy against copy_nt in the same rounds: copy moves 1 + w
// bytes per byte stored while copy_nt moves 2, so w = 2 nt / plain - 1. Undisturbed samples only;
// never clamped.
static void write_allocate(struct probe *probe, const struct item_list *list)
{
    const struct probe_item *plain = NULL;
    const struct probe_item *direct = NULL;
    double factors[READING_SAMPLES_MAX] = {0};
    for (size_t i = 0; i < list->count; i++) {
        const struct probe_item *item = &list->items[i];
        if (item->role == ROLE_STREAM && item->ceiling.level == LEVEL_DRAM) {
            plain = strcmp(item->ceiling.stream->kernel, "copy") == 0 ? item : plain;
            direct = strcmp(item->ceiling.stream->kernel, "copy_nt") == 0 ? item : direct;
        }
    }
    if (plain == NULL || direct == NULL ||
        reading_is_present(&probe->run->machine.write_allocate_factor)) {
        return;
    }
    size_t count =
        plain->record.count < direct->record.count ? plain->record.count : direct->record.count;
    bool sane = count >= 3;
    for (size_t i = 0; i < count; i++) {
        factors[i] = 2 * direct->record.rate[i] / plain->record.rate[i] - 1;
        sane = sane && factors[i] > 0;
    }
    probe->run->machine.write_allocate_factor =
        sane ? reading_of_samples(factors, count, BETTER_LOWER, ORIGIN_TIMED)
             : reading_absent(ABSENT_FAILED,
                              "too few undisturbed samples of copy and copy_nt, or copy_nt below "
                              "half of copy",
                              "repeat it on a quiet machine");
}

// Classes that the CPU claims but whose check failed here: named, without a figure.
static void push_unverified(struct probe *probe, unsigned threads)
{
    struct result_machine *machine = &probe->run->machine;
    for (size_t i = 0; i < probe->kernels.compute_count; i++) {
        const struct compute_kernel *kernel = probe->kernels.compute[i];
        bool again = i > 0 && strcmp(probe->kernels.compute[i - 1]->class_, kernel->class_) == 0;
        struct result_compute *row =
            probe->kernels.verified[i] || again
                ? NULL
                : result_append(&machine->compute, &machine->compute_count, sizeof *row);
        if (row != NULL) {
            (void)snprintf(row->dtype, sizeof row->dtype, "%s", kernel->dtype);
            (void)snprintf(row->kind, sizeof row->kind, "fma");
            (void)snprintf(row->class_, sizeof row->class_, "%s", kernel->class_);
            (void)snprintf(row->backend, sizeof row->backend, "lmroof");
            row->threads = threads;
            row->integer_operations = kernel->integer_operations;
            row->flop_per_s = reading_absent(
                ABSENT_FAILED, "its check failed or could not execute on this host", NULL);
            row->core_hz = row->flop_per_s;
            row->theoretical_flop_per_s = row->flop_per_s;
        }
    }
}

static void push_all(struct probe *probe, struct probe_session *session, struct item_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct probe_item *item = &list->items[i];
        ceiling_record_read(&item->per_s, &item->core_hz, &item->disturbed, &item->record,
                            probe_repeats(probe));
        if (!reading_is_present(&item->per_s)) {
            continue;
        }
        if (item->role == ROLE_STREAM) {
            push_stream(probe, session, item);
        } else if (item->role == ROLE_CHAIN) {
            push_chain(probe, session, item);
        } else if (i > 0) {
            check_plateau(probe->run, &list->items[i - 1], item);
        }
    }
    write_allocate(probe, list);
}

struct status probe_roofs(struct probe *probe, struct probe_session *session, bool brief)
{
    double now = clock_seconds();
    double left = probe->deadline > now ? probe->deadline - now : 0;
    struct item_list list = {.choose_by = now + 0.5 * left, .sample_by = now + 0.75 * left};
    struct status status = choose_streams(&list, probe, session, brief);
    if (status.code == STATUS_OK) {
        status = choose_chains(&list, probe, session, brief);
    }
    if (status.code == STATUS_OK) {
        status = sample_rounds(&list, probe, session);
    }
    if (!brief) {
        push_unverified(probe, session->threads);
    }
    push_all(probe, session, &list); // what was sampled before an interruption counts
    free(list.items);
    return status;
}

// The roofs of one team: which kernels at which levels, sampled in rounds.
#include "profiler/clock.h"
#include "profiler/probe_items.h"
#include "profiler/result_build.h"
#include "profiler/uarch.h"
#include "roofline/stats.h"
#include "roofline/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_window(struct probe_item *item, struct probe_session *session)
{
    struct ceiling_sample sample = {.core_hz = (double)NAN};
    if (item->samples.heeds_copy) {
        probe_session_await(session);
    }
    if (item->role == ROLE_PRODUCT) {
        sample.per_s = probe_product_sample(&sample.timing, item->product);
    } else if (item->role == ROLE_CHASE) {
        sample.per_s = 1 / latency_chase_sample(&sample.timing, item->chase);
    } else {
        ceiling_sample(&sample, session->ceilings, &item->ceiling);
    }
    probe_session_keep(session, &item->samples, sample.per_s, sample.core_hz, &sample.timing.signs);
}

static struct status sample_rounds(struct item_list *list, struct probe *probe,
                                   struct probe_session *session)
{
    double sharing[PROBE_ROUNDS];
    session->view.sharing = (double)NAN;
    for (unsigned round = 0; round < PROBE_ROUNDS; round++) {
        double by = round == 0 ? probe->deadline : round < PROBE_LEAST ? list->sample_by : 0;
        by = fmax(by, list->enough_by);
        if (clock_seconds() >= by) {
            return probe_interrupted(probe);
        }
        probe_progress(probe, "sampling");
        sharing[round] = witness_sharing(session->witness);
        session->view.sharing = stats_median(sharing, round + 1);
        for (size_t i = 0; i < list->count; i++) {
            struct probe_item *item = &list->items[i];
            TRY(probe_interrupted(probe));
            // All get the least, if there is any time at all; the rest is a matter of budget.
            if (round % item->every == 0 && clock_seconds() < by) {
                take_window(item, session);
            }
        }
    }
    return status_ok();
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
        memcpy(row->unsteady, item->unsteady, sizeof row->unsteady);
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
        memcpy(row->unsteady, item->unsteady, sizeof row->unsteady);
    }
}

static void push_product(struct probe *probe, const struct probe_item *item)
{
    struct result_machine *machine = &probe->run->machine;
    struct result_compute *row =
        result_append(&machine->compute, &machine->compute_count, sizeof *row);
    if (row != NULL) {
        probe_product_describe(row, item->product);
        row->flop_per_s = item->per_s;
        memcpy(row->unsteady, item->unsteady, sizeof row->unsteady);
    }
}

static void push_chase(struct probe *probe, const struct item_list *list,
                       const struct probe_item *item)
{
    struct result_machine *machine = &probe->run->machine;
    struct result_latency *row =
        result_append(&machine->latency, &machine->latency_count, sizeof *row);
    if (row != NULL) {
        (void)snprintf(row->level, sizeof row->level, "%s", memory_level_name(item->level));
        row->working_set_bytes = item->bytes;
        row->page_bytes = arena_page_bytes(&list->chased);
        row->seconds = reading_rate(1, &item->per_s); // the windows counted loads per second
        memcpy(row->unsteady, item->unsteady, sizeof row->unsteady);
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
static void write_allocate(struct probe *probe, const struct item_list *list,
                           const struct probe_view *view)
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
    size_t count = 0;
    bool sane = true;
    size_t rounds =
        plain->samples.count < direct->samples.count ? plain->samples.count : direct->samples.count;
    for (size_t i = 0; i < rounds && count < READING_SAMPLES_MAX; i++) {
        const struct probe_sample *a = &plain->samples.of[i];
        const struct probe_sample *b = &direct->samples.of[i];
        if (probe_sample_is_clean(a, view) && probe_sample_is_clean(b, view)) {
            factors[count] = 2 * b->per_s / a->per_s - 1;
            sane = sane && factors[count++] > 0;
        }
    }
    sane = sane && count >= 3;
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

// Turns of the witness's copy on an idle core, from the clock that the chains saw: whatever
// disturbs a window lowers its clock. NaN if this core's rate is not known.
static double known_copy(const struct probe *probe, const struct item_list *list)
{
    double hz = (double)NAN;
    for (size_t i = 0; i < list->count; i++) {
        const struct probe_samples *samples = &list->items[i].samples;
        for (size_t j = 0; j < samples->count; j++) {
            hz = fmax(hz, samples->of[j].core_hz); // NaN gives way
        }
    }
    return uarch_copy_per_cycle(NULL, probe->host->machine) * hz / witness_copy_bytes();
}

// Names what got no window, if that was for want of time.
static void miss(struct probe *probe, const struct probe_item *item)
{
    switch (item->role) {
    case ROLE_STREAM:
        (void)probe_has_time_for(probe, memory_level_name(item->ceiling.level),
                                 item->ceiling.stream->kernel);
        break;
    case ROLE_CHAIN:
        (void)probe_has_time_for(probe, item->ceiling.dtype, "fma");
        break;
    case ROLE_PRODUCT:
        (void)probe_has_time_for(probe, probe_product_dtype(item->product), "gemm");
        break;
    case ROLE_CHASE:
        (void)probe_has_time_for(probe, memory_level_name(item->level), "latency");
        break;
    case ROLE_PLATEAU: // no figure
        break;
    }
}

static void look_at_all(const struct probe *probe, struct probe_session *session,
                        const struct item_list *list)
{
    const struct probe_samples **all = calloc(list->count, sizeof *all);
    for (size_t i = 0; all != NULL && i < list->count; i++) {
        all[i] = &list->items[i].samples;
    }
    if (all != NULL) {
        probe_view_make(&session->view, all, list->count, known_copy(probe, list));
    }
    free(all);
}

static void push_all(struct probe *probe, struct probe_session *session, struct item_list *list)
{
    look_at_all(probe, session, list);
    for (size_t i = 0; i < list->count; i++) {
        struct probe_item *item = &list->items[i];
        probe_samples_read(&item->per_s, &item->core_hz, item->unsteady, sizeof item->unsteady,
                           &item->samples, &session->view, PROBE_LEAST);
        if (!reading_is_present(&item->per_s)) {
            miss(probe, item);
            continue;
        }
        switch (item->role) {
        case ROLE_STREAM:
            push_stream(probe, session, item);
            break;
        case ROLE_CHAIN:
            push_chain(probe, session, item);
            break;
        case ROLE_PRODUCT:
            push_product(probe, item);
            break;
        case ROLE_CHASE:
            push_chase(probe, list, item);
            break;
        case ROLE_PLATEAU: // comes right after the stream whose level it checks
            check_plateau(probe->run, &list->items[i - 1], item);
            break;
        }
    }
    write_allocate(probe, list, &session->view);
    probe_view_add(&probe->seen, &session->view);
}

static struct status choose_all(struct item_list *list, struct probe *probe,
                                struct probe_session *session, bool brief)
{
    TRY(probe_choose_streams(list, probe, session, brief));
    TRY(probe_choose_chains(list, probe, session, brief));
    if (!brief && probe->run->machine.latency_count == 0) { // one thread chases: once is enough
        TRY(probe_add_chases(list, probe, session));
    }
    return brief ? status_ok() : probe_add_products(list, probe, session);
}

static void release(struct item_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        probe_product_close(list->items[i].product);
        latency_chase_destroy(list->items[i].chase);
    }
    arena_unmap(&list->chased);
    free(list->items);
}

struct status probe_roofs(struct probe *probe, struct probe_session *session, bool brief)
{
    double now = clock_seconds();
    double left = probe->deadline > now ? probe->deadline - now : 0;
    bool quick = probe->options->quick; // else a second team, the curve and the nodes follow
    struct item_list list = {.choose_by = now + (quick ? 0.3 : 0.25) * left,
                             .prepare_by = now + (quick ? 0.65 : 0.33) * left,
                             .sample_by = now + (quick ? 0.9 : 0.4) * left,
                             .enough_by = now + (quick ? 0.85 : 0.35) * left};
    struct status status = choose_all(&list, probe, session, brief);
    if (status.code == STATUS_OK) {
        status = sample_rounds(&list, probe, session);
    }
    if (!brief) {
        push_unverified(probe, session->threads);
    }
    push_all(probe, session, &list); // what was sampled before an interruption counts
    release(&list);
    return status;
}

// How fast our products read weights of each format from memory. Roofs do not tell: unpacking and
// reading overlap less than the larger of both says, most where they take about as long.
#include "profiler/contest.h"
#include "profiler/probe_session.h"
#include "profiler/result_build.h"
#include "profiler/rotation.h"
#include "workloads/work.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// A matrix of a usual layer; batches between which a prediction interpolates.
enum { READS_N = 8192, READS_K = 2048, VARIANTS_MAX = 24, TURNS = 4, STRETCH = 64 << 20 };

static const unsigned batches[] = {1, 4, 16};
static const size_t distances[] = {4096, 0, 1024, 2048, 6144, 8192};
static const enum linear_class classes[] = {LINEAR_FMA, LINEAR_DOT};

/** A kernel at a prefetch distance. */
struct variant {
    struct work *work; // borrowed from the first variant of its kernel if `again`
    struct rotation rotation;
    size_t prefetch_bytes;
    bool again;
};

struct variants {
    struct variant list[VARIANTS_MAX];
    size_t count;
};

static void add_kernel(struct variants *out, struct probe *probe, struct probe_session *session,
                       const struct linear_params *params)
{
    struct variant first = {.prefetch_bytes = distances[0]};
    if (!linear_supported(params->format, params->class_, params->isa) ||
        !status_is_ok(work_linear(&first.work, params, params->batch))) {
        return;
    }
    bool known = !status_is_ok(rotation_create(&first.rotation, session->team, &probe->arena,
                                               first.work, probe->arena.bytes));
    for (size_t i = 0; i < out->count; i++) { // narrower vectors that made no other kernel
        known =
            known || strcmp(work_class_name(out->list[i].work), work_class_name(first.work)) == 0;
    }
    if (known || out->count + sizeof distances / sizeof *distances > VARIANTS_MAX) {
        work_destroy(first.work);
        return;
    }
    rotation_calibrate(&first.rotation, STRETCH, 1e-3);
    for (size_t i = 0; i < sizeof distances / sizeof *distances; i++) {
        out->list[out->count] = first;
        out->list[out->count].prefetch_bytes = distances[i];
        out->list[out->count++].again = i > 0;
    }
}

static double sample(struct variant *variant)
{
    struct team_sample timing;
    work_set_prefetch(variant->work, variant->prefetch_bytes);
    return rotation_sample(&timing, &variant->rotation, LINEAR_FULL);
}

static struct variant *fastest(struct variants *variants, const struct probe *probe)
{
    struct contest contest;
    contest_begin(&contest, variants->count);
    while (contest.turns < TURNS && !limit_reached(&probe->limit)) {
        for (size_t i = 0; i < variants->count; i++) {
            if (i > 0 && limit_reached(&probe->limit)) {
                contest_cut(&contest, i);
                return &variants->list[contest_leader(&contest)];
            }
            if (!contest.out[i]) {
                contest.seconds[contest.turns][i] = sample(&variants->list[i]);
            }
        }
        if (++contest.turns > 1) {
            contest_halve(&contest);
        }
    }
    return &variants->list[contest.turns > 0 ? contest_leader(&contest) : 0];
}

static void push(struct probe *probe, const struct probe_session *session, struct variant *best,
                 enum line_format format, unsigned batch)
{
    double rates[READING_SAMPLES_MAX];
    unsigned count = probe_repeats(probe);
    struct result_machine *machine = &probe->run->machine;
    struct result_weight_read *row =
        result_append(&machine->weight_reads, &machine->weight_read_count, sizeof *row);
    if (row == NULL) {
        return;
    }
    unsigned taken = 0;
    for (; taken < count && (taken == 0 || !limit_reached(&probe->limit)); taken++) {
        rates[taken] = (double)work_stored_bytes(best->work) / sample(best);
    }
    (void)snprintf(row->dtype, sizeof row->dtype, "%s", line_layout(format)->name);
    (void)snprintf(row->class_, sizeof row->class_, "%s", work_class_name(best->work));
    row->batch = batch;
    row->threads = session->threads;
    row->working_set_bytes = rotation_bytes(&best->rotation);
    row->bytes_per_s = reading_of_samples(rates, taken, BETTER_HIGHER, ORIGIN_TIMED);
}

static void read_batch(struct probe *probe, struct probe_session *session, enum line_format format,
                       unsigned batch)
{
    const struct isa_set isa = probe->host->isa;
    const struct isa_set sets[] = {isa, isa_without(isa, ISA_AVX512 | ISA_SVE)};
    struct variants variants = {.count = 0};
    for (size_t i = 0; i < 2 * sizeof classes / sizeof *classes; i++) {
        const struct linear_params params = {.format = format,
                                             .class_ = classes[i / 2],
                                             .isa = sets[i % 2],
                                             .n = READS_N,
                                             .k = READS_K,
                                             .batch = batch,
                                             .threads = session->threads};
        add_kernel(&variants, probe, session, &params);
    }
    if (variants.count > 0) {
        push(probe, session, fastest(&variants, probe), format, batch);
    }
    for (size_t i = 0; i < variants.count; i++) {
        if (!variants.list[i].again) {
            work_destroy(variants.list[i].work);
        }
    }
}

struct status probe_reads(struct probe *probe, struct probe_session *session)
{
    struct status status = status_ok();
    if (!probe->dram || probe->run->machine.weight_read_count > 0 ||
        !probe_has_time_for(probe, "reads of", "weights")) {
        return status_ok();
    }
    rotation_fill(session->team, &probe->arena, &probe->limit);
    for (int i = 0; i < LINE_FORMATS && status_is_ok(status); i++) {
        for (size_t b = 0; b < sizeof batches / sizeof *batches && status_is_ok(status); b++) {
            if (probe_format_asked(probe, (enum line_format)i) &&
                probe_has_time_for(probe, "reads of", line_layout((enum line_format)i)->name)) {
                probe_progress(probe, "reading weights");
                read_batch(probe, session, (enum line_format)i, batches[b]);
                status = probe_interrupted(probe);
            }
        }
    }
    struct status filled = ceilings_fill(session->ceilings);
    return status_is_ok(status) ? probe_in_time(probe, filled, "all after", "reads of weights")
                                : status;
}

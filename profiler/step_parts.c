#include "profiler/step_parts.h"

#include "profiler/contest.h"
#include "profiler/result_build.h"
#include "profiler/rotation.h"
#include "profiler/step_norms.h"
#include "workloads/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A matrix of a usual layer, and one for many rows; heads of two usual widths.
enum { READS_N = 8192, READS_K = 2048, FEW_ROWS = 4, STRETCH = 64 << 20 };
enum { MANY_N = 2048, MANY_K = 1024, MANY_ROWS = 64 };
enum { NORM_WIDTH = 2048, NORM_ROWS = LINEAR_BATCH_MAX };
enum {
    VARIANTS_MAX = 40,
    TURNS_ALL = 3,
    TURNS = 8,
    PARTS_MAX = 160,
    ROUNDS_MAX = READING_SAMPLES_MAX
};

// Between these a prediction interpolates.
static const unsigned batches[] = {1, 2, 4, 8, 16, MANY_ROWS, LINEAR_BATCH_MAX};
enum { BATCHES = sizeof batches / sizeof *batches };

// All prefetch distances are tried for one row; for more, which hang less on the memory, the first.
static size_t distances_of(unsigned batch)
{
    return batch == 1 ? WORK_DISTANCES : batch <= FEW_ROWS ? 5 : batch < MANY_ROWS ? 3 : 2;
}

static const enum linear_class classes[] = {LINEAR_FMA, LINEAR_DOT};
enum { CLASSES = sizeof classes / sizeof *classes };

struct part {
    struct work *work; // NULL: norms
    struct rotation rotation;
    size_t prefetch_bytes;
    struct step_norms *norms;
    struct step_norms_times last;   // of the norms' latest sample
    bool columns;                   // their other time: of the part before this one
    struct result_weight_read read; // its dtype is "" for attention and norms
    struct result_part_time time;
    double seconds[ROUNDS_MAX]; // of a call
};

struct step_parts {
    struct step_parts_request request;
    size_t count;
    unsigned rounds;
    uint64_t offset; // in each share of the arena, behind what was read last
    struct part list[PARTS_MAX];
};

void step_parts_destroy(struct step_parts *parts)
{
    for (size_t i = 0; parts != NULL && i < parts->count; i++) {
        work_destroy(parts->list[i].work);
        step_norms_destroy(parts->list[i].norms);
    }
    free(parts);
}

unsigned step_parts_rounds(const struct step_parts *parts)
{
    return parts->rounds;
}

/** Kernels of one product, each at several prefetch distances. */
struct variants {
    struct variant {
        struct work *work; // shared by the distances of a kernel
        struct rotation rotation;
        size_t prefetch_bytes;
    } list[VARIANTS_MAX];
    size_t count;
};

static double time_variant(struct variant *variant, uint64_t *offset)
{
    struct team_sample timing;
    work_set_prefetch(variant->work, variant->prefetch_bytes);
    return rotation_sample_on(&timing, &variant->rotation, offset);
}

static bool is_known(const struct variants *variants, const struct work *work)
{
    for (size_t i = 0; i < variants->count; i++) { // narrower vectors that made no other kernel
        if (strcmp(work_class_name(variants->list[i].work), work_class_name(work)) == 0) {
            return true;
        }
    }
    return false;
}

static void add_kernel(struct variants *out, const struct step_parts *parts,
                       const struct linear_params *params)
{
    const struct step_parts_request *request = &parts->request;
    struct variant first = {.work = NULL};
    size_t count = distances_of(params->batch);
    if (!linear_supported(params->format, params->class_, params->isa) ||
        !status_is_ok(work_linear(&first.work, params, params->batch))) {
        return;
    }
    if (is_known(out, first.work) || out->count + count > VARIANTS_MAX ||
        !status_is_ok(rotation_create(&first.rotation, request->team, request->arena, first.work,
                                      request->arena->bytes))) {
        work_destroy(first.work);
        return;
    }
    rotation_calibrate(&first.rotation, params->batch > FEW_ROWS ? 0 : STRETCH, 1e-3);
    for (size_t i = 0; i < count; i++) {
        out->list[out->count] = first;
        out->list[out->count++].prefetch_bytes = work_distances[i];
    }
}

// After three turns the slower half leaves in each. NULL if the limit was reached before all were
// seen.
static struct variant *fastest(struct variants *variants, uint64_t *offset,
                               const struct limit *limit)
{
    struct contest contest;
    contest_begin(&contest, variants->count);
    while (contest.turns < TURNS) {
        for (size_t i = 0; i < variants->count; i++) {
            if (limit_reached(limit)) {
                return contest.turns > 0 ? &variants->list[contest_leader(&contest)] : NULL;
            }
            if (!contest.out[i]) {
                contest.seconds[contest.turns][i] = time_variant(&variants->list[i], offset);
            }
        }
        if (++contest.turns >= TURNS_ALL) {
            contest_halve(&contest);
        }
    }
    return &variants->list[contest_leader(&contest)];
}

static void keep_fastest(struct step_parts *parts, struct variants *variants,
                         const struct result_weight_read *as)
{
    const struct variant *best = fastest(variants, &parts->offset, &parts->request.limit);
    struct work *kept = best == NULL ? NULL : best->work;
    if (kept != NULL) {
        struct part *part = &parts->list[parts->count++];
        *part = (struct part){.work = kept,
                              .rotation = best->rotation,
                              .prefetch_bytes = best->prefetch_bytes,
                              .read = *as};
        part->read.working_set_bytes = rotation_bytes(&part->rotation);
        (void)snprintf(part->read.class_, sizeof part->read.class_, "%s", work_class_name(kept));
    }
    for (size_t i = 0; i < variants->count; i++) {
        bool shared = i > 0 && variants->list[i].work == variants->list[i - 1].work;
        if (!shared && variants->list[i].work != kept) {
            work_destroy(variants->list[i].work);
        }
    }
}

static void add_read(struct step_parts *parts, enum line_format format, unsigned batch)
{
    const struct isa_set isa = parts->request.isa;
    const struct isa_set sets[] = {isa, isa_without(isa, ISA_AVX512 | ISA_SVE)};
    struct variants variants = {.count = 0};
    struct result_weight_read as = {.batch = batch, .threads = team_threads(parts->request.team)};
    (void)snprintf(as.dtype, sizeof as.dtype, "%s", line_layout(format)->name);
    for (size_t i = 0; i < 2 * (size_t)CLASSES; i++) {
        const struct linear_params params = {.format = format,
                                             .class_ = classes[i / 2],
                                             .isa = sets[i % 2],
                                             .n = batch < MANY_ROWS ? READS_N : MANY_N,
                                             .k = batch < MANY_ROWS ? READS_K : MANY_K,
                                             .batch = batch,
                                             .threads = as.threads};
        add_kernel(&variants, parts, &params);
    }
    if (variants.count > 0) {
        keep_fastest(parts, &variants, &as);
    }
}

// One row always: heads of prompts have it.
static bool is_batch_wanted(const struct step_parts_request *request, size_t index)
{
    double rows = request->rows;
    bool above = index > 0 && batches[index - 1] >= rows;
    bool below = index + 1 < BATCHES && batches[index + 1] <= rows;
    return rows <= 0 ? batches[index] < MANY_ROWS || request->prefill
                     : index == 0 || (!above && !below);
}

static void add_reads(struct step_parts *parts)
{
    const struct step_parts_request *request = &parts->request;
    for (int format = 0; format < LINE_FORMATS; format++) {
        for (size_t b = 0; b < BATCHES && request->formats[format]; b++) {
            if (is_batch_wanted(request, b) && parts->count < PARTS_MAX) {
                add_read(parts, (enum line_format)format, batches[b]);
            }
        }
    }
}

static void add_attention(struct step_parts *parts, const struct attention_params *params)
{
    const struct step_parts_request *request = &parts->request;
    struct part part = {.prefetch_bytes = params->prefetch_bytes};
    if (!attention_supported(params->format, params->isa) || parts->count == PARTS_MAX ||
        !status_is_ok(work_attention(&part.work, params))) {
        return;
    }
    if (!status_is_ok(rotation_create(&part.rotation, request->team, request->arena, part.work,
                                      request->arena->bytes))) {
        work_destroy(part.work);
        return;
    }
    rotation_calibrate(&part.rotation, params->prefill ? 0 : STRETCH / 4, 1e-3);
    part.time = (struct result_part_time){.operator_ = "attention",
                                          .batch = params->batch,
                                          .tokens = params->context + params->rows,
                                          .kv_heads = params->kv_heads,
                                          .group = params->heads / params->kv_heads,
                                          .width = params->k_dim,
                                          .threads = params->threads};
    (void)snprintf(part.time.phase, sizeof part.time.phase, "%s",
                   params->prefill ? "prefill" : "decode");
    (void)snprintf(part.time.dtype, sizeof part.time.dtype, "%s",
                   line_layout(params->format)->name);
    parts->list[parts->count++] = part;
}

// Long caches of sequences enough for all threads, and one that is hardly filled: what a sequence
// takes however short it is.
static void add_decode_attention(struct step_parts *parts, const struct attention_params *common)
{
    static const unsigned groups[] = {1, 4, 16};
    struct attention_params params = *common;
    params.rows = 1;
    params.frozen = true; // the arena may hold somebody's weights
    params.prefetch_bytes = work_distances[0];
    for (unsigned width = 64; width <= 128; width *= 2) {
        params.k_dim = params.v_dim = width;
        for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
            params.heads = groups[g] * params.kv_heads;
            params.context = 1023;
            add_attention(parts, &params);
        }
    }
    params.heads = 4 * params.kv_heads;
    params.batch *= 8;
    params.context = 15;
    add_attention(parts, &params);
}

static void add_attentions(struct step_parts *parts)
{
    enum { KV_HEADS = 8, PROMPT = LINEAR_BATCH_MAX };
    const struct step_parts_request *request = &parts->request;
    unsigned threads = team_threads(request->team);
    struct attention_params params = {.format = request->kv_format,
                                      .isa = request->isa,
                                      .batch = (threads + KV_HEADS - 1) / KV_HEADS,
                                      .kv_heads = KV_HEADS,
                                      .threads = threads};
    if (request->decode) {
        add_decode_attention(parts, &params);
    }
    params.prefill = true;
    params.rows = PROMPT;
    params.kv_heads = 2;
    params.heads = 4 * params.kv_heads;
    for (unsigned width = 64; width <= 128 && request->prefill; width *= 2) {
        params.k_dim = params.v_dim = width;
        add_attention(parts, &params);
    }
}

static struct status add_norms(struct step_parts *parts, unsigned rows)
{
    if (parts->count + 2 > PARTS_MAX) {
        return status_ok();
    }
    struct part part = {.time = {.operator_ = "norms",
                                 .phase = "decode",
                                 .dtype = "f32",
                                 .batch = rows,
                                 .tokens = 1,
                                 .width = NORM_WIDTH,
                                 .threads = team_threads(parts->request.team)}};
    TRY(step_norms_create(&part.norms, parts->request.team, parts->request.isa, rows, NORM_WIDTH));
    parts->list[parts->count++] = part;
    part.norms = NULL;
    part.columns = true;
    (void)snprintf(part.time.operator_, sizeof part.time.operator_, "columns");
    parts->list[parts->count++] = part;
    return status_ok();
}

struct status step_parts_create(struct step_parts **out, const struct step_parts_request *request)
{
    struct step_parts *parts = calloc(1, sizeof *parts);
    if (parts == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the parts of steps");
    }
    parts->request = *request;
    add_reads(parts);
    add_attentions(parts);
    struct status status = add_norms(parts, 1);
    if (status_is_ok(status)) {
        status = add_norms(parts, NORM_ROWS);
    }
    if (status_is_ok(status)) {
        status = limit_heed(&request->limit);
    }
    if (!status_is_ok(status)) {
        step_parts_destroy(parts);
        return status;
    }
    *out = parts;
    return status_ok();
}

static double sample_part(struct part *part, uint64_t *offset)
{
    struct team_sample timing;
    if (part->columns) {
        return (part - 1)->last.columns;
    }
    if (part->norms != NULL) {
        step_norms_sample(&part->last, part->norms);
        return part->last.norms;
    }
    work_set_prefetch(part->work, part->prefetch_bytes);
    return rotation_sample_on(&timing, &part->rotation, offset);
}

bool step_parts_sample(struct step_parts *parts, const struct limit *limit)
{
    if (parts->rounds == ROUNDS_MAX) {
        return false;
    }
    for (size_t i = 0; i < parts->count; i++) {
        if (limit_reached(limit)) {
            return false;
        }
        parts->list[i].seconds[parts->rounds] = sample_part(&parts->list[i], &parts->offset);
    }
    parts->rounds++;
    return true;
}

static struct status report_read(struct result_machine *machine, const struct part *part,
                                 const double *seconds, unsigned count)
{
    double rates[ROUNDS_MAX];
    struct result_weight_read *row =
        result_append(&machine->weight_reads, &machine->weight_read_count, sizeof *row);
    if (row == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the reads of weights");
    }
    for (unsigned i = 0; i < count; i++) {
        rates[i] = (double)work_stored_bytes(part->work) / seconds[i];
    }
    *row = part->read;
    row->bytes_per_s = reading_of_samples(rates, count, BETTER_HIGHER, ORIGIN_TIMED);
    return status_ok();
}

static struct status report_time(struct result_machine *machine, const struct part *part,
                                 const double *seconds, unsigned count)
{
    struct result_part_time *row =
        result_append(&machine->part_times, &machine->part_time_count, sizeof *row);
    if (row == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the times of parts");
    }
    *row = part->time;
    row->seconds = reading_of_samples(seconds, count, BETTER_LOWER, ORIGIN_TIMED);
    return status_ok();
}

struct status step_parts_report(struct result_machine *machine, const struct step_parts *parts,
                                unsigned first, unsigned count)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->list[i];
        struct status (*report)(struct result_machine *, const struct part *, const double *,
                                unsigned) = part->read.dtype[0] != '\0' ? report_read : report_time;
        TRY(report(machine, part, part->seconds + first, count));
    }
    return status_ok();
}

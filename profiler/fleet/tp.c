#include "profiler/fleet/tp.h"

#include "profiler/fleet/network.h"
#include "profiler/fleet/shard_step.h"
#include "profiler/host_facts.h"
#include "roofline/stats.h"
#include "roofline/step.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Samples of the rounds, alike in all ranks but read.
struct rounds {
    size_t count;
    double step[READING_SAMPLES_MAX];
    double reduce[READING_SAMPLES_MAX];
    double predicted[READING_SAMPLES_MAX];
    double read[READING_SAMPLES_MAX]; // this rank's
    struct parallel_shares shares[READING_SAMPLES_MAX];
};

static unsigned ranks_here(const struct fleet_index *index, unsigned rank)
{
    unsigned count = 0;
    for (size_t i = 0; i < index->row_count; i++) {
        count += strcmp(index->rows[i].host, index->rows[rank].host) == 0 ? 1 : 0;
    }
    return count;
}

// The arena holds this rank's weights and cache; if memory is short, as much as its part of the
// host allows, and the layers take turns in it.
static struct status arena_bytes(uint64_t *out, const struct session *session,
                                 const struct tp_options *options, unsigned neighbours)
{
    struct step step;
    struct step_request wanted = step_defaults(STEP_DECODE);
    wanted.batch = options->request->batch.values[0];
    wanted.context = options->request->context.values[0];
    wanted.dtype = options->request->dtypes[0];
    wanted.kv_dtype = options->request->kv_dtype;
    TRY(step_compute(&step, options->shard, &wanted));
    // Rows and pages are padded to whole ones for each thread.
    double need = 1.1 * step.sum.bytes.dram_lower_bound + 4e6 * session->threads;
    double most = 0.7 * (double)session->machine.memory_available_bytes / neighbours;
    *out = (uint64_t)(most > 0 ? fmin(need, most) : need);
    return status_ok();
}

static struct status open_session(struct session *session, const struct tp_options *options,
                                  const struct fleet_index *index)
{
    uint64_t bytes = 0;
    const struct session_options wanted = {.threads = (unsigned)options->request->threads,
                                           .huge_pages = true,
                                           .limit = {.signal = options->signal}};
    TRY(session_open(session, &wanted));
    TRY(arena_bytes(&bytes, session, options, ranks_here(index, world_rank(options->world))));
    watchdog_feed(options->watchdog, "touching memory");
    return session_start(session, bytes);
}

// From its parts: operators timed alone, as long as in the slowest rank, and the all-reduces.
static double predict_work(struct shard_step *step, double *gathered)
{
    double parts[SHARD_OPS_MAX * SHARD_SAMPLES];
    shard_step_time_parts(parts, step);
    world_gather(step->world, gathered, parts, step->op_count * SHARD_SAMPLES * sizeof *gathered);
    return shard_step_join_parts(step, gathered, world_size(step->world));
}

static void measure_round(struct rounds *rounds, struct shard_step *step,
                          const struct network_options *network, double *gathered)
{
    size_t i = rounds->count++;
    struct reading reduce;
    struct ceiling_sample read;
    size_t ranks = world_size(step->world);
    shard_step_run(step);
    world_gather(step->world, gathered, step->times, 2 * step->segments * sizeof *gathered);
    parallel_split(&rounds->shares[i], gathered, ranks, step->segments);
    rounds->step[i] = rounds->shares[i].seconds;
    world_barrier(step->world); // all ranks read at once: they share the memory
    ceiling_sample(&read, step->session->ceilings, &step->session->read_dram);
    rounds->read[i] = read.per_s;
    network_all_reduce(&reduce, network, step->hidden_count * sizeof(float));
    rounds->reduce[i] = reduce.value;
    rounds->predicted[i] =
        predict_work(step, gathered) + (double)parallel_reduces(step->layers) * reduce.value;
}

static struct status measure_rounds(struct rounds *rounds, struct shard_step *step,
                                    const struct tp_options *options)
{
    assert(rounds != NULL);
    size_t values =
        (2 * step->segments + SHARD_OPS_MAX * SHARD_SAMPLES) * world_size(options->world);
    double *gathered = calloc(values, sizeof *gathered);
    float *buffer = calloc(step->hidden_count, sizeof *buffer);
    const struct network_options network = {.world = options->world,
                                            .watchdog = options->watchdog,
                                            .repeats = 1,
                                            .sample_seconds = 0.002,
                                            .buffer = buffer};
    struct status status = gathered == NULL || buffer == NULL
                               ? status_error(STATUS_SYSTEM, "no memory for the times of a step")
                               : status_ok();
    status = world_agree(options->world, status);
    if (status.code == STATUS_OK) {
        shard_step_run(step); // pages, clocks and connections settle
    }
    while (status.code == STATUS_OK && rounds->count < options->request->repeat) {
        measure_round(rounds, step, &network, gathered);
        status =
            *options->signal == 0 ? status_ok() : status_error(STATUS_INTERRUPTED, "interrupted");
        status = world_agree(options->world, status);
    }
    free(gathered);
    free(buffer);
    return status;
}

static void take_medians(struct parallel_report *out, const struct rounds *rounds)
{
    double work[READING_SAMPLES_MAX];
    double imbalance[READING_SAMPLES_MAX];
    double network[READING_SAMPLES_MAX];
    for (size_t i = 0; i < rounds->count; i++) {
        work[i] = rounds->shares[i].work_seconds;
        imbalance[i] = rounds->shares[i].imbalance_seconds;
        network[i] = rounds->shares[i].network_seconds;
    }
    out->seconds = reading_of_samples(rounds->step, rounds->count, BETTER_LOWER, ORIGIN_TIMED);
    out->reduce_seconds =
        reading_of_samples(rounds->reduce, rounds->count, BETTER_LOWER, ORIGIN_TIMED);
    out->predicted_seconds = stats_median(rounds->predicted, rounds->count);
    out->shares.work_seconds = stats_median(work, rounds->count);
    out->shares.imbalance_seconds = stats_median(imbalance, rounds->count);
    out->shares.network_seconds = stats_median(network, rounds->count);
    out->shares.seconds =
        out->shares.work_seconds + out->shares.imbalance_seconds + out->shares.network_seconds;
}

static void compare_with_roofs(struct parallel_report *out, const struct rounds *rounds,
                               const struct shard_step *step)
{
    struct parallel_rank mine = {.threads = step->session->threads,
                                 .bytes = shard_step_bytes(step)};
    mine.read_bytes_per_s = stats_median(rounds->read, rounds->count);
    mine.roof_seconds = shard_step_roof_seconds(&mine.memory_seconds, &mine.compute_seconds, step,
                                                mine.read_bytes_per_s);
    world_gather(step->world, out->ranks, &mine, sizeof mine);
    const struct parallel_rank *slowest = out->ranks;
    for (size_t i = 1; i < world_size(step->world); i++) {
        bool slower = out->ranks[i].roof_seconds > slowest->roof_seconds;
        slowest = slower ? &out->ranks[i] : slowest;
    }
    out->roof_seconds = slowest->roof_seconds + (double)out->reduces * out->reduce_seconds.value;
    out->bound = parallel_verdict(&out->shares, slowest->memory_seconds, slowest->compute_seconds);
}

static void describe(struct parallel_report *out, const struct tp_options *options,
                     const struct shard_step *step)
{
    const struct run_request *request = options->request;
    const struct session *session = step->session;
    (void)snprintf(out->model, sizeof out->model, "%.63s", options->model->name);
    (void)snprintf(out->dtype, sizeof out->dtype, "%s", dtype_name(request->dtypes[0]));
    (void)snprintf(out->kv_dtype, sizeof out->kv_dtype, "%s", dtype_name(request->kv_dtype));
    out->batch = request->batch.values[0];
    out->context = request->context.values[0];
    out->reduces = parallel_reduces(step->layers);
    out->reduce_bytes = parallel_reduce_bytes(options->model, out->batch);
    host_facts_add(&out->facts, &session->machine, session->isa);
    condition_facts_add(&out->facts, &session->machine, session->team, session->blas);
}

static struct status measure_step(struct parallel_report *out, struct shard_step *step,
                                  const struct tp_options *options)
{
    struct rounds *rounds = calloc(1, sizeof *rounds);
    struct status status = rounds == NULL ? status_error(STATUS_SYSTEM, "no memory for rounds")
                                          : shard_step_open(step, options->shard, options->request);
    status = world_agree(options->world, status);
    if (status.code == STATUS_OK) {
        describe(out, options, step);
        status = measure_rounds(rounds, step, options);
    }
    if (status.code == STATUS_OK) {
        take_medians(out, rounds);
        compare_with_roofs(out, rounds, step);
        out->complete = true;
    }
    free(rounds);
    return status;
}

struct status tp_measure(struct parallel_report *out, const struct tp_options *options)
{
    struct session session = {.team = NULL};
    struct shard_step step = {
        .session = &session, .world = options->world, .watchdog = options->watchdog};
    struct status status = open_session(&session, options, out->index);
    out->ranks = calloc(world_size(options->world), sizeof *out->ranks);
    if (status.code == STATUS_OK && out->ranks == NULL) {
        status = status_error(STATUS_SYSTEM, "no memory for a list of ranks");
    }
    status = world_agree(options->world, status);
    if (status.code == STATUS_OK) {
        status = measure_step(out, &step, options);
    }
    shard_step_close(&step);
    session_close(&session);
    return status;
}

void tp_free(struct parallel_report *report)
{
    result_run_free(&report->facts);
    free(report->ranks);
    report->ranks = NULL;
}

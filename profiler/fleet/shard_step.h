#ifndef FLEET_SHARD_STEP_H
#define FLEET_SHARD_STEP_H

/** A decode step of one rank's part of a model, with the all-reduces between: what tensor-parallel
 *  decode does, on kernels that are checked first. Values are not passed from operator to
 *  operator; norms, rotary embedding and activation functions are left out. */

#include "profiler/fleet/watchdog.h"
#include "profiler/fleet/world.h"
#include "profiler/rotation.h"
#include "profiler/run_point.h"
#include "profiler/session.h"

enum { SHARD_OPS_MAX = 64 };

/** One operator of some layers. */
struct shard_op {
    const struct run_job *job;
    struct work *work;
    struct rotation rotation;    /**< through the arena, for timing it alone */
    double compute_only_seconds; /**< of one call, weights in cache */
};

struct shard_step {
    struct session *session;
    struct world *world;
    struct watchdog *watchdog;
    struct run_jobs jobs;
    struct shard_op ops[SHARD_OPS_MAX];
    size_t op_count;
    uint64_t layers;
    size_t segments; /**< all-reduces of a step: two a layer, one behind the head */
    float *hidden;   /**< what is reduced: batch x d; owned */
    size_t hidden_count;
    size_t choice_count; /**< floats reduced behind the head: value and index a sequence */
    double *times;       /**< [2][segments]: work before each all-reduce, then all-reduces; owned */
};

/** Plans the step of the shard and creates, checks and times its operators. request has one batch,
 *  context and dtype. Errors: UNAVAILABLE, MISMATCH, SYSTEM, INTERRUPTED. Not collective; to be
 *  closed in either case. */
CHECKED struct status shard_step_open(struct shard_step *out, const struct model *shard,
                                      const struct run_request *request);
void shard_step_close(struct shard_step *step);

/** Runs one step with all ranks into step->times. Called by all ranks. */
void shard_step_run(struct shard_step *step);

enum { SHARD_SAMPLES = 4 };

/** Times each operator alone, all ranks at once, from a common start as in the step:
 *  out[op_count][SHARD_SAMPLES] seconds of one call. */
void shard_step_time_parts(double *out, struct shard_step *step);

/** Seconds of a step's work put together from everyone's parts, parts[ranks][op_count]
 *  [SHARD_SAMPLES]: each half of a layer, and the head, takes as long as in its slowest rank. */
double shard_step_join_parts(const struct shard_step *step, const double *parts, size_t ranks);

/** Seconds that this rank's work needs by the roofs: the sum over operators of the larger of
 *  bytes / bytes_per_s and the time with weights in cache; *memory and *compute are the sums of
 *  each alone. */
double shard_step_roof_seconds(double *memory, double *compute, const struct shard_step *step,
                               double bytes_per_s);

/** Bytes of this rank's weights and cache. */
double shard_step_bytes(const struct shard_step *step);

#endif

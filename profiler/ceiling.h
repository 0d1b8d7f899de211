#ifndef PROFILER_CEILING_H
#define PROFILER_CEILING_H

/** Ceilings of a machine, measured by one team in one arena in one session: choose a ceiling once
 *  (the best of its kernels, calibrated), then take one sample at a time, so that a point and the
 *  roof it is judged by can take turns. Knows kernels and timing; nothing of models or reports.
 *
 *      ceiling_kernels_load(&kernels, isa);             // before large memory is touched
 *      ceilings_create(&session, machine, team, &arena, &kernels);
 *      ceiling_choose_stream(&roof, session, LEVEL_DRAM, "load");
 *      ceiling_choose_compute(&peak, session, "f32", NULL);
 *      loop: ceiling_sample(&sample, session, &roof); ... the point ...
 */

#include "profiler/limit.h"
#include "profiler/results.h"
#include "profiler/team.h"
#include "profiler/working_set.h"
#include "workloads/arena.h"
#include "workloads/ceiling_kernel.h"

/** The kernels that this process can run, and which passed their check on this host. */
struct ceiling_kernels {
    struct isa_set isa;
    const struct stream_kernel *streams[CEILING_KERNELS_MAX];
    size_t stream_count;
    const struct compute_kernel *compute[CEILING_KERNELS_MAX];
    bool verified[CEILING_KERNELS_MAX]; /**< of compute */
    size_t compute_count;
};

/** Finds and checks all kernels that isa offers. Forks a child: call before large memory is
 *  touched. Errors: MISMATCH if a stream computes wrongly; SYSTEM. A compute kernel that fails
 *  or cannot execute is kept with verified false and never chosen. */
CHECKED struct status ceiling_kernels_load(struct ceiling_kernels *out, struct isa_set isa);

struct ceilings;

/** A session. Keeps the pointers: machine, team, arena and kernels outlive it. Streams are only
 *  as honest as the memory: the arena must have been written by ceilings_fill() or by the caller
 *  (stores and copies overwrite it, load does not). Errors: SYSTEM without memory; INVALID if the
 *  arena is too small for one block per thread. The caller destroys it. */
CHECKED struct status ceilings_create(struct ceilings **out, const struct machine *machine,
                                      struct team *team, const struct arena *arena,
                                      const struct ceiling_kernels *kernels);

/** From now on touching, choosing, calibrating and reading end soon after the limit: choices with
 *  its status, readings with the samples they have. */
void ceilings_stop_for(struct ceilings *session, struct limit limit);

/** From now on a choice compares no further candidates after about so long, at most the usual
 *  time; one is always tried. */
void ceilings_be_patient(struct ceilings *session, double seconds);

/** NULL is accepted. */
void ceilings_destroy(struct ceilings *session);

/** Writes the arena in the threads that will read it (first touch), each its contiguous share,
 *  with doubles between 1 and 2 of no pattern: no zero page, no denormals. Errors: those of the
 *  limit; the memory is then touched in part. */
CHECKED struct status ceilings_fill(struct ceilings *session);

enum ceiling_kind { CEILING_STREAM, CEILING_CHAIN };

/** What one candidate reached when the ceiling was chosen: the printed set. */
struct ceiling_trial {
    const char *variant; /**< of a stream; class of a chain. Static text */
    unsigned chains;     /**< of a chain; 0 for streams */
    double per_s;        /**< best of a few samples */
};

enum { CEILING_TRIALS_MAX = 48 };

/** A chosen ceiling: plain data, ready to be sampled in the session that chose it. */
struct ceiling {
    enum ceiling_kind kind;
    // streams
    enum memory_level level;
    const struct stream_kernel *stream;
    uint64_t working_set_bytes; /**< in total that the samples walk or rotate over */
    size_t piece_bytes;         /**< of each array, per thread and sample */
    size_t passes;              /**< over the piece in one sample */
    size_t rotation_bytes;      /**< of each array, per thread, that the pieces move through */
    size_t cursor;              /**< where the next piece starts */
    // chains
    char dtype[16];
    const struct compute_kernel *chain;
    uint64_t iterations; /**< of one sample; a quarter of them once more with the clock chain */
    unsigned clock;      /**< index of the clock chain in use; COMPUTE_CLOCKS: none counts */
    // both
    struct ceiling_trial trials[CEILING_TRIALS_MAX];
    size_t trial_count;
};

/** The fastest of the kernels of that name (load store copy ...) at a level, calibrated: a DRAM
 *  sample walks a fresh stretch of at least 64 MiB of user bytes (all of the arena if that is
 *  less) and comes back to it only after the rotation; an inner level repeats its working set.
 *  On a busy machine the choice ends after a second or so; trials tells what was compared.
 *  Errors: UNAVAILABLE if the level's size is unknown, or the arena is smaller than the level
 *  needs; those of the limit. */
CHECKED struct status ceiling_choose_stream(struct ceiling *out, struct ceilings *session,
                                            enum memory_level level, const char *kernel);

/** The same with the working set in total given by the caller, all kernels of that name. */
CHECKED struct status ceiling_choose_stream_in(struct ceiling *out, struct ceilings *session,
                                               enum memory_level level, const char *kernel,
                                               uint64_t working_set_bytes);

/** The same for one given kernel: nothing is compared. */
CHECKED struct status ceiling_prepare_stream(struct ceiling *out, struct ceilings *session,
                                             enum memory_level level,
                                             const struct stream_kernel *kernel,
                                             uint64_t working_set_bytes);

/** The fastest verified kernel that does arithmetic on dtype (bf16 and f16 count f32 FMA too:
 *  converted operands, conversion amortised), of that class if class_ is not NULL. Errors:
 *  UNAVAILABLE if this CPU has none; those of the limit. */
CHECKED struct status ceiling_choose_compute(struct ceiling *out, struct ceilings *session,
                                             const char *dtype, const char *class_);

/** One measurement. */
struct ceiling_sample {
    double per_s;   /**< user bytes or operations per second */
    double core_hz; /**< measured inside the instruction mix; NaN for streams or if unknown */
    struct team_sample timing;
};

/** Takes one sample: some milliseconds. */
void ceiling_sample(struct ceiling_sample *out, struct ceilings *session, struct ceiling *ceiling);

/** Samples of one ceiling as they come in: undisturbed ones count; disturbed ones are kept apart
 *  and enter only where there are not enough of the others. */
struct ceiling_record {
    double rate[READING_SAMPLES_MAX];
    double core_hz[READING_SAMPLES_MAX];
    size_t count;
    double disturbed_rate[READING_SAMPLES_MAX];
    double disturbed_core_hz[READING_SAMPLES_MAX];
    size_t disturbed_count;
};

/** Takes one sample into a record that was zeroed at first. Full records take no more. */
void ceiling_record_sample(struct ceiling_record *record, struct ceilings *session,
                           struct ceiling *ceiling);

/** The record of n wished samples as readings; core_hz and disturbed may be NULL. *disturbed is
 *  the number of disturbed samples in *out. */
void ceiling_record_read(struct reading *out, struct reading *core_hz, unsigned *disturbed,
                         const struct ceiling_record *record, unsigned n);

/** n samples in a row (at most 2 n, if some are disturbed; fewer once the limit is reached: absent
 *  without any) as readings. */
void ceiling_read(struct reading *out, struct reading *core_hz, unsigned *disturbed,
                  struct ceilings *session, struct ceiling *ceiling, unsigned n);

/** What a report shows of the ceiling; the readings are left absent for the caller. */
void ceiling_describe_stream(struct result_bandwidth *out, struct ceilings *session,
                             const struct ceiling *ceiling);
void ceiling_describe_compute(struct result_compute *out, struct ceilings *session,
                              const struct ceiling *ceiling);

#endif

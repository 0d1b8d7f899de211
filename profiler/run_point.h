#ifndef PROFILER_RUN_POINT_H
#define PROFILER_RUN_POINT_H

/** Measuring one point: the fastest way to do the operator is found, checked against the reference,
 *  and timed in rounds, each with its twins and its roofs. */

#include "profiler/results.h"
#include "profiler/run_counters.h"
#include "profiler/run_evidence.h"
#include "profiler/run_job.h"
#include "profiler/run_kernels.h"
#include "profiler/run_roofs.h"

enum { RUN_CHOICES_MAX = 256 };

/** The way found fastest for a kind of operator; later points of the same kind start from it. */
struct run_choice {
    enum run_job_kind job_kind;
    bool prefill;
    enum dtype_id dtype;
    uint64_t rows;
    uint64_t k;
    unsigned group; /**< attention: query heads per KV head */
    int candidate;
    size_t prefetch_bytes;
};

struct run_measure {
    struct session *session;
    struct run_roofs roofs;
    struct run_kernels kernels;
    struct run_evidence evidence;
    struct run_counters counters;
    unsigned counted_samples; /**< of every set of events */
    struct limit limit;       /**< later no sample is begun */
    double choose_by_seconds; /**< of clock_seconds(), for the point's kernel; 0: as it takes */
    unsigned hurried;         /**< kernels that were compared with fewer others for want of time */
    bool no_twins;
    bool questioned_roof;   /**< the point was above its roof at first: the roof was chosen again */
    bool questioned_kernel; /**< it took longer than both its twins: the kernel was chosen again */
    bool appended; /**< a decode wrote rows of cache_format into the arena: no numbers to others */
    enum line_format cache_format;
    unsigned rounds;
    struct run_choice choices[RUN_CHOICES_MAX];
    size_t choice_count;
};

/** Measures one job into point; seconds is the time that the point may take (0: as long as the
 *  rounds need). Errors: INTERRUPTED after a signal; MISMATCH if the result is wrong (the point
 *  then has its figures absent, state failed); UNAVAILABLE, also when the limit was reached before
 *  the least number of rounds; SYSTEM. */
CHECKED struct status run_point_measure(struct result_point *out, struct run_measure *measure,
                                        const struct run_job *job, double seconds);

/** What a reader should know of a measured point: that it was measured again, is above its roof, or
 *  that its level is not clear. measure is as the point left it. */
void run_point_warn(struct result_run *out, const struct result_point *point,
                    const struct run_measure *measure);

/** Takes all measured figures off a point, with the reason; try_ may be NULL. */
void run_point_absent(struct result_point *out, enum absent_state state, const char *text,
                      const char *try_);

/** Fills what is known of a point without measuring: shape, cost, names. Its figures are absent:
 *  not scheduled. */
void run_point_describe(struct result_point *out, const struct run_measure *measure,
                        const struct run_job *job);

#endif

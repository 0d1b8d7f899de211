#ifndef PROFILER_TEAM_H
#define PROFILER_TEAM_H

/** The bound threads that do all measured work, and the stopwatch around them. Uses OpenMP's
 *  pool, so that a BLAS built on OpenMP runs on the same bound threads. One team measures at a
 *  time; create, use and destroy it from the program's first thread. */

#include "profiler/interference.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct team;

/** Work done by every thread of a team: run(context, thread, threads) with thread in
 *  0..threads-1. It may use `#pragma omp barrier`. */
struct team_body {
    void (*run)(void *context, unsigned thread, unsigned threads);
    void *context;
};

/** Called in every thread right around its work, inside the barriers: counters. */
struct team_probe {
    void (*start)(void *context, unsigned thread);
    void (*stop)(void *context, unsigned thread);
    void *context;
};

/** One timed execution of a body. */
struct team_sample {
    double seconds; /**< all threads ready until the slowest is done */
    /** External signs on the team's cpus and threads, from just before to just after the timed
     *  part. */
    struct interference_signs signs;
    double steal_fraction; /**< of the cpus' time, stolen by the hypervisor; NaN unknown */
    bool disturbed;        /**< a known sign was seen: not to be used for a roof */
};

/** A team of threads, thread i bound to cpus[i] (OS index). The array is copied. Errors:
 *  INVALID if threads is 0; UNAVAILABLE if a cpu cannot be bound or OpenMP grants fewer threads.
 *  The caller destroys it. */
CHECKED struct status team_create(struct team **out, const unsigned *cpus, unsigned threads);

/** Restores the first thread's affinity; NULL is accepted. */
void team_destroy(struct team *team);

unsigned team_threads(const struct team *team);

/** OS index of the cpu that a thread is bound to. */
unsigned team_cpu(const struct team *team, unsigned thread);

/** What disturbed the team's samples since it was created, summed over them: in words through
 *  interference_describe(). */
struct interference_signs team_signs(const struct team *team);

/** Runs body once in all threads, untimed. */
void team_run(struct team *team, struct team_body body);

/** Runs body once in all threads and times it, barrier to barrier on CLOCK_MONOTONIC: errors can
 *  only lengthen. */
void team_time(struct team_sample *out, struct team *team, struct team_body body);

/** As team_time(), with probe called in every thread right around its work. The time then
 *  includes the probe. */
void team_time_probed(struct team_sample *out, struct team *team, struct team_body body,
                      struct team_probe probe);

/** As team_time() for work that brings its own threads (a BLAS call made by the first thread):
 *  call is run once by the first thread outside any parallel region. Involuntary switches are
 *  those of the whole process. */
void team_time_call(struct team_sample *out, struct team *team, void (*call)(void *context),
                    void *context);

/** Times body repeated so often within one sample that it lasts at least seconds (for bodies of
 *  microseconds); sample.seconds is per repeat. *repeats is the count used; 0 on entry asks for
 *  calibration, other values are used as they are. */
void team_time_repeated(struct team_sample *out, unsigned long *repeats, struct team *team,
                        struct team_body body, double seconds);

#endif

#ifndef PROFILER_RUN_ROOFS_H
#define PROFILER_RUN_ROOFS_H

/** The roofs that a run's points are judged by: chosen once, sampled beside every point, all
 *  samples kept. */

#include "profiler/session.h"
#include "roofline/spread.h"

enum { RUN_ROOFS_MAX = 12 };

struct run_roof {
    struct ceiling ceiling;
    char key[24];          /**< level of a read roof, or dtype of a compute roof */
    struct spread samples; /**< undisturbed ones, bytes/s or FLOP/s */
    struct spread core_hz; /**< of the same samples */
};

struct run_roofs {
    struct session *session;
    size_t count;
    struct run_roof roofs[RUN_ROOFS_MAX];
};

void run_roofs_init(struct run_roofs *out, struct session *session);

/** The read roof of a level, chosen at first use. NULL if the level has none; *why says so. */
struct run_roof *run_roofs_read(struct run_roofs *roofs, enum memory_level level,
                                struct status *why);

/** Chooses the variant of a level's read roof anew; its samples start again if it is another one.
 *  Errors: those of the choice; UNAVAILABLE if the level has no roof yet. */
CHECKED struct status run_roofs_choose_again(struct run_roofs *roofs, const char *level);

/** The best compute roof for a dtype's arithmetic, likewise. */
struct run_roof *run_roofs_compute(struct run_roofs *roofs, const char *dtype, struct status *why);

/** One sample; undisturbed ones are kept. */
double run_roof_sample(struct run_roofs *roofs, struct run_roof *roof, bool *disturbed);

/** Samples the read roofs of L1, L2 and L3 (each where there is one), for points whose traffic
 *  between the caches was counted. */
void run_roofs_sample_caches(struct run_roofs *roofs, unsigned samples);

/** Writes what was seen so far into machine (replacing its bandwidth and compute lists). */
CHECKED struct status run_roofs_report(struct result_machine *machine, struct run_roofs *roofs);

#endif

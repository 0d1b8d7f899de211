#ifndef PROFILER_STEP_PARTS_H
#define PROFILER_STEP_PARTS_H

/** The parts of a step by themselves, of which steps are predicted: products of some batches that
 *  read weights of each format from memory, attention over caches in memory, norms of rows that
 *  another thread has written. Roofs do not tell these times: unpacking and reading overlap less
 *  than the larger of both says, most where they take about as long.
 *
 *  Kernels are chosen first; samples are then taken in rounds over all parts, so that what changes
 *  the machine meanwhile changes all of them. */

#include "profiler/limit.h"
#include "profiler/results.h"
#include "profiler/team.h"
#include "workloads/arena.h"
#include "workloads/isa.h"
#include "workloads/line.h"

struct step_parts;

struct step_parts_request {
    struct team *team;
    const struct arena *arena; /**< written, so that it has pages; results are not read, so that
                                    its values, a step's weights or others, do not matter */
    struct isa_set isa;
    struct limit limit; /**< of choosing */
    bool formats[LINE_FORMATS];
    enum line_format kv_format;
    double rows;  /**< of the products of the steps to come; 0: any */
    bool decode;  /**< attention of decode */
    bool prefill; /**< attention and products of prompts */
};

/** Chooses the kernels; a part for which the arena is too small is left out. The arena stays the
 *  caller's and outlives the parts. Errors: SYSTEM without memory; those of limit_heed() if the
 *  limit was reached before all was chosen. The caller destroys it. */
CHECKED struct status step_parts_create(struct step_parts **out,
                                        const struct step_parts_request *request);
void step_parts_destroy(struct step_parts *parts);

/** One sample of every part. False, and the round does not count, if the limit was reached. */
bool step_parts_sample(struct step_parts *parts, const struct limit *limit);

/** Rounds that were taken. */
unsigned step_parts_rounds(const struct step_parts *parts);

/** Appends weight_reads and part_times of `count` rounds from `first` on. Errors: SYSTEM. */
CHECKED struct status step_parts_report(struct result_machine *machine,
                                        const struct step_parts *parts, unsigned first,
                                        unsigned count);

#endif

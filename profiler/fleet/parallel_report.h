#ifndef FLEET_PARALLEL_REPORT_H
#define FLEET_PARALLEL_REPORT_H

/** What `lmroof-fleet tp` found, as text and as the document lmroof.parallel/1. */

#include "profiler/fleet/index_json.h"
#include "profiler/results.h"
#include "roofline/parallel.h"

/** One rank's part. */
struct parallel_rank {
    double read_bytes_per_s; /**< median of its read roof, all ranks reading */
    double roof_seconds;     /**< of its work, by the roofs */
    double memory_seconds;
    double compute_seconds;
    double bytes; /**< of its weights and cache */
    unsigned threads;
};

struct parallel_report {
    const struct fleet_index *index; /**< who the ranks are */
    struct result_run facts;         /**< host and conditions of rank 0; owned */
    char model[64];
    char dtype[16];
    char kv_dtype[16];
    uint64_t batch;
    uint64_t context;
    uint64_t reduces;
    uint64_t reduce_bytes;
    struct reading seconds;        /**< of a step */
    struct reading reduce_seconds; /**< of one all-reduce alone */
    double predicted_seconds;      /**< from its parts: operators timed alone and all-reduces */
    double roof_seconds;           /**< from the roofs: no step is faster */
    struct parallel_shares shares; /**< median of the rounds, part by part */
    enum parallel_bound bound;
    struct parallel_rank *ranks; /**< owned */
    bool complete;
};

void parallel_print(FILE *out, const struct parallel_report *report);

CHECKED struct status parallel_write(const struct parallel_report *report,
                                     const struct command_context *context, const char *path,
                                     bool to_stdout);

#endif

#ifndef PROFILER_EXEC_RESULT_H
#define PROFILER_EXEC_RESULT_H

/** What `exec` and `attach` found out, as plain data: what their text and their document are
 *  written from. */

#include "profiler/exec_regions.h"
#include "profiler/phases.h"
#include "profiler/results.h"
#include "profiler/watch.h"

/** The roof at one intensity. */
struct exec_roof {
    char name[16]; /**< "DRAM load", "f32 fma"; "": there is none */
    struct reading attainable_flop_per_s;
};

/** A foreign program's decode on the roofline. Rates are means over the window. */
struct exec_placement {
    bool asked;
    bool placed;
    struct absence why; /**< not placed */
    char model[64];
    char dtype[16];
    uint64_t tokens;
    uint64_t batch;
    uint64_t context;
    bool lower_bound; /**< the window may hold other work than decode */
    double flop_per_token;
    double bytes_per_token;
    double flop_per_byte_predicted;
    struct reading tokens_per_s; /**< its interval: the window's ends are known to an interval */
    struct reading flop_per_s;
    struct reading bytes_per_s_modelled;
    struct reading bytes_per_s_counted;
    struct reading flop_per_byte_counted;
    char flop_metrics[RESULT_TEXT]; /**< in it, by blanks; the core's counters may not hold all */
    struct reading joules_per_token;
    char roofs_from[RESULT_TEXT]; /**< "measured afterwards", or a file */
    unsigned roof_threads;
    struct reading roof_bytes_per_s;
    struct reading roof_flop_per_s;
    struct exec_roof roof; /**< at the predicted intensity */
    struct reading roof_fraction;
};

/** The stretch that was placed, or would be. */
struct exec_window {
    bool known;
    bool given; /**< by --window */
    double begin_seconds;
    double end_seconds;
    enum phase_kind kind;        /**< of a found one */
    double error_fraction;       /**< of its length; NaN unknown */
    double cores;                /**< busy, on average */
    double counts[METRIC_COUNT]; /**< in it; NaN: not counted */
};

struct exec_result {
    struct result_run
        run; /**< envelope, host, conditions, warnings, the roofs that were measured */
    bool attached;
    int pid;
    char name[32];
    struct watch watch;
    struct phase_interval *intervals; /**< interval_count, owned */
    size_t interval_count;
    struct phases phases;
    struct exec_window window;
    struct result_counter whole[METRIC_COUNT];
    struct result_counter in_window[METRIC_COUNT];
    struct exec_placement place;
    struct exec_region regions[EXEC_REGIONS_MAX]; /**< that the program marked */
    size_t region_count;
};

/** Sum of a sample's CPU time. */
double exec_cpu_seconds(const struct watch_sample *sample);

void exec_result_free(struct exec_result *result);

#endif

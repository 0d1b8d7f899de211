#ifndef PROFILER_RESULTS_H
#define PROFILER_RESULTS_H

/** What measuring produces: roofs and points as plain data. `run`, `probe` and `validate` fill
 *  it, results_json.c writes and reads it back (contract.md, run/1 and machine/1), and every
 *  report format is drawn from it alone. Nothing here measures or prints. */

#include "roofline/reading.h"

#include <stdbool.h>
#include <stdint.h>

enum { RESULT_NAME = 48, RESULT_TEXT = 192 };

/** A warning of a document: what was seen, and what to try. */
struct result_warning {
    char code[RESULT_NAME]; /**< stable word, for example "above_roof" */
    char text[320];
    char try_[320]; /**< "" if there is nothing to try */
};

/** One bandwidth ceiling. */
struct result_bandwidth {
    char level[8];             /**< L1 L2 L3 DRAM */
    char kernel[16];           /**< load store store_nt copy copy_nt scale add triad triad_nt */
    char variant[RESULT_NAME]; /**< streams x prefetch x width, for example "4s-pf2048-512" */
    unsigned threads;
    char cpus[64];              /**< list, for example "0-1" */
    char placement[16];         /**< local interleave replicate */
    uint64_t working_set_bytes; /**< in total */
    uint64_t page_bytes;        /**< actually backed; 0 unknown */
    struct reading bytes_per_s; /**< user bytes */
};

/** One compute ceiling. */
struct result_compute {
    char dtype[16];            /**< f64 f32 f16 bf16 int8 ... */
    char kind[8];              /**< fma gemm kernel */
    char class_[RESULT_NAME];  /**< isa/instruction/accumulate, e.g. avx512/vfmadd231ps/f32 */
    char backend[RESULT_NAME]; /**< "lmroof", or the library with the core it chose */
    unsigned threads;
    char shape[RESULT_NAME]; /**< "m x n x k" of a gemm; "" else */
    bool integer_operations; /**< op_kind int: the rate is in integer operations */
    bool verified;           /**< its reference check passed on this host */
    struct reading flop_per_s;
    struct reading core_hz;                /**< measured inside the kernel */
    struct reading theoretical_flop_per_s; /**< from a sourced table, else absent */
};

/** The bound a point was found to have (contract: points.bound). */
enum result_bound {
    BOUND_UNKNOWN,
    BOUND_MEMORY_SATURATED,
    BOUND_MEMORY_CORE_LIMITED,
    BOUND_COMPUTE,
    BOUND_LATENCY
};

/** One test of a verdict, in words that carry their numbers. */
struct result_evidence {
    char test[24]; /**< intensity achieved_bandwidth twins dtype_scaling saturation ... */
    char expected[RESULT_TEXT];
    char found[RESULT_TEXT];
    bool passed;
};

enum { RESULT_EVIDENCE_MAX = 8 };

/** A counted metric of a point. */
struct result_counter {
    const char *metric; /**< name from the contract; static */
    struct reading value;
    char scope[8];  /**< thread system */
    char source[8]; /**< papi perf replay */
    char events[RESULT_TEXT];
    double running_fraction;    /**< NaN if not known */
    double background_fraction; /**< share of others: taken off traffic, contained in energy */
};

enum { RESULT_COUNTERS_MAX = 16 };

/** One measured operator at one place in the model's work. */
struct result_point {
    char id[64];        /**< unique in the document, e.g. "decode/gate_up/bf16/b4/c512" */
    char operator_[16]; /**< qkv attention attn_out gate_up down head router experts ... */
    char phase[8];      /**< decode prefill */
    unsigned batch;
    uint64_t context;
    uint64_t prompt; /**< tokens of a prefill; 0 in decode */
    unsigned layers; /**< layers of the model that do this operator: a step does it so often */
    char dtype[16];
    char kv_dtype[16];
    char isa[16];
    char backend[RESULT_NAME];
    unsigned threads;
    char placement[16];
    uint64_t page_bytes;
    uint64_t m, n, k;           /**< rows of activations, outputs, inputs */
    char resident_level[8];     /**< level that served the weights: L1 L2 L3 DRAM */
    uint64_t working_set_bytes; /**< of the rotation */

    /** Of one call on the whole shape (one layer). */
    double flop;
    double flop_executed;
    double bytes_modelled;          /**< dram_lower_bound of the operator */
    double flop_per_byte_predicted; /**< flop / bytes_modelled */

    struct reading seconds;     /**< one call */
    double time_share_fraction; /**< of the step: layers x seconds over the sum; NaN unknown */
    struct reading flop_per_s;
    struct reading bytes_per_s_modelled;
    struct reading bytes_per_s_counted;
    struct reading flop_per_byte_counted;
    struct result_counter counters[RESULT_COUNTERS_MAX];
    size_t counter_count;

    /** The roof this point is judged by, from the samples interleaved with it. */
    char roof_name[RESULT_NAME];
    char roof_level[8];
    char roof_class[RESULT_NAME];
    struct reading roof_bytes_per_s; /**< read roof, same repeats */
    struct reading roof_flop_per_s;  /**< compute roof, same repeats */
    double attainable_flop_per_s;
    struct reading roof_fraction;         /**< paired per repeat; by predicted AI */
    struct reading roof_fraction_counted; /**< by counted AI */

    enum result_bound bound;
    struct result_evidence evidence[RESULT_EVIDENCE_MAX];
    size_t evidence_count;
    struct reading memory_only_seconds;
    struct reading compute_only_seconds;

    double max_relative_error; /**< against the double reference; NaN if not checked */
    double tolerance;
    bool verified; /**< the check passed on this host */
    bool integer_operations;
};

/** name=value facts: host and conditions, in order of insertion. text values only; numbers that
 *  scripts compute with have their own fields elsewhere. */
struct result_fact {
    char name[RESULT_NAME];
    char text[RESULT_TEXT];
};

/** The roofs of one session: a machine as measured. Owner of its arrays; see results_free(). */
struct result_machine {
    char profile_id[64];
    struct result_bandwidth *bandwidth;
    size_t bandwidth_count;
    struct result_compute *compute;
    size_t compute_count;
};

/** The whole of a run. Owner of its arrays. */
struct result_run {
    char model_name[64];
    struct result_machine machine;
    struct result_point *points;
    size_t point_count;
    struct result_warning *warnings;
    size_t warning_count;
    struct result_fact *host;
    size_t host_count;
    struct result_fact *conditions;
    size_t condition_count;
    char started_at[32];
    bool complete;
};

/** "memory_saturated", ... Static text. */
const char *result_bound_name(enum result_bound bound);

/** Releases what the run owns and zeroes it. */
void result_run_free(struct result_run *run);

#endif

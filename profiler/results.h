#ifndef PROFILER_RESULTS_H
#define PROFILER_RESULTS_H

/** What measuring produces: roofs and points as plain data. `run`, `probe` and `validate` fill
 *  it, results_json.c writes and reads it back (contract.md, run/1 and machine/1), and every
 *  report format is drawn from it alone. Nothing here measures or prints. */

#include "roofline/reading.h"
#include "roofline/verdict.h"

#include <stdbool.h>
#include <stdint.h>

enum { RESULT_NAME = 48, RESULT_TEXT = 192, RESULT_UNSTEADY = 320 };

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
    /** Why not to rely on it, with the signs that were seen; "": steady. */
    char unsteady[RESULT_UNSTEADY];
};

/** One compute ceiling. */
struct result_compute {
    char dtype[16];            /**< f64 f32 f16 bf16 int8 ... */
    char kind[16];             /**< fma gemm kernel attention */
    char class_[RESULT_NAME];  /**< isa/instruction/accumulate, e.g. avx512/vfmadd231ps/f32 */
    char backend[RESULT_NAME]; /**< "lmroof", or the library with the core it chose */
    unsigned threads;
    char shape[RESULT_NAME]; /**< "m x n x k" of a gemm; "" else */
    bool integer_operations; /**< op_kind int: the rate is in integer operations */
    bool verified;           /**< its reference check passed on this host */
    struct reading flop_per_s;
    struct reading core_hz;                /**< measured inside the kernel */
    struct reading theoretical_flop_per_s; /**< from a sourced table, else absent */
    char unsteady[RESULT_UNSTEADY];        /**< as of a bandwidth */
};

/** A counted metric of a point. */
struct result_counter {
    char metric[24]; /**< name from the contract */
    struct reading value;
    char scope[8];   /**< thread system */
    char source[12]; /**< papi perf replay powercap */
    char events[RESULT_TEXT];
    double running_fraction;    /**< NaN if not known */
    double background_fraction; /**< share of others: taken off traffic, contained in energy; NaN */
};

/** An event's proof on known work (contract: counters --certify). */
struct result_certificate {
    char event[RESULT_TEXT];
    char metric[24];
    char source[8];
    char kernel[16];
    double expected; /**< units of the metric */
    double counted;  /**< NaN if it could not be read */
    double ratio;    /**< counted over expected; NaN if that is 0 */
    double low;      /**< accepted, units of the metric */
    double high;
    bool passed;
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
    char recipe[16]; /**< "stored" in a step whose tensors have each their own type; "": dtype */
    char kv_dtype[16];
    char isa[16];
    char backend[RESULT_NAME];
    unsigned threads;
    char smt[4]; /**< on: some threads share a core; off; "" not told */
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
    char flop_source[12];           /**< of the counted intensity: "counted", "modelled"; "" none */
    char bytes_source[8];           /**< "uncore", "core"; "" none */
    double bytes_residual_fraction; /**< counted over modelled bytes, less 1; NaN */
    double joules_per_token; /**< of this operator in all its layers, idle share included; NaN */
    char residual_cause[RESULT_TEXT]; /**< likely one; "" if there is nothing to explain */
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

    enum verdict_bound bound;
    struct verdict_evidence evidence[VERDICT_EVIDENCE_MAX];
    size_t evidence_count;
    struct reading memory_only_seconds;
    struct reading compute_only_seconds;

    double max_relative_error; /**< against the double reference; NaN if not checked */
    double tolerance;
    bool verified; /**< the check passed on this host */
    bool integer_operations;
    bool disturbed;    /**< most rounds saw an external sign of disturbance and were kept */
    unsigned attempts; /**< contests of kernels until one was kept; not in documents */
    /** Paired by round, with their intervals; NaN without twins; not in documents. */
    struct verdict_ratio read_roof_ratio;    /**< modelled bytes/s over the read roof */
    struct verdict_ratio memory_only_ratio;  /**< the twin's time over the full one */
    struct verdict_ratio compute_only_ratio; /**< as above */
};

/** name=value facts: host and conditions, in order of insertion. text values only; numbers that
 *  scripts compute with have their own fields elsewhere. */
struct result_fact {
    char name[RESULT_NAME];
    char text[RESULT_TEXT];
};

/** Latency of one dependent load that a level serves. */
struct result_latency {
    char level[8];
    uint64_t working_set_bytes;
    uint64_t page_bytes;
    struct reading seconds;
    char unsteady[RESULT_UNSTEADY]; /**< as of a bandwidth */
};

/** Latency while other threads read: one step of the load. */
struct result_loaded_latency {
    unsigned threads; /**< that load the memory */
    struct reading bytes_per_s;
    struct reading seconds;
};

/** Bandwidth of threads on one node from (or to) the memory of another. */
struct result_numa {
    char kernel[16];
    unsigned threads;
    unsigned from; /**< node of the threads, OS index */
    unsigned to;   /**< node of the memory, OS index */
    struct reading bytes_per_s;
};

/** Bandwidth by number of threads. */
struct result_scaling {
    char level[8];
    char kernel[16];
    unsigned threads;
    struct reading bytes_per_s;
};

/** How fast the fastest of our products of `batch` rows reads weights of a format from memory, all
 *  that it does with them included. */
struct result_weight_read {
    char dtype[16];
    unsigned batch;
    unsigned threads;
    char class_[RESULT_NAME];
    uint64_t working_set_bytes; /**< of different weights, in total */
    struct reading bytes_per_s; /**< weights as stored, padding included */
};

/** How long work of a step beside the products takes: attention over a cache in memory; norms of
 *  rows whose columns other threads have just written; passing over columns of rows that other
 *  threads have normed. */
struct result_part_time {
    char operator_[16]; /**< attention norms columns */
    char phase[8];      /**< of attention; others: "decode", they are alike */
    char dtype[16];     /**< of the cache; others: f32 */
    unsigned batch;     /**< sequences; others: rows */
    uint64_t tokens;    /**< visible to a sequence at the end; others: 1 */
    unsigned kv_heads;  /**< others: 0 */
    unsigned group;     /**< query heads that share a KV head; others: 0 */
    unsigned width;     /**< values of a head, or of a row */
    unsigned threads;
    struct reading seconds; /**< of one call */
};

/** The roofs of one session: a machine as measured. Owner of its arrays; see
 *  result_machine_free(). A zeroed one has no figure: its readings are absent, not asked for. */
struct result_machine {
    char profile_id[64];
    struct result_bandwidth *bandwidth;
    size_t bandwidth_count;
    struct result_compute *compute;
    size_t compute_count;
    struct result_latency *latency;
    size_t latency_count;
    struct result_loaded_latency *loaded_latency;
    size_t loaded_latency_count;
    struct result_numa *numa;
    size_t numa_count;
    struct result_scaling *scaling;
    size_t scaling_count;
    struct result_weight_read *weight_reads;
    size_t weight_read_count;
    struct result_part_time *part_times;
    size_t part_time_count;
    struct reading write_allocate_factor; /**< bytes moved per byte stored, 1..2 */
    struct reading saturating_threads;    /**< knee of scaling; absent where none was reached */
};

/** An operator within a step that was run as a whole; seconds are of all its layers. */
struct result_step_operator {
    char name[16];
    struct reading seconds;
    double time_share_fraction; /**< of the step */
    double estimated_seconds;   /**< as of the step; NaN unknown */
};

enum { RESULT_STEP_OPERATORS_MAX = 12 };

/** The routed experts of a step that was run as a whole: means over its runs. */
struct result_step_experts {
    uint64_t experts;          /**< of a layer */
    uint64_t experts_used;     /**< by a token */
    unsigned layers;           /**< with experts, that were run */
    uint64_t steps;            /**< counted */
    double distinct;           /**< experts that a layer's tokens were sent to */
    double distinct_error;     /**< its standard error over the steps; NaN with one step */
    double distinct_expected;  /**< E (1 - (1 - e/E)^T) */
    double expected_error;     /**< standard error of a mean of so many steps and layers, from the
                                    variance of even routing */
    double weight_bytes;       /**< of distinct experts, of a step of all layers */
    double weight_bytes_error; /**< its standard error over the steps; NaN with one step */
    double weight_bytes_expected;
    double weight_bytes_expected_error;
    bool within_error; /**< both are within three expected errors of what is expected */
};

/** How an estimate from the parts of a step compares with the step: every sample of the step beside
 *  two of each part, taken just before and after. */
struct result_step_estimate {
    struct reading ratio; /**< estimated over measured seconds */
};

/** One step of the whole model: what the operators add up to. */
struct result_step {
    char phase[8];
    unsigned batch;
    uint64_t context;
    uint64_t prompt;
    char dtype[16];
    unsigned threads;            /**< 0 not told */
    struct reading tokens_per_s; /**< batch / step in decode, batch x prompt / step in prefill */
    struct reading tpot_seconds; /**< decode: one step; absent in prefill */
    struct reading ttft_seconds; /**< prefill: one step; absent in decode */
    struct reading predicted_tokens_per_s; /**< of the bound: roofs and analytic bytes and flop */
    struct reading predicted_seconds;
    struct reading estimated_seconds; /**< from the parts of the step, timed between its samples; of
                                           weights in cache: sum over operators of max(F / P,
                                           Q / BW), P what our own kernels reach, and barriers */
    struct result_step_estimate estimates[1];
    size_t estimate_count;            /**< 0: not from parts */
    struct reading remainder_seconds; /**< step less the sum of its operators */
    double joules_per_token;          /**< idle share included; NaN: not counted */
    unsigned layers;                  /**< of the model */
    unsigned layers_measured; /**< fewer: the times are extrapolated; 0: not run as a whole */
    struct result_step_operator operators[RESULT_STEP_OPERATORS_MAX];
    size_t operator_count;
    struct result_step_experts experts[1];
    size_t experts_count;      /**< 0: no experts, or not run as a whole */
    double max_relative_error; /**< of the products' samples; NaN if not checked */
    double tolerance;
    bool verified;
};

/** Batch at which decode turns from memory to compute (contract: crossover_batch). */
struct result_crossover {
    char dtype[16];
    struct reading predicted_linears;
    struct reading predicted_step;
    struct reading measured;
};

enum { RESULT_SWEEP_MAX = 64 };

/** One number of threads of a sweep. */
struct result_sweep_row {
    unsigned threads;
    struct reading tokens_per_s;
};

/** A step at several numbers of threads (`run --threads 1,2,4`). */
struct result_sweep {
    char phase[8];
    unsigned batch;
    uint64_t context;
    uint64_t prompt;
    char dtype[16];
    char source[12]; /**< of the rates: step, run as a whole; operators, added up */
    struct result_sweep_row rows[RESULT_SWEEP_MAX];
    size_t row_count;
    struct reading knee_threads; /**< beyond it more threads bring less than a twentieth */
};

/** The claim that a run was put to by validate; a run without one has claim "". */
struct result_claim {
    char verdict[16]; /**< confirmed refuted cannot_tell */
    char claim[256];
    char finding[512];
    struct verdict_evidence evidence[VERDICT_EVIDENCE_MAX]; /**< of the step as a whole */
    size_t evidence_count;
};

/** The whole of a run. Owner of its arrays. */
struct result_run {
    char model_name[64];
    struct result_machine machine;
    struct result_point *points;
    size_t point_count;
    struct result_step *steps;
    size_t step_count;
    struct result_crossover *crossovers; /**< one a dtype */
    size_t crossover_count;
    struct result_sweep *sweeps; /**< none with one number of threads */
    size_t sweep_count;
    struct result_claim claim; /**< read from a validate document, for reports */
    struct result_certificate *certificate;
    size_t certificate_count;
    struct result_warning *warnings;
    size_t warning_count;
    struct result_fact *host;
    size_t host_count;
    struct result_fact *conditions;
    size_t condition_count;
    double read_growth; /**< DRAM reads of all threads over those of half of them; NaN unknown */
    double other_mix;   /**< best non-temporal store or copy over the read roof; NaN unknown */
    char started_at[32];
    char tool[48];          /**< "lmroof 0.1.0" */
    char command_line[512]; /**< argv joined by blanks, cut to the field; for display */
    bool complete;
};

/** Releases what the machine owns and zeroes it. */
void result_machine_free(struct result_machine *machine);

/** Releases what the run owns, its machine too, and zeroes it. */
void result_run_free(struct result_run *run);

/** The type of the step that a point belongs to: its recipe or its own type. Borrowed. */
const char *result_point_recipe(const struct result_point *point);

#endif

#ifndef PROFILER_RUN_JOB_H
#define PROFILER_RUN_JOB_H

/** The list of points that a run measures, from the model and the request alone. */

#include "profiler/run_request.h"
#include "roofline/model.h"
#include "workloads/attention.h"
#include "workloads/line.h"

/** One operator at one place, with its cost per call (one layer). */
struct run_job {
    enum model_operator op;
    bool prefill;
    enum dtype_id dtype;    /**< of the weights; attention: the recipe */
    enum dtype_id recipe;   /**< of the whole step; DTYPE_STORED: each tensor has its own type */
    enum dtype_id kv_dtype; /**< attention; DTYPE_NONE else */
    unsigned batch;
    uint64_t context;
    uint64_t prompt;
    unsigned layers;
    unsigned variant; /**< of operators whose layers differ in shape: 0, 1, ... */
    uint64_t rows;    /**< m: rows of activations */
    uint64_t n, k;    /**< linears */
    unsigned heads;   /**< n x k is one head's matrix, of so many; 0: a plain linear */
    uint64_t experts; /**< all of a layer: n x k is gate and up of one; 0: no experts */
    uint64_t experts_used, expert_width;
    enum dtype_id down_dtype; /**< of the experts' second product */
    bool gated;
    struct model_attention attention; /**< as it is computed: absorbed, one KV head */
    bool latent;                      /**< values are parts of keys */
    bool sinks;
    unsigned scale_dim;    /**< of scores; 0: that of keys */
    double flop;           /**< useful */
    double bytes;          /**< dram_lower_bound; experts: of as many distinct ones as expected */
    double instance_bytes; /**< that one call may read: of all experts, of keys that are made */
    double step_bytes;     /**< weights and cache of the whole step: what a rotation stands for */
};

/** How a job's work is made. */
enum run_job_kind { RUN_LINEAR, RUN_ATTENTION, RUN_EXPERTS, RUN_HEADS, RUN_QUANTISE };

enum run_job_kind run_job_kind(const struct run_job *job);

struct run_jobs {
    struct run_job *list; /**< owned */
    size_t count;
};

/** Plans all points of the request. The list is freed by the caller. Errors: SYSTEM; INVALID from
 *  the step's arithmetic. */
CHECKED struct status run_jobs_plan(struct run_jobs *out, const struct model *model,
                                    const struct run_request *request);

/** Appends quantising the inputs of the products in block formats from `first` on. Errors: SYSTEM.
 */
CHECKED struct status run_jobs_add_quantise(struct run_jobs *jobs, size_t first);

/** Whether every matrix of the model is stored in a type that has kernels. Errors: INVALID, naming
 *  the first that is not. */
CHECKED struct status run_stored_supported(const struct model *model);

/** The type of a matrix in a step of that recipe. */
enum dtype_id run_matrix_type(enum dtype_id recipe, const struct model_matrix *matrix);

/** The line format of a runnable dtype. */
enum line_format run_line_format(enum dtype_id dtype);

/** The format of a linear's weights: rows that are no whole number of blocks fall back. */
enum line_format run_weight_format(const struct run_job *job);

/** True if the operator's products are of integers. */
bool run_job_is_integer(const struct run_job *job);

#endif

#include "profiler/result_build.h"
#include "profiler/run_job.h"
#include "workloads/work.h"

// Quantising the inputs of the products from `first` on, by their length and type.
struct status run_jobs_add_quantise(struct run_jobs *jobs, size_t first)
{
    size_t end = jobs->count;
    for (size_t i = first; i < end; i++) {
        struct run_job job = jobs->list[i];
        bool known = false;
        if (run_job_kind(&job) != RUN_LINEAR || !run_job_is_integer(&job)) {
            continue;
        }
        job.op = MODEL_OP_ACT_QUANT;
        job.variant = 0;
        for (size_t j = end; j < jobs->count && !known; j++) {
            struct run_job *other = &jobs->list[j];
            known = other->k == job.k && other->rows == job.rows && other->dtype == job.dtype;
            other->layers += known ? job.layers : 0;
            job.variant++;
        }
        if (known) {
            continue;
        }
        job.n = job.k;
        job.flop = WORK_QUANTISE_FLOP * (double)job.rows * (double)job.k;
        job.bytes = work_quantise_bytes(job.rows, job.k);
        job.instance_bytes = job.bytes;
        job.step_bytes = 0; // what one operator writes the next finds in cache
        struct run_job *to = result_append(&jobs->list, &jobs->count, sizeof *jobs->list);
        if (to == NULL) {
            return status_error(STATUS_SYSTEM, "no memory for the list of points");
        }
        *to = job;
    }
    return status_ok();
}

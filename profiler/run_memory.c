#include "profiler/run_memory.h"

#include "roofline/step.h"
#include "roofline/units.h"

struct status run_memory_needed(uint64_t *arena, const struct run_jobs *jobs,
                                const struct model *model, const struct run_request *request,
                                const struct session *session)
{
    double whole = 0;
    double weights = 0;
    double kv = 0;
    *arena = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct run_job *job = &jobs->list[i];
        struct step_request wanted = step_defaults(job->prefill ? STEP_PREFILL : STEP_DECODE);
        struct step step;
        wanted.batch = job->batch;
        wanted.context = job->prefill ? 0 : job->context;
        wanted.prompt = job->prompt;
        wanted.dtype = job->recipe;
        wanted.kv_dtype = request->kv_dtype;
        TRY(step_compute(&step, model, &wanted));
        if (step.memory_bytes > whole) {
            whole = step.memory_bytes;
            weights = step.weight_bytes;
            kv = step.kv_bytes;
        }
        // Padding to whole groups, pages and threads' shares: a twentieth and a little more.
        double instance = job->instance_bytes * 1.05 + (double)session->threads * (1 << 20);
        *arena = instance > (double)*arena ? (uint64_t)instance : *arena;
    }
    double available = (double)session->machine.memory_available_bytes;
    if (available > 0 && whole > available && !request->step) { // a step runs what fits
        char text[3][UNITS_TEXT];
        char left[MACHINE_AVAILABLE_TEXT];
        return status_error(
            STATUS_UNAVAILABLE,
            "%s needs %s of memory (weights %s, KV cache %s, the rest activations), but %s are "
            "available; choose a smaller model, type, batch or context",
            request->model, units_format_binary(text[0], (uint64_t)whole),
            units_format_binary(text[1], (uint64_t)weights),
            units_format_binary(text[2], (uint64_t)kv),
            machine_format_available(left, &session->machine, (uint64_t)available));
    }
    return status_ok();
}

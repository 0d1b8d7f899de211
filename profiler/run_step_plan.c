#include "profiler/run_step_plan.h"

#include "profiler/run_step.h"
#include "profiler/session_memory.h"
#include "roofline/units.h"

#include <math.h>
#include <stdlib.h>

// A tenth of the memory is left to everyone else, as for the arena itself.
static double usable_bytes(const struct session *session)
{
    double available =
        0.9 * (double)session->machine.memory_available_bytes / session_memory_copies(session);
    return available > 0 ? available : HUGE_VAL;
}

struct forward_params run_step_params(const struct model *model, const struct run_job *job,
                                      enum dtype_id kv_dtype, const struct session *session)
{
    struct forward_params params = {.model = model,
                                    .dtype = job->recipe,
                                    .kv_format = run_line_format(kv_dtype),
                                    .prefill = job->prefill,
                                    .batch = job->batch,
                                    .context = job->prefill ? 0 : job->context,
                                    .prompt = job->prefill ? job->prompt : 0,
                                    .threads = session->threads,
                                    .signal = session->options.limit.signal};
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        params.ways[op] = (struct forward_way){.isa = session->isa, .class_ = LINEAR_FMA};
    }
    return params;
}

static struct status refuse_memory(const struct model *model, double needed, double limit)
{
    char need[UNITS_TEXT];
    char have[UNITS_TEXT];
    return status_error(STATUS_UNAVAILABLE,
                        "--step: one layer of %s with its embedding and head needs %s of memory, "
                        "but %s are to be had; choose a smaller model, type, batch or context",
                        model->name, units_format_binary(need, (uint64_t)needed),
                        units_format_binary(have, (uint64_t)limit));
}

static unsigned most_layers(const struct model *model)
{
    unsigned most = 1;
    for (uint32_t b = 0; b < model->block_count; b++) {
        most = model->blocks[b].layers > most ? model->blocks[b].layers : most;
    }
    return most;
}

struct status run_step_layers(unsigned *out, double *arena, const struct forward_params *params,
                              double arena_limit, double all_limit)
{
    struct forward *forward = NULL;
    unsigned all = most_layers(params->model);
    TRY(forward_create(&forward, params));
    double activations = (double)forward_activation_bytes(forward);
    double limit = fmin(arena_limit, all_limit - activations);
    unsigned layers = all;
    *arena = (double)forward_thread_bytes_of(forward, layers) * params->threads;
    while (*arena > limit && layers > 1) {
        layers--;
        *arena = (double)forward_thread_bytes_of(forward, layers) * params->threads;
    }
    forward_destroy(forward);
    *out = layers == all ? 0 : layers;
    return *arena <= limit ? status_ok()
                           : refuse_memory(params->model, *arena + activations,
                                           fmin(all_limit, arena_limit + activations));
}

struct status run_steps_plan(uint64_t *out_bytes, const struct model *model,
                             const struct run_request *request, const struct session *session)
{
    struct run_jobs jobs;
    TRY(run_jobs_plan(&jobs, model, request));
    struct status status = status_ok();
    *out_bytes = 0;
    for (size_t i = 0; i < jobs.count && status.code == STATUS_OK; i++) {
        if (jobs.list[i].op != MODEL_OP_HEAD) {
            continue; // one a step
        }
        const struct forward_params params =
            run_step_params(model, &jobs.list[i], request->kv_dtype, session);
        unsigned layers = 0;
        double arena = 0;
        status = run_step_layers(&layers, &arena, &params, HUGE_VAL, usable_bytes(session));
        *out_bytes = arena > (double)*out_bytes ? (uint64_t)arena : *out_bytes;
    }
    *out_bytes += (uint64_t)session->threads * LINE_BYTES; // shares are whole lines
    free(jobs.list);
    char limit[UNITS_TEXT];
    uint64_t bytes = session->machine.address_space_bytes;
    return status.code == STATUS_UNAVAILABLE && bytes > 0
               ? status_prefix(status, "address space is limited to %s (ulimit -v unlimited)",
                               units_format_binary(limit, bytes))
               : status;
}

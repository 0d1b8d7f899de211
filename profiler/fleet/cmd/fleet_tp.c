#include "profiler/fleet/tp.h"
#include "profiler/fleet/worker.h"
#include "profiler/output.h"
#include "workloads/model_file.h"

#include <stdlib.h>
#include <string.h>

enum {
    KEY_PER = 0x100,
    KEY_BATCH,
    KEY_CONTEXT,
    KEY_DTYPE,
    KEY_KV,
    KEY_THREADS,
    KEY_REPEAT,
    KEY_TIMEOUT,
    KEY_JSON
};

struct input {
    struct command_input common; // first: command_parse() writes it
    struct run_request request;
    enum fleet_unit unit;
    double timeout_seconds;
};

static const struct argp_option options[] = {
    {"model", 'm', "MODEL", 0, "built-in name, config.json or .gguf (llama-3.2-1b)", 0},
    {"batch", KEY_BATCH, "N", 0, "sequences at once (1)", 0},
    {"context", KEY_CONTEXT, "N", 0, "tokens cached before the step (512)", 0},
    {"dtype", KEY_DTYPE, "D", 0, "of the weights: f32, bf16, f16, q8_0 or q4_0 (the model's own)",
     0},
    {"kv-dtype", KEY_KV, "D", 0, "of the KV cache: f32, bf16 or f16 (f16)", 0},
    {"per", KEY_PER, "UNIT", 0, "what a rank runs on: node, socket, numa or core (node)", 0},
    {"threads", KEY_THREADS, "N", 0, "bound threads of each rank (one per core of its unit)", 0},
    {"repeat", KEY_REPEAT, "N", 0, "steps that are timed, 1 to 64 (11)", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "without progress for so long a rank is given up (120)",
     0},
    {"json", KEY_JSON, NULL, 0, "one JSON document (lmroof.parallel/1) on standard output", 0},
    {"output", 'o', "FILE", 0, "the JSON document into FILE", 0},
    {0}};

static struct status kv_dtype(struct run_request *request, const char *text)
{
    enum dtype_id id = dtype_find(text);
    request->kv_dtype = id;
    return id == DTYPE_F32 || id == DTYPE_BF16 || id == DTYPE_F16
               ? status_ok()
               : status_error(STATUS_INVALID, "--kv-dtype: found '%s', accepted f32, bf16, f16",
                              text);
}

static struct status one_count(struct option_counts *out, const char *option, const char *text,
                               uint64_t low, uint64_t high)
{
    out->count = 1;
    return option_count(&out->values[0], option, text, low, high);
}

static struct status parse_value(struct input *input, int key, const char *text)
{
    struct run_request *request = &input->request;
    switch (key) {
    case KEY_BATCH:
        return one_count(&request->batch, "--batch", text, 1, 4096);
    case KEY_CONTEXT:
        return one_count(&request->context, "--context", text, 0, 1u << 24);
    case KEY_DTYPE:
        return run_request_one_dtype(request, text);
    case KEY_KV:
        return kv_dtype(request, text);
    case KEY_THREADS:
        return option_count(&request->threads, "--threads", text, 1, MACHINE_CPUS_MAX);
    case KEY_REPEAT:
        return option_count(&request->repeat, "--repeat", text, 1, READING_SAMPLES_MAX);
    case KEY_TIMEOUT:
        return option_positive(&input->timeout_seconds, "--timeout", text);
    default:
        return fleet_unit_parse(&input->unit, text);
    }
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct input *input = state->input;
    switch (key) {
    case 'm':
        input->request.model = text;
        return 0;
    case 'o':
        input->request.output = text;
        return 0;
    case KEY_JSON:
        input->request.json = true;
        return 0;
    case KEY_PER:
    case KEY_BATCH:
    case KEY_CONTEXT:
    case KEY_DTYPE:
    case KEY_KV:
    case KEY_THREADS:
    case KEY_REPEAT:
    case KEY_TIMEOUT: {
        struct status status = parse_value(input, key, text);
        return status.code == STATUS_OK ? 0 : command_option_error(state, status);
    }
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    options,
    parse_option,
    NULL,
    "Times and predicts a decode step split over the ranks: each computes its part of every "
    "matrix, two all-reduces a layer join them; says what bounds it: memory, compute, network, or "
    "imbalance between ranks.\v"
    "Heads, key-value heads and the MLP's width must divide by the number of ranks. Examples:\n"
    "  mpirun -n 2 lmroof-fleet tp --per core -m llama-3.2-1b\n"
    "  srun --ntasks-per-node=2 lmroof-fleet tp --per socket -m llama-2-7b --batch 8\n",
    NULL,
    NULL,
    NULL};

static struct status write_report(const struct parallel_report *report,
                                  const struct run_request *request,
                                  const struct command_context *context, struct world *world)
{
    if (world_rank(world) != 0) {
        return status_ok();
    }
    if (request->json || request->output != NULL) {
        TRY(parallel_write(report, context, request->output, request->json));
    }
    if (!request->json) {
        parallel_print(context->out, report);
    }
    return status_ok();
}

static struct status measure(struct tp_options *tp, struct fleet_place *place,
                             const struct input *input, const struct command_context *context,
                             struct status detected)
{
    struct fleet_index index = {.unit = input->unit, .repeat = 1};
    struct parallel_report report = {.index = &index};
    struct status status = fleet_join(&index, place, tp->world, detected);
    if (status.code == STATUS_OK) {
        status = world_agree(tp->world, worker_bind(place->cpus, place->cpu_count));
    }
    if (status.code == STATUS_OK) {
        status = tp_measure(&report, tp);
    }
    if (status.code == STATUS_OK) {
        status = world_agree(tp->world, write_report(&report, &input->request, context, tp->world));
    }
    tp_free(&report);
    free(index.rows);
    return status;
}

static struct status join_and_measure(const struct input *input,
                                      const struct command_context *context,
                                      const struct model *model, struct model *shard)
{
    struct fleet_place place;
    struct status detected = fleet_place_detect(&place);
    struct tp_options tp = {
        .request = &input->request, .model = model, .shard = shard, .signal = context->signal};
    TRY(world_open(&tp.world));
    struct status status =
        watchdog_start(&tp.watchdog, world_rank(tp.world), input->timeout_seconds, context->signal);
    if (status.code == STATUS_OK) {
        status = parallel_shard(shard, model, world_size(tp.world));
    }
    status = world_agree(tp.world, status);
    if (status.code == STATUS_OK) {
        status = measure(&tp, &place, input, context, detected);
    }
    watchdog_stop(tp.watchdog);
    world_close(tp.world);
    fleet_place_free(&place);
    return status;
}

static struct status prepare(struct input *input, struct model *model)
{
    if (input->request.output != NULL) {
        TRY(output_check(input->request.output));
    }
    TRY(model_load(model, input->request.model));
    if (model->shape_only) {
        return status_error(STATUS_INVALID, "%s: has no tensors; accepted a model with weights",
                            model->name);
    }
    if (input->request.dtype_count == 0) {
        TRY(status_prefix(run_request_dtypes(&input->request, dtype_name(model->dtype)),
                          "%s: the model's own type", model->name));
    }
    model_set_dtype(model, input->request.dtypes[0]);
    return status_ok();
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct input input = {.timeout_seconds = 120};
    bool done = false;
    (void)exit_code;
    run_request_defaults(&input.request);
    input.request.decode = true;
    TRY(command_parse(&done, context, &parser, argc, argv, &input));
    if (done) {
        return status_ok();
    }
    run_request_finish(&input.request);
    struct model *models = calloc(2, sizeof *models);
    struct status status = models == NULL ? status_error(STATUS_SYSTEM, "no memory for a model")
                                          : prepare(&input, &models[0]);
    if (status.code == STATUS_OK) {
        status = join_and_measure(&input, context, &models[0], &models[1]);
    }
    free(models);
    return status;
}

const struct command command_fleet_tp = {
    .name = "tp",
    .summary = "time and predict decode split over the ranks; what bounds it",
    .run = run};

#include "profiler/prediction_json.h"

#include "profiler/document_json.h"
#include "profiler/machine_rates.h"

#include <math.h>

static void put(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static void put_or_absent(json_t *object, const char *key, double value, const char *why,
                          const char *remedy)
{
    if (isfinite(value)) {
        json_put_number(object, key, value);
    } else {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED, why, remedy);
    }
}

json_t *prediction_model_json(const struct prediction *prediction)
{
    const struct model *model = prediction->model;
    struct model_counts counts;
    model_count(&counts, model);
    json_t *object = json_object();
    json_put_text(object, "name", model->name);
    json_put_text(object, "family", model->family);
    json_put_text(object, "dtype", dtype_name(model->dtype));
    json_put_count(object, "parameters_total", counts.total);
    json_put_count(object, "parameters_active", counts.active);
    json_put_number(object, "weight_bytes", (double)model_weight_bytes(model, DTYPE_STORED));
    return object;
}

static void put_seconds(json_t *object, const char *key, const char *bound_key,
                        const struct prediction_cell *cell)
{
    static const char no_roof[] = "the profile lacks a roof that the step needs";
    static const char no_band[] = "no public measurement of such a step is at hand";
    put_or_absent(object, bound_key, cell->bound_seconds, no_roof, "lmroof probe");
    put_or_absent(object, key, cell->seconds, isnan(cell->bound_seconds) ? no_roof : no_band,
                  "lmroof probe");
}

static void put_rates(json_t *object, double tokens, const struct prediction_cell *cell)
{
    static const char why[] = "not known without tokens_per_s";
    put_or_absent(object, "tokens_per_s_bound", tokens / cell->bound_seconds,
                  "the profile lacks a roof that the step needs", "lmroof probe");
    put_or_absent(object, "tokens_per_s", tokens / cell->seconds,
                  "the profile lacks a roof that the step needs, or nothing public is at hand",
                  "lmroof probe");
    put_or_absent(object, "tokens_per_s_low", tokens / cell->seconds_high, why, NULL);
    put_or_absent(object, "tokens_per_s_high", tokens / cell->seconds_low, why, NULL);
}

static json_t *cell_json(const struct prediction *prediction,
                         const struct prediction_machine *machine, size_t index)
{
    const struct step *step = &prediction->steps[index];
    const struct step_request *request = &step->request;
    const struct prediction_cell *cell = &machine->cells[index];
    json_t *object = json_object();
    json_put_text(object, "phase", step_phase_name(request->phase));
    json_put_text(object, "dtype", dtype_name(prediction->step_dtypes[index]));
    json_put_count(object, "batch", request->batch);
    json_put_count(object, "context", request->context);
    json_put_count(object, "prompt", request->prompt);
    put_rates(object, prediction_tokens(step), cell);
    if (request->phase == STEP_DECODE) {
        put_seconds(object, "tpot_seconds", "tpot_seconds_bound", cell);
    } else {
        put_seconds(object, "ttft_seconds", "ttft_seconds_bound", cell);
    }
    if (isnan(cell->bound_seconds)) {
        json_put_absent_because(object, "limited_by", ABSENT_UNSUPPORTED,
                                "the profile lacks a roof that the step needs", "lmroof probe");
    } else {
        json_put_text(object, "limited_by", cell->compute_bound ? "compute" : "memory");
    }
    json_put_absent_because(object, "joules_per_token", ABSENT_UNSUPPORTED,
                            "a profile holds no power; energy is measured, not predicted", NULL);
    put_or_absent(object, "tokens_per_price", prediction_tokens_per_price(machine, step, cell),
                  isnan(machine->price_per_hour) ? "no price was given" : "no rate is known",
                  "--price NAME=PER_HOUR");
    json_put_number(object, "memory_bytes", step->memory_bytes);
    return object;
}

static void put_batch(json_t *object, const char *key, bool never, double batch)
{
    put_or_absent(object, key, never ? (double)NAN : batch, "never: no batch reaches the ridge",
                  NULL);
}

static json_t *crossover_json(const struct prediction_crossover *crossover)
{
    json_t *object = json_object();
    json_put_text(object, "dtype", dtype_name(crossover->dtype));
    json_put_count(object, "context", crossover->context);
    put_or_absent(object, "ridge_flop_per_byte", crossover->ridge_flop_per_byte,
                  "the profile lacks a roof", "lmroof probe");
    if (isnan(crossover->ridge_flop_per_byte)) {
        static const char why[] = "not known without a ridge";
        json_put_absent_because(object, "predicted_linears", ABSENT_UNSUPPORTED, why, NULL);
        json_put_absent_because(object, "predicted_step", ABSENT_UNSUPPORTED, why, NULL);
        return object;
    }
    put_batch(object, "predicted_linears", crossover->crossover.linears_never,
              crossover->crossover.linears_batch);
    put_batch(object, "predicted_step", crossover->crossover.step_never,
              crossover->crossover.step_batch);
    return object;
}

static void put_band(json_t *object, const char *key, const struct measurement_band *band,
                     bool is_datasheet)
{
    if (band->count == 0) {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED,
                                is_datasheet ? "no public measurement is at hand"
                                             : "measured roofs need no band",
                                NULL);
        return;
    }
    json_t *row = json_object();
    json_put_number(row, "low_fraction", band->low);
    json_put_number(row, "median_fraction", band->median);
    json_put_number(row, "high_fraction", band->high);
    json_put_count(row, "measurements", band->count);
    json_put_text(row, "of", band->own ? "this machine" : "all machines");
    put(object, key, row);
}

static json_t *sources_json(const struct datasheet *sheet)
{
    json_t *object = json_object();
    json_put_text(object, "cores", sheet->sources.cores);
    json_put_text(object, "memory", sheet->sources.memory);
    json_put_text(object, "max_hz", sheet->sources.max_hz);
    json_put_text(object, "flop_per_cycle", sheet->sources.flop_per_cycle);
    return object;
}

static void put_source(json_t *object, const struct machine_source *source)
{
    const char *title = machine_source_fact(source, "name");
    const struct result_bandwidth *read = machine_read_roof(&source->run.machine);
    json_put_text(object, "name", source->label);
    json_put_text(object, "title", title == NULL ? source->label : title);
    json_put_text(object, "origin", source->is_datasheet ? "datasheet" : "timed");
    if (source->is_datasheet) {
        put(object, "sources", sources_json(&source->sheet));
    }
    if (read == NULL) {
        static const char why[] = "the profile has no DRAM load";
        json_put_absent_because(object, "threads", ABSENT_UNSUPPORTED, why, "lmroof probe");
        json_put_absent_because(object, "dram_bytes_per_s", ABSENT_UNSUPPORTED, why,
                                "lmroof probe");
    } else {
        json_put_count(object, "threads", read->threads);
        json_put_number(object, "dram_bytes_per_s", read->bytes_per_s.value);
    }
}

json_t *prediction_machine_json(const struct prediction *prediction,
                                const struct prediction_machine *machine)
{
    json_t *object = json_object();
    json_put_count(object, "rank", machine->rank);
    put_source(object, machine->source);
    bool sheet = machine->source->is_datasheet;
    put_band(object, "decode_band", &machine->decode, sheet);
    put_band(object, "prefill_band", &machine->prefill[DTYPE_FLOAT], sheet);
    put_band(object, "prefill_band_int", &machine->prefill[DTYPE_INT], sheet);
    put_or_absent(object, "price_per_hour", machine->price_per_hour, "no price was given",
                  "--price NAME=PER_HOUR");
    json_t *steps = json_array();
    for (size_t i = 0; i < prediction->step_count; i++) {
        (void)json_array_append_new(steps, cell_json(prediction, machine, i));
    }
    put(object, "steps", steps);
    json_t *crossovers = json_array();
    for (size_t i = 0; i < prediction->crossover_count; i++) {
        (void)json_array_append_new(crossovers, crossover_json(&machine->crossovers[i]));
    }
    put(object, "crossover_batch", crossovers);
    return object;
}

void prediction_warn(json_t *document, const struct prediction *prediction)
{
    const struct model *model = prediction->model;
    size_t sheets = 0;
    for (uint32_t i = 0; i < model->note_count; i++) {
        document_warn(document, model->notes[i].code, model->notes[i].text, NULL);
    }
    for (size_t i = 0; i < prediction->machine_count; i++) {
        sheets += prediction->machines[i].source->is_datasheet;
    }
    if (sheets > 0 && sheets < prediction->machine_count) {
        document_warn(document, "unlike_origins",
                      "bounds of data sheets are of peaks, those of measured machines of what a "
                      "read loop reached: a sheet looks better than it is",
                      "lmroof probe -o PROFILE.json on the other machines too");
    }
}

struct status prediction_write(const struct command_context *context,
                               const struct prediction *prediction, const char *path,
                               bool to_stdout)
{
    json_t *document = document_new("prediction", context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    prediction_warn(document, prediction);
    for (size_t i = 0; i < prediction->machine_count; i++) {
        const struct machine_source *source = prediction->machines[i].source;
        if (!source->is_datasheet) {
            document_warn_of_profile(document, &source->run, source->label);
        }
    }
    put(document, "complete", json_true());
    put(document, "model", prediction_model_json(prediction));
    json_put_text(document, "kv_dtype", dtype_name(prediction->request.kv_dtype));
    json_put_text(document, "ranked_by", "tokens_per_s_bound of the first step");
    json_t *machines = json_array();
    for (size_t i = 0; i < prediction->machine_count; i++) {
        const struct prediction_machine *machine = &prediction->machines[prediction->order[i]];
        (void)json_array_append_new(machines, prediction_machine_json(prediction, machine));
    }
    put(document, "machines", machines);
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}

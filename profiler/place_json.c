#include "profiler/place_json.h"

#include "profiler/document_json.h"
#include "profiler/machine_rates.h"

#include <math.h>

static const char no_machine[] = "no machine was given, or it lacks a roof";

static void put(json_t *object, const char *key, json_t *value)
{
    (void)json_object_set_new(object, key, value);
}

static void put_imported(json_t *object, const char *key, double value)
{
    struct reading reading = reading_plain(value, ORIGIN_IMPORTED);
    json_put_measured(object, key, &reading);
}

static void put_derived(json_t *object, const char *key, double value, struct derived_from from)
{
    struct reading reading = isfinite(value)
                                 ? reading_plain(value, ORIGIN_IMPORTED)
                                 : reading_absent(ABSENT_NOT_ASKED, no_machine, "--machine FILE");
    json_put_derived(object, key, &reading, from);
}

static void put_fraction(json_t *object, const struct place_point *point, struct derived_from from)
{
    struct reading reading = reading_plain(point->roof_fraction, ORIGIN_IMPORTED);
    if (!isfinite(point->roof_fraction)) {
        put_derived(object, "roof_fraction", point->roof_fraction, from);
        return;
    }
    reading.ci95_low = point->roof_fraction_low;
    reading.ci95_high = point->roof_fraction_high;
    json_put_derived(object, "roof_fraction", &reading, from);
}

static void put_or_absent(json_t *object, const char *key, double value)
{
    if (isfinite(value)) {
        json_put_number(object, key, value);
    } else {
        json_put_absent_because(object, key, ABSENT_NOT_ASKED, no_machine, "--machine FILE");
    }
}

static void put_shape(json_t *object, const struct place_point *point)
{
    static const char *const models[] = {[PLACE_MODEL_GIVEN] = "given",
                                         [PLACE_MODEL_MATCHED] = "matched by its parameters",
                                         [PLACE_MODEL_SIZE] = "size only"};
    const struct place_test *test = &point->test;
    json_put_text(object, "id", point->id);
    json_put_text(object, "model", point->model_name[0] == '\0' ? "?" : point->model_name);
    json_put_text(object, "model_from", models[point->model]);
    json_put_text(object, "phase", place_phase_name(point));
    json_put_count(object, "batch", test->batch);
    json_put_count(object, "context", test->depth);
    json_put_count(object, "prompt", test->prompt);
    json_put_count(object, "generated", test->generated);
    if (point->dtype == DTYPE_NONE) {
        json_put_absent_because(object, "dtype", ABSENT_UNSUPPORTED, "the file does not tell it",
                                "--dtype D");
    } else {
        json_put_text(object, "dtype", dtype_name(point->dtype));
    }
    json_put_text(object, "kv_dtype", dtype_name(test->kv_dtype));
    if (test->threads == 0) {
        json_put_absent_because(object, "threads", ABSENT_UNSUPPORTED, "the file does not tell it",
                                "--threads N");
    } else {
        json_put_count(object, "threads", test->threads);
    }
}

static json_t *point_json(const struct place_point *point)
{
    const struct derived_from rate = {ORIGIN_MODELLED, ORIGIN_ABSENT, ORIGIN_IMPORTED};
    const struct derived_from bytes = {ORIGIN_ABSENT, ORIGIN_MODELLED, ORIGIN_IMPORTED};
    const struct derived_from both = {ORIGIN_MODELLED, ORIGIN_MODELLED, ORIGIN_IMPORTED};
    double seconds = point->test.seconds;
    json_t *object = json_object();
    put_shape(object, point);
    put_imported(object, "seconds", seconds);
    put_imported(object, "tokens_per_s", point->tokens / seconds);
    json_put_number(object, "flop", point->flop);
    json_put_number(object, "bytes_modelled", point->bytes);
    json_put_number(object, "flop_per_byte_predicted", point->flop / point->bytes);
    put_derived(object, "flop_per_s", point->flop / seconds, rate);
    put_derived(object, "bytes_per_s_modelled", point->bytes / seconds, bytes);
    put_or_absent(object, "tokens_per_s_bound", point->tokens / point->bound_seconds);
    put_fraction(object, point, both);
    put_or_absent(object, "speedup_left", 1 / point->roof_fraction);
    if (isfinite(point->roof_fraction)) {
        json_put_text(object, "limited_by", point->compute_bound ? "compute" : "memory");
    } else {
        json_put_absent_because(object, "limited_by", ABSENT_NOT_ASKED, no_machine,
                                "--machine FILE");
    }
    return object;
}

static json_t *machine_json(const struct machine_source *machine)
{
    const struct result_bandwidth *read = machine_read_roof(&machine->run.machine);
    json_t *object = json_object();
    json_put_text(object, "name", machine->label);
    json_put_text(object, "origin", machine->is_datasheet ? "datasheet" : "timed");
    if (read == NULL) {
        json_put_absent_because(object, "dram_bytes_per_s", ABSENT_UNSUPPORTED,
                                "the profile has no DRAM load", "lmroof probe");
    } else {
        json_put_number(object, "dram_bytes_per_s", read->bytes_per_s.value);
    }
    return object;
}

static json_t *findings_json(const struct placement *placement)
{
    json_t *array = json_array();
    for (size_t i = 0; i < placement->finding_count; i++) {
        const struct place_finding *finding = &placement->findings[i];
        json_t *object = json_object();
        json_put_text(object, "code", finding->code);
        json_put_text(object, "text", finding->text);
        put(object, "try", finding->try_ == NULL ? json_null() : json_string(finding->try_));
        json_put_text(object, "point", placement->points[finding->point].id);
        (void)json_array_append_new(array, object);
    }
    return array;
}

static void warn(json_t *document, const struct placement *placement)
{
    bool size_only = false;
    for (size_t i = 0; i < placement->point_count; i++) {
        size_only = size_only || placement->points[i].model == PLACE_MODEL_SIZE;
    }
    if (size_only) {
        document_warn(document, "size_only",
                      "of some points only the file's size is known: the cache and attention are "
                      "not counted, and all weights count as read",
                      "-m MODEL");
    }
    if (placement->machine != NULL && !placement->machine->is_datasheet) {
        document_warn_of_profile(document, &placement->machine->run, placement->machine->label);
    }
    if (placement->machine != NULL && placement->machine->is_datasheet) {
        document_warn(document, "data_sheet",
                      "fractions are of a data sheet's peaks, which no program reaches",
                      "lmroof probe -o PROFILE.json on that machine");
    }
}

struct status place_write(const struct command_context *context, const struct placement *placement,
                          const char *tool, const char *path, bool to_stdout)
{
    json_t *document = document_new("placement", context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    warn(document, placement);
    put(document, "complete", json_true());
    json_put_text(document, "from", tool);
    if (placement->machine != NULL) {
        put(document, "machine", machine_json(placement->machine));
    } else {
        json_put_absent_because(document, "machine", ABSENT_NOT_ASKED, "no machine was given",
                                "--machine FILE");
    }
    json_t *points = json_array();
    for (size_t i = 0; i < placement->point_count; i++) {
        (void)json_array_append_new(points, point_json(&placement->points[i]));
    }
    put(document, "points", points);
    put(document, "findings", findings_json(placement));
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}

#include "profiler/results_json.h"

#include "profiler/document_json.h"
#include "profiler/fields_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = RESULT_POINTS_MAX, FACTS_MAX = 1000 };

static void facts_to_json(json_t *out, const char *key, const struct result_fact *facts,
                          size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        json_put_text(object, facts[i].name, facts[i].text);
    }
    (void)json_object_set_new(out, key, object);
}

static void host_to_json(json_t *out, const char *key, const void *object)
{
    const struct result_run *run = object;
    facts_to_json(out, key, run->host, run->host_count);
}

static void conditions_to_json(json_t *out, const char *key, const void *object)
{
    const struct result_run *run = object;
    facts_to_json(out, key, run->conditions, run->condition_count);
}

// Facts are shown, never computed with: a number or truth value becomes its JSON text.
static struct status fact_from_json(struct result_fact *out, const char *name, const json_t *value,
                                    const struct json_place *place)
{
    const struct json_place at = {.parent = place, .key = name};
    text_copy(out->name, sizeof out->name, name);
    if (json_is_string(value)) {
        return text_from_json(out->text, sizeof out->text, value, &at);
    }
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    if (text == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to read '%s'", name);
    }
    text_copy(out->text, sizeof out->text, text);
    free(text);
    return status_ok();
}

static struct status facts_from_json(struct result_fact **out, size_t *out_count, json_t *value,
                                     const struct json_place *place)
{
    if (!json_is_object(value) || json_object_size(value) > FACTS_MAX) {
        return json_place_error(place, value, "an object");
    }
    *out = calloc(json_object_size(value) + 1, sizeof **out);
    if (*out == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to read the facts of a document");
    }
    const char *name = NULL;
    json_t *fact = NULL;
    json_object_foreach(value, name, fact)
    {
        TRY(fact_from_json(&(*out)[*out_count], name, fact, place));
        (*out_count)++;
    }
    return status_ok();
}

static struct status host_from_json(void *object, json_t *value, const struct json_place *place)
{
    struct result_run *run = object;
    return facts_from_json(&run->host, &run->host_count, value, place);
}

static struct status conditions_from_json(void *object, json_t *value,
                                          const struct json_place *place)
{
    struct result_run *run = object;
    return facts_from_json(&run->conditions, &run->condition_count, value, place);
}

void machine_to_json(json_t *out, const struct result_machine *machine)
{
    fields_to_json(out, machine, result_machine_fields);
}

static void run_machine_to_json(json_t *out, const char *key, const void *object)
{
    json_t *machine = json_object();
    machine_to_json(machine, &((const struct result_run *)object)->machine);
    (void)json_object_set_new(out, key, machine);
}

static struct status run_machine_from_json(void *object, json_t *value,
                                           const struct json_place *place)
{
    return fields_from_json(&((struct result_run *)object)->machine, value, result_machine_fields,
                            place);
}

// The contract has one "step" and one "crossover_batch"; a run over several batches and dtypes
// has more. The first stands there, all of them beside it.
static void first_step_to_json(json_t *out, const char *key, const void *object)
{
    const struct result_run *run = object;
    if (run->step_count == 0) {
        json_put_absent_because(out, key, ABSENT_NOT_ASKED, "the step as a whole was not run",
                                "--step");
        return;
    }
    json_t *step = json_object();
    fields_to_json(step, &run->steps[0], result_step_fields);
    (void)json_object_set_new(out, key, step);
}

static void first_crossover_to_json(json_t *out, const char *key, const void *object)
{
    const struct result_run *run = object;
    if (run->crossover_count == 0) {
        json_put_absent_because(out, key, ABSENT_NOT_ASKED, "no decode was run", NULL);
        return;
    }
    json_t *crossover = json_object();
    fields_to_json(crossover, &run->crossovers[0], result_crossover_fields);
    (void)json_object_set_new(out, key, crossover);
}

// Read from the lists beside them.
static struct status skip_json(void *object, json_t *value, const struct json_place *place)
{
    (void)object;
    return json_is_object(value) || json_is_null(value)
               ? status_ok()
               : json_place_error(place, value, "an object or null");
}

#define LIST(key, m, m_count, type, limit, table)                                                  \
    {                                                                                              \
        (key), FIELD_LIST, .offset = offsetof(struct result_run, m),                               \
                           .count_offset = offsetof(struct result_run, m_count),                   \
                           .element_bytes = sizeof(struct type), .max = (limit), .fields = (table) \
    }

static const struct field model_fields[] = {
    {"name", FIELD_TEXT, FIELD_EMPTY_ABSENT, .offset = offsetof(struct result_run, model_name),
     .size = sizeof((struct result_run *)0)->model_name, .why = "no model was named"},
    {.key = NULL}};

static const struct field measured_fields[] = {
    {"complete", FIELD_BOOL, FIELD_REQUIRED, .offset = offsetof(struct result_run, complete)},
    {"host", FIELD_CUSTOM, FIELD_REQUIRED, .to_json = host_to_json, .from_json = host_from_json},
    {"conditions", FIELD_CUSTOM, FIELD_REQUIRED, .to_json = conditions_to_json,
     .from_json = conditions_from_json},
    LIST("warnings", warnings, warning_count, result_warning, POINTS_MAX, result_warning_fields),
    {.key = NULL}};

static const struct field run_fields[] = {
    {"model", FIELD_OBJECT, .fields = model_fields},
    {"machine", FIELD_CUSTOM, FIELD_REQUIRED, .to_json = run_machine_to_json,
     .from_json = run_machine_from_json},
    LIST("points", points, point_count, result_point, POINTS_MAX, result_point_fields),
    LIST("certificate", certificate, certificate_count, result_certificate, POINTS_MAX,
         result_certificate_fields),
    {"step", FIELD_CUSTOM, FIELD_EMPTY_ABSENT, .to_json = first_step_to_json,
     .from_json = skip_json},
    LIST("steps", steps, step_count, result_step, POINTS_MAX, result_step_fields),
    {"crossover_batch", FIELD_CUSTOM, FIELD_EMPTY_ABSENT, .to_json = first_crossover_to_json,
     .from_json = skip_json},
    LIST("crossover_batches", crossovers, crossover_count, result_crossover, POINTS_MAX,
         result_crossover_fields),
    {"thread_sweeps", FIELD_LIST, FIELD_EMPTY_OMIT, .offset = offsetof(struct result_run, sweeps),
     .count_offset = offsetof(struct result_run, sweep_count),
     .element_bytes = sizeof(struct result_sweep), .max = POINTS_MAX,
     .fields = result_sweep_fields},
    {.key = NULL}};

json_t *measured_document(const char *kind, const struct result_run *run,
                          const struct command_context *context)
{
    json_t *document = document_new(kind, context);
    if (document != NULL) {
        if (run->started_at[0] != '\0') {
            json_put_text(document, "started_at", run->started_at);
        }
        fields_to_json(document, run, measured_fields);
    }
    return document;
}

json_t *run_document(const struct result_run *run, const struct command_context *context)
{
    json_t *document = measured_document("run", run, context);
    if (document != NULL) {
        fields_to_json(document, run, run_fields);
    }
    return document;
}

json_t *machine_document(const struct result_run *run, const struct command_context *context)
{
    json_t *document = measured_document("machine", run, context);
    if (document != NULL) {
        machine_to_json(document, &run->machine);
    }
    return document;
}

static void command_line_from_json(struct result_run *out, const json_t *argv)
{
    char line[sizeof out->command_line] = "";
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(argv) && used < sizeof line; i++) {
        const char *word = json_string_value(json_array_get(argv, i));
        int n = snprintf(line + used, sizeof line - used, "%s%s", i == 0 ? "" : " ",
                         word == NULL ? "?" : word);
        used += n < 0 ? sizeof line : (size_t)n;
    }
    text_copy(out->command_line, sizeof out->command_line, line);
}

static struct status envelope_from_json(struct result_run *out, const json_t *document,
                                        const struct json_place *place)
{
    const json_t *tool = json_object_get(document, "tool");
    const char *name = json_string_value(json_object_get(tool, "name"));
    const char *version = json_string_value(json_object_get(tool, "version"));
    char text[sizeof out->tool];
    (void)snprintf(text, sizeof text, "%.30s %.16s", name == NULL ? "?" : name,
                   version == NULL ? "" : version);
    text_copy(out->tool, sizeof out->tool, text);
    command_line_from_json(out, json_object_get(document, "argv"));
    const struct json_place at = {.parent = place, .key = "started_at"};
    return text_from_json(out->started_at, sizeof out->started_at,
                          json_object_get(document, "started_at"), &at);
}

struct status run_from_json(struct result_run *out, const json_t *document, const char *name)
{
    const struct json_place top = {.key = name};
    if (!json_is_object(document)) {
        return json_place_error(&top, document, "a document of lmroof: an object");
    }
    const json_t *schema = json_object_get(document, "schema");
    const struct json_place at = {.parent = &top, .key = "schema"};
    const char *kind = json_is_string(schema) ? json_string_value(schema) : "";
    bool machine = strcmp(kind, "lmroof.machine/1") == 0;
    if (!machine && strcmp(kind, "lmroof.run/1") != 0 && strcmp(kind, "lmroof.validate/1") != 0) {
        return json_place_error(&at, schema,
                                "\"lmroof.run/1\", \"lmroof.validate/1\" or \"lmroof.machine/1\"");
    }
    TRY(envelope_from_json(out, document, &top));
    TRY(fields_from_json(out, document, measured_fields, &top));
    if (strcmp(kind, "lmroof.validate/1") == 0) {
        TRY(fields_from_json(&out->claim, document, result_claim_fields, &top));
    }
    return machine ? fields_from_json(&out->machine, document, result_machine_fields, &top)
                   : fields_from_json(out, document, run_fields, &top);
}

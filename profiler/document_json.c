#include "profiler/document_json.h"

#include "profiler/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void put(json_t *object, const char *key, json_t *value)
{
    // Only short memory can make this fail; the key is then missing, never wrong.
    (void)json_object_set_new(object, key, value);
}

// json_string() refuses text that is not UTF-8: replace every byte of such a text above ASCII.
static json_t *text_json(const char *text)
{
    json_t *value = json_string(text);
    if (value != NULL) {
        return value;
    }
    char *copy = strdup(text);
    if (copy == NULL) {
        return NULL;
    }
    for (char *c = copy; *c != '\0'; c++) {
        if ((unsigned char)*c >= 0x80) {
            *c = '?';
        }
    }
    value = json_string(copy);
    free(copy);
    return value;
}

static json_t *number_json(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *document_new(const char *kind, const struct command_context *context)
{
    json_t *document = json_object();
    if (document == NULL) {
        return NULL;
    }
    char text[64];
    (void)snprintf(text, sizeof text, "lmroof.%s/1", kind);
    put(document, "schema", json_string(text));
    put(document, "tool", json_pack("{s:s, s:s}", "name", "lmroof", "version", command_version()));
    time_t now = time(NULL);
    struct tm utc;
    (void)gmtime_r(&now, &utc);
    (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    put(document, "started_at", json_string(text));
    json_t *argv = json_array();
    for (int i = 0; i < context->argc; i++) {
        (void)json_array_append_new(argv, text_json(context->argv[i]));
    }
    put(document, "argv", argv);
    put(document, "warnings", json_array());
    return document;
}

void document_warn(json_t *document, const char *code, const char *text, const char *try_)
{
    json_t *warning = json_object();
    put(warning, "code", text_json(code));
    put(warning, "text", text_json(text));
    put(warning, "try", try_ == NULL || try_[0] == '\0' ? json_null() : text_json(try_));
    (void)json_array_append_new(json_object_get(document, "warnings"), warning);
}

void document_warn_of_profile(json_t *document, const struct result_run *run, const char *label)
{
    for (size_t i = 0; i < run->warning_count; i++) {
        const struct result_warning *warning = &run->warnings[i];
        char text[sizeof warning->text + 100];
        (void)snprintf(text, sizeof text, "%.96s: %s", label, warning->text);
        document_warn(document, warning->code, text,
                      warning->try_[0] == '\0' ? NULL : warning->try_);
    }
}

void json_put_number(json_t *object, const char *key, double value)
{
    if (isfinite(value)) {
        bool exact = fabs(value) < 0x1p53 && fabs(value - nearbyint(value)) <= 0;
        put(object, key, exact ? json_integer((json_int_t)value) : json_real(value));
    } else {
        json_put_absent_because(object, key, ABSENT_FAILED,
                                "what it is computed from is missing or 0", NULL);
    }
}

void json_put_count(json_t *object, const char *key, uint64_t value)
{
    if (value <= (uint64_t)INT64_MAX) {
        put(object, key, json_integer((json_int_t)value));
    } else {
        put(object, key, json_real((double)value));
    }
}

void json_put_text(json_t *object, const char *key, const char *text)
{
    put(object, key, text_json(text));
}

void json_put_absent(json_t *object, const char *key, const struct absence *absence)
{
    json_t *why = json_object_get(object, "why_absent");
    if (why == NULL) {
        why = json_object();
        put(object, "why_absent", why);
    }
    json_t *reason = json_object();
    put(reason, "state", json_string(absent_state_name(absence->state)));
    put(reason, "text", text_json(absence->text));
    put(reason, "try", absence->try_[0] == '\0' ? json_null() : text_json(absence->try_));
    put(why, key, reason);
    put(object, key, json_null());
}

void json_put_absent_because(json_t *object, const char *key, enum absent_state state,
                             const char *text, const char *try_)
{
    struct reading reading = reading_absent(state, text, try_);
    json_put_absent(object, key, &reading.absence);
}

static json_t *interval_json(const struct reading *reading)
{
    if (!isfinite(reading->ci95_low) || !isfinite(reading->ci95_high)) {
        return json_null();
    }
    return json_pack("[f, f]", reading->ci95_low, reading->ci95_high);
}

void json_put_measured(json_t *object, const char *key, const struct reading *reading)
{
    if (!reading_is_present(reading) || !isfinite(reading->value)) {
        json_put_absent(object, key, &reading->absence);
        return;
    }
    json_t *measured = json_object();
    json_t *samples = json_array();
    for (size_t i = 0; i < reading->n; i++) {
        (void)json_array_append_new(samples, number_json(reading->samples[i]));
    }
    if (reading->n == 0) {
        (void)json_array_append_new(samples, json_real(reading->value));
    }
    put(measured, "value", json_real(reading->value));
    put(measured, "ci95", interval_json(reading));
    put(measured, "n", json_integer(reading->n == 0 ? 1 : (json_int_t)reading->n));
    put(measured, "best", number_json(reading->best));
    put(measured, "samples", samples);
    put(measured, "origin", json_string(origin_name(reading->origin)));
    put(object, key, measured);
}

void json_put_derived(json_t *object, const char *key, const struct reading *reading,
                      struct derived_from from)
{
    if (!reading_is_present(reading) || !isfinite(reading->value)) {
        json_put_absent(object, key, &reading->absence);
        return;
    }
    const struct {
        const char *name;
        enum origin origin;
    } parts[] = {{"flop", from.flop}, {"bytes", from.bytes}, {"seconds", from.seconds}};
    json_t *origins = json_object();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].origin != ORIGIN_ABSENT) {
            put(origins, parts[i].name, json_string(origin_name(parts[i].origin)));
        }
    }
    json_t *derived = json_object();
    put(derived, "value", json_real(reading->value));
    put(derived, "ci95", interval_json(reading));
    put(derived, "from", origins);
    put(object, key, derived);
}

struct status document_write(const json_t *document, const struct command_context *context,
                             const char *path, bool to_stdout)
{
    char *text =
        document == NULL ? NULL : json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    if (text == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to write the document");
    }
    struct status status = status_ok();
    size_t size = strlen(text);
    if (path != NULL) {
        text[size] = '\n'; // in place of the terminator: output_replace() takes a length
        status = output_replace(path, text, size + 1);
        text[size] = '\0';
    }
    if (to_stdout) {
        (void)fprintf(context->out, "%s\n", text);
    }
    free(text);
    return status;
}

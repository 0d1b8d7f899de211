#include "profiler/fields.h"
#include "profiler/report_format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// RFC 4180: quoted where needed, quotes doubled.
static void write_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        (void)fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    }
    (void)fputc('"', out);
}

// Whole numbers exactly; an empty cell for what is not there.
static void write_number(FILE *out, double value)
{
    if (isfinite(value)) {
        bool whole = fabs(value) < 0x1p53 && fabs(value - nearbyint(value)) <= 0;
        (void)fprintf(out, whole ? "%.0f" : "%.12g", value);
    }
}

static void write_samples(FILE *out, const struct reading *reading)
{
    for (size_t i = 0; i < reading->n; i++) {
        (void)fputs(i == 0 ? "" : ";", out);
        write_number(out, reading->samples[i]);
    }
}

static const char *const reading_parts[] = {
    "",         "_ci95_low", "_ci95_high",    "_best",       "_n",
    "_samples", "_origin",   "_absent_state", "_absent_text"};

static void write_reading_titles(FILE *out, const char *name)
{
    for (size_t i = 0; i < sizeof reading_parts / sizeof *reading_parts; i++) {
        (void)fprintf(out, ",%s%s", name, reading_parts[i]);
    }
}

static void write_reading(FILE *out, const struct reading *reading)
{
    if (!reading_is_present(reading)) {
        (void)fprintf(out, ",,,,,,,absent,%s,", absent_state_name(reading->absence.state));
        write_text(out, reading->absence.text);
        return;
    }
    const double numbers[] = {reading->value, reading->ci95_low, reading->ci95_high, reading->best};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        (void)fputc(',', out);
        write_number(out, numbers[i]);
    }
    (void)fprintf(out, ",%zu,", reading->n);
    write_samples(out, reading);
    (void)fprintf(out, ",%s,,", origin_name(reading->origin));
}

// ---- counters and evidence: one set of columns for each name of the contract

static const char *const metrics[] = {
    "cycles",      "ref_cycles",       "instructions",     "flop_f64",
    "flop_f32",    "flop_f16",         "flop_bf16",        "l1_l2_bytes",
    "l2_l3_bytes", "dram_read_bytes",  "dram_write_bytes", "memory_stall_cycles",
    "tlb_miss",    "page_walk_cycles", "package_joules",   "dram_joules"};

static const char *const tests[] = {"intensity",  "achieved_bandwidth", "twins", "dtype_scaling",
                                    "saturation", "counted_bytes",      "stalls"};

static void write_counter_titles(FILE *out)
{
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        char name[48];
        (void)snprintf(name, sizeof name, "counters.%s", metrics[i]);
        write_reading_titles(out, name);
        (void)fprintf(out,
                      ",%s.scope,%s.source,%s.events,%s.running_fraction,%s.background_fraction",
                      name, name, name, name, name);
    }
}

static void write_counter(FILE *out, const struct result_point *point, const char *metric)
{
    static const struct result_counter none = {.running_fraction = (double)NAN,
                                               .background_fraction = (double)NAN};
    const struct result_counter *counter = &none;
    for (size_t i = 0; i < point->counter_count; i++) {
        counter = strcmp(point->counters[i].metric, metric) == 0 ? &point->counters[i] : counter;
    }
    write_reading(out, &counter->value);
    (void)fprintf(out, ",%s,%s,", counter->scope, counter->source);
    write_text(out, counter->events);
    (void)fputc(',', out);
    write_number(out, counter->running_fraction);
    (void)fputc(',', out);
    write_number(out, counter->background_fraction);
}

static void write_counters(FILE *out, const struct result_point *point)
{
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        write_counter(out, point, metrics[i]);
    }
}

static void write_evidence_titles(FILE *out)
{
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        (void)fprintf(out, ",evidence.%s.expected,evidence.%s.found,evidence.%s.passed", tests[i],
                      tests[i], tests[i]);
    }
}

static void write_evidence(FILE *out, const struct result_point *point)
{
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        const struct verdict_evidence *evidence = NULL;
        for (size_t j = 0; j < point->evidence_count; j++) {
            if (strcmp(point->evidence[j].test, tests[i]) == 0) {
                evidence = &point->evidence[j];
            }
        }
        (void)fputc(',', out);
        write_text(out, evidence == NULL ? "" : evidence->expected);
        (void)fputc(',', out);
        write_text(out, evidence == NULL ? "" : evidence->found);
        (void)fprintf(out, ",%s", evidence == NULL ? "" : evidence->passed ? "true" : "false");
    }
}

// ---- the rest by the table of fields

static void write_titles(FILE *out, const struct field *fields, const char *group)
{
    for (const struct field *field = fields; field->key != NULL; field++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s%s%s", group, group[0] == '\0' ? "" : ".", field->key);
        switch (field->kind) {
        case FIELD_MEASURED:
        case FIELD_DERIVED:
        case FIELD_MODELLED:
            write_reading_titles(out, name);
            break;
        case FIELD_OBJECT:
            write_titles(out, field->fields, field->key);
            break;
        case FIELD_ARRAY:
            write_evidence_titles(out);
            break;
        case FIELD_CUSTOM:
            write_counter_titles(out);
            break;
        case FIELD_TEXT:
        case FIELD_UNSIGNED:
        case FIELD_U64:
        case FIELD_NUMBER:
        case FIELD_BOOL:
        case FIELD_LIST:
        case FIELD_WORD:
            (void)fprintf(out, ",%s", name);
            break;
        }
    }
}

static void write_plain(FILE *out, const void *object, const struct field *field)
{
    const void *value = field_of(object, field);
    (void)fputc(',', out);
    if (field_is_empty(object, field) &&
        (field->flags & (FIELD_EMPTY_ABSENT | FIELD_EMPTY_OMIT)) != 0) {
        return;
    }
    if (field->kind == FIELD_TEXT) {
        write_text(out, value);
    } else if (field->kind == FIELD_UNSIGNED) {
        (void)fprintf(out, "%u", *(const unsigned *)value);
    } else if (field->kind == FIELD_U64) {
        (void)fprintf(out, "%" PRIu64, *(const uint64_t *)value);
    } else if (field->kind == FIELD_NUMBER) {
        write_number(out, *(const double *)value);
    } else if (field->kind == FIELD_BOOL) {
        (void)fputs(*(const bool *)value ? "true" : "false", out);
    } else if (field->kind == FIELD_WORD) {
        (void)fputs(field->word(object), out);
    }
}

static void write_values(FILE *out, const struct result_point *point, const struct field *fields)
{
    for (const struct field *field = fields; field->key != NULL; field++) {
        switch (field->kind) {
        case FIELD_MEASURED:
        case FIELD_DERIVED:
        case FIELD_MODELLED:
            write_reading(out, field_of(point, field));
            break;
        case FIELD_OBJECT:
            write_values(out, point, field->fields);
            break;
        case FIELD_ARRAY:
            write_evidence(out, point);
            break;
        case FIELD_CUSTOM:
            write_counters(out, point);
            break;
        case FIELD_TEXT:
        case FIELD_UNSIGNED:
        case FIELD_U64:
        case FIELD_NUMBER:
        case FIELD_BOOL:
        case FIELD_LIST:
        case FIELD_WORD:
            write_plain(out, point, field);
            break;
        }
    }
}

static struct status write_csv(FILE *out, const struct report_input *input)
{
    size_t points = 0;
    (void)fputs("run,model", out);
    write_titles(out, result_point_fields, "");
    (void)fputs("\r\n", out);
    for (size_t i = 0; i < input->run_count; i++) {
        const struct result_run *run = &input->runs[i];
        points += run->point_count;
        for (size_t j = 0; j < run->point_count; j++) {
            write_text(out, input->labels[i]);
            (void)fputc(',', out);
            write_text(out, run->model_name);
            write_values(out, &run->points[j], result_point_fields);
            (void)fputs("\r\n", out);
        }
    }
    return points > 0 ? status_ok()
                      : status_error(STATUS_INVALID, "csv holds points: found none, accepted run "
                                                     "documents with at least one");
}

const struct report_format report_csv = {.name = "csv",
                                         .summary = "every figure of every point, with its origin",
                                         .shows_samples = true,
                                         .write = write_csv};

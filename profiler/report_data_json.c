#include "profiler/report_data_json.h"

#include "profiler/chart_json.h"
#include "profiler/document_json.h"
#include "profiler/json_text.h"
#include "profiler/plot_json.h"
#include "profiler/results_json.h"

#include <stdlib.h>
#include <string.h>

static struct status write_value(FILE *out, const json_t *value)
{
    char *text = value == NULL
                     ? NULL
                     : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12));
    if (text == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to write the page's data");
    }
    json_text_write_escaped(out, text, strlen(text));
    free(text);
    return status_ok();
}

static struct status write_text(FILE *out, const char *text)
{
    json_t *holder = json_object();
    json_put_text(holder, "text", text);
    struct status status = write_value(out, json_object_get(holder, "text"));
    json_decref(holder);
    return status;
}

// With nothing to draw the page still has the documents.
static struct status write_plot(FILE *out, const struct report_input *input)
{
    struct plot plot;
    struct status status = plot_roofline(&plot, input->runs, input->run_count, input->labels);
    (void)fputs("\"plot\":", out);
    if (status.code == STATUS_OK) {
        json_t *value = plot_to_json(&plot);
        status = write_value(out, value);
        json_decref(value);
    } else if (status.code == STATUS_INVALID) {
        (void)fputs("null,\"no_plot\":", out);
        status = write_text(out, status.detail);
    }
    plot_free(&plot);
    return status;
}

// Null where no counter told the bytes of a level.
static struct status write_hierarchy(FILE *out, const struct report_input *input)
{
    struct plot plot;
    struct status status = plot_hierarchy(&plot, input->runs, input->run_count, input->labels);
    json_t *value = status.code == STATUS_OK ? plot_to_json(&plot) : json_null();
    (void)fputs(",\"hierarchy\":", out);
    status = status.code == STATUS_SYSTEM ? status : write_value(out, value);
    json_decref(value);
    plot_free(&plot);
    return status;
}

// Those for which the runs hold something.
static struct status write_charts(FILE *out, const struct report_input *input)
{
    bool any = false;
    (void)fputs(",\"charts\":[", out);
    for (int i = 0; i < CHART_PICTURES; i++) {
        struct chart chart;
        struct status status =
            chart_make(&chart, (enum chart_picture)i, input->runs, input->run_count, input->labels);
        if (status.code == STATUS_OK) {
            json_t *value = chart_to_json(&chart);
            (void)fputs(any ? "," : "", out);
            any = true;
            status = write_value(out, value);
            json_decref(value);
        }
        chart_free(&chart);
        if (status.code == STATUS_SYSTEM) {
            return status;
        }
    }
    (void)fputs("]", out);
    return status_ok();
}

static struct status write_document(FILE *out, const struct report_input *input, size_t index)
{
    if (input->documents != NULL) {
        const char *text = input->documents[index];
        json_text_write_escaped(out, text, strlen(text));
        return status_ok();
    }
    json_t *document = run_document(&input->runs[index], input->context);
    struct status status = write_value(out, document);
    json_decref(document);
    return status;
}

struct status report_data_write(FILE *out, const struct report_input *input)
{
    (void)fputs("{", out);
    TRY(write_plot(out, input));
    TRY(write_hierarchy(out, input));
    TRY(write_charts(out, input));
    (void)fprintf(out, ",\"thinned\":%s,\"runs\":[", input->thinned ? "true" : "false");
    for (size_t i = 0; i < input->run_count; i++) {
        (void)fputs(i == 0 ? "{\"label\":" : ",{\"label\":", out);
        TRY(write_text(out, input->labels[i]));
        (void)fputs(",\"document\":", out);
        TRY(write_document(out, input, i));
        (void)fputs("}", out);
    }
    (void)fputs("]}", out);
    return status_ok();
}

#include "profiler/probe_json.h"

#include "profiler/document_json.h"
#include "profiler/topology_json.h"
#include "roofline/units.h"

#include <math.h>

static json_t *variants_json(const struct probe_extras *extras)
{
    json_t *list = json_array();
    for (size_t i = 0; i < extras->variant_count; i++) {
        json_t *row = json_object();
        json_put_text(row, "variant", extras->variants[i].name);
        json_put_number(row, "bytes_per_s", extras->variants[i].bytes_per_s);
        (void)json_array_append_new(list, row);
    }
    return list;
}

static json_t *sizes_json(const struct probe_size *sizes, size_t count, const char *key)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *row = json_object();
        json_put_count(row, key, sizes[i].bytes);
        json_put_number(row, "bytes_per_s", sizes[i].bytes_per_s);
        (void)json_array_append_new(list, row);
    }
    return list;
}

static json_t *drifts_json(const struct probe_report *report)
{
    json_t *list = json_array();
    for (size_t i = 0; i < report->drift_count; i++) {
        const struct probe_drift *drift = &report->drifts[i];
        json_t *row = json_object();
        json_put_text(row, "ceiling", drift->name);
        json_put_number(row, "before_per_s", drift->old_per_s);
        json_put_number(row, "now_per_s", drift->new_per_s);
        json_put_number(row, "ratio", drift->ratio);
        (void)json_object_set_new(row, "drifted", json_boolean(drift->drifted));
        (void)json_array_append_new(list, row);
    }
    return list;
}

static void put_extras(json_t *document, const struct probe_report *report)
{
    json_t *topology = json_object();
    topology_put(topology, &report->machine);
    (void)json_object_set_new(document, "topology", topology);
    json_put_count(document, "memory_used_bytes", report->extras.arena_bytes);
    (void)json_object_set_new(document, "load_variants", variants_json(&report->extras));
    if (report->extras.size_count > 0) {
        const struct probe_extras *extras = &report->extras;
        (void)json_object_set_new(document, "sweep",
                                  sizes_json(extras->sizes, extras->size_count, "bytes"));
        (void)json_object_set_new(
            document, "sweep_levels",
            sizes_json(extras->plateaus, extras->plateau_count, "largest_bytes"));
    }
    if (report->drift_count > 0) {
        (void)json_object_set_new(document, "drift", drifts_json(report));
    }
}

struct status probe_write(const struct probe_report *report, const struct command_context *context,
                          const char *path, bool to_stdout)
{
    json_t *document = machine_document(&report->run, context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    put_extras(document, report);
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}

void probe_print_sweep(FILE *out, const struct probe_extras *extras)
{
    if (extras->plateau_count > 0) {
        (void)fprintf(out, "\nLevels that the sweep found (bytes in total, repeated loads)\n");
    }
    for (size_t i = 0; i < extras->plateau_count; i++) {
        char size[UNITS_TEXT];
        char rate[UNITS_TEXT];
        (void)fprintf(out, "  up to %-12s %s\n",
                      units_format_binary(size, extras->plateaus[i].bytes),
                      units_format_decimal(rate, extras->plateaus[i].bytes_per_s, "B/s"));
    }
}

// Wide intervals overlap whatever lies between them.
static const char *drift_text(const struct probe_drift *drift)
{
    if (drift->drifted) {
        return "  DRIFTED";
    }
    return fabs(drift->ratio - 1) > DRIFT_FRACTION ? "  cannot tell: the intervals overlap" : "";
}

void probe_print_drift(FILE *out, const struct probe_drift *drifts, size_t count)
{
    if (count > 0) {
        (void)fprintf(out, "\nAgainst the earlier profile (drift: intervals apart and more than "
                           "5 %%)\n");
    }
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "  %-52s %.3f%s\n", drifts[i].name, drifts[i].ratio,
                      drift_text(&drifts[i]));
    }
}

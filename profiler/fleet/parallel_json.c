#include "profiler/document_json.h"
#include "profiler/fleet/parallel_report.h"

static json_t *facts_json(const struct result_fact *facts, size_t count)
{
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++) {
        json_put_text(json, facts[i].name, facts[i].text);
    }
    return json;
}

static json_t *ranks_json(const struct parallel_report *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->index->row_count; i++) {
        const struct parallel_rank *rank = &r->ranks[i];
        json_t *json = json_object();
        json_put_count(json, "rank", i);
        json_put_text(json, "host", r->index->rows[i].host);
        json_put_text(json, "cpus", r->index->rows[i].cpus);
        json_put_count(json, "threads", rank->threads);
        json_put_number(json, "bytes", rank->bytes);
        json_put_number(json, "read_bytes_per_s", rank->read_bytes_per_s);
        json_put_number(json, "roof_seconds", rank->roof_seconds);
        json_put_number(json, "memory_seconds", rank->memory_seconds);
        json_put_number(json, "compute_seconds", rank->compute_seconds);
        (void)json_array_append_new(list, json);
    }
    return list;
}

static json_t *step_json(const struct parallel_report *r)
{
    json_t *json = json_object();
    json_put_measured(json, "seconds", &r->seconds);
    const struct reading rate = reading_rate((double)r->batch, &r->seconds);
    json_put_measured(json, "tokens_per_s", &rate);
    json_put_number(json, "predicted_seconds", r->predicted_seconds);
    json_put_number(json, "roof_seconds", r->roof_seconds);
    json_put_number(json, "residual_fraction", r->predicted_seconds / r->seconds.value - 1);
    json_put_number(json, "work_seconds", r->shares.work_seconds);
    json_put_number(json, "imbalance_seconds", r->shares.imbalance_seconds);
    json_put_number(json, "network_seconds", r->shares.network_seconds);
    json_put_text(json, "bound", parallel_bound_name(r->bound));
    return json;
}

static json_t *reduce_json(const struct parallel_report *r)
{
    json_t *json = json_object();
    json_put_count(json, "count", r->reduces);
    json_put_count(json, "bytes", r->reduce_bytes);
    json_put_measured(json, "seconds", &r->reduce_seconds);
    return json;
}

struct status parallel_write(const struct parallel_report *report,
                             const struct command_context *context, const char *path,
                             bool to_stdout)
{
    const struct parallel_report *r = report;
    json_t *document = document_new("parallel", context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    (void)json_object_set_new(document, "complete", json_boolean(r->complete));
    (void)json_object_set_new(document, "host", facts_json(r->facts.host, r->facts.host_count));
    (void)json_object_set_new(document, "conditions",
                              facts_json(r->facts.conditions, r->facts.condition_count));
    json_put_text(document, "mpi", r->index->library);
    json_put_text(document, "model", r->model);
    json_put_text(document, "dtype", r->dtype);
    json_put_text(document, "kv_dtype", r->kv_dtype);
    json_put_count(document, "batch", r->batch);
    json_put_count(document, "context", r->context);
    (void)json_object_set_new(document, "step", step_json(r));
    (void)json_object_set_new(document, "all_reduce", reduce_json(r));
    (void)json_object_set_new(document, "ranks", ranks_json(r));
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}

#include "profiler/fleet/network_json.h"

#include "profiler/document_json.h"

static json_t *points_json(const struct network_point *points, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct reading rate = reading_rate((double)points[i].bytes, &points[i].seconds);
        json_t *json = json_object();
        json_put_count(json, "bytes", points[i].bytes);
        json_put_measured(json, "seconds", &points[i].seconds);
        json_put_derived(json, "bytes_per_s", &rate,
                         (struct derived_from){.bytes = ORIGIN_MODELLED, .seconds = ORIGIN_TIMED});
        (void)json_array_append_new(list, json);
    }
    return list;
}

static json_t *link_json(const struct network_report *report, const struct network_link *link)
{
    json_t *json = json_object();
    json_put_count(json, "from", link->from);
    json_put_count(json, "to", link->to);
    json_put_text(json, "from_host", report->hosts[link->from]);
    json_put_text(json, "to_host", report->hosts[link->to]);
    (void)json_object_set_new(json, "messages", points_json(link->points, link->count));
    return json;
}

struct status network_write(const struct network_report *report,
                            const struct command_context *context, const char *path, bool to_stdout)
{
    json_t *document = document_new("network", context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    (void)json_object_set_new(document, "complete", json_boolean(report->complete));
    json_put_text(document, "mpi", report->library);
    json_put_count(document, "ranks", report->ranks);
    json_t *links = json_array();
    for (size_t i = 0; i < report->link_count; i++) {
        (void)json_array_append_new(links, link_json(report, &report->links[i]));
    }
    (void)json_object_set_new(document, "links", links);
    (void)json_object_set_new(document, "all_reduce",
                              points_json(report->all_reduce, report->all_reduce_count));
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}

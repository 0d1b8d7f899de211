#include "profiler/document_json.h"
#include "profiler/results_json.h"
#include "profiler/validate.h"

#include <math.h>

static json_t *evidence_json(const struct verdict_evidence *evidence, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *one = json_object();
        json_put_text(one, "test", evidence[i].test);
        json_put_text(one, "expected", evidence[i].expected);
        json_put_text(one, "found", evidence[i].found);
        (void)json_object_set_new(one, "passed", json_boolean(evidence[i].passed));
        (void)json_array_append_new(list, one);
    }
    return list;
}

// A share of the step's time; there is none before the whole step was measured.
static void put_share(json_t *object, const char *key, double fraction)
{
    if (isfinite(fraction)) {
        json_put_number(object, key, fraction);
    } else {
        json_put_absent_because(object, key, ABSENT_NOT_SCHEDULED,
                                "the step was not measured as a whole", NULL);
    }
}

static json_t *operators_json(const struct result_run *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *p = &run->points[i];
        json_t *one = json_object();
        json_put_text(one, "name", p->operator_);
        json_put_text(one, "bound", verdict_bound_name(p->bound));
        put_share(one, "time_share_fraction", p->time_share_fraction);
        if (p->resident_level[0] != '\0') {
            json_put_text(one, "resident_level", p->resident_level);
        } else {
            json_put_absent_because(one, "resident_level", ABSENT_FAILED,
                                    "partly in cache: larger than half of it, smaller than 4x",
                                    NULL);
        }
        (void)json_object_set_new(one, "evidence", evidence_json(p->evidence, p->evidence_count));
        (void)json_array_append_new(list, one);
    }
    return list;
}

// The run's document without its points is the envelope: host, conditions, machine, warnings.
struct status validation_write_json(const struct validation *validation,
                                    const struct result_run *run,
                                    const struct command_context *context, const char *path,
                                    bool to_stdout)
{
    json_t *document = run_document(run, context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    json_put_text(document, "schema", "lmroof.validate/1");
    json_put_text(document, "verdict", verdict_claim_name(validation->verdict));
    json_put_text(document, "claim", validation->claim);
    json_put_text(document, "finding", validation->finding);
    put_share(document, "memory_bound_fraction", validation->memory_fraction);
    put_share(document, "unknown_fraction", validation->unknown_fraction);
    (void)json_object_set_new(
        document, "evidence",
        evidence_json(validation->step.evidence, validation->step.evidence_count));
    (void)json_object_set_new(document, "operators", operators_json(run));
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}

#include "profiler/document_json.h"
#include "profiler/fields_json.h"
#include "profiler/results.h"

#include <math.h>
#include <string.h>

// A point's counters are an object by metric: keys that no table of fields can name.
void counters_to_json(json_t *out, const char *key, const void *object)
{
    const struct result_point *point = object;
    json_t *counters = json_object();
    for (size_t i = 0; i < point->counter_count; i++) {
        const struct result_counter *counter = &point->counters[i];
        json_put_measured(counters, counter->metric, &counter->value);
        json_t *value = json_object_get(counters, counter->metric);
        if (json_is_object(value)) {
            fields_to_json(value, counter, result_counter_fields);
        }
    }
    (void)json_object_set_new(out, key, counters);
}

static struct status counter_from_json(struct result_counter *out, const json_t *all,
                                       const char *metric, const json_t *value,
                                       const struct json_place *place)
{
    const struct json_place at = {.parent = place, .key = metric};
    // A metric's name is one of the contract's: letters, digits and underscores.
    if (strlen(metric) >= sizeof out->metric ||
        strspn(metric, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(metric)) {
        return json_place_error(&at, value, "a metric's name as key");
    }
    memcpy(out->metric, metric, strlen(metric) + 1);
    out->running_fraction = (double)NAN;
    out->background_fraction = (double)NAN;
    TRY(reading_from_json(&out->value, value, all, &at));
    return json_is_object(value) ? fields_from_json(out, value, result_counter_fields, &at)
                                 : status_ok();
}

struct status counters_from_json(void *object, json_t *value, const struct json_place *place)
{
    struct result_point *point = object;
    const char *metric = NULL;
    json_t *counter = NULL;
    if (!json_is_object(value)) {
        return json_place_error(place, value, "an object by metric");
    }
    json_object_foreach(value, metric, counter)
    {
        if (strcmp(metric, "why_absent") == 0) {
            continue;
        }
        if (point->counter_count == RESULT_COUNTERS_MAX) {
            return json_place_error(place, value, "at most 16 metrics");
        }
        TRY(counter_from_json(&point->counters[point->counter_count++], value, metric, counter,
                              place));
    }
    return status_ok();
}

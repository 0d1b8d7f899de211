#include "profiler/exec_regions_json.h"

#include "profiler/document_json.h"
#include "profiler/exec_place.h"

#include <math.h>

static void put(json_t *object, const char *key, double value, const char *why)
{
    if (isfinite(value) && value > 0) {
        json_put_number(object, key, value);
    } else {
        json_put_absent_because(object, key, ABSENT_NOT_ASKED, why, NULL);
    }
}

static void put_reading(json_t *object, const char *key, const struct reading *reading)
{
    if (reading_is_present(reading)) {
        json_put_number(object, key, reading->value);
    } else {
        json_put_absent(object, key, &reading->absence);
    }
}

json_t *exec_roof_json(const struct exec_placement *place, const struct exec_roof *at)
{
    static const char none[] = "there is no roof";
    json_t *roof = json_object();
    json_put_text(roof, "from", place->roofs_from[0] != '\0' ? place->roofs_from : "none");
    if (place->roof_threads > 0) {
        json_put_count(roof, "threads", place->roof_threads);
    } else {
        json_put_absent_because(roof, "threads", ABSENT_FAILED, none, NULL);
    }
    if (at->name[0] != '\0') {
        json_put_text(roof, "name", at->name);
    } else {
        json_put_absent(roof, "name", &at->attainable_flop_per_s.absence);
    }
    put_reading(roof, "bytes_per_s", &place->roof_bytes_per_s);
    put_reading(roof, "flop_per_s", &place->roof_flop_per_s);
    put_reading(roof, "attainable_flop_per_s", &at->attainable_flop_per_s);
    return roof;
}

static json_t *counts_json(const struct exec_region *region)
{
    json_t *out = json_object();
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (isfinite(region->counts[m])) {
            json_put_number(out, metric_row((enum metric)m)->name, region->counts[m]);
        }
    }
    return out;
}

static json_t *region_json(const struct exec_result *result, const struct exec_region *region)
{
    static const char untold[] = "lmroof_work() told nothing of it";
    static const char uncounted[] = "operations or memory traffic were not counted in every thread";
    struct exec_region_place place;
    json_t *out = json_object();
    exec_place_region(&place, result, region);
    json_put_text(out, "name", region->name);
    json_put_count(out, "calls", region->calls);
    json_put_count(out, "threads", region->threads);
    put(out, "seconds", region->seconds, "no thread stayed in it");
    put(out, "flop", region->flop, untold);
    put(out, "bytes", region->bytes, untold);
    put(out, "flop_per_byte_predicted", region->flop / region->bytes, untold);
    put(out, "flop_per_byte_counted", place.flop_per_byte_counted, uncounted);
    put(out, "flop_per_s", place.flop_per_s, untold);
    put(out, "bytes_per_s_modelled", region->bytes / region->seconds, untold);
    put(out, "running_fraction", region->running_fraction, "nothing was counted");
    put_reading(out, "attainable_flop_per_s", &place.roof.attainable_flop_per_s);
    put(out, "roof_fraction", place.roof_fraction, "its intensity or the roofs are not known");
    (void)json_object_set_new(out, "roof", exec_roof_json(&result->place, &place.roof));
    (void)json_object_set_new(out, "counts", counts_json(region));
    return out;
}

json_t *exec_regions_json(const struct exec_result *result)
{
    json_t *list = json_array();
    for (size_t i = 0; i < result->region_count; i++) {
        (void)json_array_append_new(list, region_json(result, &result->regions[i]));
    }
    return list;
}

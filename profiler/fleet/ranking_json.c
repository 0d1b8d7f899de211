#include "profiler/document_json.h"
#include "profiler/fleet/ranking_report.h"
#include "roofline/outlier.h"

#include <math.h>
#include <string.h>

static const char few_like[] = "fewer than 5 like units have this ceiling";

static void put_judged(json_t *object, const char *key, double value)
{
    if (isnan(value)) {
        json_put_absent_because(object, key, ABSENT_UNSUPPORTED, few_like, "more like units");
    } else {
        (void)json_object_set_new(object, key, json_real(value));
    }
}

static json_t *column_json(const struct ranking *r, const struct ranking_column *column)
{
    const struct profile_ceiling *ceiling = &r->set->ceilings[column->ceiling];
    json_t *json = json_object();
    json_put_text(json, "ceiling", ceiling->name);
    json_put_text(json, "quantity", ceiling->unit);
    json_put_count(json, "units", column->units);
    (void)json_object_set_new(json, "center", json_real(column->center));
    put_judged(json, "spread_fraction", column->spread_fraction);
    put_judged(json, "z_limit", column->limit);
    return json;
}

static json_t *groups_json(const struct ranking *r)
{
    json_t *list = json_array();
    for (size_t g = 0; g < r->set->group_count; g++) {
        json_t *json = json_object();
        json_t *columns = json_array();
        json_put_count(json, "group", g);
        json_put_text(json, "name", r->set->groups[g].name);
        json_put_count(json, "units", r->set->groups[g].units);
        for (size_t c = 0; c < r->column_count; c++) {
            if (r->columns[c].group == g) {
                (void)json_array_append_new(columns, column_json(r, &r->columns[c]));
            }
        }
        (void)json_object_set_new(json, "ceilings", columns);
        (void)json_array_append_new(list, json);
    }
    return list;
}

static json_t *cell_json(const struct ranking *r, const struct ranking_cell *cell)
{
    json_t *json = json_object();
    json_put_text(json, "ceiling", r->set->ceilings[cell->ceiling].name);
    (void)json_object_set_new(json, "value", json_real(cell->value));
    json_put_count(json, "repeats", cell->repeats);
    (void)json_object_set_new(json, "deviation_fraction", json_real(cell->deviation_fraction));
    put_judged(json, "z", cell->z);
    (void)json_object_set_new(json, "outlier", json_boolean(cell->outlier));
    return json;
}

static void put_unit(json_t *json, const struct ranking *r, size_t index)
{
    const struct profile_unit *unit = &r->set->units[index];
    char name[PROFILE_UNIT_NAME];
    json_put_text(json, "unit", profile_unit_name(name, r->set, index));
    json_put_text(json, "host", unit->host);
    if (unit->cpus[0] != '\0') {
        json_put_text(json, "cpus", unit->cpus);
    }
}

static void put_finding(json_t *json, const struct ranking *r, const struct ranking_place *place)
{
    char text[RANKING_TEXT + sizeof place->cause];
    char fact[256];
    (void)ranking_cell_text(text, r, &r->cells[place->worst]);
    size_t used = strlen(text);
    (void)snprintf(text + used, sizeof text - used, "%s%s", place->cause[0] == '\0' ? "" : ", ",
                   place->cause);
    json_put_text(json, "finding", text);
    if (ranking_odd_fact(fact, sizeof fact, r->set, place->unit)[0] != '\0') {
        json_put_text(json, "differs", fact);
    }
}

static json_t *places_json(const struct ranking *r)
{
    json_t *list = json_array();
    for (size_t p = 0; p < r->place_count; p++) {
        const struct ranking_place *place = &r->places[p];
        json_t *json = json_object();
        json_t *cells = json_array();
        json_put_count(json, "place", p + 1);
        put_unit(json, r, place->unit);
        json_put_count(json, "group", r->set->units[place->unit].group);
        json_put_count(json, "profiles", r->set->units[place->unit].profiles);
        put_judged(json, "worst_z", place->worst_z);
        (void)json_object_set_new(json, "outlier", json_boolean(place->outliers > 0));
        if (place->outliers > 0) {
            put_finding(json, r, place);
        }
        for (size_t i = 0; i < place->count; i++) {
            (void)json_array_append_new(cells,
                                        cell_json(r, &r->cells[r->by_unit[place->first + i]]));
        }
        (void)json_object_set_new(json, "ceilings", cells);
        (void)json_array_append_new(list, json);
    }
    return list;
}

static json_t *missing_json(const struct ranking *r)
{
    json_t *list = json_array();
    for (size_t u = 0; u < r->set->unit_count; u++) {
        const struct profile_unit *unit = &r->set->units[u];
        if (unit->profiles == 0 || unit->problem[0] != '\0') {
            json_t *json = json_object();
            put_unit(json, r, u);
            json_put_text(json, "problem",
                          unit->problem[0] == '\0' ? "its profile is not complete" : unit->problem);
            (void)json_array_append_new(list, json);
        }
    }
    return list;
}

static json_t *drifts_json(const struct ranking *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->drift_count; i++) {
        const struct ranking_drift *drift = &r->drifts[i];
        json_t *json = json_object();
        put_unit(json, r, drift->unit);
        json_put_text(json, "ceiling", r->set->ceilings[drift->ceiling].name);
        (void)json_object_set_new(json, "before", json_real(drift->before));
        (void)json_object_set_new(json, "now", json_real(drift->now));
        (void)json_object_set_new(json, "ratio", json_real(drift->now / drift->before));
        put_judged(json, "z", drift->z);
        (void)json_array_append_new(list, json);
    }
    return list;
}

struct status ranking_write(const struct ranking *ranking, const struct command_context *context,
                            const char *path, bool to_stdout)
{
    json_t *document = document_new("ranking", context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the document");
    }
    if (ranking->set->incomplete_count > 0) {
        document_warn(document, "incomplete_profiles",
                      "profiles whose probe was ended early were left out",
                      "measure these units again");
    }
    json_put_count(document, "profiles", ranking->set->profile_count);
    (void)json_object_set_new(document, "false_alarm_fraction", json_real(OUTLIER_ALPHA));
    (void)json_object_set_new(document, "least_fraction", json_real(ranking->least_fraction));
    json_put_count(document, "outlier_units", ranking->outlier_units);
    (void)json_object_set_new(document, "groups", groups_json(ranking));
    (void)json_object_set_new(document, "units", places_json(ranking));
    (void)json_object_set_new(document, "missing", missing_json(ranking));
    if (ranking->drift_compared > 0) {
        json_put_count(document, "drift_compared", ranking->drift_compared);
        (void)json_object_set_new(document, "drift", drifts_json(ranking));
    }
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}

#include "profiler/chart_json.h"

#include "profiler/document_json.h"

#include <math.h>

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *series_json(const struct chart_series *series)
{
    json_t *object = json_object();
    json_t *points = json_array();
    json_put_text(object, "label", series->label);
    (void)json_object_set_new(object, "bound", json_boolean(series->bound));
    for (size_t i = 0; i < series->count; i++) {
        const struct chart_point *point = &series->points[i];
        json_t *row = json_array();
        const double values[] = {point->x, point->y, point->low, point->high};
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            (void)json_array_append_new(row, number(values[v]));
        }
        (void)json_array_append_new(points, row);
    }
    (void)json_object_set_new(object, "points", points);
    return object;
}

json_t *chart_to_json(const struct chart *chart)
{
    json_t *object = json_object();
    json_t *categories = json_array();
    json_t *series = json_array();
    json_put_text(object, "name", chart_name(chart->picture));
    json_put_text(object, "title", chart->title);
    json_put_text(object, "x_title", chart->x_title);
    json_put_text(object, "y_title", chart->y_title);
    (void)json_object_set_new(object, "log_x", json_boolean(chart->log_x));
    (void)json_object_set_new(object, "bars", json_boolean(chart->bars));
    (void)json_object_set_new(object, "stacked", json_boolean(chart->stacked));
    for (size_t i = 0; i < chart->category_count; i++) {
        (void)json_array_append_new(categories, json_string(chart->categories[i]));
    }
    for (size_t i = 0; i < chart->series_count; i++) {
        (void)json_array_append_new(series, series_json(&chart->series[i]));
    }
    (void)json_object_set_new(object, "categories", categories);
    (void)json_object_set_new(object, "series", series);
    return object;
}

#include "profiler/plot_json.h"

#include "profiler/document_json.h"

#include <math.h>

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *axis_to_json(const struct plot_axis *axis)
{
    json_t *ticks = json_array();
    for (size_t i = 0; i < axis->tick_count; i++) {
        (void)json_array_append_new(ticks,
                                    json_pack("[f, s]", axis->ticks[i].value, axis->ticks[i].text));
    }
    return json_pack("{s:s, s:f, s:f, s:o}", "title", axis->title, "low", axis->low, "high",
                     axis->high, "ticks", ticks);
}

static json_t *roofs_to_json(const struct plot *plot)
{
    json_t *roofs = json_array();
    for (size_t i = 0; i < plot->roof_count; i++) {
        const struct plot_roof *roof = &plot->roofs[i];
        json_t *row = json_object();
        json_put_text(row, "label", roof->label);
        json_put_text(row, "role", roof->role == PLOT_MEMORY ? "memory" : "compute");
        json_put_count(row, "run", roof->run);
        (void)json_object_set_new(row, "main", json_boolean(roof->main));
        json_put_number(row, "rate", roof->rate);
        (void)json_object_set_new(row, "from", json_pack("[f, f]", roof->x0, roof->y0));
        (void)json_object_set_new(row, "to", json_pack("[f, f]", roof->x1, roof->y1));
        (void)json_array_append_new(roofs, row);
    }
    return roofs;
}

static json_t *keys_to_json(const struct plot_key *keys, size_t count)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *row = json_object();
        const char letter[2] = {keys[i].letter, '\0'};
        json_put_text(row, "label", keys[i].label);
        json_put_text(row, "letter", letter);
        json_put_count(row, "colour", keys[i].colour);
        json_put_count(row, "mark", (uint64_t)keys[i].mark);
        (void)json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *points_to_json(const struct plot *plot)
{
    json_t *points = json_array();
    for (size_t i = 0; i < plot->point_count; i++) {
        const struct plot_point *point = &plot->points[i];
        json_t *row = json_array();
        const double numbers[] = {point->x, point->y, point->y_low, point->y_high,
                                  point->attainable};
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
            (void)json_array_append_new(row, number(numbers[j]));
        }
        const size_t counts[] = {point->colour, point->mark, point->hollow ? 1 : 0, point->run,
                                 point->index};
        for (size_t j = 0; j < sizeof counts / sizeof *counts; j++) {
            (void)json_array_append_new(row, json_integer((json_int_t)counts[j]));
        }
        (void)json_array_append_new(points, row);
    }
    return points;
}

static json_t *notes_to_json(const struct plot *plot)
{
    json_t *notes = json_array();
    for (size_t i = 0; i < plot->note_count; i++) {
        const struct plot_note *note = &plot->notes[i];
        (void)json_array_append_new(notes, json_pack("[f, f, s]", note->x, note->y, note->text));
    }
    return notes;
}

json_t *plot_to_json(const struct plot *plot)
{
    json_t *out = json_object();
    json_put_text(out, "title", plot->title);
    json_put_text(out, "subtitle", plot->subtitle);
    int failed = json_object_set_new(out, "x", axis_to_json(&plot->x));
    failed |= json_object_set_new(out, "y", axis_to_json(&plot->y));
    failed |= json_object_set_new(out, "ridge", number(plot->ridge));
    failed |= json_object_set_new(out, "roofs", roofs_to_json(plot));
    failed |= json_object_set_new(out, "colours",
                                  keys_to_json(plot->colour_keys, plot->colour_key_count));
    failed |=
        json_object_set_new(out, "marks", keys_to_json(plot->mark_keys, plot->mark_key_count));
    failed |= json_object_set_new(out, "notes", notes_to_json(plot));
    json_put_count(out, "skipped", plot->skipped);
    failed |= json_object_set_new(out, "points", points_to_json(plot));
    if (failed != 0) {
        json_decref(out);
        return NULL;
    }
    return out;
}

#include "profiler/document_json.h"
#include "profiler/fields_json.h"
#include "profiler/input.h"
#include "profiler/json_text.h"
#include "profiler/results_json.h"

#include <stdlib.h>
#include <string.h>

// A point has some 200 values in 5 kB of text: 150,000 points fit, and 5 GB hold what a parser
// makes of a hostile text.
enum { RUN_VALUES_MAX = 1 << 25, RUN_BYTES_MAX = 1 << 30 };

static struct status parse_whole(struct result_run *out, const char *text, size_t size,
                                 const char *name)
{
    json_error_t error;
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL) {
        return status_error(STATUS_INVALID, "%s: not a whole JSON document: line %d, column %d: %s",
                            name, error.line, error.column, error.text);
    }
    struct status status = run_from_json(out, document, name);
    json_decref(document);
    return status;
}

static bool parse_point(struct result_point *out, const char *text, size_t size)
{
    json_error_t error;
    const struct json_place nowhere = {.key = "points"};
    json_t *point = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    bool good =
        point != NULL && status_is_ok(fields_from_json(out, point, result_point_fields, &nowhere));
    json_decref(point);
    return good;
}

static bool parse_points(struct result_run *out, const char *text,
                         const struct json_elements *points)
{
    bool good = true;
    out->points = calloc(points->count + 1, sizeof *out->points);
    out->point_count = out->points == NULL ? 0 : points->count;
#pragma omp parallel for schedule(dynamic, 64) reduction(&& : good) if (out->point_count > 256)
    for (size_t i = 0; i < out->point_count; i++) {
        const struct json_span *at = &points->spans[i];
        good = parse_point(&out->points[i], text + at->from, at->to - at->from) && good;
    }
    return good && out->points != NULL;
}

static json_t *load_rest(const char *text, size_t size, const struct json_span *points)
{
    json_error_t error;
    size_t tail = size - points->to;
    char *rest = malloc(points->from + 2 + tail);
    if (rest == NULL) {
        return NULL;
    }
    char *at = mempcpy(rest, text, points->from);
    *at++ = '[';
    *at++ = ']';
    memcpy(at, text + points->to, tail);
    json_t *document = json_loadb(rest, points->from + 2 + tail, JSON_REJECT_DUPLICATES, &error);
    free(rest);
    return document;
}

// A machine's document has no points.
static bool may_have_points(const json_t *document)
{
    const char *kind = json_string_value(json_object_get(document, "schema"));
    return kind != NULL && strcmp(kind, "lmroof.machine/1") != 0;
}

// Nearly all of a large document is its points: they are taken apart one by one, on all cores, and
// no tree of the whole document is ever in memory. False where that does not succeed, for whatever
// reason.
static bool parse_by_points(struct result_run *out, const char *text, size_t size, const char *name)
{
    struct json_elements points;
    bool good =
        json_text_elements(&points, text, size, "points") && points.count <= RESULT_POINTS_MAX;
    json_t *rest = good ? load_rest(text, size, &points.array) : NULL;
    good = may_have_points(rest) && status_is_ok(run_from_json(out, rest, name)) &&
           out->point_count == 0 && parse_points(out, text, &points);
    json_decref(rest);
    free(points.spans);
    return good;
}

struct status run_parse(struct result_run *out, const char *text, size_t size, const char *name)
{
    TRY(json_text_bounded(text, size, RUN_VALUES_MAX, name));
    if (parse_by_points(out, text, size, name)) {
        return status_ok();
    }
    result_run_free(out); // the document as a whole, which also tells where an error is
    return parse_whole(out, text, size, name);
}

static struct status parse_thinned(struct result_run *out, char **text, size_t *size,
                                   const char *path)
{
    char *thinned = malloc(*size + 1);
    if (thinned == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to read %s", path);
    }
    size_t kept = json_text_compact(thinned, *text, *size, true);
    struct status status = run_parse(out, thinned, kept, path);
    if (status.code == STATUS_INVALID) { // lines and columns are to be those of the file
        result_run_free(out);
        status = run_parse(out, *text, *size, path);
    }
    if (status_is_ok(status)) {
        thinned[kept] = '\0';
        free(*text);
        *text = thinned;
        *size = kept;
    } else {
        free(thinned);
    }
    return status;
}

// The text is only compacted where somebody wants it.
static struct status parse_loaded(struct result_run *out, char **text, size_t size, bool *thin,
                                  bool wanted, const char *path)
{
    enum { LARGE = 4 << 20 };
    bool drop = thin != NULL && *thin && size > LARGE && memchr(*text, '\0', size) == NULL;
    if (thin != NULL) {
        *thin = drop;
    }
    if (drop) {
        return parse_thinned(out, text, &size, path);
    }
    TRY(run_parse(out, *text, size, path));
    if (wanted) {
        (*text)[json_text_compact(*text, *text, size, false)] = '\0';
    }
    return status_ok();
}

struct status run_read(struct result_run *out, char **text, bool *thin, const char *path)
{
    char *loaded = NULL;
    size_t size = 0;
    struct status status = input_read(&loaded, &size, path, RUN_BYTES_MAX);
    if (status.code == STATUS_OK) {
        status = parse_loaded(out, &loaded, size, thin, text != NULL, path);
    }
    if (text != NULL && status.code == STATUS_OK) {
        *text = loaded;
    } else {
        free(loaded);
    }
    return status;
}

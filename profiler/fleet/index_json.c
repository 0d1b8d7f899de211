#include "profiler/fleet/index_json.h"

#include "profiler/document_json.h"
#include "profiler/fields_json.h"
#include "profiler/fleet/worker.h"
#include "profiler/input.h"
#include "profiler/json_text.h"
#include "profiler/result_build.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 1 << 20, FILES_MAX = 4096 };
enum { INDEX_VALUES_MAX = 1 << 25, INDEX_BYTES_MAX = 1 << 30 };

static json_t *profiles_json(const struct fleet_index *index, const struct fleet_row *row)
{
    json_t *list = json_array();
    for (unsigned r = 0; r < index->repeat && row->stem[0] != '\0'; r++) {
        char stem[PATH_MAX];
        char path[PATH_MAX];
        (void)snprintf(stem, sizeof stem, "%s/%s", index->folder, row->stem);
        (void)worker_file(path, stem, r, index->repeat);
        if (access(path, R_OK) == 0) {
            (void)json_array_append_new(list, json_string(path + strlen(index->folder) + 1));
        }
    }
    return list;
}

static json_t *row_json(const struct fleet_index *index, const struct fleet_row *row)
{
    json_t *json = json_object();
    json_put_count(json, "rank", row->rank);
    json_put_text(json, "host", row->host);
    json_put_text(json, "cpus", row->cpus);
    json_put_count(json, "cpu_count", row->cpu_count);
    json_put_text(json, "state", fleet_state_name(row->note.state));
    if (row->note.problem[0] != '\0') {
        json_put_text(json, "problem", row->note.problem);
    }
    (void)json_object_set_new(json, "profiles", profiles_json(index, row));
    return json;
}

static json_t *index_document(const struct fleet_index *index,
                              const struct command_context *context)
{
    json_t *document = document_new("fleet", context);
    if (document == NULL) {
        return NULL;
    }
    (void)json_object_set_new(document, "complete", json_boolean(index->complete));
    json_put_text(document, "per", fleet_unit_name(index->unit));
    (void)json_object_set_new(document, "solo", json_boolean(index->solo));
    json_put_count(document, "repeat", index->repeat);
    json_put_text(document, "mpi", index->library);
    json_t *rows = json_array();
    for (size_t i = 0; i < index->row_count; i++) {
        (void)json_array_append_new(rows, row_json(index, &index->rows[i]));
        if (index->rows[i].note.state > FLEET_DONE) {
            char text[sizeof index->rows->note.problem + 128];
            const struct fleet_row *row = &index->rows[i];
            (void)snprintf(text, sizeof text, "rank %u (host %s, cpus %s): %s", row->rank,
                           row->host, row->cpus, row->note.problem);
            document_warn(document, fleet_state_name(row->note.state), text, NULL);
        }
    }
    (void)json_object_set_new(document, "ranks", rows);
    return document;
}

struct status fleet_index_write(const struct fleet_index *index,
                                const struct command_context *context, bool to_stdout)
{
    char path[PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/index.json", index->folder);
    json_t *document = index_document(index, context);
    if (document == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the index");
    }
    struct status status = document_write(document, context, path, to_stdout);
    json_decref(document);
    return status;
}

// A profile is a file of the index's own folder: an index from elsewhere names no other.
static struct status add_file(struct fleet_files *files, size_t row, const json_t *value,
                              const char *folder, const struct json_place *place)
{
    const char *name = json_string_value(value);
    char path[PATH_MAX];
    if (name == NULL || name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL) {
        return json_place_error(place, value, "the name of a file in the same folder");
    }
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    struct fleet_file *file = result_append(&files->list, &files->count, sizeof *file);
    if (file == NULL || n >= (int)sizeof path || (file->path = strdup(path)) == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to list the profiles of %s", folder);
    }
    file->row = row;
    return status_ok();
}

static struct status files_from_json(struct fleet_files *files, size_t row, const json_t *value,
                                     const char *folder, const struct json_place *place)
{
    const struct json_place at = {.parent = place, .key = "profiles"};
    if (!json_is_array(value) || json_array_size(value) > FILES_MAX) {
        return json_place_error(&at, value, "an array of at most 4096 file names");
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const struct json_place here = {.parent = &at, .index = i};
        TRY(add_file(files, row, json_array_get(value, i), folder, &here));
    }
    return status_ok();
}

static struct status state_from_json(struct fleet_note *out, const json_t *row,
                                     const struct json_place *place)
{
    const json_t *value = json_object_get(row, "state");
    const struct json_place at = {.parent = place, .key = "state"};
    const char *word = json_is_string(value) ? json_string_value(value) : "";
    for (unsigned i = 0; i < FLEET_STATES; i++) {
        if (strcmp(word, fleet_state_name((enum fleet_state)i)) == 0) {
            out->state = (enum fleet_state)i;
            const char *problem = json_string_value(json_object_get(row, "problem"));
            text_copy(out->problem, sizeof out->problem, problem == NULL ? "" : problem);
            return status_ok();
        }
    }
    return json_place_error(&at, value,
                            "waiting, running, done, failed, timed_out, interrupted or lost");
}

static struct status row_from_json(struct fleet_row *out, const json_t *row,
                                   const struct json_place *place)
{
    const struct json_place host = {.parent = place, .key = "host"};
    const struct json_place cpus = {.parent = place, .key = "cpus"};
    const struct json_place rank = {.parent = place, .key = "rank"};
    json_int_t number = json_integer_value(json_object_get(row, "rank"));
    if (!json_is_integer(json_object_get(row, "rank")) || number < 0 || number > ROWS_MAX) {
        return json_place_error(&rank, json_object_get(row, "rank"), "a rank");
    }
    out->rank = (unsigned)number;
    TRY(text_from_json(out->host, sizeof out->host, json_object_get(row, "host"), &host));
    TRY(text_from_json(out->cpus, sizeof out->cpus, json_object_get(row, "cpus"), &cpus));
    return state_from_json(&out->note, row, place);
}

static struct status index_from_json(struct fleet_index *out, struct fleet_files *files,
                                     const json_t *document, const char *path)
{
    const struct json_place top = {.key = path};
    const struct json_place kind = {.parent = &top, .key = "schema"};
    const struct json_place at = {.parent = &top, .key = "ranks"};
    const char *schema = json_string_value(json_object_get(document, "schema"));
    if (schema == NULL || strcmp(schema, "lmroof.fleet/1") != 0) {
        return json_place_error(&kind, json_object_get(document, "schema"), "\"lmroof.fleet/1\"");
    }
    const json_t *rows = json_object_get(document, "ranks");
    if (!json_is_array(rows) || json_array_size(rows) > ROWS_MAX) {
        return json_place_error(&at, rows, "an array of ranks");
    }
    out->complete = json_is_true(json_object_get(document, "complete"));
    out->rows = calloc(json_array_size(rows) + 1, sizeof *out->rows);
    if (out->rows == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to read %s", path);
    }
    out->row_count = json_array_size(rows);
    for (size_t i = 0; i < out->row_count; i++) {
        const struct json_place here = {.parent = &at, .index = i};
        const json_t *row = json_array_get(rows, i);
        if (!json_is_object(row)) {
            return json_place_error(&here, row, "an object");
        }
        TRY(row_from_json(&out->rows[i], row, &here));
        TRY(files_from_json(files, i, json_object_get(row, "profiles"), out->folder, &here));
    }
    return status_ok();
}

struct status fleet_index_read(struct fleet_index *out, struct fleet_files *files,
                               const char *folder)
{
    char path[PATH_MAX];
    json_error_t error;
    out->folder = folder;
    (void)snprintf(path, sizeof path, "%s/index.json", folder);
    char *text = NULL;
    size_t size = 0;
    struct status status = input_read(&text, &size, path, INDEX_BYTES_MAX);
    if (status_is_ok(status)) {
        status = json_text_bounded(text, size, INDEX_VALUES_MAX, path);
    }
    json_t *document = NULL;
    if (status_is_ok(status)) {
        document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
        status = document == NULL
                     ? status_error(STATUS_INVALID,
                                    "%s: not a whole JSON document: line %d, column %d: %s", path,
                                    error.line, error.column, error.text)
                     : index_from_json(out, files, document, path);
    }
    json_decref(document);
    free(text);
    return status;
}

void fleet_files_free(struct fleet_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->list[i].path);
    }
    free(files->list);
    *files = (struct fleet_files){.list = NULL};
}

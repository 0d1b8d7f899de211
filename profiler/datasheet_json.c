#include "profiler/datasheet.h"
#include "profiler/fields_json.h"
#include "profiler/json_text.h"

#include <math.h>
#include <string.h>

enum { SOCKETS_MAX = 64, CORES_MAX = 4096, CHANNELS_MAX = 1024, TRANSFER_BYTES_MAX = 1024 };
enum { VALUES_MAX = 1 << 16 };

#define AT(m) .offset = offsetof(struct datasheet, m)
#define TEXT(key, m)                                                                       \
    {                                                                                      \
        (key), FIELD_TEXT, FIELD_REQUIRED, AT(m), .size = sizeof((struct datasheet *)0)->m \
    }
#define COUNT(key, m)                                \
    {                                                \
        (key), FIELD_UNSIGNED, FIELD_REQUIRED, AT(m) \
    }
#define NUMBER(key, m, flag)               \
    {                                      \
        (key), FIELD_NUMBER, (flag), AT(m) \
    }

static const struct field memory_fields[] = {
    TEXT("kind", memory_kind),
    COUNT("channels_per_socket", channels_per_socket),
    NUMBER("transfers_per_s", transfers_per_s, FIELD_REQUIRED),
    COUNT("bytes_per_transfer", bytes_per_transfer),
    {.key = NULL}};

static const struct field rate_fields[] = {NUMBER("f32", flop_per_cycle_f32, FIELD_REQUIRED),
                                           NUMBER("f16", flop_per_cycle_f16, 0),
                                           NUMBER("bf16", flop_per_cycle_bf16, 0),
                                           NUMBER("int8", flop_per_cycle_int8, 0),
                                           {.key = NULL}};

static const struct field source_fields[] = {TEXT("cores", sources.cores),
                                             TEXT("memory", sources.memory),
                                             TEXT("max_hz", sources.max_hz),
                                             TEXT("flop_per_cycle", sources.flop_per_cycle),
                                             {.key = NULL}};

static const struct field sheet_fields[] = {
    TEXT("name", name),
    TEXT("title", title),
    TEXT("architecture", architecture),
    COUNT("sockets", sockets),
    COUNT("cores_per_socket", cores_per_socket),
    COUNT("threads_per_core", threads_per_core),
    {"memory", FIELD_OBJECT, FIELD_REQUIRED, .fields = memory_fields},
    NUMBER("max_hz", max_hz, FIELD_REQUIRED),
    {"flop_per_cycle", FIELD_OBJECT, FIELD_REQUIRED, .fields = rate_fields},
    {"llc_bytes_per_socket", FIELD_U64, 0, AT(llc_bytes_per_socket)},
    NUMBER("tdp_watts_per_socket", tdp_watts_per_socket, 0),
    {"sources", FIELD_OBJECT, FIELD_REQUIRED, .fields = source_fields},
    {"note", FIELD_TEXT, 0, AT(note), .size = sizeof((struct datasheet *)0)->note},
    {.key = NULL}};

struct bound {
    const char *key;
    double value;
    double low;
    double high;
    bool may_miss; // NaN is accepted
};

static struct status check_bounds(const struct datasheet *sheet, const char *name)
{
    const struct bound bounds[] = {
        {"sockets", sheet->sockets, 1, SOCKETS_MAX, false},
        {"cores_per_socket", sheet->cores_per_socket, 1, CORES_MAX, false},
        {"threads_per_core", sheet->threads_per_core, 1, 8, false},
        {"memory.channels_per_socket", sheet->channels_per_socket, 1, CHANNELS_MAX, false},
        {"memory.transfers_per_s", sheet->transfers_per_s, 1e8, 1e11, false},
        {"memory.bytes_per_transfer", sheet->bytes_per_transfer, 1, TRANSFER_BYTES_MAX, false},
        {"max_hz", sheet->max_hz, 1e8, 1e10, false},
        {"flop_per_cycle.f32", sheet->flop_per_cycle_f32, 1, 1e5, false},
        {"flop_per_cycle.f16", sheet->flop_per_cycle_f16, 1, 1e5, true},
        {"flop_per_cycle.bf16", sheet->flop_per_cycle_bf16, 1, 1e5, true},
        {"flop_per_cycle.int8", sheet->flop_per_cycle_int8, 1, 1e5, true},
        {"tdp_watts_per_socket", sheet->tdp_watts_per_socket, 1, 1e4, true}};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const struct bound *bound = &bounds[i];
        bool inside = bound->value >= bound->low && bound->value <= bound->high;
        if (!inside && !(bound->may_miss && isnan(bound->value))) {
            return status_error(STATUS_INVALID, "%s: %s: found %g, accepted %g to %g", name,
                                bound->key, bound->value, bound->low, bound->high);
        }
    }
    return status_ok();
}

struct status datasheet_parse(struct datasheet *out, const char *text, size_t size,
                              const char *name)
{
    json_error_t error;
    TRY(json_text_bounded(text, size, VALUES_MAX, name));
    json_t *document = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (document == NULL) {
        return status_error(STATUS_INVALID, "%s: not a whole JSON document: line %d, column %d: %s",
                            name, error.line, error.column, error.text);
    }
    const struct json_place top = {.key = name};
    memset(out, 0, sizeof *out);
    struct status status = fields_from_json(out, document, sheet_fields, &top);
    json_decref(document);
    return status_is_ok(status) ? check_bounds(out, name) : status;
}

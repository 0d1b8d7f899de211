#include "profiler/document_json.h"
#include "profiler/field_rows.h"
#include "profiler/fields_json.h"
#include "profiler/results.h"

#include <math.h>
#include <string.h>

// Bounds on what a file may make us allocate.
enum { ROOFS_MAX = 100000, EVIDENCE_MAX = VERDICT_EVIDENCE_MAX };

static const char *kind_word(bool integer)
{
    return integer ? "int" : "float";
}

static bool find_kind(bool *integer, const char *word)
{
    *integer = strcmp(word, "int") == 0;
    return *integer || strcmp(word, "float") == 0;
}

static const char *compute_kind(const void *object)
{
    return kind_word(((const struct result_compute *)object)->integer_operations);
}

static bool find_compute_kind(void *object, const char *word)
{
    return find_kind(&((struct result_compute *)object)->integer_operations, word);
}

static const char *point_kind(const void *object)
{
    return kind_word(((const struct result_point *)object)->integer_operations);
}

static bool find_point_kind(void *object, const char *word)
{
    return find_kind(&((struct result_point *)object)->integer_operations, word);
}

static const char *bound_word(const void *object)
{
    return verdict_bound_name(((const struct result_point *)object)->bound);
}

static bool find_bound(void *object, const char *word)
{
    return verdict_bound_find(&((struct result_point *)object)->bound, word);
}

#define T result_counter
const struct field result_counter_fields[] = {
    TEXT("scope", scope),
    TEXT("source", source),
    TEXT_OR("events", events, 0, NULL),
    NUMBER("running_fraction", running_fraction, "the source does not tell"),
    NUMBER("background_fraction", background_fraction, "only counts of the whole machine have one"),
    {.key = NULL}};
#undef T

#define T result_point
static const struct field shape_fields[] = {
    BYTES("m", m), BYTES("n", n), BYTES("k", k), {.key = NULL}};

static const struct field roof_fields[] = {
    TEXT_OR("name", roof_name, FIELD_EMPTY_ABSENT, "no roof was measured for this point"),
    TEXT_OR("level", roof_level, FIELD_EMPTY_ABSENT, "no roof was measured for this point"),
    TEXT_OR("class", roof_class, FIELD_EMPTY_ABSENT, "no roof was measured for this point"),
    MEASURED("bytes_per_s", roof_bytes_per_s),
    MEASURED("flop_per_s", roof_flop_per_s),
    NUMBER("attainable_flop_per_s", attainable_flop_per_s, "no roof was measured for this point"),
    {.key = NULL}};

static const struct field twins_fields[] = {MEASURED("memory_only_seconds", memory_only_seconds),
                                            MEASURED("compute_only_seconds", compute_only_seconds),
                                            {.key = NULL}};

static const struct field check_fields[] = {
    NUMBER("max_relative_error", max_relative_error, "not checked against a reference"),
    NUMBER("tolerance", tolerance, "not checked against a reference"),
    {.key = NULL}};
#undef T

#define T result_point
static const struct field counted_fields[] = {
    TEXT_OR("flop_source", flop_source, FIELD_EMPTY_ABSENT, "no intensity was counted"),
    TEXT_OR("bytes_source", bytes_source, FIELD_EMPTY_ABSENT, "no intensity was counted"),
    NUMBER("bytes_residual_fraction", bytes_residual_fraction, "no bytes were counted"),
    TEXT_OR("residual_cause", residual_cause, FIELD_EMPTY_OMIT, NULL),
    NUMBER("joules_per_token", joules_per_token, "no energy was counted: see package_joules"),
    {.key = NULL}};
#undef T

// Whether the operations of a counted intensity were counted too is a matter of the CPU.
static unsigned counted_from(const void *object)
{
    const struct result_point *point = object;
    bool counted = strcmp(point->flop_source, "counted") == 0;
    return (counted ? FROM_FLOP_COUNTED : FROM_FLOP) | FROM_BYTES_COUNTED;
}

static unsigned counted_fraction_from(const void *object)
{
    return counted_from(object) | FROM_SECONDS;
}

#define T result_certificate
const struct field result_certificate_fields[] = {
    TEXT("event", event),
    TEXT("metric", metric),
    TEXT("source", source),
    TEXT("kernel", kernel),
    NUMBER("expected", expected, "not known"),
    NUMBER("counted", counted, "could not be read"),
    NUMBER("ratio", ratio, "nothing was expected, or nothing could be read"),
    NUMBER("accepted_low", low, "not known"),
    NUMBER("accepted_high", high, "not known"),
    YES_NO("passed", passed),
    {.key = NULL}};
#undef T

#define T verdict_evidence
const struct field result_evidence_fields[] = {TEXT("test", test),
                                               TEXT("expected", expected),
                                               TEXT("found", found),
                                               YES_NO("passed", passed),
                                               {.key = NULL}};
#undef T

#define T result_point
const struct field result_point_fields[] = {
    TEXT("id", id),
    TEXT("operator", operator_),
    TEXT("phase", phase),
    COUNT("batch", batch),
    BYTES("context", context),
    BYTES_OR("prompt", prompt, FIELD_EMPTY_OMIT, NULL),
    COUNT("layers", layers),
    TEXT("dtype", dtype),
    TEXT_OR("recipe", recipe, FIELD_EMPTY_OMIT, NULL),
    TEXT_OR("kv_dtype", kv_dtype, FIELD_EMPTY_ABSENT, "this operator reads no KV cache"),
    TEXT_OR("isa", isa, FIELD_EMPTY_ABSENT, "not told by the backend"),
    TEXT_OR("backend", backend, FIELD_EMPTY_ABSENT, "not told"),
    COUNT("threads", threads),
    TEXT_OR("smt", smt, FIELD_EMPTY_OMIT, NULL),
    TEXT_OR("placement", placement, FIELD_EMPTY_ABSENT, "not told"),
    BYTES_OR("page_bytes", page_bytes, FIELD_EMPTY_ABSENT, "the kernel does not tell"),
    GROUP("shape", shape_fields),
    TEXT_OR("resident_level", resident_level, FIELD_EMPTY_ABSENT, "not known"),
    BYTES_OR("working_set_bytes", working_set_bytes, FIELD_EMPTY_ABSENT, "not known"),
    WORD("op_kind", point_kind, find_point_kind, "float or int"),
    MEASURED("seconds", seconds),
    NUMBER("time_share_fraction", time_share_fraction, "not all operators of the step were run"),
    NUMBER("flop", flop, "not modelled"),
    NUMBER("flop_executed", flop_executed, "not modelled"),
    NUMBER("bytes_modelled", bytes_modelled, "not modelled"),
    NUMBER("flop_per_byte_predicted", flop_per_byte_predicted, "not modelled"),
    DERIVED_BY("flop_per_byte_counted", flop_per_byte_counted, counted_from),
    DERIVED("flop_per_s", flop_per_s, FROM_FLOP | FROM_SECONDS),
    DERIVED("bytes_per_s_modelled", bytes_per_s_modelled, FROM_BYTES | FROM_SECONDS),
    DERIVED("bytes_per_s_counted", bytes_per_s_counted, FROM_BYTES_COUNTED | FROM_SECONDS),
    GROUP("counted", counted_fields),
    CUSTOM("counters", counters_to_json, counters_from_json),
    GROUP("roof", roof_fields),
    DERIVED("roof_fraction", roof_fraction, FROM_FLOP | FROM_BYTES | FROM_SECONDS),
    DERIVED_BY("roof_fraction_counted", roof_fraction_counted, counted_fraction_from),
    WORD("bound", bound_word, find_bound,
         "memory_saturated, memory_core_limited, compute, latency or unknown"),
    MANY("evidence", FIELD_ARRAY, evidence, evidence_count, verdict_evidence, EVIDENCE_MAX,
         result_evidence_fields),
    GROUP("twins", twins_fields),
    GROUP("result_check", check_fields),
    YES_NO("verified", verified),
    {"disturbed", FIELD_BOOL, FIELD_EMPTY_OMIT, AT(disturbed)},
    {.key = NULL}};
#undef T

#define T result_bandwidth
static const struct field bandwidth_fields[] = {
    TEXT("level", level),
    TEXT("kernel", kernel),
    TEXT("variant", variant),
    COUNT("threads", threads),
    TEXT("cpus", cpus),
    TEXT("placement", placement),
    BYTES("working_set_bytes", working_set_bytes),
    BYTES_OR("page_bytes", page_bytes, FIELD_EMPTY_ABSENT, "the kernel does not tell"),
    MEASURED("bytes_per_s", bytes_per_s),
    TEXT_OR("unsteady", unsteady, FIELD_EMPTY_OMIT, NULL),
    {.key = NULL}};
#undef T

#define T result_compute
static const struct field compute_fields[] = {
    TEXT("dtype", dtype),
    TEXT("kind", kind),
    TEXT("class", class_),
    TEXT("backend", backend),
    COUNT("threads", threads),
    TEXT_OR("shape", shape, FIELD_EMPTY_ABSENT, "registers only: the kernel has no shape"),
    WORD("op_kind", compute_kind, find_compute_kind, "float or int"),
    YES_NO("verified", verified),
    MEASURED("flop_per_s", flop_per_s),
    MEASURED("core_hz", core_hz),
    MEASURED("theoretical_flop_per_s", theoretical_flop_per_s),
    TEXT_OR("unsteady", unsteady, FIELD_EMPTY_OMIT, NULL),
    {.key = NULL}};
#undef T

#define T result_latency
static const struct field latency_fields[] = {
    TEXT("level", level),
    BYTES("working_set_bytes", working_set_bytes),
    BYTES_OR("page_bytes", page_bytes, FIELD_EMPTY_ABSENT, "the kernel does not tell"),
    MEASURED("seconds", seconds),
    TEXT_OR("unsteady", unsteady, FIELD_EMPTY_OMIT, NULL),
    {.key = NULL}};
#undef T

#define T result_loaded_latency
static const struct field loaded_fields[] = {COUNT("threads", threads),
                                             MEASURED("bytes_per_s", bytes_per_s),
                                             MEASURED("seconds", seconds),
                                             {.key = NULL}};
#undef T

#define T result_numa
static const struct field numa_fields[] = {TEXT("kernel", kernel),
                                           COUNT("threads", threads),
                                           COUNT("from", from),
                                           COUNT("to", to),
                                           MEASURED("bytes_per_s", bytes_per_s),
                                           {.key = NULL}};
#undef T

#define T result_scaling
static const struct field scaling_fields[] = {TEXT("level", level),
                                              TEXT("kernel", kernel),
                                              COUNT("threads", threads),
                                              MEASURED("bytes_per_s", bytes_per_s),
                                              {.key = NULL}};
#undef T

#define T result_weight_read
static const struct field weight_read_fields[] = {TEXT("dtype", dtype),
                                                  COUNT("batch", batch),
                                                  COUNT("threads", threads),
                                                  TEXT("class", class_),
                                                  BYTES("working_set_bytes", working_set_bytes),
                                                  MEASURED("bytes_per_s", bytes_per_s),
                                                  {.key = NULL}};
#undef T

#define T result_part_time
static const struct field part_time_fields[] = {TEXT("operator", operator_),
                                                TEXT("phase", phase),
                                                TEXT("dtype", dtype),
                                                COUNT("batch", batch),
                                                BYTES("tokens", tokens),
                                                COUNT("kv_heads", kv_heads),
                                                COUNT("group", group),
                                                COUNT("width", width),
                                                COUNT("threads", threads),
                                                MEASURED("seconds", seconds),
                                                {.key = NULL}};
#undef T

#define T result_machine
const struct field result_machine_fields[] = {
    TEXT_OR("profile_id", profile_id, FIELD_EMPTY_ABSENT, "measured for this run, not stored"),
    MANY("bandwidth", FIELD_LIST, bandwidth, bandwidth_count, result_bandwidth, ROOFS_MAX,
         bandwidth_fields),
    MEASURED("write_allocate_factor", write_allocate_factor),
    MANY("latency", FIELD_LIST, latency, latency_count, result_latency, ROOFS_MAX, latency_fields),
    MANY("loaded_latency", FIELD_LIST, loaded_latency, loaded_latency_count, result_loaded_latency,
         ROOFS_MAX, loaded_fields),
    MANY("numa", FIELD_LIST, numa, numa_count, result_numa, ROOFS_MAX, numa_fields),
    MANY("scaling", FIELD_LIST, scaling, scaling_count, result_scaling, ROOFS_MAX, scaling_fields),
    MEASURED("saturating_threads", saturating_threads),
    {"weight_reads", FIELD_LIST, FIELD_EMPTY_OMIT, AT(weight_reads),
     .count_offset = offsetof(struct T, weight_read_count),
     .element_bytes = sizeof(struct result_weight_read), .max = ROOFS_MAX,
     .fields = weight_read_fields},
    {"part_times", FIELD_LIST, FIELD_EMPTY_OMIT, AT(part_times),
     .count_offset = offsetof(struct T, part_time_count),
     .element_bytes = sizeof(struct result_part_time), .max = ROOFS_MAX,
     .fields = part_time_fields},
    MANY("compute", FIELD_LIST, compute, compute_count, result_compute, ROOFS_MAX, compute_fields),
    {.key = NULL}};
#undef T

#define T result_crossover
const struct field result_crossover_fields[] = {TEXT("dtype", dtype),
                                                MODELLED("predicted_linears", predicted_linears),
                                                MODELLED("predicted_step", predicted_step),
                                                DERIVED("measured", measured, FROM_SECONDS),
                                                {.key = NULL}};
#undef T

#define T result_warning
const struct field result_warning_fields[] = {TEXT("code", code),
                                              TEXT("text", text),
                                              TEXT_OR("try", try_, FIELD_EMPTY_NULL, NULL),
                                              {.key = NULL}};
#undef T

#define T result_claim
const struct field result_claim_fields[] = {TEXT("verdict", verdict),
                                            TEXT("claim", claim),
                                            TEXT("finding", finding),
                                            MANY("evidence", FIELD_ARRAY, evidence, evidence_count,
                                                 verdict_evidence, EVIDENCE_MAX,
                                                 result_evidence_fields),
                                            {.key = NULL}};
#undef T

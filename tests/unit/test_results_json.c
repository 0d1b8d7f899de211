#include "profiler/results_json.h"
#include "roofline/units.h"
#include "tests/test.h"

#include <jansson.h>

#include <stdlib.h>

static char *arguments[] = {(char[]){"lmroof"}, (char[]){"run"}, NULL};
static const struct command_context context = {.argc = 2, .argv = arguments};

static json_t *load_example(void)
{
    json_error_t error;
    json_t *document = json_load_file(TESTS_DIR "/documents/run.json", 0, &error);
    if (document == NULL) {
        fail_msg("documents/run.json: %s", error.text);
    }
    return document;
}

// Both have the same keys, texts and numbers; path says where they differ.
static void assert_same(const char *path, json_t *got, json_t *want)
{
    char inner[512];
    const char *key = NULL;
    json_t *member = NULL;
    if (json_is_number(want) && json_is_number(got)) {
        double difference = fabs(json_number_value(got) - json_number_value(want));
        if (!(difference <= 1e-11 * fabs(json_number_value(want)))) {
            fail_msg("%s: got %.17g, want %.17g", path, json_number_value(got),
                     json_number_value(want));
        }
        return;
    }
    if (json_typeof(got) != json_typeof(want)) {
        fail_msg("%s: got type %d, want %d", path, (int)json_typeof(got), (int)json_typeof(want));
    }
    if (json_is_object(want)) {
        json_object_foreach(want, key, member)
        {
            (void)snprintf(inner, sizeof inner, "%s.%s", path, key);
            if (json_object_get(got, key) == NULL) {
                fail_msg("%s: missing", inner);
            }
            assert_same(inner, json_object_get(got, key), member);
        }
        if (json_object_size(got) != json_object_size(want)) {
            fail_msg("%s: has keys that it should not", path);
        }
    } else if (json_is_array(want)) {
        assert_int_equal(json_array_size(got), json_array_size(want));
        for (size_t i = 0; i < json_array_size(want); i++) {
            (void)snprintf(inner, sizeof inner, "%s[%zu]", path, i);
            assert_same(inner, json_array_get(got, i), json_array_get(want, i));
        }
    } else if (!json_equal(got, want)) {
        fail_msg("%s: differs", path);
    }
}

static void what_is_read_is_written_again(void **state)
{
    (void)state;
    json_t *want = load_example();
    struct result_run run = {0};
    ASSERT_OK(run_from_json(&run, want, "run.json"));
    json_t *got = run_document(&run, &context);
    assert_non_null(got);
    // The envelope's argv and version are the writer's own.
    assert_int_equal(json_object_set_new(got, "argv", json_incref(json_object_get(want, "argv"))),
                     0);
    assert_int_equal(json_object_set_new(got, "tool", json_incref(json_object_get(want, "tool"))),
                     0);
    assert_same("", got, want);
    json_decref(got);
    json_decref(want);
    result_run_free(&run);
}

static void fields_arrive_in_their_places(void **state)
{
    (void)state;
    struct result_run run = {0};
    ASSERT_OK(run_read(&run, NULL, NULL, TESTS_DIR "/documents/run.json"));
    assert_string_equal(run.model_name, "llama-3.2-1b");
    assert_string_equal(run.command_line, "lmroof run -m llama-3.2-1b --batch 1,4,16,64");
    assert_true(run.complete);
    assert_int_equal(run.point_count, 6);
    const struct result_point *point = &run.points[1];
    assert_string_equal(point->id, "decode/gate_up/bf16/b1/c512");
    assert_string_equal(point->operator_, "gate_up");
    assert_int_equal(point->n, 16384);
    ASSERT_CLOSE(point->flop, 2.0 * 16384 * 2048, 1e-15);
    ASSERT_CLOSE(point->bytes_modelled, 2.0 * 16384 * 2048, 1e-15);
    assert_int_equal(point->seconds.n, 9);
    assert_int_equal(point->seconds.origin, ORIGIN_TIMED);
    assert_true(point->seconds.best <= point->seconds.value);
    ASSERT_CLOSE(point->flop_per_s.value, point->flop / point->seconds.value, 1e-12);
    assert_int_equal(point->flop_per_s.origin, ORIGIN_TIMED);
    assert_int_equal(point->flop_per_byte_counted.origin, ORIGIN_ABSENT);
    assert_int_equal(point->flop_per_byte_counted.absence.state, ABSENT_UNSUPPORTED);
    assert_true(isnan(point->flop_per_byte_counted.value));
    assert_int_equal(point->bound, BOUND_MEMORY_CORE_LIMITED);
    assert_int_equal(point->evidence_count, 3);
    const struct result_point *counted = &run.points[4];
    assert_int_equal(counted->counter_count, 2);
    assert_string_equal(counted->counters[0].metric, "dram_read_bytes");
    ASSERT_CLOSE(counted->counters[0].running_fraction, 0.81, 1e-15);
    assert_int_equal(counted->counters[1].value.absence.state, ABSENT_NOT_PERMITTED);
    assert_int_equal(counted->flop_per_byte_counted.origin, ORIGIN_COUNTED);
    assert_int_equal(run.machine.bandwidth_count, 6);
    assert_int_equal(run.step_count, 4);
    assert_int_equal(run.steps[0].ttft_seconds.origin, ORIGIN_ABSENT);
    assert_int_equal(run.host_count, 7);
    assert_string_equal(run.host[0].name, "name");
    result_run_free(&run);
}

// Every null has its reason in the same object; only a warning's or reason's "try" and an unknown
// interval may be null without.
static void assert_nulls_explained(json_t *value)
{
    const char *key = NULL;
    json_t *member = NULL;
    size_t i = 0;
    json_object_foreach(value, key, member)
    {
        if (json_is_null(member) && strcmp(key, "try") != 0 && strcmp(key, "ci95") != 0) {
            json_t *why = json_object_get(json_object_get(value, "why_absent"), key);
            if (json_string_length(json_object_get(why, "text")) == 0) {
                fail_msg("%s is null without a reason", key);
            }
        }
        assert_nulls_explained(member);
    }
    json_array_foreach(value, i, member)
    {
        assert_nulls_explained(member);
    }
}

static void a_list_that_is_null_is_named(void **state)
{
    (void)state;
    json_t *document = load_example();
    assert_int_equal(json_object_set_new(document, "points", json_null()), 0);
    struct result_run run = {.complete = false};
    struct status status = run_from_json(&run, document, "a.json");
    json_decref(document);
    assert_int_equal(status.code, STATUS_INVALID);
    if (strstr(status.detail, "points: found null, accepted an array") == NULL) {
        fail_msg("%s", status.detail);
    }
    result_run_free(&run);
}

static void nothing_measured_is_null_with_a_reason(void **state)
{
    (void)state;
    struct result_point point = {.time_share_fraction = (double)NAN,
                                 .max_relative_error = (double)INFINITY};
    (void)snprintf(point.id, sizeof point.id, "bad \xff\xfe text");
    point.seconds = reading_absent(ABSENT_FAILED, "differs from its reference", NULL);
    point.flop_per_s = reading_plain((double)NAN, ORIGIN_TIMED);
    struct result_compute compute = {.dtype = "f32"};
    struct result_run run = {
        .points = &point, .point_count = 1, .machine = {.compute = &compute, .compute_count = 1}};
    json_t *document = run_document(&run, &context);
    assert_nulls_explained(document);
    json_t *written = json_array_get(json_object_get(document, "points"), 0);
    assert_true(json_is_null(json_object_get(written, "seconds")));
    assert_true(json_is_null(json_object_get(written, "flop_per_s")));
    assert_true(json_is_null(json_object_get(written, "page_bytes")));
    json_t *why = json_object_get(json_object_get(written, "why_absent"), "seconds");
    assert_string_equal(json_string_value(json_object_get(why, "state")), "failed");
    struct result_run again = {0};
    ASSERT_OK(run_from_json(&again, document, "empty.json"));
    assert_int_equal(again.points[0].seconds.absence.state, ABSENT_FAILED);
    assert_int_equal(again.step_count, 0);
    result_run_free(&again);
    json_decref(document);
}

static void machine_documents_have_no_points(void **state)
{
    (void)state;
    struct result_run run = {0};
    struct result_run again = {0};
    ASSERT_OK(run_read(&run, NULL, NULL, TESTS_DIR "/documents/run.json"));
    json_t *document = machine_document(&run, &context);
    assert_null(json_object_get(document, "points"));
    ASSERT_OK(run_from_json(&again, document, "machine.json"));
    assert_int_equal(again.point_count, 0);
    assert_int_equal(again.machine.compute_count, run.machine.compute_count);
    ASSERT_CLOSE(again.machine.bandwidth[3].bytes_per_s.value,
                 run.machine.bandwidth[3].bytes_per_s.value, 1e-15);
    json_decref(document);
    result_run_free(&run);
    result_run_free(&again);
}

static void bad_documents_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *want;
        int line;
    } cases[] = {
        {"", "f: not a whole JSON document: line 1", __LINE__},
        {"{\"schema\": \"lmroof.run/1\", ", "f: not a whole JSON document", __LINE__},
        {"[]", "f: found an array of 0, accepted a document of lmroof", __LINE__},
        {"{}", "f: schema: found nothing, accepted \"lmroof.run/1\"", __LINE__},
        {"{\"schema\": \"lmroof.run/2\"}", "f: schema: found \"lmroof.run/2\"", __LINE__},
        {"{\"schema\": 1e999}", "line 1", __LINE__},
        {"{\"schema\": NaN}", "line 1", __LINE__},
        {"{\"schema\": \"lmroof.run/1\"}", "f: started_at: found nothing", __LINE__},
        {"{\"schema\":\"lmroof.run/1\",\"started_at\":\"x\"}", "f: complete: found nothing",
         __LINE__},
        {"{\"schema\":\"lmroof.run/1\",\"started_at\":\"x\",\"complete\":true,\"host\":{},"
         "\"conditions\":{},\"machine\":{\"bandwidth\":[{\"level\":\"L1\",\"kernel\":7}]}}",
         "f: machine.bandwidth[0].kernel: found 7, accepted text", __LINE__},
        {"{\"schema\":\"lmroof.run/1\",\"started_at\":\"x\",\"complete\":true,\"host\":{},"
         "\"conditions\":{},\"machine\":{\"write_allocate_factor\":{\"value\":1,\"ci95\":[2,1]}}}",
         "f: machine.write_allocate_factor.ci95: found an array of 2, accepted [low, high]",
         __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct result_run run = {0};
        struct status status = run_parse(&run, cases[i].text, strlen(cases[i].text), "f");
        result_run_free(&run);
        if (status.code != STATUS_INVALID || strstr(status.detail, cases[i].want) == NULL) {
            fail_msg("line %d: got '%s', want '%s'", cases[i].line, status.detail, cases[i].want);
        }
    }
}

// Reading must end in a status, never in a crash, whatever stands anywhere in the document.
static void try_everything(json_t *document, json_t *at, size_t *tried)
{
    static const char *const texts[] = {"null", "\"\\u0001x\"", "-1",  "1e300", "[]",
                                        "{}",   "true",         "[1]", "[{}]"};
    void *iterator = json_object_iter(at);
    for (; iterator != NULL; iterator = json_object_iter_next(at, iterator)) {
        json_t *original = json_incref(json_object_iter_value(iterator));
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            json_object_iter_set_new(at, iterator, json_loads(texts[i], JSON_DECODE_ANY, NULL));
            struct result_run run = {0};
            struct status status = run_from_json(&run, document, "f");
            if (status.code == STATUS_OK) {
                json_decref(run_document(&run, &context));
            } else {
                assert_int_equal(status.code, STATUS_INVALID);
            }
            result_run_free(&run);
            (*tried)++;
        }
        json_object_iter_set_new(at, iterator, original);
        try_everything(document, original, tried);
    }
    for (size_t i = 0; i < json_array_size(at); i++) {
        try_everything(document, json_array_get(at, i), tried);
    }
}

static void any_value_anywhere_is_survived(void **state)
{
    (void)state;
    json_t *document = load_example();
    // One element of each list has every key; more only cost time.
    json_t *lists[] = {json_object_get(document, "points"), json_object_get(document, "steps"),
                       json_object_get(json_object_get(document, "machine"), "bandwidth")};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (size_t last = json_array_size(lists[i]) - 1; last > 0; last--) {
            (void)json_array_remove(lists[i], i == 0 && last == 1 ? 0 : last - (i == 0));
        }
    }
    size_t tried = 0;
    try_everything(document, document, &tried);
    assert_true(tried > 1000);
    json_decref(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written_again),
        cmocka_unit_test(fields_arrive_in_their_places),
        cmocka_unit_test(a_list_that_is_null_is_named),
        cmocka_unit_test(nothing_measured_is_null_with_a_reason),
        cmocka_unit_test(machine_documents_have_no_points),
        cmocka_unit_test(bad_documents_are_named),
        cmocka_unit_test(any_value_anywhere_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

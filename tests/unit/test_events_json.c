#include "profiler/events_json.h"
#include "tests/fakeroot.h"

// Reads text as an event file; the message of a failure is left in *status.
static struct event_file *read_text(struct status *status, const char *text)
{
    struct fakeroot root;
    char path[300];
    struct event_file *file = NULL;
    fakeroot_make(&root);
    fakeroot_write(&root, "/events.json", text);
    (void)snprintf(path, sizeof path, "%s/events.json", root.dir);
    *status = event_file_read(&file, path);
    fakeroot_remove(&root);
    return file;
}

#define TOP "{\"schema\": \"lmroof.events/1\", \"name\": \"zen9\", "
#define ROW "{\"metric\": \"cycles\", \"config\": \"0x76\", \"weight\": 1}"

static void whole_file_is_read(void **state)
{
    (void)state;
    struct status status;
    struct event_file *file = read_text(
        &status,
        TOP "\"family\": \"AMD Zen 9\", \"pmus\": \"amd64_zen9\", \"counters\": 6, \"width_bits\": "
            "48, \"core_pmu\": \"cpu_core\", \"source\": \"PPR\", \"absent\": {\"flop_f16\": \"no "
            "such unit\"}, \"match\": [{\"vendor\": \"AuthenticAMD\", \"family\": 27, \"model\": "
            "[0, 15]}], \"events\": [" ROW ", {\"metric\": \"flop_f32\", \"event\": \"FLOPS:ANY\", "
            "\"config\": 3843, \"config1\": 7, \"weight\": 1, \"rank\": 1, \"per_vector\": true, "
            "\"counts\": [\"f32-256\", \"f64-512\"], \"note\": \"all\"}, {\"metric\": "
            "\"dram_read_bytes\", \"type\": \"sysfs\", \"pmu\": \"amd_umc_*\", \"terms\": "
            "\"event=0x0a,rdwrmask=1\", \"papi_pmu\": \"umc*\", \"weight\": 64.0}]}");
    ASSERT_OK(status);
    const struct event_table *table = event_file_table(file);
    assert_string_equal(table->name, "zen9");
    assert_string_equal(table->pmus, "amd64_zen9");
    assert_string_equal(table->core_pmu, "cpu_core");
    assert_string_equal(table->absent[METRIC_FLOP_F16], "no such unit");
    assert_int_equal(table->row_count, 3);
    assert_int_equal(table->rows[0].config, 0x76);
    assert_int_equal(table->rows[0].type, EVENT_TYPE_RAW);
    assert_int_equal(table->rows[1].config, 3843);
    assert_int_equal(table->rows[1].config1, 7);
    assert_int_equal(table->rows[1].rank, 1);
    assert_true(table->rows[1].per_vector);
    assert_int_equal(table->rows[1].work, KNOWN_BIT(KNOWN_F32_256) | KNOWN_BIT(KNOWN_F64_512));
    assert_string_equal(table->rows[2].terms, "event=0x0a,rdwrmask=1");
    assert_int_equal(event_row_scope(&table->rows[2]), SCOPE_SYSTEM);
    const struct machine mine = {.vendor = "AuthenticAMD", .family = 27, .model = 3};
    const struct machine other = {.vendor = "AuthenticAMD", .family = 27, .model = 16};
    assert_true(event_table_matches(table, &mine));
    assert_false(event_table_matches(table, &other));
    event_file_free(file);
}

// Each mistake is one line that names the key and what is accepted.
static const struct {
    int line;
    const char *text;
    const char *named;
} cases[] = {
    {__LINE__, "", "not JSON"},
    {__LINE__, "[]", "an object"},
    {__LINE__, "{\"schema\": \"lmroof.events/2\"}", "lmroof.events/1"},
    {__LINE__, "{}", "schema: found nothing"},
    {__LINE__, TOP "\"evnets\": []}", "evnets"},
    {__LINE__, TOP "\"events\": []}", "events"},
    {__LINE__, TOP "\"events\": 7}", "events"},
    {__LINE__, TOP "\"events\": [7]}", "events[0]"},
    {__LINE__, TOP "\"name\": \"a\", \"name\": \"b\", \"events\": [" ROW "]}", "duplicate"},
    {__LINE__, TOP "\"counters\": -1, \"events\": [" ROW "]}", "counters"},
    {__LINE__, TOP "\"counters\": 6.5, \"events\": [" ROW "]}", "counters"},
    {__LINE__, TOP "\"width_bits\": 65, \"events\": [" ROW "]}", "width_bits"},
    {__LINE__, TOP "\"pmus\": \"a\\nb\", \"events\": [" ROW "]}", "pmus"},
    {__LINE__, TOP "\"absent\": {\"flops\": \"x\"}, \"events\": [" ROW "]}", "absent"},
    {__LINE__, TOP "\"match\": [{\"family\": 6}], \"events\": [" ROW "]}", "match[0].vendor"},
    {__LINE__, TOP "\"match\": [{\"vendor\": \"x\", \"model\": [9, 3]}], \"events\": [" ROW "]}",
     "match[0].model"},
    {__LINE__, TOP "\"events\": [" ROW ", {\"weight\": 1}]}", "events[1].metric"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"flops\", \"weight\": 1}]}", "flops"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\"}]}", "events[0].weight"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 0}]}", "weight"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1e300}]}", "weight"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": \"1\"}]}", "weight"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1, \"config\": \"0xZ\"}]}",
     "config"},
    {__LINE__,
     TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1, \"config\": "
         "\"0x1ffffffffffffffff\"}]}",
     "config"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1, \"config\": \"-1\"}]}",
     "config"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1, \"rank\": 6}]}", "rank"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1, \"type\": \"soft\"}]}",
     "raw, hardware, sysfs or papi"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1, \"type\": \"sysfs\"}]}",
     "pmu"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1, \"pmu\": \"x\"}]}",
     "type"},
    {__LINE__,
     TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1, \"type\": \"sysfs\", \"pmu\": "
         "\"../../etc\"}]}",
     "without '/'"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1, \"type\": \"papi\"}]}",
     "event"},
    {__LINE__,
     TOP "\"events\": [{\"metric\": \"flop_f32\", \"weight\": 1, \"counts\": [\"f32-1024\"]}]}",
     "f32-1024"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"flop_f32\", \"weight\": 1, \"counts\": 3}]}",
     "counts"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"flop_f32\", \"weight\": 1, \"per_vector\": 1}]}",
     "per_vector"},
    {__LINE__, TOP "\"events\": [{\"metric\": \"cycles\", \"weight\": 1, \"scale\": 2}]}", "scale"},
};

static void mistakes_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct status status;
        struct event_file *file = read_text(&status, cases[i].text);
        if (status.code != STATUS_INVALID || file != NULL ||
            strstr(status.detail, cases[i].named) == NULL ||
            strstr(status.detail, "events.json") == NULL || strchr(status.detail, '\n') != NULL) {
            fail_msg("line %d: status %d: %s", cases[i].line, (int)status.code, status.detail);
        }
    }
}

static void sizes_are_bounded(void **state)
{
    (void)state;
    enum { ROWS = EVENT_FILE_ROWS_MAX + 1 };
    char *text = calloc(1, 128 + ROWS * (sizeof ROW + 1));
    assert_non_null(text);
    char *end = stpcpy(text, TOP "\"events\": [");
    for (int i = 0; i < ROWS; i++) {
        end = stpcpy(end, i == 0 ? ROW : "," ROW);
    }
    (void)stpcpy(end, "]}");
    struct status status;
    assert_null(read_text(&status, text));
    assert_non_null(strstr(status.detail, "1 to 512 events"));
    free(text);
    struct event_file *file = NULL;
    struct status missing = event_file_read(&file, "/no/such/file.json");
    assert_int_equal(missing.code, STATUS_INVALID);
    struct status endless = event_file_read(&file, "/dev/zero");
    assert_int_equal(endless.code, STATUS_INVALID);
    assert_non_null(strstr(endless.detail, "1 MiB"));
    assert_null(event_file_table(NULL));
    event_file_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_file_is_read),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(sizes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

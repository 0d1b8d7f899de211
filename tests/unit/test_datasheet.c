#include "profiler/datasheet.h"
#include "profiler/machine_rates.h"
#include "tests/test.h"

#include <stdlib.h>

// Every built-in sheet parses, is found by its name, and gives roofs.
static void test_builtins(void **state)
{
    size_t count = 0;
    (void)state;
    for (const struct embedded_file *file = datasheet_builtins(); file->name != NULL; file++) {
        struct datasheet sheet;
        struct result_run profile = {.points = NULL};
        ASSERT_OK(datasheet_find(&sheet, file->name));
        assert_string_equal(sheet.name, file->name);
        ASSERT_OK(datasheet_profile(&profile, &sheet));
        const struct result_bandwidth *read = machine_read_roof(&profile.machine);
        assert_non_null(read);
        assert_int_equal(read->bytes_per_s.origin, ORIGIN_DATASHEET);
        assert_true(read->bytes_per_s.value > 1e10 && read->bytes_per_s.value < 2e12);
        assert_non_null(machine_peak(&profile.machine, DTYPE_F32));
        result_run_free(&profile);
        count++;
    }
    assert_true(count >= 30);
}

// 12 x 8 B x 4800 MT/s; 96 x 32 FLOP x 3.7 GHz, bf16 twice, int8 four times that.
static void test_epyc(void **state)
{
    struct datasheet sheet;
    struct result_run profile = {.points = NULL};
    (void)state;
    ASSERT_OK(datasheet_find(&sheet, "epyc-9654"));
    ASSERT_OK(datasheet_profile(&profile, &sheet));
    ASSERT_CLOSE(machine_read_roof(&profile.machine)->bytes_per_s.value, 460.8e9, 1e-12);
    ASSERT_CLOSE(machine_peak(&profile.machine, DTYPE_F32)->flop_per_s.value, 11.3664e12, 1e-12);
    ASSERT_CLOSE(machine_peak(&profile.machine, DTYPE_F16)->flop_per_s.value, 11.3664e12, 1e-12);
    ASSERT_CLOSE(machine_peak(&profile.machine, DTYPE_BF16)->flop_per_s.value, 22.7328e12, 1e-12);
    ASSERT_CLOSE(machine_peak(&profile.machine, DTYPE_Q4_0)->flop_per_s.value, 45.4656e12, 1e-12);
    ASSERT_CLOSE(machine_peak(&profile.machine, DTYPE_STORED)->flop_per_s.value, 45.4656e12, 1e-12);
    assert_null(machine_peak(&profile.machine, DTYPE_F64));
    result_run_free(&profile);
}

static void test_suffixes(void **state)
{
    struct datasheet sheet;
    (void)state;
    ASSERT_OK(datasheet_find(&sheet, "c7a.48xlarge/96@5600"));
    assert_string_equal(sheet.name, "c7a.48xlarge/96@5600");
    assert_int_equal(datasheet_cores(&sheet), 96);
    ASSERT_CLOSE(datasheet_bytes_per_s(&sheet), 24 * 8 * 5.6e9, 1e-12);
    ASSERT_OK(datasheet_find(&sheet, "c7a.48xlarge/7")); // all channels stay in reach
    assert_int_equal(datasheet_cores(&sheet), 7);
    ASSERT_CLOSE(datasheet_bytes_per_s(&sheet), 24 * 8 * 4.8e9, 1e-12);
    static const char *const bad[] = {
        "epyc",       "epyc-9654/0",      "epyc-9654/97",  "epyc-9654/x",
        "epyc-9654@", "epyc-9654@99",     "epyc-9654@1e9", "",
        "/3",         "epyc-9654@4800/8", "EPYC-9654"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (datasheet_find(&sheet, bad[i]).code != STATUS_INVALID) {
            fail_msg("'%s' was accepted", bad[i]);
        }
    }
}

static void expect_warning(const char *word, const char *words, bool there)
{
    struct datasheet sheet;
    struct result_run profile = {.points = NULL};
    ASSERT_OK(datasheet_find(&sheet, word));
    ASSERT_OK(datasheet_profile(&profile, &sheet));
    assert_int_equal(profile.warning_count, 1);
    if ((strstr(profile.warnings[0].text, words) != NULL) != there) {
        fail_msg("%s: %s", word, profile.warnings[0].text);
    }
    result_run_free(&profile);
}

// What nobody could read when the sheet was written is said to whoever uses it.
static void test_recalled(void **state)
{
    (void)state;
    expect_warning("grace", "the source was not opened: cores, memory, max_hz", true);
    expect_warning("grace@8533", "the source was not opened: cores, max_hz", true);
    expect_warning("xeon-8380", "the source was not opened: cores, max_hz", true);
    expect_warning("epyc-9654", "opened", false);
}

// A sheet with one text replaced by another.
static struct status parse_changed(const char *from, const char *to)
{
    const struct embedded_file *file = datasheet_builtins();
    while (strcmp(file->name, "epyc-9654") != 0) {
        file++;
    }
    char text[4096];
    const char *at = strstr((const char *)file->bytes, from);
    assert_non_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - (const char *)file->bytes),
                   (const char *)file->bytes, to, at + strlen(from));
    struct datasheet sheet;
    return datasheet_parse(&sheet, text, strlen(text), "sheet");
}

static void test_bad_sheets(void **state)
{
    static const struct {
        const char *from, *to, *words;
    } cases[] = {
        {"\"sockets\": 1", "\"sockets\": 0", "sockets: found 0"},
        {"\"sockets\": 1", "\"socket\": 1", "sockets"},
        {"\"cores_per_socket\": 96", "\"cores_per_socket\": \"96\"", "cores_per_socket"},
        {"\"cores_per_socket\": 96", "\"cores_per_socket\": 4294967295", "accepted 1 to 4096"},
        {"4800000000", "4800", "transfers_per_s: found 4800"},
        {"3700000000", "null", "max_hz"},
        {"\"f32\": 32", "\"f32\": -32", "f32"},
        {"\"bf16\": 64", "\"bf16\": 1e300", "bf16"},
        {"\"max_hz\": \"firmware", "\"max\": \"firmware", "sources.max_hz"},
        {"{", "", "JSON"},
        {"{", "[", "JSON"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct status status = parse_changed(cases[i].from, cases[i].to);
        if (status.code != STATUS_INVALID || strstr(status.detail, cases[i].words) == NULL) {
            fail_msg("case %zu: %d '%s'", i, (int)status.code, status.detail);
        }
    }
    assert_int_equal(parse_changed("\"bf16\": 64", "\"bf16\": null").code, STATUS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_builtins), cmocka_unit_test(test_epyc),
                                       cmocka_unit_test(test_suffixes),
                                       cmocka_unit_test(test_recalled),
                                       cmocka_unit_test(test_bad_sheets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "profiler/option_list.h"
#include "tests/test.h"

static void counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        uint64_t value;
    } cases[] = {
        {"1", true, 1},
        {"4096", true, 4096},
        {"007", true, 7},
        {"", false, 0},
        {"0", false, 0},
        {"4097", false, 0},
        {"-1", false, 0},
        {"+1", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"0x10", false, 0},
        {"99999999999999999999999", false, 0},
        {"18446744073709551617", false, 0}, // wraps to 1
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 0;
        struct status status = option_count(&value, "--n", cases[i].text, 1, 4096);
        if ((status.code == STATUS_OK) != cases[i].good) {
            fail_msg("'%s': %s", cases[i].text, status.detail);
        }
        if (cases[i].good) {
            assert_int_equal(value, cases[i].value);
        } else {
            assert_non_null(strstr(status.detail, "--n"));
            assert_non_null(strstr(status.detail, "1..4096"));
        }
    }
}

static void lists(void **state)
{
    (void)state;
    struct option_counts list;
    ASSERT_OK(option_count_list(&list, "--batch", "1,16,4", 1, 64));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.values[1], 16); // the order given
    static const char *const bad[] = {"", ",", "1,", ",1", "1,,2", "1,x", "1;2", "1,65"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(option_count_list(&list, "--batch", bad[i], 1, 64).code, STATUS_INVALID);
    }
    char many[2 * OPTION_LIST_MAX + 2];
    for (size_t i = 0; i < sizeof many - 1; i++) {
        many[i] = i % 2 == 0 ? '1' : ',';
    }
    many[sizeof many - 1] = '\0'; // one more than accepted
    assert_int_equal(option_count_list(&list, "--batch", many, 1, 64).code, STATUS_INVALID);
    many[sizeof many - 3] = '\0';
    ASSERT_OK(option_count_list(&list, "--batch", many, 1, 64));
    assert_int_equal(list.count, OPTION_LIST_MAX);
}

static void positive_numbers(void **state)
{
    (void)state;
    double value = 0;
    ASSERT_OK(option_positive(&value, "--peak", "312e12"));
    ASSERT_CLOSE(value, 312e12, 0);
    static const char *const bad[] = {"",      "0",  "-1",   "nan", "inf",
                                      "1e999", "1x", "0x10", " 1",  "1 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(option_positive(&value, "--peak", bad[i]).code, STATUS_INVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(lists),
        cmocka_unit_test(positive_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "roofline/status.h"
#include "tests/test.h"

#include <string.h>

static void error_keeps_code_and_text(void **state)
{
    (void)state;
    struct status status = status_error(STATUS_INVALID, "%s: %d", "key", 7);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_string_equal(status.detail, "key: 7");
    assert_false(status_is_ok(status));
}

static void control_characters_are_not_repeated(void **state)
{
    (void)state;
    struct status status = status_error(STATUS_INVALID, "\x1b[2Jname\n");
    assert_string_equal(status.detail, "?[2Jname?");
}

static void long_text_is_cut(void **state)
{
    (void)state;
    char text[2000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct status status = status_error(STATUS_SYSTEM, "%s", text);
    assert_int_equal(strlen(status.detail), sizeof status.detail - 1);
    status = status_prefix(status, "%s", text);
    assert_int_equal(strlen(status.detail), sizeof status.detail - 1);
}

static void prefix_adds_context_to_failures_only(void **state)
{
    (void)state;
    struct status status = status_prefix(status_error(STATUS_SYSTEM, "full"), "file %s", "a");
    assert_string_equal(status.detail, "file a: full");
    assert_true(status_is_ok(status_prefix(status_ok(), "file")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(error_keeps_code_and_text),
        cmocka_unit_test(control_characters_are_not_repeated),
        cmocka_unit_test(long_text_is_cut),
        cmocka_unit_test(prefix_adds_context_to_failures_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

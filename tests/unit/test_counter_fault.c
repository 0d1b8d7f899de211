#include "profiler/counter_fault.h"
#include "tests/test.h"

#include <errno.h>

// The table of the contract, row by row.
static void errno_becomes_state(void **state)
{
    (void)state;
    const struct {
        int line;
        int error;
        enum absent_state want;
    } cases[] = {
        {__LINE__, EACCES, ABSENT_NOT_PERMITTED},
        {__LINE__, EPERM, ABSENT_NOT_PERMITTED},
        {__LINE__, ENOENT, ABSENT_UNSUPPORTED},
        {__LINE__, ENODEV, ABSENT_UNSUPPORTED},
        {__LINE__, EOPNOTSUPP, ABSENT_UNSUPPORTED},
        {__LINE__, ENOSYS, ABSENT_UNSUPPORTED},
        {__LINE__, ENOSPC, ABSENT_NOT_SCHEDULED},
        {__LINE__, EINVAL, ABSENT_NOT_SCHEDULED},
        {__LINE__, EMFILE, ABSENT_FAILED},
        {__LINE__, ENOMEM, ABSENT_FAILED},
        {__LINE__, EIO, ABSENT_FAILED},
        {__LINE__, EBUSY, ABSENT_FAILED},
        {__LINE__, ESRCH, ABSENT_FAILED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum counter_fault fault = counter_fault_of_errno(cases[i].error);
        struct absence absence = counter_fault_absence(fault, "event", "do this");
        if (fault == FAULT_NONE || absence.state != cases[i].want ||
            strstr(absence.text, " (event)") == NULL || strcmp(absence.try_, "do this") != 0) {
            fail_msg("line %d: fault %d, state %s, text %s", cases[i].line, fault,
                     absent_state_name(absence.state), absence.text);
        }
    }
    assert_int_equal(counter_fault_of_errno(0), FAULT_NONE);
}

static void fault_becomes_state(void **state)
{
    (void)state;
    const struct {
        enum counter_fault fault;
        enum absent_state want;
    } cases[] = {
        {FAULT_NOT_ASKED, ABSENT_NOT_ASKED},
        {FAULT_NO_PART, ABSENT_UNSUPPORTED},
        {FAULT_NO_PMU, ABSENT_UNSUPPORTED},
        {FAULT_NO_EVENT, ABSENT_UNSUPPORTED},
        {FAULT_READ, ABSENT_FAILED},
        {FAULT_NEVER_RAN, ABSENT_NOT_SCHEDULED},
        {FAULT_RAN_LITTLE, ABSENT_NOT_SCHEDULED},
        {FAULT_NEGATIVE, ABSENT_FAILED},
        {FAULT_GUARDS, ABSENT_FAILED},
        {FAULT_MIGRATED, ABSENT_FAILED},
        {FAULT_LIES, ABSENT_FAILED_CERTIFICATE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct absence absence = counter_fault_absence(cases[i].fault, "", NULL);
        assert_int_equal(absence.state, cases[i].want);
        assert_true(absence.text[0] != '\0');
        assert_string_equal(absence.try_, "");
    }
}

static void running_fraction_decides(void **state)
{
    (void)state;
    assert_int_equal(counter_fault_of_running(0), FAULT_NEVER_RAN);
    assert_int_equal(counter_fault_of_running((double)NAN), FAULT_NEVER_RAN);
    assert_int_equal(counter_fault_of_running(0.3), FAULT_RAN_LITTLE);
    assert_int_equal(counter_fault_of_running(0.5), FAULT_NONE);
    assert_int_equal(counter_fault_of_running(0.8), FAULT_NONE);
    assert_int_equal(counter_fault_of_running(1), FAULT_NONE);
}

static void delta_knows_wraps_from_faults(void **state)
{
    (void)state;
    const uint64_t range48 = UINT64_C(1) << 48;
    const struct {
        int line;
        uint64_t before, after;
        unsigned width;
        enum counter_fault want;
        uint64_t delta;
    } cases[] = {
        {__LINE__, 5, 7, 0, FAULT_NONE, 2},
        {__LINE__, 0, UINT64_MAX, 0, FAULT_NONE, UINT64_MAX},
        {__LINE__, range48 - 100, 50, 48, FAULT_NONE, 150},
        {__LINE__, (UINT64_C(1) << 32) - 1, 0, 32, FAULT_NONE, 1},
        {__LINE__, 1000, 900, 48, FAULT_NEGATIVE, 0},                    // was low: no wrap
        {__LINE__, range48 / 2, range48 / 2 - 1, 48, FAULT_NEGATIVE, 0}, // nearly a whole turn
        {__LINE__, range48 + 5, 1, 48, FAULT_NEGATIVE, 0},               // beyond its own width
        {__LINE__, 1000, 900, 0, FAULT_NEGATIVE, 0},
        {__LINE__, 1000, 900, 64, FAULT_NEGATIVE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t delta = 0;
        enum counter_fault got =
            counter_delta(&delta, cases[i].before, cases[i].after, cases[i].width);
        if (got != cases[i].want || (got == FAULT_NONE && delta != cases[i].delta)) {
            fail_msg("line %d: fault %d, delta %llu", cases[i].line, got,
                     (unsigned long long)delta);
        }
    }
}

static void graver_fault_shows(void **state)
{
    (void)state;
    assert_int_equal(counter_fault_worse(FAULT_NONE, FAULT_READ), FAULT_READ);
    assert_int_equal(counter_fault_worse(FAULT_LIES, FAULT_READ), FAULT_LIES);
    assert_int_equal(counter_fault_worse(FAULT_NONE, FAULT_NONE), FAULT_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errno_becomes_state),      cmocka_unit_test(fault_becomes_state),
        cmocka_unit_test(running_fraction_decides), cmocka_unit_test(delta_knows_wraps_from_faults),
        cmocka_unit_test(graver_fault_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

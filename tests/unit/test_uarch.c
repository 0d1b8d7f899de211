#include "profiler/uarch.h"
#include "tests/test.h"

static void sourced_rates(void **state)
{
    (void)state;
    static const struct {
        const char *vendor;
        unsigned family;
        unsigned model;
        unsigned bytes;
        double want; // 0: not told
        int line;
    } cases[] = {
        {"AuthenticAMD", 25, 17, 64, 1, __LINE__},  {"AuthenticAMD", 25, 17, 32, 2, __LINE__},
        {"AuthenticAMD", 25, 1, 32, 2, __LINE__},   {"AuthenticAMD", 25, 1, 64, 0, __LINE__},
        {"AuthenticAMD", 26, 2, 64, 2, __LINE__},   {"AuthenticAMD", 26, 0x24, 64, 0, __LINE__},
        {"GenuineIntel", 6, 207, 64, 2, __LINE__},  {"GenuineIntel", 6, 0x55, 64, 0, __LINE__},
        {"GenuineIntel", 6, 0x55, 32, 2, __LINE__}, {"GenuineIntel", 6, 0x97, 32, 0, __LINE__},
        {"0x41", 0, 0xd40, 16, 4, __LINE__},        {"0x41", 0, 0xd40, 32, 2, __LINE__},
        {"0x41", 0, 0xd03, 16, 0, __LINE__},        {"", 0, 0, 16, 0, __LINE__},
        {"AuthenticAMD", 25, 17, 256, 0, __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine machine = {.family = cases[i].family, .model = cases[i].model};
        (void)snprintf(machine.vendor, sizeof machine.vendor, "%s", cases[i].vendor);
        const char *source = NULL;
        double got = uarch_fma_per_cycle(&source, &machine, cases[i].bytes);
        bool right = cases[i].want > 0 ? fabs(got - cases[i].want) < 1e-12 && strlen(source) > 20
                                       : isnan(got) && source == NULL;
        if (!right) {
            fail_msg("line %d: got %g", cases[i].line, got);
        }
    }
}

static void several_kinds_have_no_one_rate(void **state)
{
    (void)state;
    struct machine machine = {.vendor = "GenuineIntel", .family = 6, .model = 207};
    machine.core_kind_count = 2;
    assert_true(isnan(uarch_fma_per_cycle(NULL, &machine, 64)));
}

static void known_copies(void **state)
{
    (void)state;
    const char *source = NULL;
    struct machine zen4 = {.vendor = "AuthenticAMD", .family = 25, .model = 17};
    struct machine other = {.vendor = "GenuineIntel", .family = 6, .model = 207};
    ASSERT_CLOSE(uarch_copy_per_cycle(&source, &zen4), 64, 1e-12);
    assert_non_null(strstr(source, "measured"));
    assert_true(isnan(uarch_copy_per_cycle(NULL, &other))); // nobody ran it there
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sourced_rates),
        cmocka_unit_test(known_copies),
        cmocka_unit_test(several_kinds_have_no_one_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "profiler/fleet/cause.h"
#include "tests/test.h"

// loss of DRAM, L3, L1 and L2, compute, clock, latency, links.
static void losses_have_likely_causes(void **state)
{
    (void)state;
    static const struct {
        int line;
        double loss[CEILING_CLASSES];
        const char *words;
    } cases[] = {
        {__LINE__, {0.18, 0, 0, 0, 0, 0, 0}, "one channel missing?"},
        {__LINE__, {0.5, 0, 0, 0, 0, 0.01, (double)NAN}, "half of the channels missing?"},
        {__LINE__,
         {0.18, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN},
         "one channel missing?"},
        {__LINE__, {0.04, 0, 0, 0, 0, 0, 0}, "other DIMMs, or traffic of other work?"},
        {__LINE__, {0.05, 0.1, 0.1, 0.1, 0.1, 0, 0}, "lower clock: power cap, heat or governor?"},
        {__LINE__, {0.01, 0, 0.2, 0.2, 0, 0, 0}, "cores shared with other work, or a lower clock?"},
        {__LINE__, {0, 0.2, 0, 0, 0, 0, 0}, "L3 shared with other work?"},
        {__LINE__, {0, 0, 0, 0, 0, 0.2, 0}, "power saving, prefetch or NUMA settings?"},
        {__LINE__, {0, 0, 0, 0, 0, 0, 0.2}, "the link between the nodes?"},
        {__LINE__, {0.02, -0.1, 0, 0, 0, 0, (double)NAN}, ""},
        {__LINE__,
         {(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN,
          (double)NAN},
         ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *words = cause_guess(cases[i].loss, 0.03);
        if (strcmp(words, cases[i].words) != 0) {
            fail_msg("line %d: got '%s'", cases[i].line, words);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(losses_have_likely_causes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

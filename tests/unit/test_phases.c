// Stretches of programs as they look from outside: loading, repacking, prompt and decode.
#include "profiler/phases.h"
#include "tests/test.h"

#define GIB 0x1p30

/** One stretch of a made-up program. */
struct stretch {
    size_t intervals;
    double cores;
    double growth; // bytes an interval
    double reads;  // bytes an interval
    double ipc;
    double dram; // bytes per second
};

enum { MOST = 400 };
static const double step_seconds = 0.1;

static size_t build(struct phase_interval *out, const struct stretch *stretches, size_t count)
{
    size_t n = 0;
    double rss = 0;
    for (size_t s = 0; s < count; s++) {
        for (size_t i = 0; i < stretches[s].intervals; i++, n++) {
            const struct stretch *is = &stretches[s];
            double wobble = 1 + 0.02 * (double)(n % 3);
            out[n] = (struct phase_interval){.begin_seconds = (double)n * step_seconds,
                                             .end_seconds = (double)(n + 1) * step_seconds,
                                             .cpu_seconds = is->cores * step_seconds,
                                             .rss_before = rss,
                                             .rss_bytes = rss + is->growth,
                                             .read_bytes = is->reads,
                                             .instructions = is->ipc * 1e9 * wobble,
                                             .cycles = 1e9,
                                             .dram_bytes = is->dram * step_seconds * wobble};
            rss += is->growth;
        }
    }
    return n;
}

#define NONE ((double)NAN)
#define FIND(...)                                                                 \
    struct phase_interval intervals[MOST];                                        \
    struct phases phases;                                                         \
    const struct stretch stretches[] = {__VA_ARGS__};                             \
    size_t n = build(intervals, stretches, sizeof stretches / sizeof *stretches); \
    phases_find(&phases, intervals, n)

static void one_after_the_other(const struct phases *phases, size_t n)
{
    size_t next = 0;
    for (size_t i = 0; i < phases->count; i++) {
        assert_int_equal(phases->list[i].first, next);
        assert_true(phases->list[i].last >= phases->list[i].first);
        next = phases->list[i].last + 1;
    }
    assert_int_equal(next, n);
}

// Without counters a prompt and a decode are one steady stretch: nothing tells them apart.
static void without_counters(void **state)
{
    (void)state;
    FIND({20, 1, GIB / 20, GIB / 20, NONE, NONE}, {10, 8, GIB / 10, 0, NONE, NONE},
         {50, 8, 0, 0, NONE, NONE}, {3, 0.1, 0, 0, NONE, NONE});
    one_after_the_other(&phases, n);
    assert_int_equal(phases.list[0].kind, PHASE_LOAD);
    assert_int_equal(phases.list[1].kind, PHASE_PREPARE);
    assert_int_equal(phases.list[2].kind, PHASE_STEADY);
    assert_int_equal(phases.list[3].kind, PHASE_IDLE);
    assert_int_equal(phases.steady, 2);
    ASSERT_CLOSE(phases.list[2].begin_seconds, 3.0, 1e-9);
    ASSERT_CLOSE(phases.list[2].end_seconds, 8.0, 1e-9);
    ASSERT_CLOSE(phases.cores, 8, 1e-9);
    ASSERT_CLOSE(phases.rate_error_fraction, 0.04, 1e-9);
}

static void by_memory_traffic(void **state)
{
    (void)state;
    FIND({20, 1, GIB / 20, GIB / 20, 1, 1e9}, {15, 8, 0, 0, 2, 8e9}, {40, 8, 0, 0, 1.9, 90e9});
    one_after_the_other(&phases, n);
    assert_int_equal(phases.count, 3);
    assert_int_equal(phases.list[1].kind, PHASE_PROMPT);
    assert_int_equal(phases.list[2].kind, PHASE_DECODE);
    assert_int_equal(phases.list[2].first, 35);
    assert_int_equal(phases.steady, 2);
}

static void by_instructions_per_cycle(void **state)
{
    (void)state;
    FIND({20, 1, GIB / 20, 0, 1, NONE}, {15, 8, 0, 0, 2.5, NONE}, {40, 8, 0, 0, 0.4, NONE});
    assert_int_equal(phases.count, 3);
    assert_int_equal(phases.list[1].kind, PHASE_PROMPT);
    assert_int_equal(phases.list[2].kind, PHASE_DECODE);
    assert_int_equal(phases.steady, 2);
}

static void even_counters_tell_nothing(void **state)
{
    (void)state;
    FIND({20, 1, GIB / 20, 0, 1, NONE}, {60, 8, 0, 0, 1, 50e9});
    assert_int_equal(phases.count, 2);
    assert_int_equal(phases.list[1].kind, PHASE_STEADY);
}

static void hiccups(void **state)
{
    (void)state;
    FIND({30, 4, 0, 0, NONE, NONE}, {2, 2, 0, 0, NONE, NONE}, {30, 4, 0, 0, NONE, NONE},
         {8, 2, 0, 0, NONE, NONE}, {10, 4, 0, 0, NONE, NONE});
    one_after_the_other(&phases, n);
    assert_int_equal(phases.count, 3);
    assert_int_equal(phases.list[0].last, 61);
    assert_int_equal(phases.list[1].kind, PHASE_OTHER);
    assert_int_equal(phases.steady, 0); // the longest
}

static void nothing_steady(void **state)
{
    (void)state;
    FIND({4, 2, 0, 0, NONE, NONE}, {20, 0, 0, 0, NONE, NONE});
    assert_int_equal(phases.steady, phases.count);
    assert_true(isnan(phases.cores));
    phases_find(&phases, intervals, 0);
    assert_int_equal(phases.count, 0);
    assert_int_equal(phases.steady, 0);
}

// A file that the kernel has in memory is mapped page by page: faults, and no reads.
static void warm_files(void **state)
{
    (void)state;
    struct phase_interval intervals[40];
    struct phases phases;
    const struct stretch stretches[] = {{10, 0.9, 0, 0, NONE, NONE}, {30, 4, 0, 0, NONE, NONE}};
    size_t n = build(intervals, stretches, 2);
    for (size_t i = 0; i < n; i++) {
        intervals[i].rss_bytes = GIB;
        intervals[i].rss_before = GIB;
        intervals[i].minor_faults = i < 10 ? 20000 : 10;
    }
    phases_find(&phases, intervals, n);
    assert_int_equal(phases.count, 2);
    assert_int_equal(phases.list[0].kind, PHASE_LOAD);
    assert_int_equal(phases.list[1].kind, PHASE_STEADY);
}

static void more_than_fit(void **state)
{
    (void)state;
    enum { MANY = 2000 };
    static struct phase_interval intervals[MANY];
    struct phases phases;
    for (size_t i = 0; i < MANY; i++) {
        intervals[i] = (struct phase_interval){.begin_seconds = (double)i,
                                               .end_seconds = (double)i + 1,
                                               .cpu_seconds = i % 2 == 0 ? 4 : 0,
                                               .read_bytes = NONE,
                                               .instructions = NONE,
                                               .cycles = NONE,
                                               .dram_bytes = NONE};
    }
    phases_find(&phases, intervals, MANY);
    assert_int_equal(phases.count, PHASES_MAX);
    one_after_the_other(&phases, MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_counters),
        cmocka_unit_test(by_memory_traffic),
        cmocka_unit_test(by_instructions_per_cycle),
        cmocka_unit_test(even_counters_tell_nothing),
        cmocka_unit_test(hiccups),
        cmocka_unit_test(nothing_steady),
        cmocka_unit_test(warm_files),
        cmocka_unit_test(more_than_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// A session on this host with made-up small caches: what is walked, counted and described, not how
// fast it is.
#include "profiler/ceiling.h"
#include "profiler/latency.h"
#include "tests/test.h"

#include <sched.h>
#include <stdlib.h>

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

struct fixture {
    struct machine machine;
    struct machine_cpu cpu;
    struct ceiling_kernels kernels;
    struct team *team;
    struct arena arena;
    struct ceilings *session;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    cpu_set_t mask;
    unsigned cpu = 0;
    if (fixture == NULL || sched_getaffinity(0, sizeof mask, &mask) != 0) {
        return -1;
    }
    while (!CPU_ISSET(cpu, &mask)) {
        cpu++;
    }
    fixture->cpu.os_index = cpu;
    fixture->machine = (struct machine){.usable = &fixture->cpu,
                                        .usable_count = 1,
                                        .usable_cores = 1,
                                        .cores = 1,
                                        .pus = 1,
                                        .llc_total_bytes = MIB,
                                        .cache_count = 1};
    fixture->machine.caches[0] = (struct machine_cache){1, MACHINE_CACHE_DATA, 32 * KIB, 1, 1, 1};
    *state = fixture;
    bool made = status_is_ok(ceiling_kernels_load(&fixture->kernels, isa_detect())) &&
                status_is_ok(team_create(&fixture->team, &cpu, 1)) &&
                status_is_ok(arena_map(&fixture->arena, 8 * MIB, true)) &&
                status_is_ok(ceilings_create(&fixture->session, &fixture->machine, fixture->team,
                                             &fixture->arena, &fixture->kernels));
    if (made) {
        made = status_is_ok(ceilings_fill(fixture->session));
    }
    return made ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    ceilings_destroy(fixture->session);
    team_destroy(fixture->team);
    arena_unmap(&fixture->arena);
    free(fixture);
    return 0;
}

static void filled_with_plain_doubles(void **state)
{
    const struct fixture *fixture = *state;
    const double *values = (const double *)(const void *)fixture->arena.base;
    double sum = 0;
    for (size_t i = 0; i < fixture->arena.bytes / sizeof *values; i++) {
        if (!(values[i] >= 1 && values[i] < 2)) {
            fail_msg("word %zu is %g", i, values[i]);
        }
        sum += values[i];
    }
    ASSERT_CLOSE(sum, 1.5 * (double)(fixture->arena.bytes / sizeof *values), 1e-3);
}

static void the_chosen_load_is_of_the_printed_set(void **state)
{
    struct fixture *fixture = *state;
    struct ceiling ceiling;
    ASSERT_OK(ceiling_choose_stream(&ceiling, fixture->session, LEVEL_DRAM, "load"));
    assert_true(ceiling.trial_count >= 9);
    bool printed = false;
    for (size_t i = 0; i < ceiling.trial_count; i++) {
        assert_true(ceiling.trials[i].per_s > 0);
        printed = printed || strcmp(ceiling.trials[i].variant, ceiling.stream->variant) == 0;
    }
    assert_true(printed);
    struct reading rate;
    ceiling_read(&rate, NULL, NULL, fixture->session, &ceiling, 5);
    assert_int_equal(rate.n, 5);
    struct result_bandwidth row;
    ceiling_describe_stream(&row, fixture->session, &ceiling);
    assert_string_equal(row.level, "DRAM");
    assert_int_equal(row.working_set_bytes, 8 * MIB);
    assert_int_equal(row.threads, 1);
}

// A sample counts exactly the bytes it walked: rate x seconds is the slices' sum.
static void bytes_are_those_walked(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *kernel;
        unsigned arrays;
    } cases[] = {{"load", 1}, {"store_nt", 1}, {"copy", 2}, {"triad", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ceiling ceiling;
        struct ceiling_sample sample;
        ASSERT_OK(ceiling_choose_stream(&ceiling, fixture->session, LEVEL_L1, cases[i].kernel));
        ceiling_sample(&sample, fixture->session, &ceiling);
        assert_true(ceiling.working_set_bytes <= 16 * KIB);
        ASSERT_CLOSE(sample.per_s * sample.timing.seconds,
                     (double)(cases[i].arrays * ceiling.piece_bytes) * (double)ceiling.passes,
                     1e-9);
        assert_true(isnan(sample.core_hz));
    }
}

// Pieces come from the whole rotation, one after the other, and start again.
static void pieces_rotate(void **state)
{
    struct fixture *fixture = *state;
    const struct stream_kernel *load = fixture->kernels.streams[0];
    struct ceiling ceiling;
    ASSERT_OK(ceiling_prepare_stream(&ceiling, fixture->session, LEVEL_DRAM, load, 4 * MIB));
    ceiling.piece_bytes = MIB;
    ceiling.cursor = 0;
    for (unsigned i = 0; i < 16; i++) {
        struct ceiling_sample sample;
        assert_int_equal(ceiling.cursor, i % 8 * MIB);
        ceiling_sample(&sample, fixture->session, &ceiling);
    }
}

static void chains_count_their_operations(void **state)
{
    struct fixture *fixture = *state;
    struct ceiling ceiling;
    struct ceiling_sample sample;
    ASSERT_OK(ceiling_choose_compute(&ceiling, fixture->session, "f32", NULL));
    ceiling_sample(&sample, fixture->session, &ceiling);
    double lanes = ceiling.chain->vector_bytes / 4.0;
    ASSERT_CLOSE(sample.per_s * sample.timing.seconds,
                 2 * lanes * ceiling.chain->instructions * (double)ceiling.iterations, 1e-9);
    struct result_compute row;
    ceiling_describe_compute(&row, fixture->session, &ceiling);
    assert_string_equal(row.dtype, "f32");
    assert_string_equal(row.kind, "fma");
    struct status status = ceiling_choose_compute(&ceiling, fixture->session, "f8", NULL);
    assert_int_equal(status.code, STATUS_UNAVAILABLE);
}

static void widened_halves_may_use_f32(void **state)
{
    struct fixture *fixture = *state;
    struct ceiling ceiling;
    ASSERT_OK(ceiling_choose_compute(&ceiling, fixture->session, "bf16", NULL));
    assert_string_equal(ceiling.dtype, "bf16");
    bool f32 = false;
    for (size_t i = 0; i < ceiling.trial_count; i++) {
        f32 = f32 || strstr(ceiling.trials[i].variant, "/f32") != NULL;
    }
    assert_true(f32);
}

static void levels_that_cannot_be_measured(void **state)
{
    struct fixture *fixture = *state;
    struct ceiling ceiling;
    assert_int_equal(ceiling_choose_stream(&ceiling, fixture->session, LEVEL_L2, "load").code,
                     STATUS_UNAVAILABLE);
    assert_int_equal(
        ceiling_choose_stream_in(&ceiling, fixture->session, LEVEL_DRAM, "load", 16 * MIB).code,
        STATUS_UNAVAILABLE);
    assert_int_equal(ceiling_choose_stream(&ceiling, fixture->session, LEVEL_DRAM, "lode").code,
                     STATUS_INVALID);
}

static void latency_is_measured(void **state)
{
    struct fixture *fixture = *state;
    struct latency_place place = {.team = fixture->team,
                                  .arena = &fixture->arena,
                                  .sweeper = fixture->kernels.streams[0],
                                  .working_set_bytes = 16 * KIB};
    struct reading seconds;
    latency_read(&seconds, NULL, &place, 5);
    assert_int_equal(seconds.n, 5);
    // A dependent load takes at least three cycles of any clock, and L1 less than a microsecond.
    assert_true(seconds.best > 0.4e-9 && seconds.best < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filled_with_plain_doubles),
        cmocka_unit_test(the_chosen_load_is_of_the_printed_set),
        cmocka_unit_test(bytes_are_those_walked),
        cmocka_unit_test(pieces_rotate),
        cmocka_unit_test(chains_count_their_operations),
        cmocka_unit_test(widened_halves_may_use_f32),
        cmocka_unit_test(levels_that_cannot_be_measured),
        cmocka_unit_test(latency_is_measured),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

#include "profiler/certificate.h"
#include "profiler/counter_advice.h"
#include "profiler/counter_interval.h"
#include "profiler/counters.h"
#include "tests/fakeroot.h"

static void intervals_are_scaled_and_judged(void **state)
{
    (void)state;
    const struct event_row row = {.metric = METRIC_CYCLES, .weight = 1};
    const struct {
        int line;
        uint64_t before, after, enabled, running;
        enum counter_fault fault;
        double count, fraction;
        uint64_t since_ns; // enabled and running before
    } cases[] = {
        {__LINE__, 100, 350, 1000, 1000, FAULT_NONE, 250, 1, 0},
        {__LINE__, 100, 197, 1000, 970, FAULT_NONE, 100, 0.97, 0},
        {__LINE__, 0, 80, 1000, 800, FAULT_NONE, 100, 0.8, 0},
        {__LINE__, 0, 30, 1000, 300, FAULT_RAN_LITTLE, 100, 0.3, 0},
        {__LINE__, 0, 0, 1000, 0, FAULT_NEVER_RAN, 0, 0, 0},
        {__LINE__, 100, 350, 0, 0, FAULT_NONE, 250, (double)NAN, 0},    // times are not told
        {__LINE__, 100, 350, 0, 0, FAULT_NONE, 250, (double)NAN, 5000}, // no tick since
        {__LINE__, 100, 100, 0, 0, FAULT_NEVER_RAN, 0, 0, 5000},
        {__LINE__, (UINT64_C(1) << 48) - 10, 10, 1000, 1000, FAULT_NONE, 20, 1, 0},
        {__LINE__, 50, 10, 1000, 1000, FAULT_NEGATIVE, 0, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct counter_event event = {.row = &row, .weight = 1, .width_bits = 48};
        uint64_t since = cases[i].since_ns;
        const struct counter_values before = {
            .value = {cases[i].before}, .enabled_ns = {since}, .running_ns = {since}};
        const struct counter_values after = {.value = {cases[i].after},
                                             .enabled_ns = {since + cases[i].enabled},
                                             .running_ns = {since + cases[i].running}};
        struct counter_interval got;
        counter_interval_of(&got, &event, 1, &before, &after);
        bool same = got.fault[0] == cases[i].fault &&
                    (isnan(cases[i].fraction)
                         ? isnan(got.running_fraction[0])
                         : fabs(got.running_fraction[0] - cases[i].fraction) < 1e-12) &&
                    (cases[i].fault != FAULT_NONE || fabs(got.count[0] - cases[i].count) < 0.5);
        if (!same) {
            fail_msg("line %d: fault %d count %g fraction %g", cases[i].line, (int)got.fault[0],
                     got.count[0], got.running_fraction[0]);
        }
    }
}

// What a kernel makes an event count, and that everything else proves nothing.
static void certificate_knows_what_to_expect(void **state)
{
    (void)state;
    const struct known_amount fma = {.instructions = 1000, .flop = 6400};
    const struct known_amount chain = {.instructions = 1000, .cycles = 2400};
    const struct known_amount read = {.read_bytes = 65536};
    const struct {
        int line;
        enum metric metric;
        uint32_t counts;
        enum known_work work;
        const struct known_amount *amount;
        double want; // NaN: nothing is known
    } cases[] = {
        {__LINE__, METRIC_INSTRUCTIONS, 0, KNOWN_F32_512, &fma, 1000},
        {__LINE__, METRIC_FLOP_F32, KNOWN_BIT(KNOWN_F32_512), KNOWN_F32_512, &fma, 6400},
        {__LINE__, METRIC_FLOP_F32, KNOWN_BIT(KNOWN_F32_256), KNOWN_F32_512, &fma, 0},
        {__LINE__, METRIC_CYCLES, 0, KNOWN_CHAIN, &chain, 2400},
        {__LINE__, METRIC_CYCLES, 0, KNOWN_F32_512, &fma, (double)NAN},
        {__LINE__, METRIC_DRAM_READ_BYTES, KNOWN_BIT(KNOWN_READ), KNOWN_READ, &read, 65536},
        {__LINE__, METRIC_L2_L3_BYTES, 0, KNOWN_READ, &read, (double)NAN},
        {__LINE__, METRIC_TLB_MISS, 0, KNOWN_READ, &read, (double)NAN},
        {__LINE__, METRIC_PACKAGE_JOULES, 0, KNOWN_LOOP, &fma, (double)NAN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct event_row row = {.metric = cases[i].metric, .work = cases[i].counts};
        const struct counter_event event = {.row = &row, .cpu = -1};
        double want = (double)NAN;
        double low = 0;
        double high = 0;
        bool known =
            certificate_expected(&want, &low, &high, &event, cases[i].work, *cases[i].amount);
        if (known == isnan(cases[i].want) ||
            (known && (fabs(want - cases[i].want) > 0 || low > want || high < want))) {
            fail_msg("line %d: %d %g in %g..%g", cases[i].line, known, want, low, high);
        }
    }
}

static double run_nothing(void *context, struct team_probe probe)
{
    struct team *team = context;
    for (unsigned t = 0; t < team_threads(team); t++) {
        probe.start(probe.context, t);
        probe.stop(probe.context, t);
    }
    return 2; // calls
}

static double call_nothing(void *context)
{
    (void)context;
    return 4;
}

// A recording through the whole session: two threads, two calls a run.
static struct status replay(struct counter_session **out, struct team **team, const char *text,
                            const struct machine *machine)
{
    struct fakeroot root;
    char path[300];
    const unsigned cpus[] = {0};
    fakeroot_make(&root);
    fakeroot_write(&root, "/recording", text);
    (void)snprintf(path, sizeof path, "%s/recording", root.dir);
    ASSERT_OK(team_create(team, cpus, 1));
    const struct counter_options options = {
        .policy = COUNTERS_REPLAY, .replay_path = path, .root = root.dir};
    struct status status = counter_session_open(out, machine, *team, &options);
    fakeroot_remove(&root);
    return status;
}

static const struct machine zen3 = {.vendor = "AuthenticAMD", .family = 25, .model = 1};

#define RECORDING                                                                             \
    "lmroof-replay 1\n# Milan, one call\nRETIRED_INSTRUCTIONS 1000\nCYCLES_NOT_IN_HALT 800\n" \
    "RETIRED_SSE_AVX_FLOPS:ANY 6400\n"                                                        \
    "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT 10 0.5\n"                         \
    "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:LCL_L2 error EACCES\n"

static void recording_becomes_readings(void **state)
{
    (void)state;
    struct counter_session *session = NULL;
    struct team *team = NULL;
    ASSERT_OK(replay(&session, &team, RECORDING, &zen3));
    const struct counter_work work = {.run = run_nothing, .context = team};
    for (int i = 0; i < 3; i++) {
        counter_session_measure(session, &work);
    }
    struct result_counter counter;
    counter_session_read(&counter, session, METRIC_INSTRUCTIONS);
    ASSERT_CLOSE(counter.value.value, 500, 0);
    assert_int_equal(counter.value.n, 3);
    assert_int_equal(counter.value.origin, ORIGIN_COUNTED);
    assert_string_equal(counter.source, "replay");
    assert_string_equal(counter.scope, "thread");
    counter_session_read(&counter, session, METRIC_DRAM_READ_BYTES);
    ASSERT_CLOSE(counter.value.value, 10 / 0.5 * 64 / 2, 0);
    ASSERT_CLOSE(counter.running_fraction, 0.5, 1e-9);
    counter_session_read(&counter, session, METRIC_L1_L2_BYTES);
    assert_int_equal(counter.value.absence.state, ABSENT_NOT_PERMITTED);
    counter_session_read(&counter, session, METRIC_TLB_MISS);
    assert_int_equal(counter.value.absence.state, ABSENT_UNSUPPORTED);
    struct reading flop;
    struct reading bytes;
    const char *place = NULL;
    counter_session_flop(&flop, session);
    counter_session_dram_bytes(&bytes, &place, session);
    ASSERT_CLOSE(flop.value, 3200, 0);
    ASSERT_CLOSE(bytes.value, 640, 0);
    assert_string_equal(place, "core");
    counter_session_reset(session);
    counter_session_measure(session, &(struct counter_work){.call = call_nothing});
    counter_session_read(&counter, session, METRIC_INSTRUCTIONS);
    ASSERT_CLOSE(counter.value.value, 250, 0);
    counter_session_close(session);
    team_destroy(team);
}

static void bad_recordings_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "lmroof-replay 2\n",
        "lmroof-replay 1\nCYCLES_NOT_IN_HALT\n",
        "lmroof-replay 1\nCYCLES_NOT_IN_HALT many\n",
        "lmroof-replay 1\nCYCLES_NOT_IN_HALT -5\n",
        "lmroof-replay 1\nCYCLES_NOT_IN_HALT 5 1.5\n",
        "lmroof-replay 1\nCYCLES_NOT_IN_HALT 5 1 1\n",
        "lmroof-replay 1\nCYCLES_NOT_IN_HALT error EWHAT\n",
        "lmroof-replay 1\nCYCLES_NOT_IN_HALT 99999999999999999999999\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct counter_session *session = NULL;
        struct team *team = NULL;
        struct status status = replay(&session, &team, texts[i], &zen3);
        if (status.code != STATUS_INVALID || strstr(status.detail, "line ") == NULL) {
            fail_msg("recording %zu: %d %s", i, (int)status.code, status.detail);
        }
        counter_session_close(session);
        team_destroy(team);
    }
}

static void policies_have_names(void **state)
{
    (void)state;
    enum counter_policy policy = COUNTERS_NULL;
    ASSERT_OK(counter_policy_of_name(&policy, "require"));
    assert_int_equal(policy, COUNTERS_REQUIRE);
    struct status status = counter_policy_of_name(&policy, "yes");
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "auto, off, require, papi, perf"));
}

// The one line that would unlock a counter, by what the surroundings are.
static void advice_fits_the_surroundings(void **state)
{
    (void)state;
    const struct counter_surroundings user = {
        .paranoid = 4, .sysfs = true, .core_pmu = true, .table_is_for_part = true};
    struct counter_surroundings s;
    char text[COUNTER_ADVICE];
#define ADVICE(fault, scope, change, want)                              \
    s = user;                                                           \
    change;                                                             \
    if (strstr(counter_advice(text, fault, scope, &s), want) == NULL) { \
        fail_msg("line %d: %s", __LINE__, text);                        \
    }
    for (int paranoid = -1; paranoid <= 4; paranoid++) {
        bool thread_may = paranoid <= 2;
        bool system_may = paranoid <= 0;
        ADVICE(FAULT_PERMISSION, SCOPE_THREAD, s.paranoid = paranoid,
               thread_may ? "--cap-add PERFMON" : "kernel.perf_event_paranoid=2")
        ADVICE(FAULT_PERMISSION, SCOPE_SYSTEM, s.paranoid = paranoid,
               system_may ? "--cap-add PERFMON" : "kernel.perf_event_paranoid=0")
    }
    ADVICE(FAULT_PERMISSION, SCOPE_SYSTEM, s.paranoid = COUNTER_NO_FILE, "--cap-add PERFMON")
    ADVICE(FAULT_PERMISSION, SCOPE_THREAD, (s.capable = true, s.sandboxed = true), "seccomp")
    ADVICE(FAULT_PERMISSION, SCOPE_THREAD, (s.capable = true, s.paranoid = 3), "--counters perf")
    ADVICE(FAULT_NO_PMU, SCOPE_THREAD, (s.virtual = true, s.core_pmu = false), "virtual machine")
    ADVICE(FAULT_NO_PMU, SCOPE_THREAD, s.core_pmu = false, "driver")
    ADVICE(FAULT_UNSUPPORTED, SCOPE_SYSTEM, s.virtual = true, "bare-metal")
    ADVICE(FAULT_UNSUPPORTED, SCOPE_SYSTEM, s.sysfs = false, "mount")
    ADVICE(FAULT_UNSUPPORTED, SCOPE_THREAD, s.table_is_for_part = false, "--events")
    ADVICE(FAULT_NO_FIT, SCOPE_THREAD, s.watchdog = true, "nmi_watchdog=0")
    ADVICE(FAULT_NEVER_RAN, SCOPE_THREAD, , "other users")
    ADVICE(FAULT_RESOURCES, SCOPE_THREAD, , "ulimit -n")
    ADVICE(FAULT_LIES, SCOPE_THREAD, s.virtual = true, "bare metal")
#undef ADVICE
    assert_string_equal(counter_advice(text, FAULT_NO_EVENT, SCOPE_THREAD, &user), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_are_scaled_and_judged),
        cmocka_unit_test(certificate_knows_what_to_expect),
        cmocka_unit_test(recording_becomes_readings),
        cmocka_unit_test(bad_recordings_are_refused),
        cmocka_unit_test(policies_have_names),
        cmocka_unit_test(advice_fits_the_surroundings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

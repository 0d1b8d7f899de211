#include "roofline/verdict.h"
#include "tests/test.h"

// Points written by hand: one row per branch of the rules and per edge of their limits.
struct row {
    double ai, ridge;   // FLOP/byte
    double achieved;    // of the read roof
    double m, k;        // twins, full time = 1
    double growth, mix; // saturation
    double roof, low;   // roof fraction and the low end of its interval
    unsigned threads;
    enum verdict_bound want;
    bool above;
    int line;
};

static const double none = (double)NAN;

#define ROW(...)              \
    {                         \
        __VA_ARGS__, __LINE__ \
    }
static const struct row rows[] = {
    // memory: twins, with intensity and bandwidth
    ROW(1, 10, 0.95, 1.00, 0.30, 1.05, 1.02, 0.95, 0.9, 8, BOUND_MEMORY_SATURATED, false),
    ROW(1, 10, 0.95, 0.97, 0.30, 2.00, 1.02, 0.95, 0.9, 2, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(1, 10, 0.95, 0.97, 0.30, 1.05, 1.45, 0.95, 0.9, 8, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(1, 10, 0.95, 0.97, 0.30, 1.09, 1.09, 0.95, 0.9, 8, BOUND_MEMORY_SATURATED, false),
    ROW(1, 10, 0.95, 0.97, 0.30, 1.10, 1.09, 0.95, 0.9, 8, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(1, 10, 0.95, 0.97, 0.30, 1.09, 1.10, 0.95, 0.9, 8, BOUND_MEMORY_CORE_LIMITED, false),
    // one thread never saturates by this evidence
    ROW(1, 10, 0.95, 0.97, 0.30, none, 1.02, 0.95, 0.9, 1, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(1, 10, 0.95, 0.97, 0.30, none, none, 0.95, 0.9, 1, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(1, 10, 0.95, 0.97, 0.30, 1.05, none, 0.95, 0.9, 4, BOUND_MEMORY_SATURATED, false),
    // one second kind of evidence is enough, none is not
    ROW(1, 10, 0.69, 0.97, 0.30, 2, 1, 0.69, 0.6, 2, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(11, 10, 0.70, 0.97, 0.30, 2, 1, 0.70, 0.6, 2, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(11, 10, 0.69, 0.97, 0.30, 2, 1, 0.69, 0.6, 2, BOUND_UNKNOWN, false),
    ROW(1, none, none, 0.97, 0.30, 2, 1, none, none, 2, BOUND_UNKNOWN, false),
    // edges of the twins: within 10 % of the larger, the other smaller by 1.5x
    ROW(1, 10, 0.90, 0.92, 0.61, 2, 1, 0.9, 0.8, 2, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(1, 10, 0.90, 0.92, 0.62, 2, 1, 0.9, 0.8, 2, BOUND_UNKNOWN, false),
    ROW(1, 10, 0.80, 0.89, 0.30, 2, 1, 0.8, 0.7, 2, BOUND_UNKNOWN, false),
    ROW(1, 10, 0.80, 1.09, 0.30, 2, 1, 0.8, 0.7, 2, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(1, 10, 0.80, 1.49, 0.30, 2, 1, 0.8, 0.7, 2, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(1, 10, 0.80, 1.51, 0.30, 2, 1, 0.8, 0.7, 2, BOUND_UNKNOWN, false),
    // at the read roof a small compute-only twin does not make it latency
    ROW(1, 10, 0.90, 0.85, 0.15, 2, 1, 0.9, 0.8, 2, BOUND_MEMORY_CORE_LIMITED, false),
    ROW(1, 10, 0.89, 0.85, 0.15, 2, 1, 0.9, 0.8, 2, BOUND_LATENCY, false),
    // compute
    ROW(64, 10, 0.10, 0.10, 0.98, 2, 1, 0.9, 0.8, 2, BOUND_COMPUTE, false),
    ROW(8, 10, 0.47, 0.50, 0.92, 2, 1, 0.47, 0.4, 2, BOUND_COMPUTE, false), // GQA of 8
    ROW(64, 10, 0.80, 0.60, 0.98, 2, 1, 0.9, 0.8, 2, BOUND_COMPUTE, false),
    ROW(8, 10, 0.75, 0.60, 0.98, 2, 1, 0.75, 0.7, 2, BOUND_UNKNOWN, false), // contradiction
    // neither roof: Q8_0 without prefetch took 80 where m = 39, k = 23
    ROW(1.9, 10, 0.48, 39.0 / 80, 23.0 / 80, 2, 1, 0.48, 0.4, 2, BOUND_LATENCY, false),
    ROW(1.9, 10, 0.48, 0.60, 0.45, 2, 1, 0.48, 0.4, 2, BOUND_LATENCY, false),
    ROW(1.9, 10, 0.60, 0.60, 0.46, 2, 1, 0.60, 0.4, 2, BOUND_UNKNOWN, false),
    // a library call has no twins
    ROW(200, 10, 0.05, none, none, 2, 1, 0.95, 0.9, 2, BOUND_UNKNOWN, false),
    ROW(1, 10, 0.95, none, none, 2, 1, 0.95, 0.9, 2, BOUND_UNKNOWN, false),
    ROW(1, 10, 0.95, 0.95, none, 2, 1, 0.95, 0.9, 2, BOUND_UNKNOWN, false),
    // above the roof: by more than the interval, whatever the rest says
    ROW(1, 10, 1.30, 1.00, 0.30, 2, 1, 1.30, 1.10, 2, BOUND_UNKNOWN, true),
    ROW(64, 10, 0.10, 0.10, 1.00, 2, 1, 1.05, 1.01, 2, BOUND_UNKNOWN, true),
    ROW(1, 10, 1.03, 1.00, 0.30, 2, 1, 1.03, 0.97, 2, BOUND_MEMORY_CORE_LIMITED, false),
};

static struct verdict_input input_of(const struct row *row)
{
    struct verdict_input in = {
        .flop_per_byte = row->ai,
        .ridge_flop_per_byte = row->ridge,
        .read_roof_fraction = {row->achieved, row->achieved - 0.02, row->achieved + 0.02},
        .roof_fraction = {row->roof, row->low, 2 * row->roof - row->low},
        .memory_only = {row->m, row->m, row->m},
        .compute_only = {row->k, row->k, row->k},
        .threads = row->threads,
        .read_growth = row->growth,
        .other_mix = row->mix,
        .dtype_time_ratio = none,
        .dtype_byte_ratio = none,
        .counted_byte_ratio = none,
        .memory_stall_fraction = none,
    };
    return in;
}

static void every_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct verdict verdict;
        struct verdict_input in = input_of(&rows[i]);
        verdict_point(&verdict, &in);
        if (verdict.bound != rows[i].want || verdict.above_roof != rows[i].above) {
            fail_msg("line %d: got %s, want %s", rows[i].line, verdict_bound_name(verdict.bound),
                     verdict_bound_name(rows[i].want));
        }
        if (verdict.bound == BOUND_UNKNOWN && verdict.open[0] == '\0') {
            fail_msg("line %d: unknown without what would settle it", rows[i].line);
        }
    }
}

// What a machine under heavy load gives: wide intervals, and fractions of a roof that was itself
// measured in bad moments. None of it may become a bound.
static void disturbed_numbers_tell_nothing(void **state)
{
    (void)state;
    struct verdict verdict;
    struct verdict_input in = input_of(&rows[0]);
    in.memory_only = (struct verdict_ratio){0.95, 0.60, 1.19}; // wide, but not twice
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_MEMORY_SATURATED);
    in.memory_only = (struct verdict_ratio){0.95, 0.59, 1.19};
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_UNKNOWN);
    assert_non_null(strstr(verdict.open, "quiet"));
    in.memory_only = (struct verdict_ratio){0.30, 0.05, 17.0}; // would be latency
    in.compute_only = (struct verdict_ratio){0.10, 0.10, 0.10};
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_UNKNOWN);

    // Times that happen to agree in rounds that were nearly all disturbed are no evidence.
    in = input_of(&rows[0]);
    in.disturbed_fraction = 0.5;
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_MEMORY_SATURATED);
    in.disturbed_fraction = 2.0 / 3;
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_UNKNOWN);
    assert_non_null(strstr(verdict.open, "disturbed 67 % of the rounds"));

    in = input_of(&rows[0]);
    in.roof_fraction = (struct verdict_ratio){26.91, 0.4, 60};
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_UNKNOWN);
    assert_false(verdict.above_roof); // its interval allows 1
    in.roof_fraction = (struct verdict_ratio){1.14, 0.9, 1.3};
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_MEMORY_SATURATED);
}

static void evidence_carries_numbers(void **state)
{
    (void)state;
    struct verdict_input in = input_of(&rows[0]);
    in.dtype_time_ratio = 1.9;
    in.dtype_byte_ratio = 2;
    in.counted_byte_ratio = 1.3;
    in.memory_stall_fraction = 0.7;
    struct verdict verdict;
    verdict_point(&verdict, &in);
    static const struct {
        const char *test;
        bool passed;
        const char *number;
    } want[] = {{"intensity", true, "1 FLOP/byte"},
                {"achieved_bandwidth", true, "0.95"},
                {"twins", true, "memory-only 1.00"},
                {"dtype_scaling", true, "1.90x"},
                {"saturation", true, "1.05x"},
                {"counted_bytes", false, "1.300"},
                {"stalls", true, "0.70"}};
    assert_int_equal(verdict.evidence_count, sizeof want / sizeof *want);
    for (size_t i = 0; i < verdict.evidence_count; i++) {
        const struct verdict_evidence *e = &verdict.evidence[i];
        assert_string_equal(e->test, want[i].test);
        assert_int_equal(e->passed, want[i].passed);
        if (strstr(e->found, want[i].number) == NULL) {
            fail_msg("%s: '%s' lacks '%s'", e->test, e->found, want[i].number);
        }
    }
}

// A disturbed machine: the median is off, the interval still reaches the full time.
static void noisy_twins_follow_their_interval(void **state)
{
    (void)state;
    struct verdict_input in = input_of(&rows[0]);
    struct verdict verdict;
    in.read_roof_fraction.value = 0.8;
    in.memory_only = (struct verdict_ratio){0.84, 0.75, 0.93};
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_MEMORY_SATURATED);
    in.memory_only = (struct verdict_ratio){0.84, 0.82, 0.86};
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_UNKNOWN);
    in.memory_only = (struct verdict_ratio){0.70, 0.50, 1.00}; // too far for any interval
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_LATENCY);
}

static void missing_numbers_give_no_evidence(void **state)
{
    (void)state;
    struct verdict_input in = {.flop_per_byte = none,
                               .ridge_flop_per_byte = none,
                               .read_roof_fraction = {none, none, none},
                               .roof_fraction = {none, none, none},
                               .memory_only = {none, none, none},
                               .compute_only = {none, none, none},
                               .read_growth = none,
                               .other_mix = none,
                               .dtype_time_ratio = none,
                               .dtype_byte_ratio = none,
                               .counted_byte_ratio = none,
                               .memory_stall_fraction = none};
    struct verdict verdict;
    verdict_point(&verdict, &in);
    assert_int_equal(verdict.bound, BOUND_UNKNOWN);
    assert_int_equal(verdict.evidence_count, 0);
    assert_false(verdict.above_roof);
}

static void steps(void **state)
{
    (void)state;
    static const struct {
        struct verdict_share shares[3];
        enum verdict_claim want;
        int line;
    } cases[] = {
        {{{BOUND_MEMORY_CORE_LIMITED, true, 0.5},
          {BOUND_MEMORY_SATURATED, true, 0.4},
          {BOUND_COMPUTE, true, 0.1}},
         CLAIM_CONFIRMED,
         __LINE__},
        {{{BOUND_MEMORY_CORE_LIMITED, true, 0.89}, {BOUND_COMPUTE, true, 0.11}},
         CLAIM_CANNOT_TELL,
         __LINE__},
        {{{BOUND_MEMORY_CORE_LIMITED, true, 0.49}, {BOUND_COMPUTE, true, 0.51}},
         CLAIM_REFUTED,
         __LINE__},
        {{{BOUND_MEMORY_CORE_LIMITED, true, 0.5}, {BOUND_COMPUTE, true, 0.5}},
         CLAIM_CANNOT_TELL,
         __LINE__},
        {{{BOUND_UNKNOWN, true, 0.6}, {BOUND_LATENCY, true, 0.4}}, CLAIM_CANNOT_TELL, __LINE__},
        {{{BOUND_LATENCY, true, 0.8}, {BOUND_UNKNOWN, true, 0.2}}, CLAIM_REFUTED, __LINE__},
        // what was not measured is unknown, however little is left of the rest
        {{{BOUND_UNKNOWN, true, (double)NAN}, {BOUND_COMPUTE, true, (double)NAN}},
         CLAIM_CANNOT_TELL,
         __LINE__},
        {{{BOUND_COMPUTE, true, 0.3}}, CLAIM_CANNOT_TELL, __LINE__},
        {{{BOUND_COMPUTE, true, 0.6}}, CLAIM_REFUTED, __LINE__},
        // a model that fits in cache is not bound by DRAM, however its operators behave
        {{{BOUND_MEMORY_CORE_LIMITED, false, 1.0}}, CLAIM_REFUTED, __LINE__},
        {{{BOUND_UNKNOWN, false, 1.0}}, CLAIM_REFUTED, __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double memory = 0;
        double unknown = 0;
        enum verdict_claim claim = verdict_step(&memory, &unknown, cases[i].shares, 3);
        if (claim != cases[i].want) {
            fail_msg("line %d: got %s, want %s", cases[i].line, verdict_claim_name(claim),
                     verdict_claim_name(cases[i].want));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule),
        cmocka_unit_test(disturbed_numbers_tell_nothing),
        cmocka_unit_test(evidence_carries_numbers),
        cmocka_unit_test(noisy_twins_follow_their_interval),
        cmocka_unit_test(missing_numbers_give_no_evidence),
        cmocka_unit_test(steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "roofline/outlier.h"
#include "tests/test.h"

#include <stdbool.h>

static void middle_of_repeats(void **state)
{
    (void)state;
    const double one[] = {7};
    const double pair[] = {1, 3};
    const double wild[] = {100, 101, 99, 100, 1000};
    ASSERT_CLOSE(outlier_middle(one, 1), 7, 1e-15);
    ASSERT_CLOSE(outlier_middle(pair, 2), 2, 1e-15);
    // By hand: of the 15 means of pairs, the eighth in order is that of 100 and 101.
    ASSERT_CLOSE(outlier_middle(wild, 5), 100.5, 1e-15);
}

static void spread_of_like_machines(void **state)
{
    (void)state;
    double values[] = {3, 1, 2, 5, 4};
    double scratch[5];
    struct outlier_spread spread;
    outlier_spread(&spread, values, scratch, 5);
    ASSERT_CLOSE(spread.center, 3, 1e-15);
    ASSERT_CLOSE(spread.scale, 1.4826, 1e-15);
    double equal[] = {2, 2, 2, 2, 2, 2};
    double more[6];
    outlier_spread(&spread, equal, more, 6);
    ASSERT_CLOSE(spread.scale, OUTLIER_SCALE_MIN, 1e-12);
    outlier_spread(&spread, equal, more, 4);
    assert_true(isnan(spread.scale));
}

// Quantiles from tables of Student's t (Abramowitz & Stegun, table 26.10) and of the normal
// distribution: like chosen for whole degrees of freedom.
static void limits_are_students(void **state)
{
    (void)state;
    // 0.367 (like - 1) = 3.67 for 11: between t(3) = 12.92 and t(4) = 8.610 at 0.001 two-sided.
    assert_true(outlier_limit(11, 1) < 12.92 && outlier_limit(11, 1) > 8.61);
    // 10.01 degrees for 28.3 machines: t(10) = 4.587 at 0.001.
    ASSERT_CLOSE(outlier_limit(28, 1), 4.60, 0.02);
    // A million machines: normal, 3.2905 at 0.001; 4.8916 at 1e-6.
    ASSERT_CLOSE(outlier_limit(1000000, 1), 3.2905, 1e-3);
    ASSERT_CLOSE(outlier_limit(1000000, 1000), 4.8916, 1e-3);
}

static uint64_t next_bits(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u; // SplitMix64
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state)
{
    return ((double)(next_bits(state) >> 11) + 0.5) * 0x1p-53;
}

static double gaussian(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * acos(-1) * uniform(state));
}

enum { NODES = 500, REPEATS = 5 };

// A fleet of `nodes` nodes of one rate, repeats with 2 % Gaussian noise; node 100 i + 7 is slower
// for i < faults. Returns how many faults were found; *false_alarms counts healthy nodes named.
static size_t judge_fleet(size_t *false_alarms, size_t nodes, double limit, uint64_t seed,
                          size_t faults, double loss)
{
    double values[NODES] = {0};
    double sorted[NODES];
    double scratch[NODES];
    size_t found = 0;
    for (size_t node = 0; node < nodes; node++) {
        bool faulty = node % 100 == 7 && node / 100 < faults;
        double repeats[REPEATS];
        for (size_t r = 0; r < REPEATS; r++) {
            repeats[r] = 200e9 * (faulty ? 1 - loss : 1) * (1 + 0.02 * gaussian(&seed));
        }
        values[node] = log(outlier_middle(repeats, REPEATS));
    }
    memcpy(sorted, values, sizeof sorted);
    struct outlier_spread spread;
    outlier_spread(&spread, sorted, scratch, nodes);
    for (size_t node = 0; node < nodes; node++) {
        bool named = fabs(values[node] - spread.center) > limit * spread.scale;
        bool faulty = node % 100 == 7 && node / 100 < faults;
        found += named && faulty ? 1 : 0;
        *false_alarms += named && !faulty ? 1 : 0;
    }
    return found;
}

static void faults_of_eight_percent_are_found_and_no_other(void **state)
{
    (void)state;
    double limit = outlier_limit(NODES, NODES);
    for (uint64_t seed = 0; seed < 20; seed++) {
        size_t false_alarms = 0;
        size_t found = judge_fleet(&false_alarms, NODES, limit, seed << 32, 3, 0.08);
        if (found != 3 || false_alarms != 0) {
            fail_msg("seed %d: %zu of 3 faults, %zu false alarms", (int)seed, found, false_alarms);
        }
    }
}

// What the limit promises: one ranking in a thousand names a healthy node, in small fleets too.
static void false_alarms_are_as_rare_as_promised(void **state)
{
    (void)state;
    static const struct {
        size_t nodes;
        uint64_t fleets;
        size_t most;
    } cases[] = {{5, 20000, 60}, {8, 20000, 60}, {16, 20000, 60}, {NODES, 1000, 5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t false_alarms = 0;
        double limit = outlier_limit(cases[c].nodes, cases[c].nodes);
        for (uint64_t fleet = 0; fleet < cases[c].fleets; fleet++) {
            (void)judge_fleet(&false_alarms, cases[c].nodes, limit, (fleet + 100) << 32, 0, 0);
        }
        if (false_alarms > cases[c].most) {
            fail_msg("%zu false alarms in %d fleets of %zu nodes", false_alarms,
                     (int)cases[c].fleets, cases[c].nodes);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(middle_of_repeats),
        cmocka_unit_test(spread_of_like_machines),
        cmocka_unit_test(limits_are_students),
        cmocka_unit_test(faults_of_eight_percent_are_found_and_no_other),
        cmocka_unit_test(false_alarms_are_as_rare_as_promised),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

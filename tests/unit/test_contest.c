#include "tests/test.h"

#include "profiler/contest.h"

#include <stdint.h>

// A cheap generator with a fixed start: the same times on every machine.
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

// Variant i takes (1 + i / 20) units; the machine's speed differs by up to two from turn to turn,
// and every sample by up to 15 percent.
static void take_turn(struct contest *contest, uint64_t *state)
{
    double phase = 1 + uniform(state);
    for (size_t i = 0; i < contest->entries; i++) {
        double own = 1 + (double)i / 20;
        contest->seconds[contest->turns][i] = own * phase * (1 + 0.15 * uniform(state));
    }
    contest->turns++;
}

static void phases_decide_nothing(void **unused)
{
    (void)unused;
    unsigned wrong = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct contest contest;
        uint64_t state = seed;
        contest_begin(&contest, 21);
        while (contest.turns < CONTEST_TURNS_MAX) {
            take_turn(&contest, &state);
        }
        wrong += contest_leader(&contest) > 1 ? 1 : 0;
    }
    assert_int_equal(wrong, 0);
}

static void one_lucky_sample_does_not_win(void **unused)
{
    (void)unused;
    struct contest contest;
    contest_begin(&contest, 3);
    for (unsigned turn = 0; turn < 5; turn++) {
        contest.seconds[turn][0] = 1.0;
        contest.seconds[turn][1] = 1.5;
        contest.seconds[turn][2] = 1.4;
        contest.turns++;
    }
    contest.seconds[2][1] = 0.5;
    assert_int_equal(contest_leader(&contest), 0);
}

static void the_slower_half_leaves_and_two_stay(void **unused)
{
    (void)unused;
    struct contest contest;
    contest_begin(&contest, 7);
    for (size_t i = 0; i < 7; i++) {
        contest.seconds[0][i] = 7.0 - (double)i;
    }
    contest.turns = 1;
    static const bool after[3][7] = {{1, 1, 1, 0, 0, 0, 0}, // true is out
                                     {1, 1, 1, 1, 1, 0, 0},
                                     {1, 1, 1, 1, 1, 0, 0}};
    for (size_t halving = 0; halving < 3; halving++) {
        contest_halve(&contest);
        assert_memory_equal(contest.out, after[halving], sizeof after[halving]);
    }
    assert_int_equal(contest_leader(&contest), 6);
}

static void equal_times_put_nobody_out(void **unused)
{
    (void)unused;
    struct contest contest;
    contest_begin(&contest, 4);
    contest.turns = 1;
    for (size_t i = 0; i < 4; i++) {
        contest.seconds[0][i] = 1;
    }
    contest_halve(&contest);
    for (size_t i = 0; i < 4; i++) {
        assert_false(contest.out[i]);
    }
}

// A turn that time ended: the first one leaves those that were timed, later ones are not counted.
static void a_turn_is_cut(void **unused)
{
    (void)unused;
    struct contest contest;
    contest_begin(&contest, 4);
    contest.seconds[0][0] = 2;
    contest.seconds[0][1] = 1;
    contest_cut(&contest, 2);
    assert_int_equal(contest.turns, 1);
    assert_int_equal(contest_leader(&contest), 1);
    contest.seconds[1][0] = 1e-3;
    contest_cut(&contest, 1);
    assert_int_equal(contest.turns, 1);
    assert_int_equal(contest_leader(&contest), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_is_cut),
        cmocka_unit_test(phases_decide_nothing),
        cmocka_unit_test(one_lucky_sample_does_not_win),
        cmocka_unit_test(the_slower_half_leaves_and_two_stay),
        cmocka_unit_test(equal_times_put_nobody_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

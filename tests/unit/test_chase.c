#include "tests/test.h"
#include "workloads/chase.h"

#include <stdlib.h>

// Follows the path and marks the lines it meets; returns how many before it closes.
static size_t length_of_cycle(unsigned char *base, size_t bytes, void *start)
{
    size_t room = bytes / CHASE_LINE_BYTES;
    unsigned char *seen = calloc(room, 1);
    size_t length = 0;
    for (void *at = start; seen != NULL; at = chase_follow(at, 1)) {
        size_t line = (size_t)((unsigned char *)at - base) / CHASE_LINE_BYTES;
        assert_true(line < room);
        if (seen[line]) {
            assert_ptr_equal(at, start);
            break;
        }
        seen[line] = 1;
        length++;
    }
    free(seen);
    return length;
}

static void a_path_is_one_cycle(void **state)
{
    (void)state;
    static const struct {
        size_t bytes;
        size_t lines;
        size_t want;
    } cases[] = {{128, 2, 2},       {128, 99, 2},        {4096, SIZE_MAX, 64},
                 {6400, 1000, 100}, {1 << 20, 500, 500}, {49152, 768, 768}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char *base = aligned_alloc(64, cases[i].bytes);
        assert_non_null(base);
        size_t placed = 0;
        void *start = chase_build(&placed, base, cases[i].bytes, cases[i].lines);
        assert_int_equal(placed, cases[i].want);
        assert_int_equal(length_of_cycle(base, cases[i].bytes, start), cases[i].want);
        assert_ptr_equal(chase_follow(start, placed), start);
        free(base);
    }
}

static void scatter_is_a_bijection_without_pattern(void **state)
{
    (void)state;
    enum { BITS = 12, COUNT = 1 << BITS };
    unsigned char seen[COUNT] = {0};
    size_t near = 0;
    uint64_t before = 0;
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t at = chase_scatter(i, BITS);
        assert_true(at < COUNT);
        at %= COUNT;
        assert_false(seen[at]);
        seen[at] = 1;
        near += at - before + 8 <= 16 ? 1 : 0; // a prefetcher could follow
        before = at;
    }
    assert_true(near < COUNT / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_is_one_cycle),
        cmocka_unit_test(scatter_is_a_bijection_without_pattern),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

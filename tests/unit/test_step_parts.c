// The parts of steps, timed in a small arena on this host's cpus: which there are, what they say,
// and that they leave the arena as it was.
#include "profiler/rotation.h"
#include "profiler/step_norms.h"
#include "profiler/step_parts.h"
#include "tests/test.h"

#include <sched.h>
#include <stdlib.h>

enum { ARENA = 24 << 20 };

struct fixture {
    struct team *team;
    struct arena arena;
    struct step_parts_request request;
    unsigned char *before;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    unsigned cpus[2];
    unsigned threads = 0;
    cpu_set_t mask;
    if (f == NULL || sched_getaffinity(0, sizeof mask, &mask) != 0) {
        return -1;
    }
    for (unsigned cpu = 0; cpu < CPU_SETSIZE && threads < 2; cpu++) {
        if (CPU_ISSET(cpu, &mask)) {
            cpus[threads++] = cpu;
        }
    }
    bool made = status_is_ok(team_create(&f->team, cpus, threads)) &&
                status_is_ok(arena_map(&f->arena, ARENA, true)) &&
                (f->before = malloc(f->arena.bytes)) != NULL;
    if (made) {
        rotation_fill(f->team, &f->arena, &(struct limit){.signal = NULL});
        memcpy(f->before, f->arena.base, f->arena.bytes);
    }
    f->request = (struct step_parts_request){.team = f->team,
                                             .arena = &f->arena,
                                             .isa = isa_detect(),
                                             .kv_format = LINE_F16,
                                             .rows = 3,
                                             .decode = true};
    f->request.formats[LINE_Q8_0] = true;
    *state = f;
    return made ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    arena_unmap(&f->arena);
    team_destroy(f->team);
    free(f->before);
    free(f);
    return 0;
}

static void free_rows(struct result_machine *machine)
{
    free(machine->weight_reads);
    free(machine->part_times);
}

static unsigned count_parts(const struct result_machine *machine, const char *name)
{
    unsigned count = 0;
    for (size_t i = 0; i < machine->part_time_count; i++) {
        count += strcmp(machine->part_times[i].operator_, name) == 0 ? 1 : 0;
    }
    return count;
}

static void parts_beside_a_step(void **state)
{
    struct fixture *f = *state;
    struct step_parts *parts = NULL;
    struct result_machine machine = {.bandwidth = NULL};
    ASSERT_OK(step_parts_create(&parts, &f->request));
    assert_true(step_parts_sample(parts, &f->request.limit));
    assert_true(step_parts_sample(parts, &f->request.limit));
    assert_int_equal(step_parts_rounds(parts), 2);
    ASSERT_OK(step_parts_report(&machine, parts, 1, 1));
    assert_int_equal(machine.weight_read_count, 3); // a head's one, and 3 is between 2 and 4
    assert_int_equal(machine.weight_reads[0].batch, 1);
    assert_int_equal(machine.weight_reads[1].batch, 2);
    assert_int_equal(machine.weight_reads[2].batch, 4);
    for (size_t i = 0; i < machine.weight_read_count; i++) {
        assert_string_equal(machine.weight_reads[i].dtype, "q8_0");
        assert_int_equal(machine.weight_reads[i].bytes_per_s.n, 1);
        assert_true(machine.weight_reads[i].bytes_per_s.value > 0);
    }
    assert_int_equal(count_parts(&machine, "attention"), 7); // 2 widths, 3 groups; a short one
    assert_int_equal(count_parts(&machine, "norms"), 2);
    assert_int_equal(count_parts(&machine, "columns"), 2);
    for (size_t i = 0; i < machine.part_time_count; i++) {
        assert_true(machine.part_times[i].seconds.value > 0);
        assert_string_equal(machine.part_times[i].phase, "decode");
    }
    assert_memory_equal(f->arena.base, f->before, f->arena.bytes); // somebody's weights
    free_rows(&machine);
    step_parts_destroy(parts);
}

static void parts_of_prompts(void **state)
{
    struct fixture *f = *state;
    struct step_parts *parts = NULL;
    struct result_machine machine = {.bandwidth = NULL};
    struct step_parts_request request = f->request;
    request.decode = false;
    request.prefill = true;
    request.rows = 700;
    ASSERT_OK(step_parts_create(&parts, &request));
    assert_true(step_parts_sample(parts, &request.limit));
    ASSERT_OK(step_parts_report(&machine, parts, 0, 1));
    assert_int_equal(machine.weight_read_count, 2); // the head's one row, and the most
    assert_int_equal(machine.weight_reads[1].batch, LINEAR_BATCH_MAX);
    assert_int_equal(count_parts(&machine, "attention"), 2);
    assert_string_equal(machine.part_times[0].phase, "prefill");
    free_rows(&machine);
    step_parts_destroy(parts);
}

static void limits_are_heeded(void **state)
{
    struct fixture *f = *state;
    struct step_parts *parts = NULL;
    volatile sig_atomic_t signal = 15;
    struct step_parts_request request = f->request;
    const struct limit stop = {.signal = &signal};
    ASSERT_OK(step_parts_create(&parts, &request));
    assert_false(step_parts_sample(parts, &stop));
    assert_int_equal(step_parts_rounds(parts), 0);
    step_parts_destroy(parts);
    request.limit = stop;
    assert_int_equal(step_parts_create(&parts, &request).code, STATUS_INTERRUPTED);
    signal = 0;
    request.limit = (struct limit){.signal = &signal, .until_seconds = 1e-9};
    struct status late = step_parts_create(&parts, &request);
    assert_true(limit_is_why(&request.limit, late));
}

static void norms_take_time(void **state)
{
    struct fixture *f = *state;
    struct step_norms *norms = NULL;
    struct step_norms_times few;
    struct step_norms_times many;
    ASSERT_OK(step_norms_create(&norms, f->team, isa_detect(), 1, 512));
    step_norms_sample(&few, norms);
    step_norms_destroy(norms);
    ASSERT_OK(step_norms_create(&norms, f->team, isa_detect(), 2048, 512));
    step_norms_sample(&many, norms);
    step_norms_destroy(norms);
    assert_true(few.norms > 0 && few.columns > 0);
    assert_true(many.norms > few.norms && many.columns > few.columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_beside_a_step),
        cmocka_unit_test(parts_of_prompts),
        cmocka_unit_test(limits_are_heeded),
        cmocka_unit_test(norms_take_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

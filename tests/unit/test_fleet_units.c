#include "profiler/fleet/units.h"
#include "tests/test.h"

// Two sockets of two cores of two threads; cpu = socket + 2 core + 4 sibling, as kernels number.
static struct machine_cpu cpus[8];

static struct machine two_sockets(void)
{
    for (unsigned i = 0; i < 8; i++) {
        cpus[i] = (struct machine_cpu){
            .os_index = i, .core = i % 4, .package = i % 2, .node = i % 2, .smt_index = i / 4};
    }
    struct machine machine = {.usable = cpus, .usable_count = 8};
    return machine;
}

static void each_rank_takes_a_unit(void **state)
{
    (void)state;
    static struct fleet_offer offers[5];
    struct machine machine = two_sockets();
    static const struct {
        enum fleet_unit unit;
        unsigned taken[5]; // by four ranks of host a; the fourth entry is host b's
    } cases[] = {{FLEET_NODE, {0, FLEET_NO_UNIT, FLEET_NO_UNIT, 0, FLEET_NO_UNIT}},
                 {FLEET_SOCKET, {0, 1, FLEET_NO_UNIT, 0, FLEET_NO_UNIT}},
                 {FLEET_NUMA, {0, 1, FLEET_NO_UNIT, 0, FLEET_NO_UNIT}},
                 {FLEET_CORE, {0, 1, 2, 0, 3}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (size_t r = 0; r < 5; r++) {
            fleet_offer_make(&offers[r], r == 3 ? "b" : "a", &machine, cases[c].unit);
        }
        for (size_t r = 0; r < 5; r++) {
            assert_int_equal(fleet_offer_take(offers, 5, r), cases[c].taken[r]);
        }
    }
}

// Ranks that their launcher bound apart take what they are bound to, in any order.
static void bindings_are_kept(void **state)
{
    (void)state;
    static struct fleet_offer offers[2];
    struct machine machine = two_sockets();
    struct machine bound = machine;
    bound.usable = &cpus[3];
    bound.usable_count = 1;
    fleet_offer_make(&offers[0], "a", &bound, FLEET_CORE);
    fleet_offer_make(&offers[1], "a", &machine, FLEET_CORE);
    assert_int_equal(fleet_offer_take(offers, 2, 0), 3);
    assert_int_equal(fleet_offer_take(offers, 2, 1), 0);
}

static void cpus_of_a_unit(void **state)
{
    (void)state;
    struct machine machine = two_sockets();
    unsigned found[8];
    char text[64];
    size_t n = fleet_unit_cpus(found, &machine, FLEET_SOCKET, 1);
    assert_string_equal(fleet_cpu_list(text, sizeof text, found, n), "1,3,5,7");
    n = fleet_unit_cpus(found, &machine, FLEET_CORE, 2);
    assert_string_equal(fleet_cpu_list(text, sizeof text, found, n), "2,6");
    n = fleet_unit_cpus(found, &machine, FLEET_NODE, 0);
    assert_string_equal(fleet_cpu_list(text, sizeof text, found, n), "0-7");
    assert_string_equal(fleet_cpu_list(text, 4, found, 0), "");
}

static void words(void **state)
{
    (void)state;
    enum fleet_unit unit = FLEET_NODE;
    assert_int_equal(fleet_unit_parse(&unit, "numa").code, STATUS_OK);
    assert_int_equal(unit, FLEET_NUMA);
    struct status status = fleet_unit_parse(&unit, "cores");
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "accepted node, socket, numa, core"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rank_takes_a_unit),
        cmocka_unit_test(bindings_are_kept),
        cmocka_unit_test(cpus_of_a_unit),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

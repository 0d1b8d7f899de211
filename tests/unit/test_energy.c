// Energy from saved powercap folders whose counters a script moves: sums, wraps, rights, absence.
#include "profiler/energy.h"
#include "tests/fakeroot.h"

#define ZONE "/sys/class/powercap/"

static void set(const struct fakeroot *root, const char *zone, const char *file, const char *text)
{
    char path[128];
    (void)snprintf(path, sizeof path, ZONE "%s/%s", zone, file);
    fakeroot_write(root, path, text);
}

static void add(const struct fakeroot *root, const char *zone, const char *name, const char *energy)
{
    set(root, zone, "name", name);
    set(root, zone, "energy_uj", energy);
    set(root, zone, "max_energy_range_uj", "262143328850\n");
}

// Two packages with memory, cores that are part of them, the board that is their sum, and the
// firmware's view of package 0.
static void two_packages(struct fakeroot *root)
{
    fakeroot_make(root);
    add(root, "intel-rapl:0", "package-0\n", "1000000\n");
    add(root, "intel-rapl:0:0", "core\n", "500000\n");
    add(root, "intel-rapl:0:1", "dram\n", "200000\n");
    add(root, "intel-rapl:1", "package-1\n", "262143328000\n");
    add(root, "intel-rapl:1:0", "dram\n", "900000\n");
    add(root, "intel-rapl:2", "psys\n", "7\n");
    add(root, "intel-rapl-mmio:0", "package-0\n", "1000000\n");
    set(root, "intel-rapl", "enabled", "1\n");
}

static void sums(void **state)
{
    (void)state;
    struct fakeroot root;
    struct energy_meter *meter = NULL;
    two_packages(&root);
    ASSERT_OK(energy_open(&meter, root.dir));
    assert_string_equal(energy_zones(meter, ENERGY_PACKAGE), "intel-rapl:0 intel-rapl:1");
    assert_string_equal(energy_zones(meter, ENERGY_DRAM), "intel-rapl:0:1 intel-rapl:1:0");
    struct reading joules = energy_joules(meter, ENERGY_PACKAGE);
    assert_true(reading_is_present(&joules));
    assert_true(joules.value >= 0 && joules.value <= 0);
    set(&root, "intel-rapl:0", "energy_uj", "3500000\n");
    set(&root, "intel-rapl:0:0", "energy_uj", "900500000\n");
    set(&root, "intel-rapl:0:1", "energy_uj", "450000\n");
    set(&root, "intel-rapl-mmio:0", "energy_uj", "3500000\n");
    energy_update(meter);
    // 850 microjoules to the end of the range, and 150 behind it.
    set(&root, "intel-rapl:1", "energy_uj", "150\n");
    energy_update(meter);
    joules = energy_joules(meter, ENERGY_PACKAGE);
    ASSERT_CLOSE(joules.value, 2.5 + 1e-3, 1e-9);
    joules = energy_joules(meter, ENERGY_DRAM);
    ASSERT_CLOSE(joules.value, 0.25, 1e-9);
    // A second wrap of the same counter.
    set(&root, "intel-rapl:1", "energy_uj", "262143328850\n");
    energy_update(meter);
    set(&root, "intel-rapl:1", "energy_uj", "0\n");
    energy_update(meter);
    joules = energy_joules(meter, ENERGY_PACKAGE);
    ASSERT_CLOSE(joules.value, 2.5 + 1e-3 + 262143.3287, 1e-9);
    energy_close(meter);
    fakeroot_remove(&root);
}

static void absent(const struct energy_meter *meter, enum energy_domain domain,
                   enum absent_state state)
{
    struct reading joules = energy_joules(meter, domain);
    assert_false(reading_is_present(&joules));
    assert_int_equal(joules.absence.state, state);
    assert_true(joules.absence.text[0] != '\0');
}

static void back_without_range(void **state)
{
    (void)state;
    struct fakeroot root;
    struct energy_meter *meter = NULL;
    two_packages(&root);
    fakeroot_delete(&root, ZONE "intel-rapl:1/max_energy_range_uj");
    ASSERT_OK(energy_open(&meter, root.dir));
    set(&root, "intel-rapl:1", "energy_uj", "5\n");
    energy_update(meter);
    absent(meter, ENERGY_PACKAGE, ABSENT_FAILED);
    energy_close(meter);
    fakeroot_remove(&root);
}

static void vanishes(void **state)
{
    (void)state;
    struct fakeroot root;
    struct energy_meter *meter = NULL;
    two_packages(&root);
    ASSERT_OK(energy_open(&meter, root.dir));
    fakeroot_delete(&root, ZONE "intel-rapl:1/energy_uj");
    energy_update(meter);
    absent(meter, ENERGY_PACKAGE, ABSENT_FAILED);
    struct reading dram = energy_joules(meter, ENERGY_DRAM);
    assert_true(reading_is_present(&dram));
    energy_close(meter);
    fakeroot_remove(&root);
}

static void no_zones(void **state)
{
    (void)state;
    struct fakeroot root;
    struct energy_meter *meter = NULL;
    fakeroot_make(&root);
    ASSERT_OK(energy_open(&meter, root.dir));
    energy_update(meter);
    absent(meter, ENERGY_PACKAGE, ABSENT_UNSUPPORTED);
    absent(meter, ENERGY_DRAM, ABSENT_UNSUPPORTED);
    assert_string_equal(energy_zones(meter, ENERGY_DRAM), "");
    energy_close(meter);
    fakeroot_remove(&root);
}

// A file that cannot be read, or holds no number.
static void no_rights(void **state)
{
    (void)state;
    struct fakeroot root;
    struct energy_meter *meter = NULL;
    two_packages(&root);
    set(&root, "intel-rapl:0", "energy_uj", "");
    ASSERT_OK(energy_open(&meter, root.dir));
    energy_update(meter);
    absent(meter, ENERGY_PACKAGE, ABSENT_NOT_PERMITTED);
    energy_close(meter);
    fakeroot_remove(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums),      cmocka_unit_test(back_without_range),
        cmocka_unit_test(vanishes),  cmocka_unit_test(no_zones),
        cmocka_unit_test(no_rights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

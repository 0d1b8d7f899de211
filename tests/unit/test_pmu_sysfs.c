#include "profiler/pmu_sysfs.h"
#include "tests/fakeroot.h"

#define DEVICES "/sys/bus/event_source/devices/"

static void make_pmus(struct fakeroot *root)
{
    static const struct {
        const char *path;
        const char *text;
    } files[] = {
        {"cpu/type", "4\n"},
        {"uncore_imc_10/type", "30\n"},
        {"uncore_imc_10/cpumask", "0,28\n"},
        {"uncore_imc_2/type", "22\n"},
        {"uncore_imc_2/cpumask", "0-1\n"},
        {"uncore_imc_2/format/event", "config:0-7\n"},
        {"uncore_imc_2/format/umask", "config:8-15\n"},
        {"uncore_imc_2/events/cas_count_read", "event=0x04,umask=0x03\n"},
        {"uncore_imc_2/events/cas_count_read.scale", "6.103515625e-5\n"},
        {"uncore_imc_2/events/cas_count_read.unit", "MiB\n"},
        {"uncore_imc_free_running_0/type", "40\n"},
        {"uncore_imc_bad/type", "41\n"},
        {"uncore_imc_9/type", "not a number\n"},
        {"amd_df/type", "12\n"},
        {"amd_df/format/event", "config:0-7,32-35\n"},
        {"amd_df/format/umask", "config:8-15\n"},
        {"amd_df/format/deep", "config1:4-7\n"},
        {"amd_df/format/odd", "config2:0-7\n"},
        {"power/type", "24\n"},
        {"power/format/event", "config:0-7\n"},
        {"power/events/energy-pkg", "event=0x02\n"},
        {"power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n"},
        {"power/events/energy-pkg.unit", "Joules\n"},
    };
    fakeroot_make(root);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[256];
        (void)snprintf(path, sizeof path, DEVICES "%s", files[i].path);
        fakeroot_write(root, path, files[i].text);
    }
}

static void boxes_are_found_by_number(void **state)
{
    (void)state;
    struct fakeroot root;
    struct pmu_box boxes[8];
    make_pmus(&root);
    assert_int_equal(pmu_boxes(boxes, 8, root.dir, "uncore_imc_*"), 2);
    assert_int_equal(boxes[0].number, 2);
    assert_int_equal(boxes[0].type, 22);
    assert_int_equal(boxes[0].cpu_count, 2);
    assert_int_equal(boxes[0].cpus[1], 1);
    assert_string_equal(boxes[1].name, "uncore_imc_10");
    assert_int_equal(boxes[1].cpus[1], 28);
    assert_int_equal(pmu_boxes(boxes, 1, root.dir, "uncore_imc_*"), 1);
    assert_int_equal(pmu_boxes(boxes, 8, root.dir, "power"), 1);
    assert_int_equal(boxes[0].cpu_count, 0);
    assert_int_equal(pmu_boxes(boxes, 8, root.dir, "uncore_imc"), 0);
    assert_true(pmu_core_exists(root.dir));
    fakeroot_remove(&root);
    assert_int_equal(pmu_boxes(boxes, 8, root.dir, "cpu"), 0);
    assert_false(pmu_core_exists(root.dir));
}

static void terms_become_codes(void **state)
{
    (void)state;
    const struct {
        int line;
        const char *pmu;
        const char *terms;
        bool want;
        uint64_t config;
        uint64_t config1;
        double scale;
    } cases[] = {
        {__LINE__, "uncore_imc_2", "event=0x04,umask=0x0c", true, 0xc04, 0, (double)NAN},
        {__LINE__, "uncore_imc_2", "cas_count_read", true, 0x304, 0, 64},
        {__LINE__, "amd_df", "event=0x1c7,umask=0x38", true, 0x1000038c7, 0, (double)NAN},
        {__LINE__, "amd_df", "deep=0xf", true, 0, 0xf0, (double)NAN},
        {__LINE__, "power", "energy-pkg", true, 2, 0, 0x1p-32},
        {__LINE__, "uncore_imc_2", "cas_count_write", false, 0, 0, 0}, // no such alias
        {__LINE__, "uncore_imc_2", "event=0x100", false, 0, 0, 0},     // does not fit 8 bits
        {__LINE__, "uncore_imc_2", "event=four", false, 0, 0, 0},
        {__LINE__, "uncore_imc_2", "edge=1", false, 0, 0, 0}, // no such format
        {__LINE__, "uncore_imc_2", "../type=1", false, 0, 0, 0},
        {__LINE__, "amd_df", "odd=1", false, 0, 0, 0}, // a word we cannot set
        {__LINE__, "nothing", "event=1", false, 0, 0, 0},
    };
    struct fakeroot root;
    make_pmus(&root);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t config = 0;
        uint64_t config1 = 0;
        double scale = 0;
        bool got = pmu_terms(&config, &config1, &scale, root.dir, cases[i].pmu, cases[i].terms);
        bool same_scale = isnan(cases[i].scale)
                              ? isnan(scale)
                              : fabs(scale - cases[i].scale) <= 1e-12 * cases[i].scale;
        if (got != cases[i].want ||
            (got && (config != cases[i].config || config1 != cases[i].config1 || !same_scale))) {
            fail_msg("line %d: %d 0x%llx 0x%llx %g", cases[i].line, got, (unsigned long long)config,
                     (unsigned long long)config1, scale);
        }
    }
    fakeroot_remove(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_found_by_number),
        cmocka_unit_test(terms_become_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

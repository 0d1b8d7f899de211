#include "machines/detect.h"
#include "tests/fakeroot.h"

#include <inttypes.h>
#include <sched.h>

static int make(void **state)
{
    struct fakeroot *root = malloc(sizeof *root);
    fakeroot_make(root);
    *state = root;
    return 0;
}

static int drop(void **state)
{
    fakeroot_remove(*state);
    free(*state);
    return 0;
}

// Unpacks one of tests/machines into the root.
static void unpack(const struct fakeroot *root, const char *name)
{
    char command[1024];
    (void)snprintf(command, sizeof command, "tar xzf '%s/machines/%s' -C '%s'", TESTS_DIR, name,
                   root->dir);
    assert_int_equal(system(command), 0);
}

static void detect_named(struct machine *out, const char *name)
{
    char path[1024];
    if (strstr(name, ".tar.gz") == NULL) {
        (void)snprintf(path, sizeof path, "%s/machines/%s", TESTS_DIR, name);
        ASSERT_OK(machine_detect_xml(out, path));
        return;
    }
    struct fakeroot root;
    fakeroot_make(&root);
    unpack(&root, name);
    ASSERT_OK(machine_detect_root(out, root.dir));
    fakeroot_remove(&root);
}

static void nodes_text(char *out, size_t size, const struct machine *machine)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < machine->node_count; i++) {
        const struct machine_node *node = &machine->nodes[i];
        used += (size_t)snprintf(out + used, size - used, "%u:%" PRIu64 ":%u;", node->os_index,
                                 node->bytes >> 20, node->pus);
        assert_true(used < size);
    }
}

// The first row of that level, and the instances of all data or unified rows of it.
static uint64_t cache_bytes(unsigned *instances, const struct machine *machine, unsigned level)
{
    *instances = machine_cache_instances(machine, level);
    return machine_cache_bytes(machine, level);
}

static void check_row(const char *line)
{
    char file[128];
    char nodes[256];
    char found[256];
    unsigned want[7];
    uint64_t l3_bytes = 0;
    unsigned l2 = 0;
    unsigned l3 = 0;
    struct machine machine;
    assert_int_equal(sscanf(line, "%127s %u %u %u %u %u %u %" SCNu64 " %u %255s", file, &want[0],
                            &want[1], &want[2], &want[3], &want[4], &want[5], &l3_bytes, &want[6],
                            nodes),
                     10);
    detect_named(&machine, file);
    nodes_text(found, sizeof found, &machine);
    (void)cache_bytes(&l2, &machine, 2);
    uint64_t found_l3 = cache_bytes(&l3, &machine, 3);
    const unsigned got[7] = {machine.packages,
                             machine.numa_nodes,
                             machine.cores,
                             machine.pus,
                             l2,
                             l3,
                             (unsigned)machine.core_kind_count};
    for (size_t i = 0; i < 7; i++) {
        if (got[i] != want[i]) {
            fail_msg("%s: column %zu is %u, expected %u", file, i + 2, got[i], want[i]);
        }
    }
    assert_true(found_l3 == l3_bytes);
    assert_string_equal(found, nodes);
    assert_true(machine.llc_total_bytes == l3_bytes * l3);
    assert_int_equal(machine.usable_count, machine.pus);
    assert_int_equal(machine.usable_cores, machine.cores);
    assert_int_equal(machine.smt, machine.pus > machine.cores);
    machine_free(&machine);
}

static void counts_are_the_truth_table(void **state)
{
    (void)state;
    FILE *file = fopen(TESTS_DIR "/machines/truth.tsv", "r");
    char line[1024];
    size_t rows = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] != '#') {
            check_row(line);
            rows++;
        }
    }
    (void)fclose(file);
    assert_int_equal(rows, 8);
}

static void hybrid_keeps_kinds_and_caches_apart(void **state)
{
    (void)state;
    struct machine machine;
    detect_named(&machine, "hybrid-hbm.xml");
    assert_string_equal(machine.core_kinds[0].name, "IntelAtom");
    assert_int_equal(machine.core_kinds[0].cores, 4);
    assert_int_equal(machine.core_kinds[1].pus, 4);
    assert_int_equal(machine.usable[0].kind, 1);
    assert_int_equal(machine.usable[1].smt_index, 1);
    assert_int_equal(machine.usable[4].kind, 0);
    assert_int_equal(machine.caches[0].bytes, 32768); // L1 of 32 KiB before that of 48 KiB
    assert_int_equal(machine.caches[1].shared_by_pus, 2);
    assert_true(machine_cache_bytes(&machine, 2) == 2 << 20);
    assert_string_equal(machine.nodes[1].kind, "HBM");
    assert_string_equal(machine.nodes[0].kind, "");
    assert_string_equal(machine.vendor, "GenuineIntel");
    assert_int_equal(machine.model, 151);
    assert_int_equal(machine.numa_balancing, -1);
    machine_free(&machine);
}

static void identity_of_a_saved_x86(void **state)
{
    const struct fakeroot *root = *state;
    struct machine machine;
    unpack(root, "16em64t-4s2c2t.tar.gz");
    ASSERT_OK(machine_detect_root(&machine, root->dir));
    assert_string_equal(machine.name, "Intel(R) Xeon(TM) CPU 2.60GHz");
    assert_string_equal(machine.vendor, "GenuineIntel");
    assert_int_equal(machine.family, 15);
    assert_int_equal(machine.model, 6);
    assert_int_equal(machine.stepping, 8);
    assert_string_equal(machine.architecture, "x86_64");
    assert_string_equal(machine.isa, ""); // "sse4_2" and the rest came later
    assert_string_equal(machine.virtualized, "none");
    assert_true(machine.memory_available_bytes == 0); // a dump without meminfo
    assert_int_equal(machine.numa_balancing, -1);
    machine_free(&machine);
}

static void identity_of_a_saved_arm(void **state)
{
    const struct fakeroot *root = *state;
    struct machine machine;
    unpack(root, "2arm-2c.tar.gz");
    ASSERT_OK(machine_detect_root(&machine, root->dir));
    assert_string_equal(machine.vendor, "0x41");
    assert_int_equal(machine.model, 0xc09);
    assert_int_equal(machine.stepping, 0x21);
    assert_int_equal(machine.family, 0);
    assert_string_equal(machine.architecture, "arm");
    assert_int_equal(machine.cache_count, 0);
    assert_true(machine.llc_total_bytes == 0);
    machine_free(&machine);
}

// A Neoverse V1 with SVE of 256 bits, described by today's arm64 kernels.
static void isa_and_settings_from_files(void **state)
{
    const struct fakeroot *root = *state;
    struct machine machine;
    unpack(root, "2arm-2c.tar.gz");
    fakeroot_delete(root, "/proc/hwloc-nofile-info"); // the dump's "arm"
    fakeroot_write(root, "/proc/cpuinfo",
                   "processor\t: 0\nFeatures\t: fp asimd asimdhp asimddp sve i8mm bf16\n"
                   "CPU implementer\t: 0x00\nCPU architecture: 8\n\nprocessor\t: 1\n");
    fakeroot_write(root, "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
                   "0x00000000411fd401\n");
    fakeroot_write(root, "/proc/sys/abi/sve_default_vector_length", "32\n");
    fakeroot_write(root, "/proc/sys/kernel/numa_balancing", "1\n");
    fakeroot_write(root, "/proc/sys/kernel/osrelease", "6.1.0-test\n");
    fakeroot_write(root, "/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
    fakeroot_write(root, "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", "2097152\n");
    fakeroot_write(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    fakeroot_write(root, "/sys/class/dmi/id/product_name", "KVM Virtual Machine\n");
    fakeroot_write(root, "/.dockerenv", "");
    fakeroot_write(root, "/proc/meminfo",
                   "MemTotal: 8000000 kB\nMemAvailable: 1048576 kB\nHugePages_Free:        7\n"
                   "Hugepagesize:       2048 kB\n");
    ASSERT_OK(machine_detect_root(&machine, root->dir));
    assert_string_equal(machine.isa, "asimd asimdhp asimddp i8mm bf16 sve");
    assert_int_equal(machine.sve_vector_bytes, 32);
    assert_string_equal(machine.vendor, "0x41");
    assert_int_equal(machine.model, 0xd40);
    assert_int_equal(machine.stepping, 0x11);
    assert_string_equal(machine.architecture, "aarch64");
    assert_int_equal(machine.numa_balancing, 1);
    assert_string_equal(machine.kernel, "6.1.0-test");
    assert_string_equal(machine.thp, "always");
    assert_true(machine.thp_bytes == 2 << 20);
    assert_string_equal(machine.governor, "powersave");
    assert_string_equal(machine.virtualized, "kvm container:docker");
    assert_true(machine.memory_available_bytes == 1 << 30);
    assert_true(machine.huge_pages_free == 7);
    machine_free(&machine);
}

// EC2's Arm machines have no flag for a hypervisor: the instance type tells.
static void bare_metal_of_a_cloud(void **state)
{
    const struct fakeroot *root = *state;
    static const struct {
        const char *product;
        const char *virtualized;
    } rows[] = {{"c7g.metal\n", "none"}, {"m8g.metal-24xl\n", "none"}, {"c7g.16xlarge\n", "kvm"}};
    unpack(root, "2arm-2c.tar.gz");
    fakeroot_write(root, "/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine machine;
        fakeroot_write(root, "/sys/class/dmi/id/product_name", rows[i].product);
        ASSERT_OK(machine_detect_root(&machine, root->dir));
        assert_string_equal(machine.virtualized, rows[i].virtualized);
        machine_free(&machine);
    }
}

static void quota_affinity_and_memory_limit_a_saved_root(void **state)
{
    const struct fakeroot *root = *state;
    struct machine machine;
    unpack(root, "16em64t-4s2c2t.tar.gz");
    fakeroot_write(root, "/proc/self/status",
                   "Name:\tlmroof\nCpus_allowed:\t10e\nCpus_allowed_list:\t1-3,8\n");
    fakeroot_write(root, "/proc/self/cgroup", "0::/box\n");
    fakeroot_write(root, "/proc/self/mountinfo",
                   "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    fakeroot_write(root, "/sys/fs/cgroup/box/cpu.max", "150000 100000\n");
    fakeroot_write(root, "/sys/fs/cgroup/box/memory.max", "2147483648\n");
    fakeroot_write(root, "/sys/fs/cgroup/box/memory.current", "1073741824\n");
    fakeroot_write(root, "/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 9000000 kB\n");
    ASSERT_OK(machine_detect_root(&machine, root->dir));
    assert_int_equal(machine.pus, 16);
    assert_int_equal(machine.usable_count, 4);
    assert_int_equal(machine.usable_cores, 4);
    ASSERT_CLOSE(machine.cpu_quota_cores, 1.5, 1e-12);
    assert_int_equal(machine_default_threads(&machine, false), 1);
    assert_true(machine.memory_limit_bytes == (uint64_t)2 << 30);
    assert_true(machine.memory_available_bytes == 1 << 30);
    // cpus 1, 2, 3 and 8 lie in all four packages.
    assert_true(machine.llc_total_bytes == 4 * (4 << 20));
    machine_free(&machine);
    fakeroot_write(root, "/proc/self/status", "Cpus_allowed_list:\t0,8\n");
    fakeroot_write(root, "/sys/fs/cgroup/box/cpu.max", "765000 100000\n");
    fakeroot_write(root, "/sys/fs/cgroup/box/memory.current", "9147483648\n");
    ASSERT_OK(machine_detect_root(&machine, root->dir));
    assert_int_equal(machine.usable_count, 2);
    assert_int_equal(machine.usable_cores, 1); // two PUs of one core
    assert_int_equal(machine.usable[1].smt_index, 1);
    assert_true(machine.llc_total_bytes == 4 << 20);
    ASSERT_CLOSE(machine.cpu_quota_cores, 7.65, 1e-12);
    assert_true(machine.memory_available_bytes == 4096); // nothing is left; 0 would be "unknown"
    machine_free(&machine);
}

static void cpuinfo_stands_in_for_a_hidden_sys(void **state)
{
    const struct fakeroot *root = *state;
    struct machine machine;
    char command[1024];
    unpack(root, "16em64t-4s2c2t.tar.gz");
    (void)snprintf(command, sizeof command, "rm -r '%s/sys'", root->dir);
    assert_int_equal(system(command), 0);
    ASSERT_OK(machine_detect_root(&machine, root->dir));
    assert_int_equal(machine.packages, 4);
    assert_int_equal(machine.cores, 8);
    assert_int_equal(machine.pus, 16);
    assert_true(machine.smt);
    assert_int_equal(machine.usable_cores, 8);
    assert_int_equal(machine.cache_count, 0);
    assert_true(machine.llc_total_bytes == 0);
    assert_int_equal(machine.numa_nodes, 1);
    assert_int_equal(machine.node_count, 0); // no meminfo in this dump: its size is not told
    machine_free(&machine);
    fakeroot_write(root, "/proc/meminfo", "MemTotal: 16000000 kB\n");
    fakeroot_write(root, "/proc/self/status", "Cpus_allowed_list:\t0-1,8\n");
    ASSERT_OK(machine_detect_root(&machine, root->dir));
    assert_int_equal(machine.node_count, 1);
    assert_true(machine.nodes[0].bytes == (uint64_t)16000000 << 10);
    assert_int_equal(machine.usable_count, 3);
    assert_int_equal(machine.usable_cores, 2);
    assert_int_equal(machine.usable[1].os_index, 8);
    assert_int_equal(machine.usable[1].smt_index, 1);
    machine_free(&machine);
}

static void bad_inputs_name_the_file(void **state)
{
    const struct fakeroot *root = *state;
    static const struct {
        const char *name;
        const char *text; // NULL: not written
    } rows[] = {{"/missing.xml", NULL},
                {"/empty.xml", ""},
                {"/text.xml", "hello\n"},
                {"/other.xml", "<html><body/></html>\n"},
                {"/unknown.xml", "<topology version=\"2.0\"><object type=\"Foo\"/></topology>\n"},
                {"/cut.xml", "<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n  <object "
                             "type=\"Machine\" os_index=\"0\" cpuset=\"0x"},
                {"/saved/nothing-we-know", "a directory with neither sys nor proc"},
                {"/proconly/proc/cpuinfo", "no processor here\n"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct machine machine;
        char path[1024];
        if (rows[i].text != NULL) {
            fakeroot_write(root, rows[i].name, rows[i].text);
        }
        const char *name = strncmp(rows[i].name, "/saved", 6) == 0      ? "/saved"
                           : strncmp(rows[i].name, "/proconly", 9) == 0 ? "/proconly"
                                                                        : rows[i].name;
        (void)snprintf(path, sizeof path, "%s%s", root->dir, name);
        struct status status = machine_detect_input(&machine, path);
        if (status.code != STATUS_INVALID || strstr(status.detail, path) == NULL) {
            fail_msg("%s: code %d, '%s'", path, (int)status.code, status.detail);
        }
        assert_null(machine.usable);
    }
}

static void a_closed_affinity_is_refused(void **state)
{
    const struct fakeroot *root = *state;
    struct machine machine;
    unpack(root, "2arm-2c.tar.gz");
    fakeroot_write(root, "/proc/self/status", "Cpus_allowed_list:\t5-7\n");
    struct status status = machine_detect_root(&machine, root->dir);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, root->dir));
}

static void running_system_respects_the_affinity_mask(void **state)
{
    (void)state;
    struct machine machine;
    cpu_set_t old;
    cpu_set_t one;
    assert_int_equal(sched_getaffinity(0, sizeof old, &old), 0);
    // What the user exported for hwloc must not replace the system.
    assert_int_equal(setenv("HWLOC_SYNTHETIC", "pack:7 core:3 pu:1", 1), 0);
    ASSERT_OK(machine_detect(&machine));
    assert_string_equal(getenv("HWLOC_SYNTHETIC"), "pack:7 core:3 pu:1");
    assert_int_equal(machine.usable_count, CPU_COUNT(&old));
    assert_int_not_equal(machine.cores, 21);
    assert_true(machine.base_page_bytes >= 4096);
    assert_true(machine.kernel[0] != '\0');
    assert_true(machine.hwloc_version[0] != '\0');
    unsigned last = machine.usable[machine.usable_count - 1].os_index;
    machine_free(&machine);
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    ASSERT_OK(machine_detect(&machine));
    (void)sched_setaffinity(0, sizeof old, &old);
    assert_int_equal(machine.usable_count, 1);
    assert_int_equal(machine.usable[0].os_index, last);
    assert_int_equal(machine_default_threads(&machine, true), 1);
    machine_free(&machine);
    (void)unsetenv("HWLOC_SYNTHETIC");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_the_truth_table),
        cmocka_unit_test(hybrid_keeps_kinds_and_caches_apart),
        cmocka_unit_test_setup_teardown(identity_of_a_saved_x86, make, drop),
        cmocka_unit_test_setup_teardown(identity_of_a_saved_arm, make, drop),
        cmocka_unit_test_setup_teardown(isa_and_settings_from_files, make, drop),
        cmocka_unit_test_setup_teardown(bare_metal_of_a_cloud, make, drop),
        cmocka_unit_test_setup_teardown(quota_affinity_and_memory_limit_a_saved_root, make, drop),
        cmocka_unit_test_setup_teardown(cpuinfo_stands_in_for_a_hidden_sys, make, drop),
        cmocka_unit_test_setup_teardown(bad_inputs_name_the_file, make, drop),
        cmocka_unit_test_setup_teardown(a_closed_affinity_is_refused, make, drop),
        cmocka_unit_test(running_system_respects_the_affinity_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

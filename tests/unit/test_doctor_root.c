// The doctor on saved roots: machines that are well, and each thing that is not by itself.
#include "machines/detect.h"
#include "profiler/doctor_facts.h"
#include "tests/fakeroot.h"
#include "tests/smbios_table.h"

#include <inttypes.h>

enum { CPUS = 4, FIELDS = 12, TABLE_LINE = 1024 };

static void write_at(const struct fakeroot *root, const char *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void write_at(const struct fakeroot *root, const char *text, const char *format, ...)
{
    char path[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(path, sizeof path, format, args);
    va_end(args);
    fakeroot_write(root, path, text);
}

static const char *const bits[] = {"1\n", "2\n", "4\n", "8\n"};

static void write_cache(const struct fakeroot *root, unsigned cpu, unsigned index,
                        const char *level, const char *size, const char *map)
{
    static const char folder[] = "/sys/devices/system/cpu/cpu%u/cache/index%u/%s";
    char path[4][256];
    const char *const names[] = {"level", "type", "size", "shared_cpu_map"};
    const char *const texts[] = {level, "Unified\n", size, map};
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(path[i], sizeof path[i], folder, cpu, index, names[i]);
        fakeroot_write(root, path[i], texts[i]);
    }
}

// A machine of two nodes with two cores each on one package, in good health, as Linux 6.1 shows it:
// Documentation/ABI/{stable,testing}/sysfs-devices-{node,system-cpu}, admin-guide/pm/cpufreq.rst.
static void write_topology(const struct fakeroot *root)
{
    static const char cpu_path[] = "/sys/devices/system/cpu/cpu%u/%s";
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        char number[8];
        (void)snprintf(number, sizeof number, "%u\n", cpu);
        write_at(root, number, cpu_path, cpu, "topology/core_id");
        write_at(root, "0\n", cpu_path, cpu, "topology/physical_package_id");
        write_at(root, bits[cpu], cpu_path, cpu, "topology/thread_siblings");
        write_at(root, bits[cpu], cpu_path, cpu, "topology/core_cpus");
        write_at(root, "f\n", cpu_path, cpu, "topology/core_siblings");
        write_at(root, "f\n", cpu_path, cpu, "topology/package_cpus");
        write_at(root, "performance\n", cpu_path, cpu, "cpufreq/scaling_governor");
        write_at(root, "acpi-cpufreq\n", cpu_path, cpu, "cpufreq/scaling_driver");
        write_at(root, "3700000\n", cpu_path, cpu, "cpufreq/cpuinfo_max_freq");
        write_at(root, "3700000\n", cpu_path, cpu, "cpufreq/scaling_max_freq");
        write_cache(root, cpu, 0, "2\n", "1024K\n", bits[cpu]);
        write_cache(root, cpu, 1, "3\n", "32768K\n", "f\n");
    }
    for (unsigned node = 0; node < 2; node++) {
        char meminfo[64];
        (void)snprintf(meminfo, sizeof meminfo, "Node %u MemTotal: 33554432 kB\n", node);
        write_at(root, node == 0 ? "3\n" : "c\n", "/sys/devices/system/node/node%u/cpumap", node);
        write_at(root, node == 0 ? "0-1\n" : "2-3\n", "/sys/devices/system/node/node%u/cpulist",
                 node);
        write_at(root, meminfo, "/sys/devices/system/node/node%u/meminfo", node);
    }
}

static const char healthy_status[] =
    "Name:\tlmroof\nTHP_enabled:\t1\nCapEff:\t0000000000000000\nSeccomp:\t0\n"
    "Cpus_allowed_list:\t0-3\nMems_allowed_list:\t0-1\n";

static const struct {
    const char *path;
    const char *text;
} healthy[] = {
    {"/sys/devices/system/cpu/online", "0-3\n"},
    {"/sys/devices/system/cpu/possible", "0-7\n"},
    {"/sys/devices/system/cpu/present", "0-3\n"},
    {"/sys/devices/system/cpu/offline", "4-7\n"}, // possible, not present: hot-plug room
    {"/sys/devices/system/cpu/isolated", "\n"},
    {"/sys/devices/system/cpu/smt/control", "notsupported\n"},
    {"/sys/devices/system/cpu/cpufreq/boost", "1\n"},
    {"/sys/devices/system/node/online", "0-1\n"},
    {"/sys/devices/system/node/has_cpu", "0-1\n"},
    {"/sys/devices/system/node/has_memory", "0-1\n"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"},
    {"/proc/sys/kernel/numa_balancing", "0\n"},
    {"/proc/sys/kernel/perf_event_paranoid", "2\n"},
    {"/proc/sys/vm/zone_reclaim_mode", "0\n"},
    {"/proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=4\n"
                              "full avg10=0.00 avg60=0.00 avg300=0.00 total=2\n"},
    {"/proc/meminfo", "MemTotal: 67108864 kB\nMemAvailable: 60000000 kB\nSwapTotal: 8388608 kB\n"
                      "SwapFree: 8000000 kB\n"},
    {"/proc/self/status", healthy_status},
    {"/proc/self/cgroup", "0::/\n"},
    {"/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
    {"/sys/class/dmi/id/sys_vendor", "Supermicro\n"},
};

static const char zen4[] =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
    "model name\t: AMD EPYC 9354 32-Core Processor\nstepping\t: 1\n"
    "flags\t\t: fpu lm avx avx2 fma avx512f avx512_bf16%s\n";

static void write_cpuinfo(const struct fakeroot *root, const char *more_flags)
{
    char text[512];
    (void)snprintf(text, sizeof text, zen4, more_flags);
    fakeroot_write(root, "/proc/cpuinfo", text);
}

static int make(void **state)
{
    struct fakeroot *root = malloc(sizeof *root);
    fakeroot_make(root);
    write_topology(root);
    write_cpuinfo(root, "");
    for (size_t i = 0; i < sizeof healthy / sizeof *healthy; i++) {
        fakeroot_write(root, healthy[i].path, healthy[i].text);
    }
    *state = root;
    return 0;
}

static int drop(void **state)
{
    fakeroot_remove(*state);
    free(*state);
    return 0;
}

// The findings on a root: "code,code", in their order.
static void visit(char *out, size_t size, const struct fakeroot *root)
{
    struct machine machine;
    struct result_run run = {.complete = true};
    size_t used = 0;
    ASSERT_OK(machine_detect_root(&machine, root->dir));
    doctor_visit_root(&run, &machine, root->dir);
    out[0] = '\0';
    for (size_t i = 0; i < run.warning_count; i++) {
        const struct result_warning *warning = &run.warnings[i];
        used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? "," : "", warning->code);
        assert_true(used < size);
        // What was seen and why it matters; what to try. Nothing is cut.
        assert_true(strlen(warning->text) > 60 && strlen(warning->text) + 1 < sizeof warning->text);
        assert_true(warning->try_[0] != '\0' && strlen(warning->try_) + 1 < sizeof warning->try_);
    }
    result_run_free(&run);
    machine_free(&machine);
}

#define EXPECT(root, codes)                                            \
    do {                                                               \
        char found_[512];                                              \
        visit(found_, sizeof found_, root);                            \
        if (strcmp(found_, codes) != 0) {                              \
            fail_msg("line %d: %s, want %s", __LINE__, found_, codes); \
        }                                                              \
    } while (0)

#define CPUFREQ "/sys/devices/system/cpu/cpu0/cpufreq/"

// Each row alone makes a healthy machine what its code says; "" are the near misses.
static const struct {
    const char *path;
    const char *text;
    const char *codes;
} rows[] = {
    {"/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n", "thp_off"},
    {"/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n", ""},
    {"/proc/sys/kernel/numa_balancing", "1\n", "numa_balancing"},
    {"/proc/sys/kernel/numa_balancing", "2\n", "numa_balancing"},
    {"/proc/sys/vm/zone_reclaim_mode", "1\n", "zone_reclaim"},
    {"/proc/sys/kernel/perf_event_paranoid", "3\n", "counters_blocked"},
    {"/proc/sys/kernel/perf_event_paranoid", "4\n", "counters_blocked"}, // Ubuntu, Debian
    {"/proc/sys/kernel/perf_event_paranoid", "-1\n", ""},
    {"/proc/sys/kernel/perf_event_paranoid", "lots\n", ""},
    {"/proc/pressure/memory", "some avg10=9.00 avg60=12.40 avg300=1.00 total=4\n",
     "memory_pressure"},
    {"/proc/pressure/memory", "some avg10=9.00 avg60=4.90 avg300=9.00 total=4\n", ""},
    {"/proc/meminfo",
     "MemTotal: 67108864 kB\nMemAvailable: 6000000 kB\nSwapTotal: 8388608 kB\nSwapFree: 20 kB\n",
     "swap"},
    {"/proc/meminfo",
     "MemTotal: 67108864 kB\nMemAvailable: 6000000 kB\nSwapTotal: 0 kB\n"
     "SwapFree: 0 kB\n",
     ""},
    {CPUFREQ "scaling_governor", "powersave\n", "governor"},
    {CPUFREQ "scaling_governor", "schedutil\n", ""},
    {CPUFREQ "scaling_max_freq", "2400000\n", "clock_capped"},
    {CPUFREQ "scaling_max_freq", "3690000\n", ""},
    {"/sys/devices/system/cpu/cpufreq/boost", "0\n", "turbo_off"},
    {"/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n", "turbo_off"},
    {"/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n", ""},
    {"/sys/devices/system/cpu/offline", "3-7\n", "cpus_offline"},
    {"/sys/devices/system/node/has_memory", "0\n", "node_without_memory"},
    {"/sys/fs/cgroup/memory.max", "4294967296\n", "memory_limit"},
    {"/sys/fs/cgroup/memory.max", "max\n", ""},
    {"/sys/fs/cgroup/memory.max", "68719476736\n", ""}, // all that there is
    {"/sys/fs/cgroup/cpu.max", "150000 100000\n", "cpu_quota"},
    {"/sys/fs/cgroup/cpu.max", "400000 100000\n", ""},
    {"/proc/self/cgroup", "0::/box\n", "limits_hidden"}, // no such folder
};

static const char *healthy_text(const char *path)
{
    for (size_t i = 0; i < sizeof healthy / sizeof *healthy; i++) {
        if (strcmp(healthy[i].path, path) == 0) {
            return healthy[i].text;
        }
    }
    return strstr(path, "governor") != NULL ? "performance\n"
           : strstr(path, "_freq") != NULL  ? "3700000\n"
                                            : NULL;
}

static void a_healthy_root_has_no_findings(void **state)
{
    EXPECT(*state, "");
}

static void each_file_is_one_finding(void **state)
{
    const struct fakeroot *root = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char found[512];
        const char *before = healthy_text(rows[i].path);
        fakeroot_write(root, rows[i].path, rows[i].text);
        visit(found, sizeof found, root);
        if (strcmp(found, rows[i].codes) != 0) {
            fail_msg("%s: %sfinds '%s', want '%s'", rows[i].path, rows[i].text, found,
                     rows[i].codes);
        }
        if (before != NULL) {
            fakeroot_write(root, rows[i].path, before);
        } else {
            fakeroot_delete(root, rows[i].path);
        }
    }
    EXPECT(root, "");
}

static void write_status(const struct fakeroot *root, const char *key, const char *value)
{
    char text[512];
    char line[64];
    const char *at = strstr(healthy_status, key);
    assert_non_null(at);
    (void)snprintf(line, sizeof line, "%s:\t%s", key, value);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - healthy_status), healthy_status, line,
                   at + strcspn(at, "\n"));
    fakeroot_write(root, "/proc/self/status", text);
}

static void limits_of_the_process(void **state)
{
    const struct fakeroot *root = *state;
    write_status(root, "THP_enabled", "0"); // prctl(PR_SET_THP_DISABLE)
    EXPECT(root, "thp_off");
    write_status(root, "Seccomp", "2"); // Docker's default profile
    EXPECT(root, "counters_filtered");
    write_status(root, "Mems_allowed_list", "1"); // numactl --membind=1, cpuset.mems
    EXPECT(root, "memory_nodes_hidden");
    write_status(root, "Mems_allowed_list", "0-127"); // more than there are
    EXPECT(root, "");
    write_status(root, "Cpus_allowed_list", "0,2");
    EXPECT(root, "cpus_hidden");
    fakeroot_write(root, "/sys/devices/system/cpu/isolated", "1,3\n");
    EXPECT(root, "cpus_hidden");
}

// CAP_PERFMON (bit 38) and CAP_SYS_ADMIN (21) are not asked for a level: capabilities(7).
static void whoever_may_count_is_not_blocked(void **state)
{
    const struct fakeroot *root = *state;
    fakeroot_write(root, "/proc/sys/kernel/perf_event_paranoid", "4\n");
    EXPECT(root, "counters_blocked");
    write_status(root, "CapEff", "0000004000000000");
    EXPECT(root, "");
    write_status(root, "CapEff", "0000000000200000");
    EXPECT(root, "");
    write_status(root, "CapEff", "0000003fffdfffff"); // all others
    EXPECT(root, "counters_blocked");
}

// admin-guide/pm/intel_pstate.rst and amd-pstate.rst: in active mode "powersave" follows the load.
static void powersave_means_two_things(void **state)
{
    const struct fakeroot *root = *state;
    static const struct {
        const char *driver;
        const char *governor;
        const char *preference;
        const char *codes;
    } modes[] = {
        {"intel_pstate", "powersave", "balance_performance", ""},
        {"intel_pstate", "powersave", "balance_power", "energy_preference"},
        {"intel_pstate", "performance", "power", ""}, // overridden
        {"amd-pstate-epp", "powersave", "power", "energy_preference"},
        {"amd-pstate-epp", "powersave", "performance", ""},
        {"amd-pstate", "powersave", "", "governor"},
        {"intel_cpufreq", "powersave", "", "governor"},
        {"cppc_cpufreq", "performance", "", ""},
    };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        char found[512];
        fakeroot_write(root, CPUFREQ "scaling_driver", modes[i].driver);
        fakeroot_write(root, CPUFREQ "scaling_governor", modes[i].governor);
        fakeroot_write(root, CPUFREQ "energy_performance_preference", modes[i].preference);
        visit(found, sizeof found, root);
        if (strcmp(found, modes[i].codes) != 0) {
            fail_msg("%s, %s, %s: '%s'", modes[i].driver, modes[i].governor, modes[i].preference,
                     found);
        }
    }
}

static void cpus_and_caches(void **state)
{
    const struct fakeroot *root = *state;
    fakeroot_write(root, "/sys/devices/system/cpu/offline", "3-7\n");
    fakeroot_write(root, "/sys/devices/system/cpu/smt/control", "off\n"); // siblings, on purpose
    EXPECT(root, "");
    for (unsigned cpu = 0; cpu < CPUS; cpu++) {
        char path[128];
        for (unsigned index = 0; index < 2; index++) {
            (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cache/index%u/size",
                           cpu, index);
            fakeroot_write(root, path, "0K\n");
        }
    }
    EXPECT(root, "caches_hidden");
}

// The saved root of a real machine with 8 cores and 16 PUs.
static void siblings_of_a_saved_machine(void **state)
{
    (void)state;
    struct fakeroot root;
    struct machine machine;
    char command[1024];
    fakeroot_make(&root);
    (void)snprintf(command, sizeof command, "tar xzf '%s/machines/16em64t-4s2c2t.tar.gz' -C '%s'",
                   TESTS_DIR, root.dir);
    assert_int_equal(system(command), 0);
    ASSERT_OK(machine_detect_root(&machine, root.dir));
    for (unsigned threads = 8; threads <= 16; threads += 8) {
        struct result_run run = {.complete = true};
        struct doctor_facts facts = {.machine = &machine, .threads = threads};
        doctor_facts_read(&facts, root.dir);
        doctor_examine(&run, &facts);
        assert_int_equal(run.warning_count, threads == 16 ? 1 : 0);
        if (threads == 16) {
            assert_string_equal(run.warnings[0].code, "smt_siblings");
        }
        result_run_free(&run);
    }
    machine_free(&machine);
    fakeroot_remove(&root);
}

// cgroup version 1: quota and limit of the groups of their own hierarchies.
static void limits_of_version_1(void **state)
{
    const struct fakeroot *root = *state;
    fakeroot_write(root, "/proc/self/cgroup", "5:memory:/box\n4:cpu,cpuacct:/box\n");
    fakeroot_write(root, "/proc/self/mountinfo",
                   "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                   "32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    fakeroot_write(root, "/sys/fs/cgroup/cpu/box/cgroup.procs", "1\n");
    fakeroot_write(root, "/sys/fs/cgroup/memory/box/cgroup.procs", "1\n");
    fakeroot_write(root, "/sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
    fakeroot_write(root, "/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1\n");
    fakeroot_write(root, "/sys/fs/cgroup/memory/box/memory.limit_in_bytes",
                   "9223372036854771712\n");
    EXPECT(root, "");
    fakeroot_write(root, "/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "150000\n");
    fakeroot_write(root, "/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1073741824\n");
    EXPECT(root, "cpu_quota,memory_limit");
}

// /proc/cpuinfo as a guest shows it; the names are those that qemu gives (target/i386/cpu.c).
static void instruction_sets_that_are_hidden(void **state)
{
    const struct fakeroot *root = *state;
    fakeroot_write(root, "/proc/cpuinfo",
                   "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n"
                   "model name\t: AMD EPYC 9354 32-Core Processor\n"
                   "flags\t\t: fpu lm avx avx2 fma hypervisor\n");
    EXPECT(root, "isa_hidden");
    fakeroot_write(root, "/proc/cpuinfo",
                   "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 15\nmodel\t\t: 107\n"
                   "model name\t: QEMU Virtual CPU version 2.5+\n"
                   "flags\t\t: fpu lm sse4_2 hypervisor\n");
    EXPECT(root, "isa_hidden");
    fakeroot_write(root, "/proc/cpuinfo",
                   "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
                   "model name\t: Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz\n"
                   "flags\t\t: fpu lm avx2 fma avx512f amx_tile hypervisor\n");
    EXPECT(root, ""); // as GCP's C3 shows it
    fakeroot_write(
        root, "/proc/cpuinfo",
        "processor\t: 0\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
        "CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n");
    EXPECT(root, "isa_hidden"); // a Graviton 3 whose kernel was built without SVE
}

// EC2 on Nitro: sys_vendor and the instance type as product name.
static void instances_that_pay_with_credits(void **state)
{
    const struct fakeroot *root = *state;
    write_cpuinfo(root, " hypervisor");
    fakeroot_write(root, "/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    fakeroot_write(root, "/sys/class/dmi/id/product_name", "t3a.large\n");
    EXPECT(root, "burstable");
    fakeroot_write(root, "/sys/class/dmi/id/product_name", "m7a.large\n");
    EXPECT(root, "");
    fakeroot_write(root, "/sys/class/dmi/id/sys_vendor", "Google\n");
    fakeroot_write(root, "/sys/class/dmi/id/product_name", "t3.large\n");
    EXPECT(root, "");
}

// --- memory modules of real machines

static void write_table(const struct fakeroot *root, const struct smbios_table *table)
{
    char path[512];
    fakeroot_write(root, "/sys/firmware/dmi/tables/DMI", "");
    (void)snprintf(path, sizeof path, "%s/sys/firmware/dmi/tables/DMI", root->dir);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(table->bytes, 1, table->size, file), table->size);
    assert_int_equal(fclose(file), 0);
}

static size_t split(char **fields, char *line)
{
    size_t count = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *field = strsep(&line, "\t"); field != NULL && count < FIELDS;
         field = strsep(&line, "\t")) {
        fields[count++] = field;
    }
    return count;
}

static unsigned number(const char *text)
{
    return (unsigned)strtoul(text, NULL, 10);
}

static void add_slot(struct smbios_table *table, char **fields)
{
    unsigned mib = number(fields[3]);
    bool persistent = strcmp(fields[7], "persistent") == 0;
    const struct smbios_device device = {.locator = fields[1],
                                         .bank = fields[2],
                                         .size = mib >= 0x7fff ? 0x7fff : mib,
                                         .size_mib_long = mib,
                                         .rated = number(fields[4]),
                                         .configured = number(fields[5]),
                                         .bits = number(fields[6]),
                                         .type = persistent ? 0x1f : 0x22,
                                         .technology = persistent ? 7 : 3,
                                         .array = 1};
    smbios_add_device(table, &device);
}

// A root without /sys for the topology, so that the sockets are what /proc/cpuinfo tells.
static void write_sockets(const struct fakeroot *root, char **fields)
{
    char text[4096] = "";
    size_t used = 0;
    for (unsigned socket = 0; socket < number(fields[5]); socket++) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "processor\t: %u\nvendor_id\t: %s\ncpu family\t: %s\n"
                             "model\t\t: %s\nmodel name\t: %s\nphysical id\t: %u\ncore id\t: 0\n"
                             "flags\t\t: fpu lm avx2 avx512f amx_tile\n\n",
                             socket, fields[2], fields[3], fields[4], fields[6], socket);
        assert_true(used < sizeof text);
    }
    fakeroot_write(root, "/proc/cpuinfo", text);
}

static void check_modules(char **fields, const struct smbios_table *table)
{
    struct fakeroot root;
    char found[512];
    char want[512];
    bool none = strcmp(fields[7], "-") == 0;
    fakeroot_make(&root);
    write_sockets(&root, fields);
    write_table(&root, table);
    visit(found, sizeof found, &root); // the caches of such a root are hidden: the last finding
    (void)snprintf(want, sizeof want, "%s%scaches_hidden", none ? "" : fields[7], none ? "" : ",");
    if (strcmp(found, want) != 0) {
        fail_msg("%s: '%s', want '%s'", fields[1], found, want);
    }
    fakeroot_remove(&root);
}

static void modules_of_real_machines(void **state)
{
    (void)state;
    static struct smbios_table table;
    FILE *file = fopen(TESTS_DIR "/machines/memory.tsv", "r");
    char line[TABLE_LINE];
    char head[TABLE_LINE] = "";
    char *machine[FIELDS];
    char *fields[FIELDS];
    size_t machines = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        bool begins = strncmp(line, "machine\t", 8) == 0;
        if (begins && machines++ > 0) {
            check_modules(machine, &table);
        }
        if (begins) {
            memcpy(head, line, sizeof head);
            assert_int_equal(split(machine, head), 9);
            table.size = 0;
            smbios_add_array(&table, 1, 3, 3);
        } else if (line[0] != '#') {
            assert_int_equal(split(fields, line), 8);
            add_slot(&table, fields);
        }
    }
    check_modules(machine, &table);
    (void)fclose(file);
    assert_int_equal(machines, 13);
}

// VMware lists 64 slots of which one is filled, Hyper-V one module of any speed: inventions.
static void modules_of_a_hypervisor_are_ignored(void **state)
{
    const struct fakeroot *root = *state;
    struct smbios_table table = {.size = 0};
    struct smbios_device device = {.locator = "P0 CHANNEL A",
                                   .size = 0x1000,
                                   .rated = 4800,
                                   .configured = 2400,
                                   .type = 3,
                                   .technology = 3};
    smbios_add_device(&table, &device);
    device.size = 0;
    device.locator = "P0 CHANNEL B";
    smbios_add_device(&table, &device);
    write_table(root, &table);
    EXPECT(root, "memory_channels"); // bare metal; half the speed is a unit's mistake
    write_cpuinfo(root, " hypervisor");
    fakeroot_write(root, "/sys/class/dmi/id/sys_vendor", "VMware, Inc.\n");
    EXPECT(root, "");
}

static void uneven_channels(void **state)
{
    const struct fakeroot *root = *state;
    struct smbios_table table = {.size = 0};
    static const char *const names[] = {"CHANNEL A", "CHANNEL B"};
    for (unsigned i = 0; i < 2; i++) {
        const struct smbios_device device = {
            .locator = names[i], .size = 0x4000 >> i, .type = 0x22, .technology = 3};
        smbios_add_device(&table, &device);
    }
    fakeroot_write(root, "/proc/cpuinfo",
                   "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 183\n"
                   "flags\t\t: fpu lm avx2\n");
    write_table(root, &table);
    EXPECT(root, "memory_uneven");
}

#define ON_ROOT(test) cmocka_unit_test_setup_teardown(test, make, drop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_ROOT(a_healthy_root_has_no_findings),
        ON_ROOT(each_file_is_one_finding),
        ON_ROOT(limits_of_the_process),
        ON_ROOT(whoever_may_count_is_not_blocked),
        ON_ROOT(powersave_means_two_things),
        ON_ROOT(cpus_and_caches),
        cmocka_unit_test(siblings_of_a_saved_machine),
        ON_ROOT(limits_of_version_1),
        ON_ROOT(instruction_sets_that_are_hidden),
        ON_ROOT(instances_that_pay_with_credits),
        cmocka_unit_test(modules_of_real_machines),
        ON_ROOT(modules_of_a_hypervisor_are_ignored),
        ON_ROOT(uneven_channels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

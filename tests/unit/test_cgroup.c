#include "machines/cgroup.h"
#include "tests/fakeroot.h"

static int make(void **state)
{
    static const struct fakeroot empty;
    struct fakeroot *root = malloc(sizeof *root);
    *root = empty;
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

static const char mounts_v1[] =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";

static const char mounts_v2[] =
    "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
    "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev - cgroup2 cgroup2 rw,nsdelegate\n";

static void v1_quota_of_the_tightest_group(void **state)
{
    const struct fakeroot *root = *state;
    struct cgroup_limits limits;
    fakeroot_write(root, "/proc/self/mountinfo", mounts_v1);
    fakeroot_write(root, "/proc/self/cgroup", "5:cpuset:/\n4:memory:/a\n3:cpu,cpuacct:/a/b\n");
    fakeroot_write(root, "/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "300000\n");
    fakeroot_write(root, "/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
    fakeroot_write(root, "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "150000\n");
    fakeroot_write(root, "/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    fakeroot_write(root, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    fakeroot_write(root, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    cgroup_read_limits(&limits, root->dir);
    ASSERT_CLOSE(limits.cpu_quota_cores, 1.5, 1e-12);
    assert_int_equal(limits.memory_limit_bytes, 0);
    assert_true(limits.memory_left_bytes == UINT64_MAX);
}

static void v1_memory_counts_cache_as_free(void **state)
{
    const struct fakeroot *root = *state;
    struct cgroup_limits limits;
    fakeroot_write(root, "/proc/self/mountinfo", mounts_v1);
    fakeroot_write(root, "/proc/self/cgroup", "4:memory:/a/b\n3:cpu,cpuacct:/\n");
    fakeroot_write(root, "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                   "9223372036854771712\n");
    fakeroot_write(root, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4294967296\n");
    fakeroot_write(root, "/sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4000000000\n");
    fakeroot_write(root, "/sys/fs/cgroup/memory/a/memory.stat",
                   "cache 900000000\ninactive_file 5\ntotal_inactive_file 800000000\n");
    fakeroot_write(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    cgroup_read_limits(&limits, root->dir);
    assert_true(limits.memory_limit_bytes == 4294967296);
    assert_true(limits.memory_left_bytes == 4294967296 - 3200000000);
    ASSERT_CLOSE(limits.cpu_quota_cores, 0, 0);
}

static void v2_quota_and_memory_over_ancestors(void **state)
{
    const struct fakeroot *root = *state;
    struct cgroup_limits limits;
    fakeroot_write(root, "/proc/self/mountinfo", mounts_v2);
    fakeroot_write(root, "/proc/self/cgroup", "0::/kube.slice/pod\n");
    fakeroot_write(root, "/sys/fs/cgroup/kube.slice/pod/cpu.max", "max 100000\n");
    fakeroot_write(root, "/sys/fs/cgroup/kube.slice/cpu.max", "765000 100000\n");
    fakeroot_write(root, "/sys/fs/cgroup/kube.slice/pod/memory.max", "max\n");
    fakeroot_write(root, "/sys/fs/cgroup/kube.slice/pod/memory.high", "3000\n");
    fakeroot_write(root, "/sys/fs/cgroup/kube.slice/pod/memory.current", "2500\n");
    fakeroot_write(root, "/sys/fs/cgroup/kube.slice/memory.max", "2600\n");
    fakeroot_write(root, "/sys/fs/cgroup/kube.slice/memory.current", "2700\n");
    fakeroot_write(root, "/sys/fs/cgroup/kube.slice/memory.stat", "anon 1\ninactive_file 400\n");
    cgroup_read_limits(&limits, root->dir);
    ASSERT_CLOSE(limits.cpu_quota_cores, 7.65, 1e-12);
    assert_true(limits.memory_limit_bytes == 2600);
    assert_true(limits.memory_left_bytes == 300);
}

static void hybrid_takes_each_controller_where_it_is(void **state)
{
    const struct fakeroot *root = *state;
    struct cgroup_limits limits;
    fakeroot_write(root, "/proc/self/mountinfo",
                   "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu\n"
                   "41 31 0:38 / /cg/uni\\040fied rw - cgroup2 cgroup2 rw\n");
    fakeroot_write(root, "/proc/self/cgroup", "1:cpu:/x\n0::/y\n");
    fakeroot_write(root, "/cg/cpu/x/cpu.cfs_quota_us", "250000\n");
    fakeroot_write(root, "/cg/cpu/x/cpu.cfs_period_us", "100000\n");
    fakeroot_write(root, "/cg/uni fied/y/memory.max", "1000\n");
    fakeroot_write(root, "/cg/uni fied/y/memory.current", "1\n");
    cgroup_read_limits(&limits, root->dir);
    ASSERT_CLOSE(limits.cpu_quota_cores, 2.5, 1e-12);
    assert_true(limits.memory_left_bytes == 999);
}

static void containers_see_a_part_of_the_hierarchy(void **state)
{
    const struct fakeroot *root = *state;
    static const struct {
        int line;
        const char *mount_root, *own, *path;
    } rows[] = {
        {__LINE__, "/docker/abc", "/docker/abc", ""},
        {__LINE__, "/docker/abc", "/docker/abc/x", "/x"},
        {__LINE__, "/docker/abc", "/docker/abcd", ""},
        {__LINE__, "/", "/", ""},
        {__LINE__, "/", "/a", "/a"},
        {__LINE__, "/", "/../../b", ""},
        {__LINE__, "/..", "/", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        (void)snprintf(text, sizeof text, "1 2 0:3 %s /cg rw - cgroup cgroup rw,cpu\n",
                       rows[i].mount_root);
        fakeroot_write(root, "/proc/self/mountinfo", text);
        (void)snprintf(text, sizeof text, "7:cpu:%s\n", rows[i].own);
        fakeroot_write(root, "/proc/self/cgroup", text);
        struct cgroup_place place;
        if (!cgroup_find(&place, root->dir, 1, "cpu") || strcmp(place.path, rows[i].path) != 0) {
            fail_msg("line %d: path '%s'", rows[i].line, place.path);
        }
        assert_string_equal(place.mount, "/cg");
    }
}

static void nothing_there_is_no_limit(void **state)
{
    const struct fakeroot *root = *state;
    struct cgroup_limits limits;
    cgroup_read_limits(&limits, root->dir);
    ASSERT_CLOSE(limits.cpu_quota_cores, 0, 0);
    assert_true(limits.memory_left_bytes == UINT64_MAX);
    fakeroot_write(root, "/proc/self/mountinfo", "garbage\n - \n1 2 3 - cgroup\n");
    fakeroot_write(root, "/proc/self/cgroup", ":::\nx\n0:\n1:cpu\n");
    cgroup_read_limits(&limits, root->dir);
    ASSERT_CLOSE(limits.cpu_quota_cores, 0, 0);
}

static void damaged_values_are_no_limit(void **state)
{
    const struct fakeroot *root = *state;
    static const char *const values[] = {"",         "-5 100000",  "100000",
                                         "100000 0", "1e5 100000", "99999999999999999999999 100000",
                                         "max max"};
    fakeroot_write(root, "/proc/self/mountinfo", mounts_v2);
    fakeroot_write(root, "/proc/self/cgroup", "0::/p\n");
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct cgroup_limits limits;
        fakeroot_write(root, "/sys/fs/cgroup/p/cpu.max", values[i]);
        cgroup_read_limits(&limits, root->dir);
        ASSERT_CLOSE(limits.cpu_quota_cores, 0, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(v1_quota_of_the_tightest_group, make, drop),
        cmocka_unit_test_setup_teardown(v1_memory_counts_cache_as_free, make, drop),
        cmocka_unit_test_setup_teardown(v2_quota_and_memory_over_ancestors, make, drop),
        cmocka_unit_test_setup_teardown(hybrid_takes_each_controller_where_it_is, make, drop),
        cmocka_unit_test_setup_teardown(containers_see_a_part_of_the_hierarchy, make, drop),
        cmocka_unit_test_setup_teardown(nothing_there_is_no_limit, make, drop),
        cmocka_unit_test_setup_teardown(damaged_values_are_no_limit, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

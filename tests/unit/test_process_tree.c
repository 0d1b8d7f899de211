// Process trees of saved /proc folders: names with brackets, orphans, numbers used again, sums that
// stay when a process is gone.
#include "profiler/process_tree.h"
#include "tests/fakeroot.h"

#include <unistd.h>

struct fake_process {
    int pid;
    int parent;
    const char *name;
    char state;
    unsigned user_ticks;
    unsigned child_ticks;
    unsigned start;
};

static void write_process(const struct fakeroot *root, const struct fake_process *p)
{
    char path[64];
    char text[512];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", p->pid);
    (void)snprintf(text, sizeof text,
                   "%d (%s) %c %d 1 1 0 -1 4194304 100 10 2 1 %u 0 %u 0 20 0 3 0 %u 1000 50 "
                   "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n",
                   p->pid, p->name, p->state, p->parent, p->user_ticks, p->child_ticks, p->start);
    fakeroot_write(root, path, text);
    for (int t = 0; t < 2; t++) {
        (void)snprintf(path, sizeof path, "/proc/%d/task/%d/status", p->pid, p->pid + t * 1000);
        fakeroot_write(root, path,
                       "Name:\tx\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t2\n");
    }
    (void)snprintf(path, sizeof path, "/proc/%d/io", p->pid);
    fakeroot_write(root, path, "rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\n");
}

static void remove_process(const struct fakeroot *root, int pid)
{
    char command[512];
    (void)snprintf(command, sizeof command, "rm -r '%s/proc/%d'", root->dir, pid);
    assert_int_equal(system(command), 0);
}

static double tick(void)
{
    return 1.0 / (double)sysconf(_SC_CLK_TCK);
}

static void facts_of_one(void **state)
{
    (void)state;
    struct fakeroot root;
    struct process_facts facts;
    fakeroot_make(&root);
    write_process(&root, &(struct fake_process){100, 1, "a) R 7 (b", 'S', 300, 40, 77});
    assert_true(process_read(&facts, root.dir, 100));
    assert_string_equal(facts.name, "a) R 7 (b");
    assert_int_equal(facts.parent, 1);
    assert_int_equal(facts.state, 'S');
    assert_int_equal(facts.start_ticks, 77);
    ASSERT_CLOSE(facts.user_seconds, 340 * tick(), 1e-12);
    assert_int_equal(facts.minor_faults, 110);
    assert_int_equal(facts.major_faults, 3);
    assert_int_equal(facts.threads, 3);
    assert_int_equal(facts.rss_bytes, 50 * (uint64_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(facts.voluntary_switches, 10);
    assert_int_equal(facts.involuntary_switches, 4);
    assert_int_equal(facts.io, PROCESS_IO_KNOWN);
    assert_int_equal(facts.read_bytes, 4096);
    assert_int_equal(facts.write_bytes, 8192);
    fakeroot_remove(&root);
}

static void damaged_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",          "100",           "100 (x",     "100 x) S 1",
        "100 (x) S", "100 (x) S a b", "100 (x)S 1", "100 (x) S 1 2 3"};
    struct fakeroot root;
    struct process_facts facts;
    fakeroot_make(&root);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fakeroot_write(&root, "/proc/100/stat", texts[i]);
        assert_false(process_read(&facts, root.dir, 100));
    }
    assert_false(process_read(&facts, root.dir, 101));
    fakeroot_remove(&root);
}

static void without_io(void **state)
{
    (void)state;
    struct fakeroot root;
    struct process_facts facts;
    fakeroot_make(&root);
    write_process(&root, &(struct fake_process){100, 1, "x", 'S', 1, 0, 7});
    fakeroot_delete(&root, "/proc/100/io");
    assert_true(process_read(&facts, root.dir, 100));
    assert_int_equal(facts.io, PROCESS_IO_UNSUPPORTED);
    fakeroot_remove(&root);
}

// 100 starts 101, which starts 90 (numbers have wrapped); 50 is a stranger's.
static void follows_children(void **state)
{
    (void)state;
    struct fakeroot root;
    struct process_tree *tree = NULL;
    struct tree_totals totals;
    fakeroot_make(&root);
    write_process(&root, &(struct fake_process){50, 1, "stranger", 'R', 900, 0, 5});
    write_process(&root, &(struct fake_process){100, 1, "first", 'S', 10, 0, 7});
    ASSERT_OK(process_tree_create(&tree, root.dir, 100, 0));
    ASSERT_OK(process_tree_sample(&totals, tree));
    assert_int_equal(totals.processes, 1);
    write_process(&root, &(struct fake_process){90, 101, "grandchild", 'R', 30, 0, 9});
    write_process(&root, &(struct fake_process){101, 100, "child", 'S', 20, 0, 8});
    ASSERT_OK(process_tree_sample(&totals, tree));
    assert_int_equal(totals.processes, 3);
    assert_int_equal(totals.threads, 9);
    ASSERT_CLOSE(totals.user_seconds, 60 * tick(), 1e-12);
    assert_int_equal(totals.read_bytes, 3 * 4096);
    assert_true(process_tree_alive(tree));
    assert_int_equal(process_tree_seen(tree), 3);
    process_tree_destroy(tree);
    fakeroot_remove(&root);
}

// A child that was waited for is in its parent's sums; one that was adopted away is in none.
static void sums_stay(void **state)
{
    (void)state;
    struct fakeroot root;
    struct process_tree *tree = NULL;
    struct tree_totals totals;
    fakeroot_make(&root);
    write_process(&root, &(struct fake_process){100, 1, "first", 'S', 10, 0, 7});
    write_process(&root, &(struct fake_process){101, 100, "child", 'S', 20, 0, 8});
    write_process(&root, &(struct fake_process){102, 101, "grandchild", 'S', 40, 0, 9});
    ASSERT_OK(process_tree_create(&tree, root.dir, 100, 0));
    ASSERT_OK(process_tree_sample(&totals, tree));
    ASSERT_CLOSE(totals.user_seconds, 70 * tick(), 1e-12);
    // 101 ends and is waited for; its child is adopted by process 1 and works on.
    remove_process(&root, 101);
    write_process(&root, &(struct fake_process){100, 1, "first", 'S', 10, 25, 7});
    write_process(&root, &(struct fake_process){102, 1, "grandchild", 'S', 50, 0, 9});
    ASSERT_OK(process_tree_sample(&totals, tree));
    assert_int_equal(totals.processes, 2);
    ASSERT_CLOSE(totals.user_seconds, (10 + 25 + 50) * tick(), 1e-12);
    // Now that one ends, and nobody of the tree waits for it.
    remove_process(&root, 102);
    ASSERT_OK(process_tree_sample(&totals, tree));
    assert_int_equal(totals.processes, 1);
    ASSERT_CLOSE(totals.user_seconds, (10 + 25 + 50) * tick(), 1e-12);
    process_tree_destroy(tree);
    fakeroot_remove(&root);
}

static void another_of_the_same_number(void **state)
{
    (void)state;
    struct fakeroot root;
    struct process_tree *tree = NULL;
    struct tree_totals totals;
    fakeroot_make(&root);
    write_process(&root, &(struct fake_process){100, 1, "first", 'S', 10, 0, 7});
    ASSERT_OK(process_tree_create(&tree, root.dir, 100, 0));
    ASSERT_OK(process_tree_sample(&totals, tree));
    write_process(&root, &(struct fake_process){100, 1, "other", 'S', 5000, 0, 99});
    ASSERT_OK(process_tree_sample(&totals, tree));
    assert_false(process_tree_alive(tree));
    process_tree_destroy(tree);
    fakeroot_remove(&root);
}

static void guardian_adopts(void **state)
{
    (void)state;
    struct fakeroot root;
    struct process_tree *tree = NULL;
    struct tree_totals totals;
    fakeroot_make(&root);
    write_process(&root, &(struct fake_process){60, 1, "lmroof", 'S', 999, 0, 3});
    write_process(&root, &(struct fake_process){100, 60, "first", 'Z', 10, 0, 7});
    write_process(&root, &(struct fake_process){140, 60, "orphan", 'R', 20, 0, 8});
    ASSERT_OK(process_tree_create(&tree, root.dir, 100, 60));
    ASSERT_OK(process_tree_sample(&totals, tree));
    assert_int_equal(totals.processes, 1); // the ended one is none
    ASSERT_CLOSE(totals.user_seconds, 30 * tick(), 1e-12);
    assert_false(process_tree_alive(tree));
    process_tree_destroy(tree);
    fakeroot_remove(&root);
}

static void nobody_there(void **state)
{
    (void)state;
    struct fakeroot root;
    struct process_tree *tree = NULL;
    fakeroot_make(&root);
    struct status status = process_tree_create(&tree, root.dir, 100, 0);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_null(tree);
    process_tree_destroy(tree);
    fakeroot_remove(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_of_one),    cmocka_unit_test(damaged_text),
        cmocka_unit_test(without_io),      cmocka_unit_test(follows_children),
        cmocka_unit_test(sums_stay),       cmocka_unit_test(another_of_the_same_number),
        cmocka_unit_test(guardian_adopts), cmocka_unit_test(nobody_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "machines/rootfs.h"
#include "tests/fakeroot.h"

static void numbers_are_whole_or_nothing(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        bool good;
        uint64_t value;
    } rows[] = {
        {__LINE__, "0", true, 0},
        {__LINE__, " 42\n", true, 42},
        {__LINE__, "0xd40", true, 0xd40},
        {__LINE__, "010", true, 10}, // decimal: the kernel writes no octal numbers
        {__LINE__, "18446744073709551615", true, UINT64_MAX},
        {__LINE__, "18446744073709551616", false, 0},
        {__LINE__, "-1", false, 0},
        {__LINE__, "+1", false, 0},
        {__LINE__, "", false, 0},
        {__LINE__, "max", false, 0},
        {__LINE__, "12 kB", false, 0},
        {__LINE__, "0x", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t value = 0;
        bool good = rootfs_parse_u64(&value, rows[i].text);
        if (good != rows[i].good || value != rows[i].value) {
            fail_msg("line %d: %d, %llu", rows[i].line, good, (unsigned long long)value);
        }
    }
}

static void a_key_is_a_whole_word_at_the_start_of_a_line(void **state)
{
    (void)state;
    static const char text[] = "model name\t: A: B\nmodel\t\t: 17\nempty:\nnr_throttled 5\nlast=x";
    char value[32];
    assert_true(rootfs_line_value(value, sizeof value, text, "model name"));
    assert_string_equal(value, "A: B");
    assert_true(rootfs_line_value(value, sizeof value, text, "nr_throttled"));
    assert_string_equal(value, "5");
    assert_true(rootfs_line_value(value, sizeof value, text, "empty"));
    assert_string_equal(value, "");
    assert_true(rootfs_line_value(value, sizeof value, text, "last"));
    assert_string_equal(value, "x");
    assert_false(rootfs_line_value(value, sizeof value, text, "throttled"));
    assert_false(rootfs_line_value(value, sizeof value, text, "mode"));
    assert_true(rootfs_line_value(value, 3, text, "model name"));
    assert_string_equal(value, "A:");
}

static void lists_hold_ranges(void **state)
{
    (void)state;
    assert_true(rootfs_list_has("0-3,8", 0));
    assert_true(rootfs_list_has("0-3,8", 3));
    assert_false(rootfs_list_has("0-3,8", 4));
    assert_true(rootfs_list_has("0-3,8\n", 8));
    assert_false(rootfs_list_has("", 0));
    assert_true(rootfs_list_has("1,x,5", 1));
    assert_false(rootfs_list_has("1,x,5", 5));
    assert_false(rootfs_list_has("3-", 4));
}

static void long_files_come_whole(void **state)
{
    (void)state;
    enum { BYTES = 300000 };
    struct fakeroot root;
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    memset(text, 'a', BYTES);
    text[BYTES - 1] = 'z';
    text[BYTES] = '\0';
    fakeroot_make(&root);
    fakeroot_write(&root, "/proc/long", text);
    char *read = rootfs_read_all(root.dir, "/proc/long");
    assert_non_null(read);
    assert_int_equal(strlen(read), BYTES);
    assert_string_equal(read, text);
    char head[10];
    assert_true(rootfs_read(head, sizeof head, root.dir, "/proc/%s", "long"));
    assert_string_equal(head, "aaaaaaaaa");
    assert_null(rootfs_read_all(root.dir, "/proc/missing"));
    assert_false(rootfs_read(head, sizeof head, root.dir, "/proc"));
    assert_string_equal(head, "");
    free(read);
    free(text);
    fakeroot_remove(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_whole_or_nothing),
        cmocka_unit_test(a_key_is_a_whole_word_at_the_start_of_a_line),
        cmocka_unit_test(lists_hold_ranges),
        cmocka_unit_test(long_files_come_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

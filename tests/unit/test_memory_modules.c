#include "machines/memory_modules.h"
#include "machines/smbios.h"
#include "tests/fakeroot.h"
#include "tests/smbios_table.h"

static const struct smbios_device module = {.locator = "DIMM_A1",
                                            .bank = "NODE 1",
                                            .size = 0x4000,
                                            .rated = 4800,
                                            .configured = 4400,
                                            .bits = 64,
                                            .type = 0x22,
                                            .technology = 3,
                                            .array = 7};

static struct smbios_device with_size(unsigned size, unsigned long_mib)
{
    struct smbios_device device = module;
    device.size = size;
    device.size_mib_long = long_mib;
    return device;
}

static void a_device_is_read_in_full(void **state)
{
    (void)state;
    struct smbios_table table = {.size = 0};
    struct memory_module out[4];
    smbios_add_device(&table, &module);
    assert_int_equal(smbios_memory(out, 4, table.bytes, table.size), 1);
    assert_true(out[0].present);
    assert_true(out[0].bytes == (uint64_t)0x4000 << 20);
    ASSERT_CLOSE(out[0].mt_per_s, 4400, 0);
    ASSERT_CLOSE(out[0].mt_per_s_rated, 4800, 0);
    assert_int_equal(out[0].data_bits, 64);
    assert_string_equal(out[0].locator, "DIMM_A1");
    assert_string_equal(out[0].bank, "NODE 1");
    assert_int_equal(smbios_memory(out, 0, table.bytes, table.size), 0);
}

// 7.18.5: MiB, KiB, longer than a word, empty, unknown.
static void sizes_have_five_forms(void **state)
{
    (void)state;
    static const struct {
        unsigned size;
        unsigned long_mib;
        bool present;
        uint64_t bytes;
    } rows[] = {{0x4000, 0, true, (uint64_t)16 << 30},
                {0x8000 | 512, 0, true, 512 << 10},
                {0x7fff, 131072, true, (uint64_t)128 << 30},
                {0, 0, false, 0},
                {0xffff, 0, true, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct smbios_table table = {.size = 0};
        struct memory_module out[1];
        struct smbios_device device = with_size(rows[i].size, rows[i].long_mib);
        smbios_add_device(&table, &device);
        assert_int_equal(smbios_memory(out, 1, table.bytes, table.size), 1);
        assert_int_equal(out[0].present, rows[i].present);
        assert_true(out[0].bytes == rows[i].bytes);
    }
}

static void what_is_no_dram_of_the_system_does_not_count(void **state)
{
    (void)state;
    static const struct {
        unsigned type;
        unsigned technology;
        unsigned array;
        size_t count;
    } rows[] = {
        {0x22, 3, 7, 1}, // DDR5
        {0x02, 2, 7, 1}, // an empty slot tells nothing
        {0x1a, 4, 7, 1}, // NVDIMM-N is DRAM
        {0x09, 2, 7, 0}, // flash
        {0x1f, 7, 7, 0}, // Optane
        {0x02, 7, 7, 0}, // likewise, by its technology
        {0x24, 3, 7, 0}, // HBM3
        {0x22, 3, 8, 0}, // of an array for video
        {0x22, 3, 9, 0}, // behind CXL
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct smbios_table table = {.size = 0};
        struct memory_module out[1];
        struct smbios_device device = module;
        device.type = rows[i].type;
        device.technology = rows[i].technology;
        device.array = rows[i].array;
        smbios_add_device(&table, &device);
        smbios_add_array(&table, 7, 3, 3); // an array may come behind its devices
        smbios_add_array(&table, 8, 3, 4);
        smbios_add_array(&table, 9, 0xa4, 3);
        if (smbios_memory(out, 1, table.bytes, table.size) != rows[i].count) {
            fail_msg("row %zu", i);
        }
    }
}

static void a_broken_table_ends_the_reading(void **state)
{
    (void)state;
    struct smbios_table table = {.size = 0};
    struct memory_module out[4];
    smbios_add_array(&table, 7, 3, 3);
    smbios_add_device(&table, &module);
    for (size_t cut = 0; cut < table.size; cut++) {
        unsigned char *exact = malloc(cut + 1);
        assert_non_null(exact);
        memcpy(exact, table.bytes, cut);
        assert_true(smbios_memory(out, 4, exact, cut) <= 1); // under ASan: no byte beyond
        free(exact);
    }
    table.bytes[1] = 2; // a structure shorter than its own head
    assert_int_equal(smbios_memory(out, 4, table.bytes, table.size), 0);
    memset(table.bytes, 0xff, sizeof table.bytes);
    assert_int_equal(smbios_memory(out, 4, table.bytes, sizeof table.bytes), 0);
}

static struct memory_layout layout_of(const char *const *locators, const char *const *banks,
                                      const char *present, unsigned packages)
{
    struct memory_module modules[32];
    struct memory_layout out;
    size_t count = strlen(present);
    for (size_t i = 0; i < count; i++) {
        modules[i] = (struct memory_module){.present = present[i] == '#',
                                            .bytes = present[i] == '#' ? 1 << 30 : 0,
                                            .mt_per_s = 4800,
                                            .mt_per_s_rated = 4800,
                                            .data_bits = 64};
        (void)snprintf(modules[i].locator, sizeof modules[i].locator, "%s", locators[i]);
        (void)snprintf(modules[i].bank, sizeof modules[i].bank, "%s",
                       banks != NULL ? banks[i] : "");
    }
    memory_layout_of(&out, modules, count, packages);
    return out;
}

#define LIST(...) ((const char *const[]){__VA_ARGS__})

static void names_of_slots_tell_channels(void **state)
{
    (void)state;
    static const struct {
        const char *locators[4];
        const char *banks[4];
        const char *present;
        unsigned channels;
        unsigned used;
    } rows[] = {
        {{"DIMM 0", "DIMM 1", "DIMM 0", "DIMM 1"},
         {"P0 CHANNEL A", "P0 CHANNEL A", "P0 CHANNEL B", "P0 CHANNEL B"},
         ".#..",
         2,
         1},
        {{"P1-DIMMA1", "P1-DIMMA2", "P1-DIMMB1", "P1-DIMMB2"},
         {"NO DIMM", "x", "y", "z"},
         "#.#.",
         2,
         2},
        {{"a", "b", "c", "d"},
         {"P0_Node0_Channel0_Dimm0", "P0_Node0_Channel0_Dimm1", "P0_Node1_Channel0_Dimm0",
          "P0_Node1_Channel0_Dimm1"},
         "#.#.",
         2,
         2},
        {{"Controller0-ChannelA-DIMM0", "Controller0-ChannelA-DIMM1", "Controller1-ChannelA-DIMM0",
          "Controller1-ChannelA-DIMM1"},
         {"BANK 0", "BANK 0", "BANK 0", "BANK 0"},
         "#...",
         2,
         1},
        {{"DIMM_P0_A0", "DIMM_P0_A1", "DIMM_P0_B0", "DIMM_P0_B1"}, {"", "", "", ""}, "##..", 2, 1},
        {{"DIM_CH_A", "DIM_CH_B", "DIM_CH_C", "DIM_CH_D"}, {"", "", "", ""}, "##..", 4, 2},
        // What tells no channel: a letter is the socket, slots are numbered.
        {{"A1", "A2", "B1", "B2"}, {"", "", "", ""}, "#.#.", 0, 0},
        {{"DIMM_A3", "DIMM_A4", "DIMM_B3", "DIMM_B4"}, {"", "", "", ""}, "#.#.", 0, 0},
        {{"PROC 1 DIMM 1", "PROC 1 DIMM 2", "PROC 1 DIMM 3", "PROC 1 DIMM 4"},
         {"", "", "", ""},
         "#.#.",
         0,
         0},
        {{"DIMM_A1", "DIMM_A2", "DIMM_B1", "Slot 4"}, {"", "", "", ""}, "#.#.", 0, 0},
        {{"Patch A", "Batch B", "PCH A", "PCH B"}, {"", "", "", ""}, "#.#.", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct memory_layout got = layout_of(rows[i].locators, rows[i].banks, rows[i].present, 1);
        if (got.channels != rows[i].channels || got.channels_used != rows[i].used) {
            fail_msg("row %zu: %u of %u channels", i, got.channels_used, got.channels);
        }
        assert_int_equal(got.slots, 4);
    }
}

static void an_empty_socket_has_no_channels(void **state)
{
    (void)state;
    const char *const *names = LIST("P1-DIMMA1", "P1-DIMMB1", "P2-DIMMA1", "P2-DIMMB1");
    struct memory_layout one = layout_of(names, NULL, "#...", 1);
    assert_int_equal(one.slots, 2);
    assert_int_equal(one.channels, 2);
    struct memory_layout two = layout_of(names, NULL, "##..", 2); // it has a processor
    assert_int_equal(two.slots, 4);
    assert_int_equal(two.channels, 4);
    assert_int_equal(two.channels_used, 2);
}

static void speed_width_and_size_of_channels(void **state)
{
    (void)state;
    struct memory_layout out;
    struct memory_module modules[] = {{true, (uint64_t)16 << 30, 2400, 2400, 64, "DIMM_A1", ""},
                                      {true, (uint64_t)16 << 30, 2400, 2400, 64, "DIMM_A2", ""},
                                      {true, (uint64_t)16 << 30, 2133, 2400, 64, "DIMM_B1", ""},
                                      {false, 0, 0, 0, 0, "DIMM_B2", ""}};
    memory_layout_of(&out, modules, 4, 1);
    ASSERT_CLOSE(out.mt_per_s, 2133, 0);
    ASSERT_CLOSE(out.mt_per_s_rated, 2400, 0);
    assert_true(out.channel_bytes_least == (uint64_t)16 << 30);
    assert_true(out.channel_bytes_most == (uint64_t)32 << 30);
    ASSERT_CLOSE(out.bytes_per_s, (2400e6 + 2133e6) * 8, 1e-12);
    modules[2].mt_per_s = 1200; // millions of clocks beside millions of transfers
    memory_layout_of(&out, modules, 4, 1);
    ASSERT_CLOSE(out.mt_per_s, 2400, 0);
    ASSERT_CLOSE(out.bytes_per_s, 2 * 2400e6 * 8, 1e-12);
    modules[2].data_bits = 0; // not told: no sum that lacks a part
    memory_layout_of(&out, modules, 4, 1);
    ASSERT_CLOSE(out.bytes_per_s, 0, 0);
    memory_layout_of(&out, modules, 0, 1);
    assert_int_equal(out.slots, 0);
}

// The lines of udev's database as systemd 252 writes them (src/udev/dmi_memory_id/dmi_memory_id.c,
// systemd-udevd(8)), readable by everybody.
static const char udev_copy[] =
    "I:4251\nE:MEMORY_ARRAY_LOCATION=System Board Or Motherboard\nE:MEMORY_ARRAY_NUM_DEVICES=4\n"
    "E:MEMORY_DEVICE_0_PRESENT=0\nE:MEMORY_DEVICE_0_LOCATOR=DIMM 0\n"
    "E:MEMORY_DEVICE_0_BANK_LOCATOR=P0 CHANNEL A\nE:MEMORY_DEVICE_0_TYPE=Unknown\n"
    "E:MEMORY_DEVICE_1_TOTAL_WIDTH=64\nE:MEMORY_DEVICE_1_DATA_WIDTH=64\n"
    "E:MEMORY_DEVICE_1_SIZE=17179869184\nE:MEMORY_DEVICE_1_LOCATOR=DIMM 1\n"
    "E:MEMORY_DEVICE_1_BANK_LOCATOR=P0 CHANNEL A\nE:MEMORY_DEVICE_1_TYPE=<OUT OF SPEC>\n"
    "E:MEMORY_DEVICE_1_SPEED_MTS=5600\nE:MEMORY_DEVICE_1_CONFIGURED_SPEED_MTS=4800\n"
    "E:MEMORY_DEVICE_2_PRESENT=0\nE:MEMORY_DEVICE_2_LOCATOR=DIMM 0\n"
    "E:MEMORY_DEVICE_2_BANK_LOCATOR=P0 CHANNEL B\n"
    "E:MEMORY_DEVICE_3_SIZE=16777216\nE:MEMORY_DEVICE_3_TYPE=Flash\n"
    "E:MEMORY_DEVICE_4_MEMORY_TECHNOLOGY=Intel Optane DC persistent memory\n"
    "E:MEMORY_DEVICE_99999_SIZE=1\nE:MEMORY_DEVICE_SIZE=1\nE:MEMORY_DEVICE_5_=1\n";

static void udev_keeps_a_copy_for_everybody(void **state)
{
    (void)state;
    struct memory_module out[8];
    assert_int_equal(memory_modules_of_udev(out, 8, udev_copy), 3);
    assert_false(out[0].present);
    assert_true(out[1].present);
    assert_true(out[1].bytes == (uint64_t)16 << 30);
    ASSERT_CLOSE(out[1].mt_per_s, 4800, 0);
    ASSERT_CLOSE(out[1].mt_per_s_rated, 5600, 0);
    assert_int_equal(out[1].data_bits, 64);
    assert_string_equal(out[1].bank, "P0 CHANNEL A");
    assert_false(out[2].present);
    assert_int_equal(memory_modules_of_udev(out, 8, ""), 0);
}

static void a_root_has_the_table_or_the_copy(void **state)
{
    (void)state;
    struct fakeroot root;
    struct memory_layout out;
    fakeroot_make(&root);
    assert_false(memory_layout_read(&out, root.dir, 1)); // no SMBIOS: a Raspberry Pi
    assert_int_equal(out.slots, 0);
    fakeroot_write(&root, "/run/udev/data/+dmi:id", udev_copy);
    assert_true(memory_layout_read(&out, root.dir, 1));
    assert_int_equal(out.slots, 3);
    assert_int_equal(out.channels, 2);
    assert_int_equal(out.channels_used, 1);
    fakeroot_write(&root, "/sys/firmware/dmi/tables/DMI", "not a table"); // damaged: the copy
    assert_true(memory_layout_read(&out, root.dir, 1));
    assert_int_equal(out.slots, 3);
    fakeroot_remove(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_read_in_full),
        cmocka_unit_test(sizes_have_five_forms),
        cmocka_unit_test(what_is_no_dram_of_the_system_does_not_count),
        cmocka_unit_test(a_broken_table_ends_the_reading),
        cmocka_unit_test(names_of_slots_tell_channels),
        cmocka_unit_test(an_empty_socket_has_no_channels),
        cmocka_unit_test(speed_width_and_size_of_channels),
        cmocka_unit_test(udev_keeps_a_copy_for_everybody),
        cmocka_unit_test(a_root_has_the_table_or_the_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

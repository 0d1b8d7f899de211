#include "machines/memory_modules.h"

#include "machines/rootfs.h"
#include "machines/smbios.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TABLE_MAX = 1 << 20, MODULE_BITS = 64 };

// --- udev's copy

static bool is_no_dram(const char *key, const char *value)
{
    static const char *const types[] = {"ROM",    "Flash", "EEPROM",
                                        "FEPROM", "EPROM", "Logical non-volatile device",
                                        "HBM",    "HBM2",  "HBM3"};
    static const char *const technologies[] = {"NVDIMM-F", "NVDIMM-P", "Intel Optane"};
    for (size_t i = 0; strcmp(key, "TYPE") == 0 && i < sizeof types / sizeof *types; i++) {
        if (strcmp(value, types[i]) == 0) {
            return true;
        }
    }
    bool technology = strcmp(key, "MEMORY_TECHNOLOGY") == 0;
    for (size_t i = 0; technology && i < sizeof technologies / sizeof *technologies; i++) {
        if (strncmp(value, technologies[i], strlen(technologies[i])) == 0) {
            return true;
        }
    }
    return false;
}

struct slot {
    struct memory_module module;
    bool named;
    bool no_dram;
};

static void take_property(struct slot *slot, const char *key, const char *value)
{
    struct memory_module *module = &slot->module;
    uint64_t number = 0;
    bool told = rootfs_parse_u64(&number, value);
    if (!slot->named) { // present unless PRESENT=0 follows: a size may be unknown
        slot->named = true;
        module->present = true;
    }
    if (strcmp(key, "PRESENT") == 0) {
        module->present = !(told && number == 0);
    } else if (strcmp(key, "SIZE") == 0 && told) {
        module->bytes = number;
    } else if (strcmp(key, "SPEED_MTS") == 0 && told && number < UINT16_MAX) {
        module->mt_per_s_rated = (double)number;
    } else if (strcmp(key, "CONFIGURED_SPEED_MTS") == 0 && told && number < UINT16_MAX) {
        module->mt_per_s = (double)number;
    } else if (strcmp(key, "DATA_WIDTH") == 0 && told && number <= 1024) {
        module->data_bits = (unsigned)number;
    } else if (strcmp(key, "LOCATOR") == 0) {
        (void)snprintf(module->locator, sizeof module->locator, "%s", value);
    } else if (strcmp(key, "BANK_LOCATOR") == 0) {
        (void)snprintf(module->bank, sizeof module->bank, "%s", value);
    }
    slot->no_dram = slot->no_dram || is_no_dram(key, value);
}

// "E:MEMORY_DEVICE_<slot>_<key>=<value>"
static void take_line(struct slot *slots, const char *line, size_t length)
{
    char copy[256];
    char key[64];
    unsigned index = 0;
    int at = 0;
    if (length >= sizeof copy) {
        return;
    }
    memcpy(copy, line, length);
    copy[length] = '\0';
    // Four digits overflow no number. NOLINTNEXTLINE(cert-err34-c)
    if (sscanf(copy, "E:MEMORY_DEVICE_%4u_%63[A-Z_]=%n", &index, key, &at) == 2 && at > 0 &&
        index < MEMORY_MODULES_MAX) {
        take_property(&slots[index], key, copy + at);
    }
}

size_t memory_modules_of_udev(struct memory_module *out, size_t size, const char *text)
{
    struct slot *slots = calloc(MEMORY_MODULES_MAX, sizeof *slots);
    size_t count = 0;
    while (slots != NULL && *text != '\0') {
        size_t length = strcspn(text, "\n");
        take_line(slots, text, length);
        text += length + (text[length] == '\n');
    }
    for (size_t i = 0; slots != NULL && i < MEMORY_MODULES_MAX && count < size; i++) {
        if (slots[i].named && !slots[i].no_dram) {
            out[count++] = slots[i].module;
        }
    }
    free(slots);
    return count;
}

// --- channels by the names of slots

static bool is_alnum(char c)
{
    return isalnum((unsigned char)c) != 0;
}

// Where the first of the words (the last is NULL) that begins at text[at] ends, a blank or line
// behind it included; 0 if none does.
static size_t end_of_word(const char *text, size_t at, const char *const *words)
{
    for (; *words != NULL; words++) {
        size_t end = at + strlen(*words);
        if (strncasecmp(text + at, *words, strlen(*words)) == 0) {
            return end + (text[end] == ' ' || text[end] == '_' ? 1 : 0);
        }
    }
    return 0;
}

// Length of the head of text that names its channel by a word, as in "P0_Node0_Channel1_Dimm0",
// "P0 CHANNEL A", "DIM_CH_B"; 0 if there is none.
static size_t channel_by_word(const char *text)
{
    static const char *const words[] = {"channel", "chan", "ch", NULL};
    for (size_t at = 0; text[at] != '\0'; at++) {
        bool begins = at == 0 || !isalpha((unsigned char)text[at - 1]);
        size_t end = begins ? end_of_word(text, at, words) : 0;
        size_t name = strspn(text + end, "0123456789");
        name = name == 0 && isalpha((unsigned char)text[end]) ? 1 : name;
        if (end > 0 && name > 0 && !is_alnum(text[end + name])) {
            return end + name;
        }
    }
    return 0;
}

// Likewise where the end is the channel's letter and the slot's number in it, as in "DIMM_A1",
// "P1-DIMMA1", "DIMM_P0_A0". Higher numbers count the slots of a socket.
static size_t channel_by_letter(const char *text)
{
    size_t length = strlen(text);
    if (length < 6 || strchr("0123", text[length - 1]) == NULL ||
        strcasestr(text, "dimm") == NULL) {
        return 0;
    }
    size_t letter = length - (text[length - 2] == '_' ? 3 : 2);
    bool after_word = letter >= 4 && strncasecmp(text + letter - 4, "dimm", 4) == 0;
    return isalpha((unsigned char)text[letter]) && (after_word || !is_alnum(text[letter - 1]))
               ? letter + 1
               : 0;
}

enum rule { BY_BANK, BY_LOCATOR, BY_LETTER, RULE_COUNT };

static size_t channel_length(const struct memory_module *module, enum rule rule)
{
    switch (rule) {
    case BY_BANK:
        return channel_by_word(module->bank);
    case BY_LOCATOR:
        return channel_by_word(module->locator);
    case BY_LETTER:
        return channel_by_letter(module->locator);
    case RULE_COUNT:
        break;
    }
    return 0;
}

// The name that a rule looks at.
static const char *channel_text(const struct memory_module *module, enum rule rule)
{
    return rule == BY_BANK ? module->bank : module->locator;
}

// The first rule by which each slot has a channel.
static enum rule choose_rule(const struct memory_module *modules, size_t count)
{
    for (enum rule rule = BY_BANK; rule < RULE_COUNT; rule++) {
        size_t i = 0;
        while (i < count && channel_length(&modules[i], rule) > 0) {
            i++;
        }
        if (i == count && count > 0) {
            return rule;
        }
    }
    return RULE_COUNT;
}

// The number of the socket that a slot's name tells ("P1-DIMMA1", "CPU0_...", "NODE 1 ..."); -1.
static long socket_of(const char *text)
{
    static const char *const words[] = {"cpu", "proc", "socket", "node", "p", NULL};
    for (size_t at = 0; text[at] != '\0'; at++) {
        bool begins = at == 0 || !is_alnum(text[at - 1]);
        size_t end = begins ? end_of_word(text, at, words) : 0;
        if (end > 0 && isdigit((unsigned char)text[end])) {
            return strtol(text + end, NULL, 10);
        }
    }
    return -1;
}

static long module_socket(const struct memory_module *module)
{
    long socket = socket_of(module->locator);
    return socket >= 0 ? socket : socket_of(module->bank);
}

static bool socket_has_modules(const struct memory_module *modules, size_t count, long socket)
{
    for (size_t i = 0; i < count; i++) {
        if (modules[i].present && module_socket(&modules[i]) == socket) {
            return true;
        }
    }
    return false;
}

static unsigned count_sockets(const struct memory_module *modules, size_t count)
{
    unsigned sockets = 0;
    for (size_t i = 0; i < count; i++) {
        size_t before = 0;
        while (before < i && module_socket(&modules[before]) != module_socket(&modules[i])) {
            before++;
        }
        sockets += before == i ? 1 : 0;
    }
    return sockets;
}

// --- the layout

static bool same_channel(const struct memory_module *a, const struct memory_module *b,
                         enum rule rule)
{
    size_t length = channel_length(a, rule);
    return length == channel_length(b, rule) &&
           strncasecmp(channel_text(a, rule), channel_text(b, rule), length) == 0;
}

// Firmware may write millions of clocks beside millions of transfers: two a clock.
static double speed_of(const struct memory_module *module)
{
    double speed = module->mt_per_s;
    double rated = module->mt_per_s_rated;
    bool half = 2 * speed > 0.99 * rated && 2 * speed < 1.01 * rated;
    return rated > 0 && half ? rated : speed;
}

// Adds the channel that begins with modules[first]: one that no earlier slot has. False if it has
// a module of unknown speed or width.
static bool add_channel(struct memory_layout *out, const struct memory_module *modules,
                        size_t count, size_t first, enum rule rule)
{
    uint64_t bytes = 0;
    double bytes_per_s = 0;
    bool used = false;
    for (size_t i = first; i < count; i++) {
        const struct memory_module *module = &modules[i];
        if (!module->present || !same_channel(&modules[first], module, rule)) {
            continue;
        }
        unsigned bits = module->data_bits < MODULE_BITS ? module->data_bits : MODULE_BITS;
        used = true;
        bytes += module->bytes;
        bytes_per_s = speed_of(module) * 1e6 * bits / 8;
    }
    out->channels++;
    if (!used) {
        return true;
    }
    bool first_used = out->channels_used == 0;
    out->channels_used++;
    out->bytes_per_s += bytes_per_s;
    if (first_used || bytes < out->channel_bytes_least) {
        out->channel_bytes_least = bytes;
    }
    if (bytes > out->channel_bytes_most) {
        out->channel_bytes_most = bytes;
    }
    return bytes_per_s > 0;
}

static void add_channels(struct memory_layout *out, const struct memory_module *modules,
                         size_t count)
{
    enum rule rule = choose_rule(modules, count);
    bool told = true;
    for (size_t i = 0; rule != RULE_COUNT && i < count; i++) {
        size_t before = 0;
        while (before < i && !same_channel(&modules[before], &modules[i], rule)) {
            before++;
        }
        if (before == i && !add_channel(out, modules, count, i, rule)) {
            told = false;
        }
    }
    out->bytes_per_s = told ? out->bytes_per_s : 0;
}

static void add_speed(struct memory_layout *out, const struct memory_module *module)
{
    double speed = speed_of(module);
    if (module->present && speed > 0 && (out->mt_per_s <= 0 || speed < out->mt_per_s)) {
        out->mt_per_s = speed;
        out->mt_per_s_rated = module->mt_per_s_rated;
    }
}

void memory_layout_of(struct memory_layout *out, const struct memory_module *modules, size_t count,
                      unsigned packages)
{
    *out = (struct memory_layout){.slots = 0};
    struct memory_module *kept = calloc(count + 1, sizeof *kept);
    bool drop = packages > 0 && count_sockets(modules, count) > packages;
    size_t kept_count = 0;
    for (size_t i = 0; kept != NULL && i < count; i++) {
        if (!drop || socket_has_modules(modules, count, module_socket(&modules[i]))) {
            kept[kept_count++] = modules[i];
        }
    }
    for (size_t i = 0; i < kept_count; i++) {
        out->slots++;
        out->modules += kept[i].present ? 1 : 0;
        add_speed(out, &kept[i]);
    }
    if (kept != NULL) {
        add_channels(out, kept, kept_count);
    }
    free(kept);
}

static size_t read_modules(struct memory_module *out, const char *root)
{
    char path[ROOTFS_PATH];
    unsigned char *table = malloc(TABLE_MAX);
    size_t count = 0;
    (void)snprintf(path, sizeof path, "%s/sys/firmware/dmi/tables/DMI", root);
    FILE *file = table != NULL ? fopen(path, "re") : NULL;
    if (file != NULL) {
        count = smbios_memory(out, MEMORY_MODULES_MAX, table, fread(table, 1, TABLE_MAX, file));
        (void)fclose(file);
    }
    free(table);
    char *copy = count == 0 ? rootfs_read_all(root, "/run/udev/data/+dmi:id") : NULL;
    if (copy != NULL) {
        count = memory_modules_of_udev(out, MEMORY_MODULES_MAX, copy);
    }
    free(copy);
    return count;
}

bool memory_layout_read(struct memory_layout *out, const char *root, unsigned packages)
{
    struct memory_module *modules = calloc(MEMORY_MODULES_MAX, sizeof *modules);
    *out = (struct memory_layout){.slots = 0};
    if (modules != NULL) {
        memory_layout_of(out, modules, read_modules(modules, root), packages);
    }
    free(modules);
    return out->slots > 0;
}

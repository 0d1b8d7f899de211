#include "machines/smbios.h"

#include <string.h>

enum {
    TYPE_MEMORY_ARRAY = 16,
    TYPE_MEMORY_DEVICE = 17,
    TYPE_END = 127,
    HEAD_BYTES = 4,
    ARRAYS_MAX = 64,
    // Offsets in a memory array.
    ARRAY_HANDLE = 0x02,
    ARRAY_LOCATION = 0x04, // byte: from 0xa4 on behind CXL
    ARRAY_USE = 0x05,      // byte: 3 = system memory
    LOCATION_CXL = 0xa4,
    USE_SYSTEM = 3,
    // Offsets in a memory device.
    DEVICE_ARRAY = 0x04,
    DEVICE_DATA_WIDTH = 0x0a,     // word: bits
    DEVICE_SIZE = 0x0c,           // word: MiB, KiB with the top bit; 0 empty, 0xffff unknown
    DEVICE_LOCATOR = 0x10,        // byte: number of a string
    DEVICE_BANK = 0x11,           // byte: number of a string
    DEVICE_TYPE = 0x12,           // byte
    DEVICE_SPEED = 0x15,          // word: MT/s, rated
    DEVICE_SIZE_LONG = 0x1c,      // double word: MiB, if the size is 0x7fff
    DEVICE_SPEED_NOW = 0x20,      // word: MT/s, configured
    DEVICE_TECHNOLOGY = 0x28,     // byte
    DEVICE_SPEED_LONG = 0x54,     // double word, if the speed is 0xffff
    DEVICE_SPEED_NOW_LONG = 0x58, // double word, likewise
    SIZE_UNKNOWN = 0xffff,
    SIZE_IS_LONG = 0x7fff,
    SPEED_IS_LONG = 0xffff,
    MT_PER_S_MAX = 100000
};

struct structure {
    const unsigned char *at;
    size_t bytes;   // of its fixed part
    size_t strings; // bytes behind it, up to the two zeros
};

static unsigned byte_of(const struct structure *s, size_t offset)
{
    return offset < s->bytes ? s->at[offset] : 0;
}

static unsigned word_of(const struct structure *s, size_t offset)
{
    return offset + 2 <= s->bytes ? (unsigned)s->at[offset] | (unsigned)s->at[offset + 1] << 8 : 0;
}

static uint64_t long_of(const struct structure *s, size_t offset)
{
    return offset + 4 <= s->bytes
               ? (uint64_t)word_of(s, offset) | (uint64_t)word_of(s, offset + 2) << 16
               : 0;
}

// The string of that number (from 1), cut to size; "" if there is none.
static void copy_string(char *out, size_t size, const struct structure *s, unsigned number)
{
    const char *text = (const char *)s->at + s->bytes;
    const char *end = text + s->strings;
    out[0] = '\0';
    for (; number > 1 && text < end; number--) {
        text += strnlen(text, (size_t)(end - text)) + 1;
    }
    if (number == 1 && text < end) {
        size_t length = strnlen(text, (size_t)(end - text));
        length = length < size - 1 ? length : size - 1;
        memcpy(out, text, length);
        out[length] = '\0';
    }
}

// The structure at *offset, which moves behind it; false at the end or where the table is damaged.
static bool next_structure(struct structure *out, size_t *offset, const unsigned char *table,
                           size_t bytes)
{
    if (*offset + HEAD_BYTES > bytes) {
        return false;
    }
    size_t length = table[*offset + 1];
    if (length < HEAD_BYTES || *offset + length > bytes || table[*offset] == TYPE_END) {
        return false;
    }
    size_t end = *offset + length;
    while (end + 1 < bytes && (table[end] != 0 || table[end + 1] != 0)) {
        end++;
    }
    *out = (struct structure){
        .at = table + *offset, .bytes = length, .strings = end - *offset - length};
    *offset = end + 2;
    return true;
}

struct arrays {
    unsigned handles[ARRAYS_MAX];
    size_t count;
};

static void find_other_arrays(struct arrays *out, const unsigned char *table, size_t bytes)
{
    struct structure s;
    size_t offset = 0;
    out->count = 0;
    while (out->count < ARRAYS_MAX && next_structure(&s, &offset, table, bytes)) {
        if (s.at[0] == TYPE_MEMORY_ARRAY && s.bytes > ARRAY_USE &&
            (byte_of(&s, ARRAY_USE) != USE_SYSTEM || byte_of(&s, ARRAY_LOCATION) >= LOCATION_CXL)) {
            out->handles[out->count++] = word_of(&s, ARRAY_HANDLE);
        }
    }
}

// Table 76 (types) and 80 (technologies) of DSP0134: no flash, no module that keeps its data
// behind a controller of its own, nothing that is part of the processor.
static bool is_dram(const struct structure *s)
{
    switch (byte_of(s, DEVICE_TYPE)) {
    case 0x08: // ROM
    case 0x09: // flash
    case 0x0a: // EEPROM
    case 0x0b: // FEPROM
    case 0x0c: // EPROM
    case 0x1f: // logical non-volatile device
    case 0x20: // HBM
    case 0x21: // HBM2
    case 0x24: // HBM3
        return false;
    default:
        break;
    }
    unsigned technology = byte_of(s, DEVICE_TECHNOLOGY);
    return technology < 5 || technology > 7; // NVDIMM-F, NVDIMM-P, Optane
}

static bool is_of_system(const struct structure *s, const struct arrays *others)
{
    for (size_t i = 0; i < others->count; i++) {
        if (word_of(s, DEVICE_ARRAY) == others->handles[i]) {
            return false;
        }
    }
    return is_dram(s);
}

static uint64_t size_of(const struct structure *s)
{
    unsigned size = word_of(s, DEVICE_SIZE);
    if (size == SIZE_UNKNOWN) {
        return 0;
    }
    if (size == SIZE_IS_LONG) {
        return (long_of(s, DEVICE_SIZE_LONG) & 0x7fffffff) << 20;
    }
    return size >> 15 != 0 ? (uint64_t)(size & 0x7fff) << 10 : (uint64_t)size << 20;
}

static double speed_of(const struct structure *s, size_t offset, size_t long_offset)
{
    uint64_t speed = word_of(s, offset);
    if (speed == SPEED_IS_LONG) {
        speed = long_of(s, long_offset) & 0x7fffffff;
    }
    return speed <= MT_PER_S_MAX ? (double)speed : 0;
}

static struct memory_module module_of(const struct structure *s)
{
    struct memory_module out = {.present = word_of(s, DEVICE_SIZE) != 0, .bytes = size_of(s)};
    unsigned bits = word_of(s, DEVICE_DATA_WIDTH);
    out.data_bits = bits <= 1024 ? bits : 0;
    out.mt_per_s = speed_of(s, DEVICE_SPEED_NOW, DEVICE_SPEED_NOW_LONG);
    out.mt_per_s_rated = speed_of(s, DEVICE_SPEED, DEVICE_SPEED_LONG);
    copy_string(out.locator, sizeof out.locator, s, byte_of(s, DEVICE_LOCATOR));
    copy_string(out.bank, sizeof out.bank, s, byte_of(s, DEVICE_BANK));
    return out;
}

size_t smbios_memory(struct memory_module *out, size_t size, const unsigned char *table,
                     size_t bytes)
{
    struct arrays others;
    struct structure s;
    size_t offset = 0;
    size_t count = 0;
    find_other_arrays(&others, table, bytes);
    while (count < size && next_structure(&s, &offset, table, bytes)) {
        if (s.at[0] == TYPE_MEMORY_DEVICE && s.bytes > DEVICE_SIZE + 1 &&
            is_of_system(&s, &others)) {
            out[count++] = module_of(&s);
        }
    }
    return count;
}

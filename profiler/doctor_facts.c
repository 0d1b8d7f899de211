#include "profiler/doctor_facts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SMBIOS_MEMORY_DEVICE = 17,
    SMBIOS_END = 127,
    SMBIOS_TABLE_MAX = 1 << 20,
    OFFSET_SIZE = 0x0c,            // word: 0 = empty slot
    OFFSET_SPEED = 0x15,           // word: MT/s, rated
    OFFSET_SPEED_CONFIGURED = 0x20 // word: MT/s
};

static unsigned word_at(const unsigned char *structure, size_t length, size_t offset)
{
    return offset + 2 <= length ? (unsigned)structure[offset] | (unsigned)structure[offset + 1] << 8
                                : 0;
}

static void take_module(struct doctor_facts *out, const unsigned char *structure, size_t length)
{
    unsigned size = word_at(structure, length, OFFSET_SIZE);
    double rated = word_at(structure, length, OFFSET_SPEED);
    double configured = word_at(structure, length, OFFSET_SPEED_CONFIGURED);
    out->memory_slots++;
    if (size == 0) {
        return;
    }
    out->memory_slots_used++;
    // 0 is unknown, 0xffff an extended speed that no module of today needs.
    bool told = configured > 0 && configured < 0xffff && rated > 0 && rated < 0xffff;
    if (told && (out->memory_mt_per_s <= 0 || configured < out->memory_mt_per_s)) {
        out->memory_mt_per_s = configured;
        out->memory_mt_per_s_rated = rated;
    }
}

// Skips the strings behind a structure: they end with two zeros.
static size_t after_strings(const unsigned char *table, size_t size, size_t at)
{
    while (at + 1 < size && (table[at] != 0 || table[at + 1] != 0)) {
        at++;
    }
    return at + 2;
}

void doctor_facts_from_smbios(struct doctor_facts *out, const unsigned char *table, size_t size)
{
    size_t at = 0;
    while (at + 4 <= size) {
        size_t length = table[at + 1];
        if (length < 4 || at + length > size || table[at] == SMBIOS_END) {
            return;
        }
        if (table[at] == SMBIOS_MEMORY_DEVICE) {
            take_module(out, table + at, length);
        }
        at = after_strings(table, size, at + length);
    }
}

static void read_smbios(struct doctor_facts *out)
{
    FILE *file = fopen("/sys/firmware/dmi/tables/DMI", "re"); // root only
    unsigned char *table = file != NULL ? malloc(SMBIOS_TABLE_MAX) : NULL;
    if (table != NULL) {
        doctor_facts_from_smbios(out, table, fread(table, 1, SMBIOS_TABLE_MAX, file));
    }
    free(table);
    if (file != NULL) {
        (void)fclose(file);
    }
}

void doctor_facts_read(struct doctor_facts *out)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    out->perf_event_paranoid = INT_MIN;
    if (file != NULL) {
        char text[16];
        char *end = text;
        long value = fgets(text, sizeof text, file) != NULL ? strtol(text, &end, 10) : 0;
        if (end != text && value >= INT_MIN && value <= INT_MAX) {
            out->perf_event_paranoid = (int)value;
        }
        (void)fclose(file);
    }
    read_smbios(out);
}

void doctor_visit(struct result_run *run, const struct machine *machine, const struct blas *blas,
                  const char *blas_absent, unsigned threads)
{
    struct blas_facts seen;
    struct doctor_facts facts = {
        .machine = machine, .blas_absent = blas_absent, .threads = threads};
    if (blas != NULL) {
        seen = blas_facts(blas);
        facts.blas = &seen;
    }
    doctor_facts_read(&facts);
    doctor_examine(run, &facts);
}

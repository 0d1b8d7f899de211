#include "profiler/memory_channels.h"

#include <string.h>

/** Channels of a socket: Linux, drivers/edac (skx_common.h: 2 controllers of 3; i10nm_base.c: 4 of
 *  2, Granite Rapids 12 of 1; sb_edac.c: 4, not opened; amd64_edac.c: max_mcs), in excerpts on
 * 2026-11-30. They are those of the largest socket of a model number, so the name must say that the
 * product is of it. Speeds: the highest that the firmware of servers with that model number tells
 * (linuxhw/DMI, 2047 servers, the same day), or, marked *, the maker's product pages as the sheets
 * in machines/data quote them. */
struct row {
    const char *vendor;
    unsigned family;
    unsigned model_low;
    unsigned model_high;
    const char *names[5]; // one must be in the processor's name
    struct memory_channels channels;
};

#define INTEL "GenuineIntel"
#define AMD "AuthenticAMD"
#define SCALABLE                                              \
    {                                                         \
        "Platinum", "Gold", "Silver", "Bronze", "Xeon(R) MAX" \
    }

static const struct row rows[] = {
    {INTEL, 6, 0x2d, 0x2d, {"E5-26", "E5-46", "E5-16"}, {4, 1866, "sb_edac.c"}},
    {INTEL, 6, 0x3e, 0x3e, {"E5-26", "E5-46", "E5-16"}, {4, 1866, "sb_edac.c"}},
    {INTEL, 6, 0x3f, 0x3f, {"E5-26", "E5-46", "E5-16"}, {4, 2400, "sb_edac.c"}},
    {INTEL, 6, 0x4f, 0x4f, {"E5-26", "E5-46", "E5-16"}, {4, 2400, "sb_edac.c"}},
    {INTEL, 6, 0x55, 0x55, SCALABLE, {6, 2934, "skx_common.h"}},
    {INTEL, 6, 0x6a, 0x6a, SCALABLE, {8, 3200, "i10nm_base.c"}},
    {INTEL, 6, 0x8f, 0x8f, SCALABLE, {8, 5200, "i10nm_base.c"}},
    {INTEL, 6, 0xcf, 0xcf, SCALABLE, {8, 5600, "i10nm_base.c; * xeon-8592+"}},
    {INTEL, 6, 0xad, 0xad, {"Xeon(R) 69"}, {12, 8800, "i10nm_base.c"}},
    {AMD, 0x17, 0x01, 0x01, {"EPYC 7"}, {8, 2667, "amd64_edac.c"}},
    {AMD, 0x17, 0x31, 0x31, {"EPYC 7"}, {8, 3200, "amd64_edac.c"}},
    {AMD, 0x19, 0x01, 0x01, {"EPYC 7"}, {8, 3200, "amd64_edac.c"}},
    {AMD, 0x19, 0x11, 0x11, {"EPYC 9"}, {12, 4800, "amd64_edac.c"}},
    {AMD, 0x19, 0xa0, 0xaf, {"EPYC 9"}, {12, 4800, "amd64_edac.c"}},
    {AMD, 0x1a, 0x00, 0x1f, {"EPYC 9"}, {12, 6400, "amd64_edac.c; * epyc-9755"}},
};

static bool has_name(const struct row *row, const char *name)
{
    for (size_t i = 0; i < sizeof row->names / sizeof *row->names; i++) {
        if (row->names[i] != NULL && strcasestr(name, row->names[i]) != NULL) {
            return true;
        }
    }
    return false;
}

const struct memory_channels *memory_channels_of(const struct machine *machine)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *row = &rows[i];
        if (strcmp(machine->vendor, row->vendor) == 0 && machine->family == row->family &&
            machine->model >= row->model_low && machine->model <= row->model_high &&
            has_name(row, machine->name)) {
            return &row->channels;
        }
    }
    return NULL;
}

unsigned memory_channels_count(unsigned *used, const struct machine *machine,
                               const struct memory_layout *memory)
{
    const struct memory_channels *known = memory_channels_of(machine);
    unsigned packages = machine->packages > 0 ? machine->packages : 1;
    unsigned most = known != NULL ? known->per_package * packages : 0;
    *used = memory->channels > 0 ? memory->channels_used : memory->modules;
    if (memory->channels == 0) { // a module has at most one channel
        return most;
    }
    return most > 0 && most < memory->channels ? most : memory->channels;
}

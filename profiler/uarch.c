#include "profiler/uarch.h"

#include <math.h>
#include <string.h>

// FMA instructions per cycle at 128, 256 and 512 bits; 0: the core lacks the width, or the source
// does not tell it for every model of the row.
struct uarch_row {
    const char *vendor;
    unsigned family;
    unsigned model_low;
    unsigned model_high;
    double per_cycle[3];
    const char *source;
};

#define INTEL "GenuineIntel"
#define AMD "AuthenticAMD"
#define ARM "0x41"
/** Sources, each read on 2026-11-30. LLVM's models of a core (llvm/lib/Target/ in llvm-project)
 * name the pipes that take an FMA; the makers' guides that they follow stand beside. */
#define LLVM "LLVM X86/"
#define HASWELL LLVM "X86SchedHaswell.td: WriteFMAY on ports 0 and 1"
#define BROADWELL LLVM "X86SchedBroadwell.td: WriteFMAY on ports 0 and 1"
#define SKYLAKE LLVM "X86SchedSkylakeClient.td: WriteFMAY on ports 0 and 1"
#define SKYLAKE_SERVER LLVM "X86SchedSkylakeServer.td: WriteFMAY on ports 0 and 1"
#define ICE_LAKE LLVM "X86SchedIceLake.td: WriteFMAY on ports 0 and 1, WriteFMAZ on ports 0 and 5"
#define SAPPHIRE_RAPIDS                                                                           \
    LLVM "X86SchedSapphireRapids.td: WriteFMAY on ports 0 and 1; 512 bits: chipsandcheese.com/p/" \
         "a-peek-at-sapphire-rapids, 2 x 512-bit FMA as in Intel's other servers"
#define ZEN2 LLVM "X86ScheduleZnver2.td: WriteFMAY on pipes 0 and 1 (AMD 56305)"
#define ZEN3 LLVM "X86ScheduleZnver3.td, from AMD 56665, 2.11.1: FMA in pipes 0 and 1"
#define ZEN4                                                                                    \
    LLVM "X86ScheduleZnver4.td, from AMD 57647, 2.11.1: FMA in pipes 0 and 1 of 256 bits; 512 " \
         "bits in "                                                                             \
         "two passes: numberworld.org/blogs/2024_8_7_zen5_avx512_teardown"
#define ZEN5 "numberworld.org/blogs/2024_8_7_zen5_avx512_teardown: FMA pipes of Zen 4 at 512 bits"
#define NEOVERSE "LLVM AArch64/AArch64SchedNeoverse"

static const struct uarch_row rows[] = {
    {INTEL, 6, 0x3c, 0x3c, {2, 2, 0}, HASWELL},
    {INTEL, 6, 0x3d, 0x3d, {2, 2, 0}, BROADWELL},
    {INTEL, 6, 0x3f, 0x3f, {2, 2, 0}, HASWELL},
    {INTEL, 6, 0x45, 0x46, {2, 2, 0}, HASWELL},
    {INTEL, 6, 0x47, 0x47, {2, 2, 0}, BROADWELL},
    {INTEL, 6, 0x4f, 0x4f, {2, 2, 0}, BROADWELL},
    {INTEL, 6, 0x56, 0x56, {2, 2, 0}, BROADWELL},
    {INTEL, 6, 0x4e, 0x4e, {2, 2, 0}, SKYLAKE},
    {INTEL, 6, 0x5e, 0x5e, {2, 2, 0}, SKYLAKE},
    {INTEL, 6, 0x8e, 0x8e, {2, 2, 0}, SKYLAKE},
    {INTEL, 6, 0x9e, 0x9e, {2, 2, 0}, SKYLAKE},
    // Whether port 5 has a 512-bit FMA depends on the product, not on the model number.
    {INTEL, 6, 0x55, 0x55, {2, 2, 0}, SKYLAKE_SERVER},
    {INTEL, 6, 0x6a, 0x6a, {2, 2, 2}, ICE_LAKE},
    {INTEL, 6, 0x6c, 0x6c, {2, 2, 2}, ICE_LAKE},
    {INTEL, 6, 0x8f, 0x8f, {2, 2, 2}, SAPPHIRE_RAPIDS},
    {INTEL, 6, 0xcf, 0xcf, {2, 2, 2}, SAPPHIRE_RAPIDS}, // Emerald Rapids: the same cores
    {AMD, 0x17, 0x30, 0xaf, {2, 2, 0}, ZEN2},
    {AMD, 0x19, 0x00, 0x0f, {2, 2, 0}, ZEN3},
    {AMD, 0x19, 0x10, 0x1f, {2, 2, 1}, ZEN4},
    {AMD, 0x19, 0x20, 0x5f, {2, 2, 0}, ZEN3},
    {AMD, 0x19, 0x60, 0x7f, {2, 2, 1}, ZEN4},
    {AMD, 0x19, 0xa0, 0xaf, {2, 2, 1}, ZEN4},
    {AMD, 0x1a, 0x00, 0x1f, {2, 2, 2}, ZEN5},
    {AMD, 0x1a, 0x40, 0x4f, {2, 2, 2}, ZEN5},
    {ARM, 0, 0xd0c, 0xd0c, {2, 0, 0}, NEOVERSE "N1.td (Arm PJDOC-466751330-9707): V0, V1"},
    {ARM,
     0,
     0xd40,
     0xd40,
     {4, 2, 0},
     NEOVERSE "V1.td (Arm PJDOC-466751330-9685): V0 to V3; SVE V01"},
    {ARM, 0, 0xd49, 0xd49, {2, 0, 0}, NEOVERSE "N2.td (Arm 109914): V0, V1"},
    {ARM, 0, 0xd4f, 0xd4f, {4, 0, 0}, NEOVERSE "V2.td (Arm PJDOC-466751330-593177): V0 to V3"},
};

// Not what a maker tells but what the widest copy of ours reached where nothing else used the core.
struct copy_row {
    const char *vendor;
    unsigned family;
    unsigned model_low;
    unsigned model_high;
    double per_cycle;
    const char *source;
};

static const struct copy_row copies[] = {
    {AMD, 0x19, 0x10, 0x1f, 64, "measured: 64.0 bytes per cycle, family 25 model 17, 2026-11-30"},
};

static unsigned width_index(unsigned vector_bytes)
{
    switch (vector_bytes) {
    case 16:
        return 0;
    case 32:
        return 1;
    case 64:
        return 2;
    default:
        return 3;
    }
}

double uarch_fma_per_cycle(const char **source, const struct machine *machine,
                           unsigned vector_bytes)
{
    unsigned width = width_index(vector_bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && width < 3; i++) {
        const struct uarch_row *row = &rows[i];
        if (strcmp(machine->vendor, row->vendor) == 0 && machine->family == row->family &&
            machine->model >= row->model_low && machine->model <= row->model_high &&
            row->per_cycle[width] > 0 && machine->core_kind_count <= 1) {
            if (source != NULL) {
                *source = row->source;
            }
            return row->per_cycle[width];
        }
    }
    return (double)NAN;
}

double uarch_copy_per_cycle(const char **source, const struct machine *machine)
{
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        const struct copy_row *row = &copies[i];
        if (strcmp(machine->vendor, row->vendor) == 0 && machine->family == row->family &&
            machine->model >= row->model_low && machine->model <= row->model_high) {
            if (source != NULL) {
                *source = row->source;
            }
            return row->per_cycle;
        }
    }
    return (double)NAN;
}

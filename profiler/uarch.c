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
#define INTEL_MANUAL "Intel 64 and IA-32 Architectures Optimization Reference Manual (248966), "

static const struct uarch_row rows[] = {
    {INTEL, 6, 0x3c, 0x3d, {2, 2, 0}, INTEL_MANUAL "Haswell and Broadwell: FMA on ports 0 and 1"},
    {INTEL, 6, 0x3f, 0x3f, {2, 2, 0}, INTEL_MANUAL "Haswell: FMA on ports 0 and 1"},
    {INTEL, 6, 0x45, 0x47, {2, 2, 0}, INTEL_MANUAL "Haswell and Broadwell: FMA on ports 0 and 1"},
    {INTEL, 6, 0x4f, 0x4f, {2, 2, 0}, INTEL_MANUAL "Broadwell: FMA on ports 0 and 1"},
    {INTEL, 6, 0x56, 0x56, {2, 2, 0}, INTEL_MANUAL "Broadwell: FMA on ports 0 and 1"},
    {INTEL, 6, 0x4e, 0x4e, {2, 2, 0}, INTEL_MANUAL "Skylake client: FMA on ports 0 and 1"},
    {INTEL, 6, 0x5e, 0x5e, {2, 2, 0}, INTEL_MANUAL "Skylake client: FMA on ports 0 and 1"},
    {INTEL, 6, 0x8e, 0x8e, {2, 2, 0}, INTEL_MANUAL "Skylake client: FMA on ports 0 and 1"},
    {INTEL, 6, 0x9e, 0x9e, {2, 2, 0}, INTEL_MANUAL "Skylake client: FMA on ports 0 and 1"},
    // Whether port 5 has a 512-bit FMA depends on the product, not on the model number.
    {INTEL, 6, 0x55, 0x55, {2, 2, 0}, INTEL_MANUAL "Skylake server: FMA on ports 0 and 1"},
    {INTEL, 6, 0x6a, 0x6a, {2, 2, 2}, INTEL_MANUAL "Ice Lake server: 512-bit FMA on ports 0, 5"},
    {INTEL, 6, 0x6c, 0x6c, {2, 2, 2}, INTEL_MANUAL "Ice Lake server: 512-bit FMA on ports 0, 5"},
    {INTEL, 6, 0x8f, 0x8f, {2, 2, 2}, INTEL_MANUAL "Golden Cove server: 512-bit FMA on ports 0, 5"},
    {INTEL, 6, 0xcf, 0xcf, {2, 2, 2}, INTEL_MANUAL "Golden Cove server: 512-bit FMA on ports 0, 5"},
    {INTEL, 6, 0xad, 0xae, {2, 2, 2}, INTEL_MANUAL "Golden Cove server: 512-bit FMA on ports 0, 5"},
    {AMD,
     0x17,
     0x30,
     0xaf,
     {2, 2, 0},
     "AMD 56305, Software Optimization Guide for Family 17h "
     "models 30h and greater: two 256-bit FMA pipes"},
    {AMD,
     0x19,
     0x00,
     0x0f,
     {2, 2, 0},
     "AMD 56665, Software Optimization Guide for Family 19h: two "
     "256-bit FMA pipes"},
    {AMD,
     0x19,
     0x10,
     0x1f,
     {2, 2, 1},
     "AMD 57647, Software Optimization Guide for Zen 4: two "
     "256-bit FMA pipes, 512 bits in two passes"},
    {AMD,
     0x19,
     0x20,
     0x5f,
     {2, 2, 0},
     "AMD 56665, Software Optimization Guide for Family 19h: two "
     "256-bit FMA pipes"},
    {AMD,
     0x19,
     0x60,
     0x7f,
     {2, 2, 1},
     "AMD 57647, Software Optimization Guide for Zen 4: two "
     "256-bit FMA pipes, 512 bits in two passes"},
    {AMD,
     0x19,
     0xa0,
     0xaf,
     {2, 2, 1},
     "AMD 57647, Software Optimization Guide for Zen 4: two "
     "256-bit FMA pipes, 512 bits in two passes"},
    {AMD,
     0x1a,
     0x00,
     0x1f,
     {2, 2, 2},
     "AMD 58455, Software Optimization Guide for Zen 5: two "
     "512-bit FMA pipes"},
    {AMD,
     0x1a,
     0x40,
     0x4f,
     {2, 2, 2},
     "AMD 58455, Software Optimization Guide for Zen 5: two "
     "512-bit FMA pipes"},
    {ARM,
     0,
     0xd0c,
     0xd0c,
     {2, 0, 0},
     "Arm Neoverse N1 Software Optimization Guide, 2.1: two "
     "128-bit pipes"},
    {ARM,
     0,
     0xd40,
     0xd40,
     {4, 2, 0},
     "Arm Neoverse V1 Software Optimization Guide, 2.1: four "
     "128-bit pipes, two of 256 bits in SVE"},
    {ARM,
     0,
     0xd49,
     0xd49,
     {2, 0, 0},
     "Arm Neoverse N2 Software Optimization Guide, 2.1: two "
     "128-bit pipes"},
    {ARM,
     0,
     0xd4f,
     0xd4f,
     {4, 0, 0},
     "Arm Neoverse V2 Software Optimization Guide, 2.1: four "
     "128-bit pipes"},
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

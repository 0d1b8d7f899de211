#include "workloads/isa.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

static const struct {
    enum isa_feature feature;
    const char *name;
} names[] = {
    {ISA_PORTABLE, "portable"},
    {ISA_AVX2, "avx2"},
    {ISA_AVX512, "avx512"},
    {ISA_AVX512_VNNI, "avx512_vnni"},
    {ISA_AVX512_BF16, "avx512_bf16"},
    {ISA_AVX512_FP16, "avx512_fp16"},
    {ISA_AVX_VNNI, "avx_vnni"},
    {ISA_AMX_TILE, "amx_tile"},
    {ISA_AMX_INT8, "amx_int8"},
    {ISA_AMX_BF16, "amx_bf16"},
    {ISA_NEON, "neon"},
    {ISA_NEON_FP16, "neon_fp16"},
    {ISA_NEON_DOTPROD, "neon_dotprod"},
    {ISA_NEON_I8MM, "neon_i8mm"},
    {ISA_NEON_BF16, "neon_bf16"},
    {ISA_SVE, "sve"},
    {ISA_SVE2, "sve2"},
};

enum { NAME_COUNT = sizeof names / sizeof *names };

#if defined(__x86_64__)

// XCR0 bits, Intel SDM vol. 1, 13.1: what the operating system saves.
enum { XCR0_AVX = 0x6, XCR0_AVX512 = 0xe6, XCR0_AMX = 0x60000 };

struct cpuid_words {
    unsigned eax, ebx, ecx, edx;
};

static struct cpuid_words cpuid_leaf(unsigned leaf, unsigned subleaf)
{
    struct cpuid_words words = {0};
    (void)__get_cpuid_count(leaf, subleaf, &words.eax, &words.ebx, &words.ecx, &words.edx);
    return words;
}

static bool has_bits(unsigned word, unsigned bits)
{
    return (word & bits) == bits;
}

static unsigned read_xcr0(void)
{
    unsigned low = 0;
    unsigned high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// The kernel grants the tiles' state to a process that asks (Linux 5.16).
static bool may_use_tiles(void)
{
    enum {
        ASK_PERMISSION = 0x1023, // ARCH_REQ_XCOMP_PERM, arch/x86/include/uapi/asm/prctl.h
        FEATURE_TILE_DATA = 18   // XFEATURE_XTILE_DATA
    };
    return syscall(SYS_arch_prctl, (long)ASK_PERMISSION, (long)FEATURE_TILE_DATA) == 0;
}

static uint32_t avx512_features(struct cpuid_words seven, struct cpuid_words seven_one)
{
    uint32_t features = ISA_AVX512;
    features |= has_bits(seven.ecx, 1u << 11) ? (uint32_t)ISA_AVX512_VNNI : 0;
    features |= has_bits(seven.edx, 1u << 23) ? (uint32_t)ISA_AVX512_FP16 : 0;
    features |= has_bits(seven_one.eax, 1u << 5) ? (uint32_t)ISA_AVX512_BF16 : 0;
    return features;
}

// Bits of CPUID leaves 1 and 7: Intel SDM vol. 2A, table 3-8; AMX and FP16: Intel 319433.
static uint32_t detect_features(void)
{
    struct cpuid_words one = cpuid_leaf(1, 0);
    if (!has_bits(one.ecx, 1u << 27)) { // OSXSAVE: without it XGETBV is illegal
        return 0;
    }
    struct cpuid_words seven = cpuid_leaf(7, 0);
    struct cpuid_words seven_one = cpuid_leaf(7, 1);
    unsigned xcr0 = read_xcr0();
    uint32_t features = 0;
    if (has_bits(xcr0, XCR0_AVX) && has_bits(one.ecx, 1u << 28 | 1u << 12 | 1u << 29) &&
        has_bits(seven.ebx, 1u << 5)) {
        features |= ISA_AVX2;
        features |= has_bits(seven_one.eax, 1u << 4) ? (uint32_t)ISA_AVX_VNNI : 0;
    }
    if ((features & ISA_AVX2) != 0 && has_bits(xcr0, XCR0_AVX512) &&
        has_bits(seven.ebx, 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31)) {
        features |= avx512_features(seven, seven_one);
    }
    if (has_bits(xcr0, XCR0_AMX) && has_bits(seven.edx, 1u << 24) && may_use_tiles()) {
        features |= ISA_AMX_TILE;
        features |= has_bits(seven.edx, 1u << 25) ? (uint32_t)ISA_AMX_INT8 : 0;
        features |= has_bits(seven.edx, 1u << 22) ? (uint32_t)ISA_AMX_BF16 : 0;
    }
    return features;
}

struct isa_set isa_detect(void)
{
    return (struct isa_set){.features = detect_features()};
}

#elif defined(__aarch64__)

// Linux arch/arm64/include/uapi/asm/hwcap.h and include/uapi/linux/prctl.h.
enum {
    ARM_ASIMD = 1 << 1,
    ARM_ASIMDHP = 1 << 10,
    ARM_ASIMDDP = 1 << 20,
    ARM_SVE = 1 << 22,
    ARM2_SVE2 = 1 << 1,
    ARM2_I8MM = 1 << 13,
    ARM2_BF16 = 1 << 14,
    ARM_PR_SVE_GET_VL = 51,
    ARM_SVE_VL_MASK = 0xffff
};

struct isa_set isa_detect(void)
{
    unsigned long hwcap = getauxval(AT_HWCAP);
    unsigned long hwcap2 = getauxval(AT_HWCAP2);
    struct isa_set set = {0};
    set.features |= (hwcap & ARM_ASIMD) != 0 ? (uint32_t)ISA_NEON : 0;
    set.features |= (hwcap & ARM_ASIMDHP) != 0 ? (uint32_t)ISA_NEON_FP16 : 0;
    set.features |= (hwcap & ARM_ASIMDDP) != 0 ? (uint32_t)ISA_NEON_DOTPROD : 0;
    set.features |= (hwcap2 & ARM2_I8MM) != 0 ? (uint32_t)ISA_NEON_I8MM : 0;
    set.features |= (hwcap2 & ARM2_BF16) != 0 ? (uint32_t)ISA_NEON_BF16 : 0;
    int length = (hwcap & ARM_SVE) != 0 ? prctl(ARM_PR_SVE_GET_VL) : -1;
    if (length > 0) {
        set.features |= ISA_SVE;
        set.features |= (hwcap2 & ARM2_SVE2) != 0 ? (uint32_t)ISA_SVE2 : 0;
        set.sve_bytes = (uint32_t)length & ARM_SVE_VL_MASK;
    }
    return set;
}

#else

struct isa_set isa_detect(void)
{
    return (struct isa_set){0};
}

#endif

bool isa_has(struct isa_set set, uint32_t needed)
{
    return (set.features & needed) == needed;
}

struct isa_set isa_without(struct isa_set set, uint32_t removed)
{
    set.features &= ~removed;
    return set;
}

const char *isa_name(enum isa_feature feature)
{
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (names[i].feature == feature) {
            return names[i].name;
        }
    }
    return "?";
}

bool isa_of_name(enum isa_feature *out, const char *name)
{
    for (size_t i = 0; i < NAME_COUNT; i++) {
        if (strcmp(names[i].name, name) == 0) {
            *out = names[i].feature;
            return true;
        }
    }
    return false;
}

char *isa_text(char *out, size_t bytes, struct isa_set set)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 1; i < NAME_COUNT; i++) {
        if (isa_has(set, names[i].feature) && used < bytes) {
            int n = snprintf(out + used, bytes - used, "%s%s", used > 0 ? " " : "", names[i].name);
            used += n > 0 ? (size_t)n : 0;
        }
    }
    if (used == 0) {
        (void)snprintf(out, bytes, "%s", names[0].name);
    }
    return out;
}

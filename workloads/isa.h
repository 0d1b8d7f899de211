#ifndef WORKLOADS_ISA_H
#define WORKLOADS_ISA_H

/** The vector instructions that this process may execute, as a set of bits that callers pass to
 *  the kernels' choosers. A bit is set only if the CPU offers the instructions and the kernel
 *  saves their registers (CPUID with XGETBV, for tiles the kernel's permission, on x86; HWCAP on
 *  aarch64). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum isa_feature {
    ISA_PORTABLE = 0,     /**< plain C: every set has it */
    ISA_AVX2 = 1u << 0,   /**< AVX2 with FMA and F16C */
    ISA_AVX512 = 1u << 1, /**< AVX-512 F, BW, DQ, VL */
    ISA_AVX512_VNNI = 1u << 2,
    ISA_AVX512_BF16 = 1u << 3,
    ISA_AVX512_FP16 = 1u << 4,
    ISA_AVX_VNNI = 1u << 5, /**< VEX-encoded vpdpbusd */
    ISA_AMX_TILE = 1u << 6, /**< tile state enabled in XCR0 and granted to this process */
    ISA_AMX_INT8 = 1u << 7,
    ISA_AMX_BF16 = 1u << 8,
    ISA_NEON = 1u << 16,
    ISA_NEON_FP16 = 1u << 17,    /**< half precision arithmetic (FEAT_FP16) */
    ISA_NEON_DOTPROD = 1u << 18, /**< SDOT, UDOT */
    ISA_NEON_I8MM = 1u << 19,    /**< SMMLA */
    ISA_NEON_BF16 = 1u << 20,    /**< BFDOT, BFMMLA */
    ISA_SVE = 1u << 21,
    ISA_SVE2 = 1u << 22
};

/** A union of enum isa_feature, for example ISA_AVX2 | ISA_AVX_VNNI; 0 is portable C alone. */
struct isa_set {
    uint32_t features;
    uint32_t sve_bytes; /**< length of an SVE vector; 0 without SVE */
};

/** What this process may execute here. */
struct isa_set isa_detect(void);

/** True if the set has all of the features needed (a union; ISA_PORTABLE is in every set). */
bool isa_has(struct isa_set set, uint32_t needed);

/** The set less the features in removed: tests and users choose a narrower kernel so. */
struct isa_set isa_without(struct isa_set set, uint32_t removed);

/** Name of one feature, for example "avx512_bf16"; "portable" for ISA_PORTABLE. Static text. */
const char *isa_name(enum isa_feature feature);

/** The single bit of a name, or false if no feature has it. "portable" gives ISA_PORTABLE. */
bool isa_of_name(enum isa_feature *out, const char *name);

/** Names of the set, separated by spaces, into out (bytes long); "portable" if it is empty.
 *  ISA_TEXT bytes hold every set. Returns out. */
char *isa_text(char *out, size_t bytes, struct isa_set set);

enum { ISA_TEXT = 224 };

#endif

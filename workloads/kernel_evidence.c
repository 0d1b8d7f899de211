#include "workloads/kernel_evidence.h"

#include <string.h>

#define FLOATS "f32 bf16 f16"
#define CACHES FLOATS " q8_0 int8"
#define BLOCKS "q8_0 q4_0 q4_1 q5_0 q5_1 q4_k q5_k q6_k int8 int4_g128 mxfp4"
#define STREAMS "load store store_nt copy copy_nt scale add triad triad_nt"
#define ZEN4 "AMD EPYC, Zen 4"
#define QEMU "qemu-aarch64"

// Silicon: tests/unit/test_linear.c, test_attention.c, test_ceiling_check.c. Emulation:
// tests/rigs/.
static const struct kernel_evidence rows[] = {
    {"linear", "avx512/vfmadd231ps/f32", FLOATS, KERNEL_ON_SILICON, ZEN4},
    {"linear", "avx512/vdpbf16ps/f32", "bf16", KERNEL_ON_SILICON, ZEN4},
    {"linear", "amx_bf16/tdpbf16ps/f32", "bf16", KERNEL_NEVER_EXECUTED, "-"},
    {"linear", "amx_int8/tdpbsud/i32", "q8_0 q4_0 q4_1 q5_0 q5_1 q4_k q5_k int8 int4_g128 mxfp4",
     KERNEL_NEVER_EXECUTED, "-"},
    {"linear", "avx512_vnni/vpdpbusd/i32", BLOCKS, KERNEL_ON_SILICON, ZEN4},
    {"linear", "avx512vl/vpdpbusd/i32", BLOCKS, KERNEL_ON_SILICON, ZEN4},
    {"linear", "avx_vnni/vpdpbusd/i32", BLOCKS, KERNEL_NEVER_EXECUTED, "-"},
    {"linear", "avx2/vfmadd231ps/f32", FLOATS, KERNEL_ON_SILICON, ZEN4},
    {"linear", "avx2/vpmaddubsw/i32", BLOCKS, KERNEL_ON_SILICON, ZEN4},
    {"linear", "neon_bf16/bfmmla/f32", "bf16", KERNEL_UNDER_EMULATION, QEMU},
    {"linear", "neon_i8mm/smmla/i32", BLOCKS, KERNEL_UNDER_EMULATION, QEMU},
    {"linear", "sve/fmla/f32", FLOATS, KERNEL_UNDER_EMULATION, QEMU},
    {"linear", "sve/sdot/i32", "q8_0 q4_0 int8 int4_g128", KERNEL_UNDER_EMULATION, QEMU},
    {"linear", "neon/fmla/f32", FLOATS, KERNEL_UNDER_EMULATION, QEMU},
    {"linear", "neon_dotprod/sdot/i32", BLOCKS, KERNEL_UNDER_EMULATION, QEMU},
    {"linear", "portable/c/f32", FLOATS, KERNEL_ON_SILICON, ZEN4},
    {"linear", "portable/c/i32", BLOCKS, KERNEL_ON_SILICON, ZEN4},
    {"attention", "avx512/vfmadd231ps/f32", CACHES, KERNEL_ON_SILICON, ZEN4},
    {"attention", "avx2/vfmadd231ps/f32", CACHES, KERNEL_ON_SILICON, ZEN4},
    {"attention", "neon/fmla/f32", CACHES, KERNEL_UNDER_EMULATION, QEMU},
    {"attention", "portable/c/f32", CACHES, KERNEL_ON_SILICON, ZEN4},
    {"streams", "avx512", STREAMS, KERNEL_ON_SILICON, ZEN4},
    {"streams", "avx2", STREAMS, KERNEL_ON_SILICON, ZEN4},
    {"streams", "portable", STREAMS, KERNEL_ON_SILICON, ZEN4},
    {"compute", "avx512/vfmadd231pd/f64", "f64", KERNEL_ON_SILICON, ZEN4},
    {"compute", "avx512/vfmadd231ps/f32", "f32", KERNEL_ON_SILICON, ZEN4},
    {"compute", "avx512_fp16/vfmadd231ph/f16", "f16", KERNEL_NEVER_EXECUTED, "-"},
    {"compute", "avx512_bf16/vdpbf16ps/f32", "bf16", KERNEL_ON_SILICON, ZEN4},
    {"compute", "avx512_vnni/vpdpbusd/i32", "int8", KERNEL_ON_SILICON, ZEN4},
    {"compute", "amx_bf16/tdpbf16ps/f32", "bf16", KERNEL_NEVER_EXECUTED, "-"},
    {"compute", "amx_int8/tdpbusd/i32", "int8", KERNEL_NEVER_EXECUTED, "-"},
    {"compute", "avx_vnni/vpdpbusd/i32", "int8", KERNEL_NEVER_EXECUTED, "-"},
    {"compute", "avx2/vfmadd231pd/f64", "f64", KERNEL_ON_SILICON, ZEN4},
    {"compute", "avx2/vfmadd231ps/f32", "f32", KERNEL_ON_SILICON, ZEN4},
    {"compute", "avx2/vpmaddubsw/i32", "int8", KERNEL_ON_SILICON, ZEN4},
    {"compute", "sve/fmla/f64", "f64", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "sve/fmla/f32", "f32", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "sve/fmla/f16", "f16", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "sve/sdot/i32", "int8", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "neon_fp16/fmla/f16", "f16", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "neon_dotprod/sdot/i32", "int8", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "neon_i8mm/smmla/i32", "int8", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "neon_bf16/bfdot/f32", "bf16", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "neon_bf16/bfmmla/f32", "bf16", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "neon/fmla/f64", "f64", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "neon/fmla/f32", "f32", KERNEL_UNDER_EMULATION, QEMU},
    {"compute", "base128/mul+add/f64", "f64", KERNEL_ON_SILICON, ZEN4},
    {"compute", "base128/mul+add/f32", "f32", KERNEL_ON_SILICON, ZEN4},
};

const struct kernel_evidence *kernel_evidence_row(size_t index)
{
    return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

static bool names(const char *types, const char *type)
{
    size_t length = strlen(type);
    for (const char *at = types; at != NULL && *at != '\0'; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strcspn(at, " ") == length && strncmp(at, type, length) == 0) {
            return true;
        }
    }
    return false;
}

const struct kernel_evidence *kernel_evidence_find(const char *operator_, const char *class_,
                                                   const char *type)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].operator_, operator_) == 0 && strcmp(rows[i].class_, class_) == 0 &&
            names(rows[i].types, type)) {
            return &rows[i];
        }
    }
    return NULL;
}

const char *kernel_evidence_text(enum kernel_evidence_state state)
{
    return state == KERNEL_ON_SILICON        ? "verified on silicon"
           : state == KERNEL_UNDER_EMULATION ? "verified under emulation"
                                             : "never executed";
}

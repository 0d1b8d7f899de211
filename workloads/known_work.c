#include "workloads/known_work.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 64, BLOCK = 8 /* arithmetic instructions in one iteration */ };

typedef void kernel_function(uint64_t rounds);

/** One row: how many operations an instruction of the kernel does, and how to execute it. */
struct kernel {
    const char *name;
    uint32_t needed;    /**< union of enum isa_feature */
    double flop;        /**< per instruction; for SVE per 16 bytes of vector */
    unsigned extra;     /**< instructions per iteration besides the BLOCK */
    unsigned outside;   /**< instructions outside of the loop */
    kernel_function *f; /**< NULL: not on this architecture */
};

// Each kernel is the loop `BLOCK instructions; count down; branch`. All registers hold zeros: no
// denormal and no overflow can slow or repeat an instruction.
#if defined(__x86_64__)
#define EIGHT(i) i i i i i i i i
#define LOOP(name, body, end)                                                          \
    static void name(uint64_t rounds)                                                  \
    {                                                                                  \
        __asm__ volatile(".p2align 6\n1:\n" EIGHT(body) "sub $1, %0\n\tjnz 1b\n\t" end \
                         : "+r"(rounds)                                                \
                         :                                                             \
                         : "xmm0", "xmm1", "rax", "cc");                               \
    }
#define ZERO_UPPER "vzeroupper\n\t"
LOOP(run_loop, "lea 1(%%rax), %%rax\n\t", "")
LOOP(run_chain, "imul %%rax, %%rax\n\t", "")
// VEX and EVEX scalar and 128-bit forms clear the upper halves: no vzeroupper needed.
LOOP(run_f64_scalar, "vfmadd231sd %%xmm1, %%xmm1, %%xmm0\n\t", "")
LOOP(run_f64_128, "vfmadd231pd %%xmm1, %%xmm1, %%xmm0\n\t", "")
LOOP(run_f64_256, "vfmadd231pd %%ymm1, %%ymm1, %%ymm0\n\t", ZERO_UPPER)
LOOP(run_f64_512, "vfmadd231pd %%zmm1, %%zmm1, %%zmm0\n\t", ZERO_UPPER)
LOOP(run_f32_scalar, "vfmadd231ss %%xmm1, %%xmm1, %%xmm0\n\t", "")
LOOP(run_f32_128, "vfmadd231ps %%xmm1, %%xmm1, %%xmm0\n\t", "")
LOOP(run_f32_256, "vfmadd231ps %%ymm1, %%ymm1, %%ymm0\n\t", ZERO_UPPER)
LOOP(run_f32_512, "vfmadd231ps %%zmm1, %%zmm1, %%zmm0\n\t", ZERO_UPPER)
LOOP(run_f16_scalar, "vfmadd231sh %%xmm1, %%xmm1, %%xmm0\n\t", "")
LOOP(run_f16_128, "vfmadd231ph %%xmm1, %%xmm1, %%xmm0\n\t", "")
LOOP(run_f16_256, "vfmadd231ph %%ymm1, %%ymm1, %%ymm0\n\t", ZERO_UPPER)
LOOP(run_f16_512, "vfmadd231ph %%zmm1, %%zmm1, %%zmm0\n\t", ZERO_UPPER)
LOOP(run_bf16_128, "vdpbf16ps %%xmm1, %%xmm1, %%xmm0\n\t", "")
LOOP(run_bf16_256, "vdpbf16ps %%ymm1, %%ymm1, %%ymm0\n\t", ZERO_UPPER)
LOOP(run_bf16_512, "vdpbf16ps %%zmm1, %%zmm1, %%zmm0\n\t", ZERO_UPPER)

// Latency of imul r64, r64: 3 cycles on every Intel core since Nehalem and every AMD core since
// Zen (Intel Optimization Reference Manual, appendix on latency; AMD 17h/19h Software Optimization
// Guides, instruction latency tables).
enum { CHAIN_CYCLES = 3 };
static const struct kernel kernels[KNOWN_WORK_COUNT] = {
    [KNOWN_LOOP] = {"loop", ISA_PORTABLE, 0, 2, 0, run_loop},
    [KNOWN_CHAIN] = {"chain", ISA_PORTABLE, 0, 2, 0, run_chain},
    [KNOWN_F64_SCALAR] = {"f64-scalar", ISA_AVX2, 2, 2, 0, run_f64_scalar},
    [KNOWN_F64_128] = {"f64-128", ISA_AVX2, 4, 2, 0, run_f64_128},
    [KNOWN_F64_256] = {"f64-256", ISA_AVX2, 8, 2, 1, run_f64_256},
    [KNOWN_F64_512] = {"f64-512", ISA_AVX512, 16, 2, 1, run_f64_512},
    [KNOWN_F64_SVE] = {"f64-sve", ISA_SVE, 0, 0, 0, NULL},
    [KNOWN_F32_SCALAR] = {"f32-scalar", ISA_AVX2, 2, 2, 0, run_f32_scalar},
    [KNOWN_F32_128] = {"f32-128", ISA_AVX2, 8, 2, 0, run_f32_128},
    [KNOWN_F32_256] = {"f32-256", ISA_AVX2, 16, 2, 1, run_f32_256},
    [KNOWN_F32_512] = {"f32-512", ISA_AVX512, 32, 2, 1, run_f32_512},
    [KNOWN_F32_SVE] = {"f32-sve", ISA_SVE, 0, 0, 0, NULL},
    [KNOWN_F16_SCALAR] = {"f16-scalar", ISA_AVX512_FP16, 2, 2, 0, run_f16_scalar},
    [KNOWN_F16_128] = {"f16-128", ISA_AVX512_FP16, 16, 2, 0, run_f16_128},
    [KNOWN_F16_256] = {"f16-256", ISA_AVX512_FP16, 32, 2, 1, run_f16_256},
    [KNOWN_F16_512] = {"f16-512", ISA_AVX512_FP16, 64, 2, 1, run_f16_512},
    [KNOWN_BF16_128] = {"bf16-128", ISA_AVX512_BF16, 16, 2, 0, run_bf16_128},
    [KNOWN_BF16_256] = {"bf16-256", ISA_AVX512_BF16, 32, 2, 1, run_bf16_256},
    [KNOWN_BF16_512] = {"bf16-512", ISA_AVX512_BF16, 64, 2, 1, run_bf16_512},
    [KNOWN_READ] = {"read", ISA_PORTABLE, 0, 0, 0, NULL},
    [KNOWN_WRITE] = {"write", ISA_PORTABLE, 0, 0, 0, NULL},
};

static void flush_line(unsigned char *line)
{
    __asm__ volatile("clflush %0" : "+m"(*(volatile unsigned char *)line));
}

static void wait_for_memory(void)
{
    __asm__ volatile("mfence" ::: "memory");
}
#elif defined(__aarch64__)
#define EIGHT(i) i i i i i i i i
#define LOOP(name, extension, body)                                                      \
    static void name(uint64_t rounds)                                                    \
    {                                                                                    \
        __asm__ volatile(".arch_extension " extension "\n"                               \
                         ".p2align 6\n1:\n" EIGHT(body) "subs %0, %0, #1\n\tb.ne 1b\n\t" \
                         : "+r"(rounds)                                                  \
                         :                                                               \
                         : "v0", "v1", "x9", "cc");                                      \
    }
LOOP(run_loop, "simd", "add x9, x9, #1\n\t")
LOOP(run_chain, "simd", "mul x9, x9, x9\n\t")
LOOP(run_f64_scalar, "simd", "fmadd d0, d1, d1, d0\n\t")
LOOP(run_f64_128, "simd", "fmla v0.2d, v1.2d, v1.2d\n\t")
LOOP(run_f32_scalar, "simd", "fmadd s0, s1, s1, s0\n\t")
LOOP(run_f32_128, "simd", "fmla v0.4s, v1.4s, v1.4s\n\t")
LOOP(run_f16_scalar, "fp16", "fmadd h0, h1, h1, h0\n\t")
LOOP(run_f16_128, "fp16", "fmla v0.8h, v1.8h, v1.8h\n\t")
// All lanes active without touching a predicate register: fmla with a scalar index is unpredicated.
LOOP(run_f64_sve, "sve", "fmla z0.d, z1.d, z1.d[0]\n\t")
LOOP(run_f32_sve, "sve", "fmla z0.s, z1.s, z1.s[0]\n\t")

enum { CHAIN_CYCLES = 0 }; // differs between cores and is not in one document
static const struct kernel kernels[KNOWN_WORK_COUNT] = {
    [KNOWN_LOOP] = {"loop", ISA_PORTABLE, 0, 2, 0, run_loop},
    [KNOWN_CHAIN] = {"chain", ISA_PORTABLE, 0, 2, 0, run_chain},
    [KNOWN_F64_SCALAR] = {"f64-scalar", ISA_NEON, 2, 2, 0, run_f64_scalar},
    [KNOWN_F64_128] = {"f64-128", ISA_NEON, 4, 2, 0, run_f64_128},
    [KNOWN_F64_256] = {"f64-256", ISA_NEON, 0, 0, 0, NULL},
    [KNOWN_F64_512] = {"f64-512", ISA_NEON, 0, 0, 0, NULL},
    [KNOWN_F64_SVE] = {"f64-sve", ISA_SVE, 4, 2, 0, run_f64_sve},
    [KNOWN_F32_SCALAR] = {"f32-scalar", ISA_NEON, 2, 2, 0, run_f32_scalar},
    [KNOWN_F32_128] = {"f32-128", ISA_NEON, 8, 2, 0, run_f32_128},
    [KNOWN_F32_256] = {"f32-256", ISA_NEON, 0, 0, 0, NULL},
    [KNOWN_F32_512] = {"f32-512", ISA_NEON, 0, 0, 0, NULL},
    [KNOWN_F32_SVE] = {"f32-sve", ISA_SVE, 8, 2, 0, run_f32_sve},
    [KNOWN_F16_SCALAR] = {"f16-scalar", ISA_NEON_FP16, 2, 2, 0, run_f16_scalar},
    [KNOWN_F16_128] = {"f16-128", ISA_NEON_FP16, 16, 2, 0, run_f16_128},
    [KNOWN_F16_256] = {"f16-256", ISA_NEON, 0, 0, 0, NULL},
    [KNOWN_F16_512] = {"f16-512", ISA_NEON, 0, 0, 0, NULL},
    [KNOWN_BF16_128] = {"bf16-128", ISA_NEON_BF16, 0, 0, 0, NULL},
    [KNOWN_BF16_256] = {"bf16-256", ISA_NEON, 0, 0, 0, NULL},
    [KNOWN_BF16_512] = {"bf16-512", ISA_NEON, 0, 0, 0, NULL},
    [KNOWN_READ] = {"read", ISA_PORTABLE, 0, 0, 0, NULL},
    [KNOWN_WRITE] = {"write", ISA_PORTABLE, 0, 0, 0, NULL},
};

static void flush_line(unsigned char *line)
{
    __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
}

static void wait_for_memory(void)
{
    __asm__ volatile("dsb sy" ::: "memory");
}
#endif

const char *known_work_name(enum known_work work)
{
    return kernels[work].name;
}

static bool is_memory(enum known_work work)
{
    return work == KNOWN_READ || work == KNOWN_WRITE;
}

bool known_work_runs(enum known_work work, struct isa_set isa)
{
    return is_memory(work) || (kernels[work].f != NULL && isa_has(isa, kernels[work].needed));
}

struct status known_buffer_create(struct known_buffer *out, size_t size)
{
    size_t rounded = (size + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    *out = (struct known_buffer){.bytes = aligned_alloc(4096, (rounded + 4095) / 4096 * 4096),
                                 .size = rounded};
    if (out->bytes == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu bytes of known work", size);
    }
    memset(out->bytes, 1, rounded);
    return status_ok();
}

void known_buffer_free(struct known_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct known_buffer){.bytes = NULL};
}

struct known_amount known_work_amount(enum known_work work, struct isa_set isa, uint64_t rounds,
                                      const struct known_buffer *buffer)
{
    if (work == KNOWN_READ) {
        return (struct known_amount){.read_bytes = (double)buffer->size};
    }
    if (work == KNOWN_WRITE) {
        return (struct known_amount){.write_bytes = (double)buffer->size};
    }
    const struct kernel *kernel = &kernels[work];
    bool sve = work == KNOWN_F64_SVE || work == KNOWN_F32_SVE;
    double vectors = sve ? isa.sve_bytes / 16.0 : 1;
    double n = (double)rounds;
    return (struct known_amount){
        .instructions = n * (BLOCK + kernel->extra) + kernel->outside,
        .cycles = work == KNOWN_CHAIN ? n * BLOCK * CHAIN_CYCLES : 0,
        .flop = n * BLOCK * kernel->flop * vectors,
    };
}

void known_work_prepare(enum known_work work, struct known_buffer *buffer)
{
    if (!is_memory(work)) {
        return;
    }
    for (size_t i = 0; i < buffer->size; i += LINE_BYTES) {
        flush_line(buffer->bytes + i);
    }
    wait_for_memory();
}

static void read_lines(const struct known_buffer *buffer)
{
    for (size_t i = 0; i < buffer->size; i += LINE_BYTES) {
        (void)*(const volatile unsigned char *)(buffer->bytes + i);
    }
}

static void write_lines(struct known_buffer *buffer)
{
    for (size_t i = 0; i < buffer->size; i += LINE_BYTES) {
        *(volatile unsigned char *)(buffer->bytes + i) = (unsigned char)i;
        flush_line(buffer->bytes + i);
    }
    wait_for_memory();
}

void known_work_run(enum known_work work, uint64_t rounds, struct known_buffer *buffer)
{
    if (work == KNOWN_READ) {
        read_lines(buffer);
    } else if (work == KNOWN_WRITE) {
        write_lines(buffer);
    } else if (rounds > 0) {
        kernels[work].f(rounds);
    }
}

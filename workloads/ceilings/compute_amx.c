// Tiles of 16 rows of 64 bytes: four accumulators, two operands. The kernel grants tile state on
// request (arch_prctl, Linux 5.16); each run sets up and releases its thread's tiles.
#include "workloads/ceiling_kernel.h"
#include "workloads/ceilings/clock_chain.h"

#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    TILE_BYTES = 1024,
    TILE_CHAINS = 4,
    TILE_INSTRUCTIONS = 16,
    ASK_PERMISSION = 0x1023, // ARCH_REQ_XCOMP_PERM, arch/x86/include/uapi/asm/prctl.h
    FEATURE_TILE_DATA = 18   // XFEATURE_XTILE_DATA
};

// Intel SDM vol. 1, 18.2: palette 1, bytes per row from byte 16, rows from byte 48.
struct tile_config {
    uint8_t palette;
    uint8_t start_row;
    uint8_t reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

static void configure(void)
{
    _Alignas(64) struct tile_config config = {.palette = 1};
    for (unsigned i = 0; i < 8; i++) {
        config.row_bytes[i] = 64;
        config.rows[i] = 16;
    }
    _tile_loadconfig(&config);
}

static bool ask_permission(void)
{
    return syscall(SYS_arch_prctl, (long)ASK_PERMISSION, (long)FEATURE_TILE_DATA) == 0;
}

#define NO_LINKS
#define SIX_LINKS     \
    CLOCK_STEP(word); \
    CLOCK_STEP(word); \
    CLOCK_STEP(word); \
    CLOCK_STEP(word); \
    CLOCK_STEP(word); \
    CLOCK_STEP(word);
#define TWELVE_LINKS SIX_LINKS SIX_LINKS

#define FOUR(INSTRUCTION, links) \
    INSTRUCTION(0, 4, 5);        \
    links INSTRUCTION(1, 4, 5);  \
    links INSTRUCTION(2, 4, 5);  \
    links INSTRUCTION(3, 4, 5);  \
    links

// links: clock links behind each of the 16 tile products of an iteration.
#define DEFINE_TILES(name, INSTRUCTION, links)                         \
    static void name(struct compute_state *state, uint64_t iterations) \
    {                                                                  \
        uint32_t word = state->clock_word;                             \
        configure();                                                   \
        _tile_zero(0);                                                 \
        _tile_zero(1);                                                 \
        _tile_zero(2);                                                 \
        _tile_zero(3);                                                 \
        _tile_loadd(4, state->x, 64);                                  \
        _tile_loadd(5, state->y, 64);                                  \
        for (uint64_t i = 0; i < iterations; i++) {                    \
            FOUR(INSTRUCTION, links)                                   \
            FOUR(INSTRUCTION, links)                                   \
            FOUR(INSTRUCTION, links)                                   \
            FOUR(INSTRUCTION, links)                                   \
        }                                                              \
        _tile_stored(0, state->sums, 64);                              \
        _tile_stored(1, state->sums + TILE_BYTES, 64);                 \
        _tile_stored(2, state->sums + 2 * TILE_BYTES, 64);             \
        _tile_stored(3, state->sums + 3 * TILE_BYTES, 64);             \
        _tile_release();                                               \
        state->clock_word = word;                                      \
    }

// A tile product takes 16 cycles on Sapphire Rapids (Intel Optimization Manual, chapter 20):
// 6 links are 18 cycles, 12 are 36.
DEFINE_TILES(bf16, _tile_dpbf16ps, NO_LINKS)
DEFINE_TILES(bf16_c0, _tile_dpbf16ps, SIX_LINKS)
DEFINE_TILES(bf16_c1, _tile_dpbf16ps, TWELVE_LINKS)
DEFINE_TILES(int8, _tile_dpbusd, NO_LINKS)
DEFINE_TILES(int8_c0, _tile_dpbusd, SIX_LINKS)
DEFINE_TILES(int8_c1, _tile_dpbusd, TWELVE_LINKS)

#define ROW(id, isa_, name, x, y, sum_, flop, integer)                                       \
    {                                                                                        \
        .dtype = #id, .class_ = name, .isa = ISA_AMX_TILE | (isa_), .meaning = COMPUTE_TILE, \
        .operand_x = x, .operand_y = y, .sum = sum_, .vector_bytes = TILE_BYTES,             \
        .chains = TILE_CHAINS, .instructions = TILE_INSTRUCTIONS, .flop_per_8_bytes = flop,  \
        .integer_operations = integer, .run = id, .clocked = {id##_c0, id##_c1},             \
        .cycles = {TILE_INSTRUCTIONS * 6 * CLOCK_STEP_CYCLES,                                \
                   TILE_INSTRUCTIONS * 12 * CLOCK_STEP_CYCLES},                              \
        .prepare = ask_permission                                                            \
    }

static const struct compute_kernel rows[] = {ROW(bf16, ISA_AMX_BF16, "amx_bf16/tdpbf16ps/f32",
                                                 COMPUTE_BF16, COMPUTE_BF16, COMPUTE_F32, 128,
                                                 false),
                                             ROW(int8, ISA_AMX_INT8, "amx_int8/tdpbusd/i32",
                                                 COMPUTE_U8, COMPUTE_S8, COMPUTE_I32, 256, true)};

const struct ceiling_set ceiling_set_compute_amx = {
    .isa = ISA_AMX_TILE, .compute = rows, .compute_count = sizeof rows / sizeof *rows};

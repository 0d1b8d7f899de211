#ifndef WORKLOADS_SIMD_AMX_H
#define WORKLOADS_SIMD_AMX_H

/** The tile registers of AMX. Those of a thread are configured once for a run of products; then
 *  numbers (literals) name them. AMX_MODEL names a header that does the same in C, for machines
 *  without tiles. */

#include <stdint.h>

/** Palette 1: eight tiles, bytes of a row at byte 16, rows at byte 48. Intel SDM vol. 1, 18.2. */
struct amx_config {
    uint8_t palette;
    uint8_t start_row;
    uint8_t reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

#ifdef AMX_MODEL
#include AMX_MODEL
#else
#include <immintrin.h>

#define AMX_CONFIGURE(config) _tile_loadconfig(config)
#define AMX_RELEASE() _tile_release()
#define AMX_ZERO(tile) _tile_zero(tile)
#define AMX_LOAD(tile, from, row_step) _tile_loadd(tile, from, row_step)
#define AMX_STORE(tile, to, row_step) _tile_stored(tile, to, row_step)
/** sum[m][n] += x[m][2 k] w[k][n][2], bf16 with sums in f32; bytes, four to a word. */
#define AMX_DOT_BF16(sum, x, w) _tile_dpbf16ps(sum, x, w)
#define AMX_DOT_S8_U8(sum, x, w) _tile_dpbsud(sum, x, w)
#endif

#endif

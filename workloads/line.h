#ifndef WORKLOADS_LINE_H
#define WORKLOADS_LINE_H

/** How weights and cache rows are stored for the kernels: groups of 16 rows, cut along k into
 *  lines of 64 bytes, so that one line serves 16 outputs of one k (f32) or of two (bf16, f16):
 *  f32 [k][16 rows]; bf16 [k/2][16 rows][2 k]; f16 [k/2][2 k][16 rows]. An odd last k is padded.
 *
 *  The block formats (ggml's Q8_0 and Q4_0: blocks of 32 k, one f16 scale each) are repacked into
 *  units of 64 k: a line of scales, f16 [2 blocks][16 rows], then the lines of the first and of the
 *  second block: Q8_0 [k/4][16 rows][4 k] of q + 128; Q4_0 [k/8][16 rows][4 k], q + 8 of the first
 *  four k in the low halves of the bytes, of the next four in the high ones. A last unit of one
 *  block is padded. Bytes a row are those of ggml's blocks: 34 and 18 per 32 k. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum line_format { LINE_F32, LINE_BF16, LINE_F16, LINE_Q8_0, LINE_Q4_0, LINE_FORMATS };

enum { LINE_BYTES = 64, LINE_ROWS = 16, LINE_BLOCK_KS = 32 };

/** A row of the table of formats. */
struct line_layout {
    const char *name;     /**< as in roofline/dtype.h */
    unsigned unit_ks;     /**< k of a unit, the least that is whole lines */
    unsigned unit_lines;  /**< lines of a unit, for 16 rows */
    unsigned multiple_ks; /**< k of a row must be a multiple of this */
    int offset;           /**< stored value less the integer weight; 0 in plain formats */
};

/** The row of a format. Static. */
const struct line_layout *line_layout(enum line_format format);

/** The format of that name, or false if none has it. */
bool line_find(enum line_format *out, const char *name);

/** True for formats of integers with a scale per block. */
bool line_is_blocks(enum line_format format);

/** Units of a row of k elements. */
size_t line_units(enum line_format format, uint64_t k);

/** Lines of a group of 16 rows of k elements. */
size_t line_count(enum line_format format, uint64_t k);

/** Element (row 0..15, k) of the group at `group`, as stored. */
float line_get(enum line_format format, const unsigned char *group, unsigned row, uint64_t k);

/** Stores value, rounded to nearest even, as element (row, k). Plain formats only. */
void line_put(enum line_format format, unsigned char *group, unsigned row, uint64_t k, float value);

/** The value as a plain format stores it: rounded to nearest even. Finite values only. */
float line_round(enum line_format format, float value);

/** Bits of value rounded to bf16, in the low half. */
uint32_t line_bf16_bits(float value);

/** Fills size bytes (multiple of 8) with reproducible values that are normal numbers of magnitude
 *  2^-7..2 in each of f32, bf16 and f16 (scales too; integers may be any), so that one filled
 *  arena serves every format. */
void line_fill(unsigned char *bytes, size_t size, uint64_t seed);

/** A reproducible value in [-1, 1); *state is any seed and is advanced. */
float line_random(uint64_t *state);

#endif

#ifndef WORKLOADS_LINE_H
#define WORKLOADS_LINE_H

/** How weights and cache rows are stored for the kernels: groups of 16 rows, cut along k into
 *  lines of 64 bytes, so that one line serves 16 outputs of one k (f32) or of two (bf16, f16):
 *  f32 [k][16 rows]; bf16 [k/2][16 rows][2 k]; f16 [k/2][2 k][16 rows]. An odd last k is padded.
 *
 *  The block formats (blocks of integers with scales, ggml's but for two) are repacked into units
 *  of whole lines, so that a row takes the bytes of its type:
 *    q8_0 q4_0 q5_0  64 k: a line of scales, f16 [2 blocks][16 rows], then the two blocks
 *    int4_g128       256 k: the same with groups of 128 k (four blocks) to a scale
 *    q4_1 q5_1       32 k: f16 [scale, minimum][16 rows], then the block
 *    q4_k q5_k       256 k: f16 [scale, minimum][16 rows]; three lines [16 rows][4 bytes] of ggml's
 *                    twelve bytes of 6-bit scales and minimums; then eight blocks
 *    q6_k            512 k: f16 [2 super-blocks][16 rows]; for each, four lines [16 rows][4] of
 *                    int8 scales, then sixteen half blocks
 *    mxfp4           128 k: a line of e8m0 scales, [16 rows][4 blocks], then four blocks
 *    int8            32 k: a block; before the group's first unit a line of f32 scales, [16 rows]
 *  A block is 32 k of integers plus their offset: 8 bits [k/4][16 rows][4 k]; 4 bits [k/8][16
 *  rows][4 k], the first four k in the low halves of the bytes, the next four in the high ones;
 *  5 bits: a line of the fifth bits, bit k/4 of byte [16 rows][k % 4], then those of 4 bits. A half
 *  block of q6_k is 16 k: a line of the high pairs of bits, bits 2 (k/4) of byte [16 rows][k % 4],
 *  then those of 4 bits. mxfp4's 4 bits are e2m1. A last unit that is not full is padded. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum line_format {
    LINE_F32,
    LINE_BF16,
    LINE_F16,
    LINE_Q8_0,
    LINE_Q4_0,
    LINE_Q4_1,
    LINE_Q5_0,
    LINE_Q5_1,
    LINE_Q4_K,
    LINE_Q5_K,
    LINE_Q6_K,
    LINE_INT8,
    LINE_INT4_G128,
    LINE_MXFP4,
    LINE_FORMATS
};

enum { LINE_BYTES = 64, LINE_ROWS = 16, LINE_BLOCK_KS = 32 };

/** A row of the table of formats. */
struct line_layout {
    const char *name;     /**< as in roofline/dtype.h */
    unsigned unit_ks;     /**< k of a unit, the least that is whole lines */
    unsigned unit_lines;  /**< lines of a unit, for 16 rows */
    unsigned multiple_ks; /**< k of a row must be a multiple of this */
    unsigned head_lines;  /**< lines before the first unit: scales of the rows */
    unsigned bits;        /**< of a stored integer; 0 in plain formats */
    int offset;           /**< stored value less the integer weight; 0 in plain formats */
    unsigned scale_ks;    /**< k that share a scale, of x or of the weights; 0 in plain formats */
    bool minimums;        /**< a minimum is added to each weight of a block */
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

/** Element (row 0..15, k) of the group at `group`, as stored: exact. */
double line_get(enum line_format format, const unsigned char *group, unsigned row, uint64_t k);

/** Sum of the magnitudes of the terms that element (row, k) is made of: |element|, or in formats
 *  with minimums |scale x integer| + |minimum|, which may cancel. */
double line_magnitude(enum line_format format, const unsigned char *group, unsigned row,
                      uint64_t k);

/** Stores value, rounded to nearest even, as element (row, k). Plain formats only. */
void line_put(enum line_format format, unsigned char *group, unsigned row, uint64_t k, float value);

/** The value as a plain format stores it: rounded to nearest even. Finite values only. */
float line_round(enum line_format format, float value);

/** Bits of value rounded to bf16, in the low half. */
uint32_t line_bf16_bits(float value);

/** Fills size bytes (multiple of 8) with reproducible values that are normal numbers of magnitude
 *  2^-7..2 in each of f32, bf16 and f16 (scales too; e8m0 ones 2^-127..2^64; integers may be any
 *  below 192), so that one filled arena serves every format. */
void line_fill(unsigned char *bytes, size_t size, uint64_t seed);

/** A reproducible value in [-1, 1); *state is any seed and is advanced. */
float line_random(uint64_t *state);

#endif

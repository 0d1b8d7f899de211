#ifndef WORKLOADS_LINE_H
#define WORKLOADS_LINE_H

/** How weights and cache rows are stored for the kernels: groups of 16 rows, cut along k into
 *  lines of 64 bytes, so that one line serves 16 outputs of one k (f32) or of two (bf16, f16):
 *  f32 [k][16 rows]; bf16 [k/2][16 rows][2 k]; f16 [k/2][2 k][16 rows]. An odd last k is padded. */

#include <stddef.h>
#include <stdint.h>

enum line_format { LINE_F32, LINE_BF16, LINE_F16 };

enum { LINE_BYTES = 64, LINE_ROWS = 16 };

/** k that one line holds: 1 or 2. */
unsigned line_ks(enum line_format format);

/** Lines of a group of 16 rows of k elements. */
size_t line_count(enum line_format format, uint64_t k);

/** Element (row 0..15, k) of the group at `group`, as stored. */
float line_get(enum line_format format, const unsigned char *group, unsigned row, uint64_t k);

/** Stores value, rounded to nearest even, as element (row, k). */
void line_put(enum line_format format, unsigned char *group, unsigned row, uint64_t k, float value);

/** The value as the format stores it: rounded to nearest even. Finite values only. */
float line_round(enum line_format format, float value);

/** Bits of value rounded to bf16, in the low half. */
uint32_t line_bf16_bits(float value);

/** Fills size bytes (multiple of 8) with reproducible values that are normal numbers of magnitude
 *  2^-7..2 in each of f32, bf16 and f16, so that one filled arena serves every format. */
void line_fill(unsigned char *bytes, size_t size, uint64_t seed);

/** A reproducible value in [-1, 1); *state is any seed and is advanced. */
float line_random(uint64_t *state);

#endif

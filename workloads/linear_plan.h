#ifndef WORKLOADS_LINEAR_PLAN_H
#define WORKLOADS_LINEAR_PLAN_H

/** What linear.c plans, linear_pack.c fills and linear_check.c checks. */

#include "workloads/linear_kernel.h"

struct linear {
    struct linear_params params;
    const struct linear_kernel *kernel;
    const struct line_layout *layout;
    size_t units;       /**< of one group */
    size_t piece_units; /**< taken at once by all columns */
    size_t groups;      /**< ceil(N / 16) */
    size_t group_bytes;
    unsigned tall;
    unsigned tile_count;
    size_t ldx;              /**< f32 elements from one row of x to the next */
    size_t ldy;              /**< f32 elements from one row of y to the next */
    float *x;                /**< [batch][ldx], zero beyond K */
    unsigned char *x_packed; /**< by tile: [unit][words of the unit][columns] */
    float *y;                /**< [batch][ldy] */
    bool joined;             /**< x and y are another's */
    unsigned char sink[LINE_BYTES];
};

/** Kernel `index` of this build, or NULL beyond the last. Static. */
const struct linear_kernel *linear_kernel_at(size_t index);

/** Groups before the first one that a thread owns. */
size_t linear_first_group(const struct linear *l, unsigned thread);

/** Columns of a tile, and the first of them. */
unsigned linear_tile_columns(const struct linear *l, unsigned tile);
unsigned linear_tile_first(const struct linear *l, unsigned tile);

/** 32-bit words of x that one unit takes per column. */
size_t linear_unit_words(const struct linear *l);

/** Packed x of a tile from a unit on. */
unsigned char *linear_tile_x(const struct linear *l, unsigned tile, size_t unit);

/** Word `word` of a quantised block (linear_kernel.h) that begins at `block`, of column b of a tile
 *  of `columns`. */
const unsigned char *linear_block_word(const struct linear *l, const unsigned char *block,
                                       size_t word, unsigned b, unsigned columns);

/** True if x must be packed: not with one column of f32, which is packed as it is. */
bool linear_needs_packing(const struct linear *l);

/** Packs (block formats: quantises) the thread's share of x. */
void linear_pack_share(const struct linear *l, unsigned thread);

/** The two halves of linear_run() for callers that time them apart: the thread's share of packing
 *  x (or what a twin does in its place: reads x, or packs one unit again and again), and, after a
 *  barrier, the full kernel's product. */
void linear_pack(const struct linear *linear, unsigned thread);
void linear_pack_mode(struct linear *linear, unsigned thread, enum linear_mode mode);
void linear_multiply(struct linear *linear, unsigned thread, const unsigned char *weights);

/** Bytes that packing reads and writes, over all threads. */
uint64_t linear_pack_bytes(const struct linear *linear);

/** Largest distance of quantised x from x, relative to the largest |x| of its block; infinite if
 *  it is no number. Block formats only, packed before. And its bound: half a step of 127. */
double linear_pack_check(const struct linear *linear);
double linear_pack_tolerance(void);

/** linear_multiply(), or what a twin does in its place. */
void linear_multiply_mode(struct linear *linear, unsigned thread, const unsigned char *weights,
                          enum linear_mode mode);

/** The product of `form` on other rows, at most LINEAR_BATCH_MAX: x is [rows][ldx], packed as many
 *  bytes, y [rows][ldy]; all are borrowed, zero beyond K. Not to be destroyed. */
void linear_view(struct linear *out, const struct linear *form, unsigned rows, float *x,
                 unsigned char *packed, float *y);

#endif

#ifndef WORKLOADS_LINEAR_KERNEL_H
#define WORKLOADS_LINEAR_KERNEL_H

/** Between linear*.c (plans, packing, partition) and linear_<isa>.c (the inner loops). */

#include "workloads/linear.h"

enum { LINEAR_PIECE_LINES = 128, LINEAR_TILE_MAX = 12, LINEAR_WIDE_MAX = 16, LINEAR_TALL_MAX = 2 };

/** acc[rows / 16][columns][16] += some units (line.h) of `tall` groups times columns of x.
 *  Unit i of group j is at weights + j * group_step + i * (bytes of a unit). x is
 *  [unit][k of the unit][columns] of f32, for bf16's dot class [unit][columns] of pairs, for block
 *  formats [block][LINEAR_BLOCK_WORDS][columns]. Lines prefetch_bytes ahead are fetched by the
 *  variants made for that. */
typedef void linear_tile_fn(float *acc, const unsigned char *weights, size_t group_step,
                            size_t units, const void *x, size_t prefetch_bytes);

/** Words of 32 k of quantised activations: eight of 4 k as int8; -offset x their sum, where the
 *  sums of products with offset weights start; their scale as f32; then, for weights with
 *  minimums, scale x sum as f32, for those with a scale per 16 k, -offset x the sums of the first
 *  and of the second half. */
enum {
    LINEAR_WORD_START = LINE_BLOCK_KS / 4,
    LINEAR_WORD_SCALE,
    LINEAR_WORD_SUM,
    LINEAR_WORD_FIRST = LINEAR_WORD_SUM,
    LINEAR_WORD_SECOND,
    LINEAR_BLOCK_WORDS
};

/** Where one column of quantised activations goes: word i of block b of a column to
 *  words[(b * LINEAR_BLOCK_WORDS + i) * columns + column]; if by_column, the block's eight words of
 *  integers instead to words[b * LINEAR_BLOCK_WORDS * columns + 8 * column + i]. */
struct linear_packed {
    uint32_t *words;
    size_t columns;
    size_t column;
    bool by_column;
};

/** Quantises `blocks` blocks of 32 x to int8: scale max |x| / 127, nearest, ties to even. */
typedef void linear_quantise_fn(const struct linear_packed *to, const float *x, size_t blocks,
                                const struct line_layout *layout);

/** Reads the same lines; ORs them into sink[64]. */
typedef void linear_touch_fn(unsigned char *sink, const unsigned char *weights, size_t group_step,
                             size_t lines, size_t prefetch_bytes);

/** Kernels of one format and class on one ISA. */
struct linear_kernel {
    enum line_format format;
    enum linear_class class_;
    uint32_t needs; /**< isa_feature bits */
    const char *isa_name;
    const char *class_name;
    unsigned tile; /**< most columns of a tile that takes turns with others */
    unsigned wide; /**< most columns of a tile that is alone and takes one group; 0: tile */
    unsigned tall; /**< groups that tiles of more than tall_from columns take at once */
    /** [prefetching][tall - 1][columns - 1]; unused entries NULL */
    linear_tile_fn *tiles[2][LINEAR_TALL_MAX][LINEAR_WIDE_MAX];
    linear_touch_fn *touch[LINEAR_TALL_MAX];
    linear_quantise_fn *quantise; /**< block formats; else NULL */
    unsigned least_batch;         /**< for smaller ones the next kernel is taken; 0: none is */
    /** Units (block formats: words of integers) of a column that lie together in packed x; 0: one.
     *  A last run is as long as what is left. */
    unsigned x_run;
    void (*begin)(unsigned columns); /**< called by a thread before its tiles, of at most `columns`
                                          columns, and after them; or NULL */
    void (*end)(void);
};

/** From this many columns on a tile takes `tall` groups: below, one stream suffices. */
enum { LINEAR_TALL_FROM = 5 };

/** Each ISA's kernels, ended by an entry without needs-check: count of them given beside. */
extern const struct linear_kernel linear_kernels_amx[];
extern const struct linear_kernel linear_kernels_avx512[];
extern const struct linear_kernel linear_kernels_avx512bf16[];
extern const struct linear_kernel linear_kernels_avx512vnni[];
extern const struct linear_kernel linear_kernels_vnni256[];
extern const struct linear_kernel linear_kernels_avxvnni[];
extern const struct linear_kernel linear_kernels_neonbf16[];
extern const struct linear_kernel linear_kernels_neoni8mm[];
extern const struct linear_kernel linear_kernels_sve[];
extern const struct linear_kernel linear_kernels_neondot[];
extern const struct linear_kernel linear_kernels_avx2[];
extern const struct linear_kernel linear_kernels_neon[];
extern const struct linear_kernel linear_kernels_portable[];

#endif

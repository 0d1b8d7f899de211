#ifndef WORKLOADS_LINEAR_KERNEL_H
#define WORKLOADS_LINEAR_KERNEL_H

/** Between linear.c (plans, packing, partition) and linear_<isa>.c (the inner loops). */

#include "workloads/linear.h"

enum { LINEAR_BLOCK_LINES = 128, LINEAR_TILE_MAX = 12, LINEAR_TALL_MAX = 2 };

/** acc[rows / 16][columns][16] += one block of lines of `tall` groups times columns of x.
 *  The line i of group j is at weights + j * group_step + 64 i. x is [lines][k per line][columns]
 *  of f32, for the dot class [lines][columns] of pairs. Lines prefetch_bytes ahead are fetched by
 *  the variants made for that. */
typedef void linear_tile_fn(float *acc, const unsigned char *weights, size_t group_step,
                            size_t lines, const void *x, size_t prefetch_bytes);

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
    unsigned tile; /**< most columns of a tile */
    unsigned tall; /**< groups that tiles of more than tall_from columns take at once */
    /** [prefetching][tall - 1][columns - 1]; unused entries NULL */
    linear_tile_fn *tiles[2][LINEAR_TALL_MAX][LINEAR_TILE_MAX];
    linear_touch_fn *touch[LINEAR_TALL_MAX];
};

/** From this many columns on a tile takes `tall` groups: below, one stream suffices. */
enum { LINEAR_TALL_FROM = 5 };

/** Each ISA's kernels, ended by an entry without needs-check: count of them given beside. */
extern const struct linear_kernel linear_kernels_avx512[];
extern const struct linear_kernel linear_kernels_avx512bf16[];
extern const struct linear_kernel linear_kernels_avx2[];
extern const struct linear_kernel linear_kernels_neon[];
extern const struct linear_kernel linear_kernels_portable[];

#endif

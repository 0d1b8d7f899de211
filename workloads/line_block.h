#ifndef WORKLOADS_LINE_BLOCK_H
#define WORKLOADS_LINE_BLOCK_H

/** Elements of the block formats, for line.c: what the kernels are checked against. */

#include "workloads/line.h"

/** An element is scaled + minimum, each exact. */
struct line_terms {
    double scaled;
    double minimum; /**< 0 in formats without minimums */
};

/** Element (row, k) of a group in a block format. */
struct line_terms line_block_terms(enum line_format format, const unsigned char *group,
                                   unsigned row, uint64_t k);

/** Value of an IEEE 754 binary16 that is no infinity. */
float line_f16_value(uint32_t bits);

#endif

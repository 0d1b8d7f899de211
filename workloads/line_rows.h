#ifndef WORKLOADS_LINE_ROWS_H
#define WORKLOADS_LINE_ROWS_H

/** Writing many elements of stored lines (line.h) at once. */

#include "workloads/line.h"

/** Stores values[k], k < count, as one row of the group in a plain format. */
void line_put_row(enum line_format format, unsigned char *group, unsigned row, const float *values,
                  size_t count);

/** Stores values[row], row < rows <= 16, as the k-th elements of the rows in a plain format. */
void line_put_rows(enum line_format format, unsigned char *group, uint64_t k, const float *values,
                   unsigned rows);

/** Fills whole units of weights (one group in formats with head lines) with reproducible values
 * spread evenly over +-amplitude; block formats: integers likewise, scales within a third of the
 * one that reaches the amplitude. */
void line_fill_weights(enum line_format format, unsigned char *units, size_t size, float amplitude,
                       uint64_t seed);

#endif

#ifndef WORKLOADS_SIMD_TOUCH_H
#define WORKLOADS_SIMD_TOUCH_H

/** What linear_touch_fn does, for `tall` groups; included after a simd_<isa>.h. */

#include "workloads/simd/lines.h"

// The twin's loads are those of the products.
#ifndef LINEAR_TOUCH
#define LINEAR_TOUCH v_line_stream
#endif

SIMD_INLINE void touch(unsigned char *sink, const unsigned char *weights, size_t group_step,
                       size_t lines, size_t prefetch_bytes, const int tall)
{
    v_line seen[4] = {v_line_zero(), v_line_zero(), v_line_zero(), v_line_zero()};
    size_t line = 0;
    for (; line + 4 <= lines; line += 4) {
        UNROLL
        for (int c = 0; c < 4; c++) {
            UNROLL
            for (int j = 0; j < tall; j++) {
                const unsigned char *at = weights + (size_t)j * group_step + c * LINE_BYTES;
                simd_prefetch(at + prefetch_bytes);
                seen[c] = v_line_or(seen[c], LINEAR_TOUCH(at));
            }
        }
        weights += 4 * LINE_BYTES;
    }
    for (; line < lines; line++) {
        for (int j = 0; j < tall; j++) {
            seen[0] = v_line_or(seen[0], v_line_load(weights + (size_t)j * group_step));
        }
        weights += LINE_BYTES;
    }
    seen[0] = v_line_or(v_line_or(seen[0], seen[1]), v_line_or(seen[2], seen[3]));
    v_line_store(sink, v_line_or(v_line_load(sink), seen[0]));
}

#endif

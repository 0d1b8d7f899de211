#ifndef WORKLOADS_SIMD_LINES_H
#define WORKLOADS_SIMD_LINES_H

/** Lines of stored weights or cache rows as f32 vectors; included after a simd_<isa>.h. */

#include "workloads/line.h"

#if defined(SIMD_ROLLED)
#define UNROLL
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

#if defined(SIMD_ROLLED)
#define ROLLED
#elif defined(__clang__)
#define ROLLED _Pragma("clang loop unroll(disable)")
#else
#define ROLLED _Pragma("GCC unroll 1")
#endif

// So few columns are bound by the stream of weights.
enum { LINES_STREAM_COLUMNS = 2 };

SIMD_INLINE v_line line_load(const unsigned char *at, const int columns)
{
    return columns <= LINES_STREAM_COLUMNS ? v_line_stream(at) : v_line_load(at);
}

// The f32 weights of a line's first and, in formats of two, second k.
SIMD_INLINE v16 line_first(const enum line_format format, v_line line)
{
    return format == LINE_F32    ? v16_of_f32(line)
           : format == LINE_BF16 ? v16_of_bf16_even(line)
                                 : v16_of_f16_low(line);
}
SIMD_INLINE v16 line_second(const enum line_format format, v_line line)
{
    return format == LINE_BF16 ? v16_of_bf16_odd(line) : v16_of_f16_high(line);
}

#endif

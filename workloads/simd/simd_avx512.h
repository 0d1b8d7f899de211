#ifndef WORKLOADS_SIMD_AVX512_H
#define WORKLOADS_SIMD_AVX512_H

/** The vector layer on AVX-512 (F, BW, DQ, VL; BF16 where SIMD_DOT is wanted). See simd_c.h for
 *  what each function means. */

#include <immintrin.h>
#include <stdint.h>

#define SIMD_ISA avx512
#define SIMD_TILE 12 // columns: 2 x 12 accumulators + 2 weights + 1 broadcast of 32 registers
#define SIMD_TALL 2  // row groups at once in wide tiles
#define SIMD_WIDE 16 // columns of one group that still fit: 16 accumulators, weights, broadcasts
#define SIMD_INLINE static inline __attribute__((always_inline, unused))

typedef __m512 v16;
typedef __m512i v_line;

SIMD_INLINE v16 v16_zero(void)
{
    return _mm512_setzero_ps();
}
SIMD_INLINE v16 v16_load(const float *p)
{
    return _mm512_loadu_ps(p);
}
SIMD_INLINE void v16_store(float *p, v16 v)
{
    _mm512_storeu_ps(p, v);
}
SIMD_INLINE v16 v16_set1(float x)
{
    return _mm512_set1_ps(x);
}
SIMD_INLINE v16 v16_add(v16 a, v16 b)
{
    return _mm512_add_ps(a, b);
}
SIMD_INLINE v16 v16_fma(v16 acc, v16 a, v16 b)
{
    return _mm512_fmadd_ps(a, b, acc);
}
SIMD_INLINE v16 v16_mul(v16 a, v16 b)
{
    return _mm512_mul_ps(a, b);
}
SIMD_INLINE v16 v16_max(v16 a, v16 b)
{
    return _mm512_max_ps(a, b);
}
SIMD_INLINE v16 v16_add_exponent(v16 a, v16 shifted)
{
    return _mm512_castsi512_ps(_mm512_add_epi32(
        _mm512_castps_si512(a), _mm512_slli_epi32(_mm512_castps_si512(shifted), 23)));
}
SIMD_INLINE float v16_reduce_max(v16 v)
{
    return _mm512_reduce_max_ps(v);
}
SIMD_INLINE float v16_reduce_add(v16 v)
{
    return _mm512_reduce_add_ps(v);
}
SIMD_INLINE v_line v_line_zero(void)
{
    return _mm512_setzero_si512();
}
SIMD_INLINE v_line v_line_load(const unsigned char *p)
{
    return _mm512_load_si512(p);
}
// By two loads of 256 bits, whose stream from memory some cores keep up better: on a Zen 4 0.97 of
// it came through with 512 bits at the best of eight ways to prefetch (2026-11-30, median of 300
// rounds, intervals apart); in whole operators of f32 and bf16 the medians of five runs rose in
// nine of ten, within their ranges. Block formats gained nothing.
SIMD_INLINE v_line v_line_stream(const unsigned char *p)
{
    const __m256i *halves = (const __m256i *)(const void *)p;
    __m512i line = _mm512_castsi256_si512(_mm256_load_si256(halves));
    // Not an intrinsic: compilers would make one load of the two.
    __asm__("vinserti64x4 $1, %1, %0, %0" : "+v"(line) : "m"(halves[1]));
    return line;
}
SIMD_INLINE v_line v_line_or(v_line a, v_line b)
{
    return _mm512_or_si512(a, b);
}
SIMD_INLINE void v_line_store(unsigned char *p, v_line v)
{
    _mm512_storeu_si512(p, v);
}
SIMD_INLINE v16 v16_of_bytes(const signed char *p)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
}
SIMD_INLINE v16 v16_of_f32(v_line line)
{
    return _mm512_castsi512_ps(line);
}
SIMD_INLINE v16 v16_of_bf16_even(v_line line)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(line, 16));
}
SIMD_INLINE v16 v16_of_bf16_odd(v_line line)
{
    return _mm512_castsi512_ps(_mm512_and_si512(line, _mm512_set1_epi32((int)0xffff0000)));
}
SIMD_INLINE v16 v16_of_f16_low(v_line line)
{
    return _mm512_cvtph_ps(_mm512_castsi512_si256(line));
}
SIMD_INLINE v16 v16_of_f16_high(v_line line)
{
    return _mm512_cvtph_ps(_mm512_extracti64x4_epi64(line, 1));
}
#define SIMD_LOAD_F16 1
SIMD_INLINE v16 v16_load_f16(const unsigned char *p)
{
    return _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)(const void *)p));
}
SIMD_INLINE void simd_prefetch(const unsigned char *p)
{
    _mm_prefetch((const char *)p, _MM_HINT_T1);
}

typedef uint32_t avx512_lanes __attribute__((vector_size(64)));

SIMD_INLINE v_line v_line_mask(v_line line, uint32_t mask)
{
    return _mm512_and_si512(line, _mm512_set1_epi32((int)mask));
}
SIMD_INLINE v_line v_line_shift(v_line line, const int n)
{
    return (v_line)(n < 0 ? (avx512_lanes)line >> (uint32_t)-n : (avx512_lanes)line << (uint32_t)n);
}
SIMD_INLINE v16 v16_of_u8(v_line line)
{
    return _mm512_cvtepi32_ps(v_line_mask(line, 255));
}
SIMD_INLINE v16 v16_of_i8(v_line line)
{
    return _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(line, 24), 24));
}

#ifdef __AVX512BF16__
#define SIMD_DOT 1
SIMD_INLINE v16 v16_dot_bf16(v16 acc, v_line line, uint32_t pair)
{
    return _mm512_dpbf16_ps(acc, (__m512bh)line, (__m512bh)_mm512_set1_epi32((int)pair));
}
#endif

#ifdef __AVX512VNNI__
#define SIMD_BLOCKS 1
typedef __m512i v_sum;

SIMD_INLINE v_line v_line_low_nibbles(v_line line)
{
    return _mm512_and_si512(line, _mm512_set1_epi8(15));
}
SIMD_INLINE v_line v_line_high_nibbles(v_line line)
{
    return _mm512_and_si512(_mm512_srli_epi16(line, 4), _mm512_set1_epi8(15));
}
SIMD_INLINE v_line v_line_lookup(v_line line, const uint8_t *table)
{
    const __m128i entries = _mm_loadu_si128((const __m128i *)(const void *)table);
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(entries), line);
}
SIMD_INLINE v_sum v_sum_start(int32_t start, const int bits)
{
    (void)bits;
    return _mm512_set1_epi32(start);
}
SIMD_INLINE v_sum v_sum_add(v_sum sum, v_line w, uint32_t x, const int bits)
{
    (void)bits;
    return _mm512_dpbusd_epi32(sum, w, _mm512_set1_epi32((int)x));
}
SIMD_INLINE v16 v16_of_sum(v_sum sum, int32_t start, const int bits)
{
    (void)start;
    (void)bits;
    return _mm512_cvtepi32_ps(sum);
}
SIMD_INLINE void v16_store_i8(int8_t *p, v16 v)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
}
#endif

#endif

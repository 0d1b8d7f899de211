#ifndef WORKLOADS_SIMD_AVX2_H
#define WORKLOADS_SIMD_AVX2_H

/** The vector layer on AVX2 with FMA and F16C: sixteen lanes are two registers. See simd_c.h for
 *  what each function means. */

#include <immintrin.h>
#include <stdint.h>

#define SIMD_ISA avx2
#define SIMD_TILE 6 // columns: 12 accumulators + 2 weights + 1 broadcast of 16 registers
#define SIMD_TALL 1
#define SIMD_INLINE static inline __attribute__((always_inline, unused))

typedef struct {
    __m256 lo, hi;
} v16;
typedef struct {
    __m256i lo, hi;
} v_line;

SIMD_INLINE v16 v16_zero(void)
{
    return (v16){_mm256_setzero_ps(), _mm256_setzero_ps()};
}
SIMD_INLINE v16 v16_load(const float *p)
{
    return (v16){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
SIMD_INLINE void v16_store(float *p, v16 v)
{
    _mm256_storeu_ps(p, v.lo);
    _mm256_storeu_ps(p + 8, v.hi);
}
SIMD_INLINE v16 v16_set1(float x)
{
    __m256 v = _mm256_set1_ps(x);
    return (v16){v, v};
}
SIMD_INLINE v16 v16_add(v16 a, v16 b)
{
    return (v16){_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
SIMD_INLINE v16 v16_fma(v16 acc, v16 a, v16 b)
{
    return (v16){_mm256_fmadd_ps(a.lo, b.lo, acc.lo), _mm256_fmadd_ps(a.hi, b.hi, acc.hi)};
}
SIMD_INLINE v16 v16_mul(v16 a, v16 b)
{
    return (v16){_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
SIMD_INLINE v16 v16_max(v16 a, v16 b)
{
    return (v16){_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
SIMD_INLINE __m256 avx2_add_exponent(__m256 a, __m256 shifted)
{
    return _mm256_castsi256_ps(_mm256_add_epi32(
        _mm256_castps_si256(a), _mm256_slli_epi32(_mm256_castps_si256(shifted), 23)));
}
SIMD_INLINE v16 v16_add_exponent(v16 a, v16 shifted)
{
    return (v16){avx2_add_exponent(a.lo, shifted.lo), avx2_add_exponent(a.hi, shifted.hi)};
}
SIMD_INLINE float v16_reduce_max(v16 v)
{
    __m256 m = _mm256_max_ps(v.lo, v.hi);
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_movehdup_ps(q)));
}
SIMD_INLINE float v16_reduce_add(v16 v)
{
    __m256 m = _mm256_add_ps(v.lo, v.hi);
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(m), _mm256_extractf128_ps(m, 1));
    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_movehdup_ps(q)));
}
SIMD_INLINE v_line v_line_zero(void)
{
    return (v_line){_mm256_setzero_si256(), _mm256_setzero_si256()};
}
SIMD_INLINE v_line v_line_load(const unsigned char *p)
{
    const __m256i *q = (const __m256i *)(const void *)p;
    return (v_line){_mm256_load_si256(q), _mm256_load_si256(q + 1)};
}
SIMD_INLINE v_line v_line_or(v_line a, v_line b)
{
    return (v_line){_mm256_or_si256(a.lo, b.lo), _mm256_or_si256(a.hi, b.hi)};
}
SIMD_INLINE void v_line_store(unsigned char *p, v_line v)
{
    __m256i *q = (__m256i *)(void *)p;
    _mm256_storeu_si256(q, v.lo);
    _mm256_storeu_si256(q + 1, v.hi);
}
SIMD_INLINE v16 v16_of_f32(v_line line)
{
    return (v16){_mm256_castsi256_ps(line.lo), _mm256_castsi256_ps(line.hi)};
}
SIMD_INLINE v16 v16_of_bf16_even(v_line line)
{
    return (v16){_mm256_castsi256_ps(_mm256_slli_epi32(line.lo, 16)),
                 _mm256_castsi256_ps(_mm256_slli_epi32(line.hi, 16))};
}
SIMD_INLINE v16 v16_of_bf16_odd(v_line line)
{
    const __m256i mask = _mm256_set1_epi32((int)0xffff0000);
    return (v16){_mm256_castsi256_ps(_mm256_and_si256(line.lo, mask)),
                 _mm256_castsi256_ps(_mm256_and_si256(line.hi, mask))};
}
SIMD_INLINE v16 v16_of_f16_low(v_line line)
{
    return (v16){_mm256_cvtph_ps(_mm256_castsi256_si128(line.lo)),
                 _mm256_cvtph_ps(_mm256_extracti128_si256(line.lo, 1))};
}
SIMD_INLINE v16 v16_of_f16_high(v_line line)
{
    return (v16){_mm256_cvtph_ps(_mm256_castsi256_si128(line.hi)),
                 _mm256_cvtph_ps(_mm256_extracti128_si256(line.hi, 1))};
}
SIMD_INLINE void simd_prefetch(const unsigned char *p)
{
    _mm_prefetch((const char *)p, _MM_HINT_T1);
}

#endif

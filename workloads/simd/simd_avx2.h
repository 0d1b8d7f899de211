#ifndef WORKLOADS_SIMD_AVX2_H
#define WORKLOADS_SIMD_AVX2_H

/** The vector layer on AVX2 with FMA and F16C: sixteen lanes are two registers. See simd_c.h for
 *  what each function means. */

#include <immintrin.h>
#include <stdint.h>

#define SIMD_ISA avx2
#define SIMD_TILE 6 // columns: 12 accumulators + 2 weights + 1 broadcast of 16 registers
#define SIMD_TALL 1
#define SIMD_WIDE SIMD_TILE
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
SIMD_INLINE v_line v_line_stream(const unsigned char *p)
{
    return v_line_load(p);
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
SIMD_INLINE v16 v16_of_bytes(const signed char *p)
{
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (v16){_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)),
                 _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(bytes, 8)))};
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
#define SIMD_LOAD_F16 1
SIMD_INLINE v16 v16_load_f16(const unsigned char *p)
{
    const __m128i *q = (const __m128i *)(const void *)p;
    return (v16){_mm256_cvtph_ps(_mm_load_si128(q)), _mm256_cvtph_ps(_mm_load_si128(q + 1))};
}
SIMD_INLINE void simd_prefetch(const unsigned char *p)
{
    _mm_prefetch((const char *)p, _MM_HINT_T1);
}

#define SIMD_BLOCKS 1
typedef struct {
    __m256i lo, hi; // of 32-bit lanes; without vpdpbusd and with 4 bits of 16-bit ones
} v_sum;

SIMD_INLINE v_line v_line_low_nibbles(v_line line)
{
    const __m256i mask = _mm256_set1_epi8(15);
    return (v_line){_mm256_and_si256(line.lo, mask), _mm256_and_si256(line.hi, mask)};
}
SIMD_INLINE v_line v_line_high_nibbles(v_line line)
{
    return v_line_low_nibbles(
        (v_line){_mm256_srli_epi16(line.lo, 4), _mm256_srli_epi16(line.hi, 4)});
}
typedef uint32_t avx2_lanes __attribute__((vector_size(32)));

SIMD_INLINE v_line v_line_mask(v_line line, uint32_t mask)
{
    const __m256i lanes = _mm256_set1_epi32((int)mask);
    return (v_line){_mm256_and_si256(line.lo, lanes), _mm256_and_si256(line.hi, lanes)};
}
SIMD_INLINE __m256i avx2_shift(__m256i v, const int n)
{
    return (__m256i)(n < 0 ? (avx2_lanes)v >> (uint32_t)-n : (avx2_lanes)v << (uint32_t)n);
}
SIMD_INLINE v_line v_line_shift(v_line line, const int n)
{
    return (v_line){avx2_shift(line.lo, n), avx2_shift(line.hi, n)};
}
SIMD_INLINE v_line v_line_lookup(v_line line, const uint8_t *table)
{
    const __m256i entries =
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table));
    return (v_line){_mm256_shuffle_epi8(entries, line.lo), _mm256_shuffle_epi8(entries, line.hi)};
}
SIMD_INLINE v16 v16_of_u8(v_line line)
{
    const v_line bytes = v_line_mask(line, 255);
    return (v16){_mm256_cvtepi32_ps(bytes.lo), _mm256_cvtepi32_ps(bytes.hi)};
}
SIMD_INLINE __m256 avx2_of_i8(__m256i v)
{
    return _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(v, 24), 24));
}
SIMD_INLINE v16 v16_of_i8(v_line line)
{
    return (v16){avx2_of_i8(line.lo), avx2_of_i8(line.hi)};
}
#if defined(__AVXVNNI__) || defined(__AVX512VNNI__)
#ifdef __AVXVNNI__
#define AVX2_DPBUSD _mm256_dpbusd_avx_epi32
#else
#define AVX2_DPBUSD _mm256_dpbusd_epi32
#endif
SIMD_INLINE v_sum v_sum_start(int32_t start, const int bits)
{
    (void)bits;
    __m256i v = _mm256_set1_epi32(start);
    return (v_sum){v, v};
}
SIMD_INLINE v_sum v_sum_add(v_sum sum, v_line w, uint32_t x, const int bits)
{
    (void)bits;
    const __m256i value = _mm256_set1_epi32((int)x);
    return (v_sum){AVX2_DPBUSD(sum.lo, w.lo, value), AVX2_DPBUSD(sum.hi, w.hi, value)};
}
SIMD_INLINE v16 v16_of_sum(v_sum sum, int32_t start, const int bits)
{
    (void)start;
    (void)bits;
    return (v16){_mm256_cvtepi32_ps(sum.lo), _mm256_cvtepi32_ps(sum.hi)};
}
#else
SIMD_INLINE v_sum v_sum_start(int32_t start, const int bits)
{
    __m256i v = _mm256_set1_epi32(bits == 5 || bits == 6 ? start : 0);
    return (v_sum){v, v};
}
// vpmaddubsw adds two products to 16 bits and saturates. 4 bits: 8 x 2 x 15 x 127 of a block fit.
// 5 and 6 bits: 2 x 63 x 127 fit. 8 bits: |w| as the unsigned factor, w's sign on x: 2 x 128 x 127
// fit.
SIMD_INLINE __m256i avx2_sum_add(__m256i sum, __m256i w, __m256i x, const int bits)
{
    if (bits == 4) {
        return _mm256_add_epi16(sum, _mm256_maddubs_epi16(w, x));
    }
    if (bits < 8) {
        const __m256i both = _mm256_maddubs_epi16(w, x);
        return _mm256_add_epi32(sum, _mm256_madd_epi16(both, _mm256_set1_epi16(1)));
    }
    const __m256i q = _mm256_xor_si256(w, _mm256_set1_epi8(-128));
    const __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(q), _mm256_sign_epi8(x, q));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
SIMD_INLINE v_sum v_sum_add(v_sum sum, v_line w, uint32_t x, const int bits)
{
    const __m256i value = _mm256_set1_epi32((int)x);
    return (v_sum){avx2_sum_add(sum.lo, w.lo, value, bits),
                   avx2_sum_add(sum.hi, w.hi, value, bits)};
}
SIMD_INLINE __m256 avx2_of_sum(__m256i sum, int32_t start, const int bits)
{
    if (bits == 4) {
        sum = _mm256_add_epi32(_mm256_madd_epi16(sum, _mm256_set1_epi16(1)),
                               _mm256_set1_epi32(start));
    }
    return _mm256_cvtepi32_ps(sum);
}
SIMD_INLINE v16 v16_of_sum(v_sum sum, int32_t start, const int bits)
{
    return (v16){avx2_of_sum(sum.lo, start, bits), avx2_of_sum(sum.hi, start, bits)};
}
#endif
SIMD_INLINE void v16_store_i8(int8_t *p, v16 v)
{
    const __m256i mixed = _mm256_packs_epi32(_mm256_cvtps_epi32(v.lo), _mm256_cvtps_epi32(v.hi));
    const __m256i words = _mm256_permute4x64_epi64(mixed, 0xd8);
    _mm_storeu_si128((__m128i *)(void *)p, _mm_packs_epi16(_mm256_castsi256_si128(words),
                                                           _mm256_extracti128_si256(words, 1)));
}

#endif

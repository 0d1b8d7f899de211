#ifndef WORKLOADS_SIMD_NEON_H
#define WORKLOADS_SIMD_NEON_H

/** The vector layer on AArch64 Advanced SIMD: sixteen lanes are four registers. See simd_c.h for
 *  what each function means. SIMD_MMLA_BF16, SIMD_MMLA_I8: defined where sums of two columns at
 *  once exist, by matrix products. */

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#define SIMD_ISA neon
#define SIMD_TILE 6 // columns: 24 accumulators + 4 weights + broadcasts of 32 registers
#define SIMD_TALL 1
#define SIMD_WIDE SIMD_TILE
#define SIMD_INLINE static inline __attribute__((always_inline, unused))

typedef struct {
    float32x4_t q0, q1, q2, q3;
} v16;
typedef struct {
    uint32x4_t q0, q1, q2, q3;
} v_line;

SIMD_INLINE v16 v16_set1(float x)
{
    float32x4_t v = vdupq_n_f32(x);
    return (v16){v, v, v, v};
}
SIMD_INLINE v16 v16_zero(void)
{
    return v16_set1(0);
}
SIMD_INLINE v16 v16_load(const float *p)
{
    return (v16){vld1q_f32(p), vld1q_f32(p + 4), vld1q_f32(p + 8), vld1q_f32(p + 12)};
}
SIMD_INLINE void v16_store(float *p, v16 v)
{
    vst1q_f32(p, v.q0);
    vst1q_f32(p + 4, v.q1);
    vst1q_f32(p + 8, v.q2);
    vst1q_f32(p + 12, v.q3);
}
SIMD_INLINE v16 v16_add(v16 a, v16 b)
{
    return (v16){vaddq_f32(a.q0, b.q0), vaddq_f32(a.q1, b.q1), vaddq_f32(a.q2, b.q2),
                 vaddq_f32(a.q3, b.q3)};
}
SIMD_INLINE v16 v16_fma(v16 acc, v16 a, v16 b)
{
    return (v16){vfmaq_f32(acc.q0, a.q0, b.q0), vfmaq_f32(acc.q1, a.q1, b.q1),
                 vfmaq_f32(acc.q2, a.q2, b.q2), vfmaq_f32(acc.q3, a.q3, b.q3)};
}
SIMD_INLINE v16 v16_mul(v16 a, v16 b)
{
    return (v16){vmulq_f32(a.q0, b.q0), vmulq_f32(a.q1, b.q1), vmulq_f32(a.q2, b.q2),
                 vmulq_f32(a.q3, b.q3)};
}
SIMD_INLINE v16 v16_max(v16 a, v16 b)
{
    return (v16){vmaxq_f32(a.q0, b.q0), vmaxq_f32(a.q1, b.q1), vmaxq_f32(a.q2, b.q2),
                 vmaxq_f32(a.q3, b.q3)};
}
SIMD_INLINE float32x4_t neon_add_exponent(float32x4_t a, float32x4_t shifted)
{
    return vreinterpretq_f32_u32(
        vaddq_u32(vreinterpretq_u32_f32(a), vshlq_n_u32(vreinterpretq_u32_f32(shifted), 23)));
}
SIMD_INLINE v16 v16_add_exponent(v16 a, v16 shifted)
{
    return (v16){neon_add_exponent(a.q0, shifted.q0), neon_add_exponent(a.q1, shifted.q1),
                 neon_add_exponent(a.q2, shifted.q2), neon_add_exponent(a.q3, shifted.q3)};
}
SIMD_INLINE float v16_reduce_max(v16 v)
{
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(v.q0, v.q1), vmaxq_f32(v.q2, v.q3)));
}
SIMD_INLINE float v16_reduce_add(v16 v)
{
    return vaddvq_f32(vaddq_f32(vaddq_f32(v.q0, v.q1), vaddq_f32(v.q2, v.q3)));
}
SIMD_INLINE v_line v_line_zero(void)
{
    uint32x4_t v = vdupq_n_u32(0);
    return (v_line){v, v, v, v};
}
SIMD_INLINE v_line v_line_load(const unsigned char *p)
{
    const uint32_t *q = (const uint32_t *)(const void *)p;
    return (v_line){vld1q_u32(q), vld1q_u32(q + 4), vld1q_u32(q + 8), vld1q_u32(q + 12)};
}
SIMD_INLINE v_line v_line_stream(const unsigned char *p)
{
    return v_line_load(p);
}
SIMD_INLINE v_line v_line_or(v_line a, v_line b)
{
    return (v_line){vorrq_u32(a.q0, b.q0), vorrq_u32(a.q1, b.q1), vorrq_u32(a.q2, b.q2),
                    vorrq_u32(a.q3, b.q3)};
}
SIMD_INLINE void v_line_store(unsigned char *p, v_line v)
{
    uint32_t *q = (uint32_t *)(void *)p;
    vst1q_u32(q, v.q0);
    vst1q_u32(q + 4, v.q1);
    vst1q_u32(q + 8, v.q2);
    vst1q_u32(q + 12, v.q3);
}
SIMD_INLINE v16 v16_of_bytes(const signed char *p)
{
    const int8x16_t bytes = vld1q_s8(p);
    const int16x8_t low = vmovl_s8(vget_low_s8(bytes));
    const int16x8_t high = vmovl_s8(vget_high_s8(bytes));
    return (v16){vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))),
                 vcvtq_f32_s32(vmovl_s16(vget_high_s16(low))),
                 vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))),
                 vcvtq_f32_s32(vmovl_s16(vget_high_s16(high)))};
}
SIMD_INLINE v16 v16_of_f32(v_line l)
{
    return (v16){vreinterpretq_f32_u32(l.q0), vreinterpretq_f32_u32(l.q1),
                 vreinterpretq_f32_u32(l.q2), vreinterpretq_f32_u32(l.q3)};
}
SIMD_INLINE v16 v16_of_bf16_even(v_line l)
{
    return v16_of_f32((v_line){vshlq_n_u32(l.q0, 16), vshlq_n_u32(l.q1, 16), vshlq_n_u32(l.q2, 16),
                               vshlq_n_u32(l.q3, 16)});
}
SIMD_INLINE v16 v16_of_bf16_odd(v_line l)
{
    const uint32x4_t mask = vdupq_n_u32(0xffff0000U);
    return v16_of_f32((v_line){vandq_u32(l.q0, mask), vandq_u32(l.q1, mask), vandq_u32(l.q2, mask),
                               vandq_u32(l.q3, mask)});
}
SIMD_INLINE float32x4_t neon_f16_low(uint32x4_t q)
{
    return vcvt_f32_f16(vget_low_f16(vreinterpretq_f16_u32(q)));
}
SIMD_INLINE float32x4_t neon_f16_high(uint32x4_t q)
{
    return vcvt_f32_f16(vget_high_f16(vreinterpretq_f16_u32(q)));
}
SIMD_INLINE v16 v16_of_f16_low(v_line l)
{
    return (v16){neon_f16_low(l.q0), neon_f16_high(l.q0), neon_f16_low(l.q1), neon_f16_high(l.q1)};
}
SIMD_INLINE v16 v16_of_f16_high(v_line l)
{
    return (v16){neon_f16_low(l.q2), neon_f16_high(l.q2), neon_f16_low(l.q3), neon_f16_high(l.q3)};
}
SIMD_INLINE void simd_prefetch(const unsigned char *p)
{
    __builtin_prefetch(p, 0, 2);
}

SIMD_INLINE v_line v_line_mask(v_line l, uint32_t mask)
{
    const uint32x4_t lanes = vdupq_n_u32(mask);
    return (v_line){vandq_u32(l.q0, lanes), vandq_u32(l.q1, lanes), vandq_u32(l.q2, lanes),
                    vandq_u32(l.q3, lanes)};
}
SIMD_INLINE v_line v_line_shift(v_line l, const int n)
{
    const int32x4_t by = vdupq_n_s32(n);
    return (v_line){vshlq_u32(l.q0, by), vshlq_u32(l.q1, by), vshlq_u32(l.q2, by),
                    vshlq_u32(l.q3, by)};
}
SIMD_INLINE v16 v16_of_u8(v_line line)
{
    const v_line l = v_line_mask(line, 255);
    return (v16){vcvtq_f32_u32(l.q0), vcvtq_f32_u32(l.q1), vcvtq_f32_u32(l.q2),
                 vcvtq_f32_u32(l.q3)};
}
SIMD_INLINE float32x4_t neon_of_i8(uint32x4_t q)
{
    return vcvtq_f32_s32(vshrq_n_s32(vreinterpretq_s32_u32(vshlq_n_u32(q, 24)), 24));
}
SIMD_INLINE v16 v16_of_i8(v_line l)
{
    return (v16){neon_of_i8(l.q0), neon_of_i8(l.q1), neon_of_i8(l.q2), neon_of_i8(l.q3)};
}

SIMD_INLINE void v16_store_i8(int8_t *p, v16 v)
{
    const int16x8_t low = vcombine_s16(vmovn_s32(vcvtq_s32_f32(v.q0)), //
                                       vmovn_s32(vcvtq_s32_f32(v.q1)));
    const int16x8_t high = vcombine_s16(vmovn_s32(vcvtq_s32_f32(v.q2)), //
                                        vmovn_s32(vcvtq_s32_f32(v.q3)));
    vst1q_s8(p, vcombine_s8(vmovn_s16(low), vmovn_s16(high)));
}

#ifdef __ARM_FEATURE_DOTPROD
#define SIMD_BLOCKS 1
typedef struct {
    int32x4_t q0, q1, q2, q3;
} v_sum;

SIMD_INLINE uint32x4_t neon_low_nibbles(uint32x4_t q)
{
    return vandq_u32(q, vdupq_n_u32(0x0f0f0f0fU));
}
SIMD_INLINE v_line v_line_low_nibbles(v_line l)
{
    return (v_line){neon_low_nibbles(l.q0), neon_low_nibbles(l.q1), neon_low_nibbles(l.q2),
                    neon_low_nibbles(l.q3)};
}
SIMD_INLINE v_line v_line_high_nibbles(v_line l)
{
    return v_line_low_nibbles((v_line){vshrq_n_u32(l.q0, 4), vshrq_n_u32(l.q1, 4),
                                       vshrq_n_u32(l.q2, 4), vshrq_n_u32(l.q3, 4)});
}
SIMD_INLINE uint32x4_t neon_lookup(uint32x4_t q, uint8x16_t entries)
{
    return vreinterpretq_u32_u8(vqtbl1q_u8(entries, vreinterpretq_u8_u32(q)));
}
SIMD_INLINE v_line v_line_lookup(v_line l, const uint8_t *table)
{
    const uint8x16_t entries = vld1q_u8(table);
    return (v_line){neon_lookup(l.q0, entries), neon_lookup(l.q1, entries),
                    neon_lookup(l.q2, entries), neon_lookup(l.q3, entries)};
}
// SDOT takes signed weights: those of fewer bits are signed with their offset too, those of 8 bits
// lose it.
SIMD_INLINE v_sum v_sum_start(int32_t start, const int bits)
{
    int32x4_t v = vdupq_n_s32(bits < 8 ? start : 0);
    return (v_sum){v, v, v, v};
}
SIMD_INLINE int32x4_t neon_sum_add(int32x4_t sum, uint32x4_t w, int8x16_t x, const int bits)
{
    const uint32x4_t offset = vdupq_n_u32(bits < 8 ? 0 : 0x80808080U);
    return vdotq_s32(sum, vreinterpretq_s8_u32(veorq_u32(w, offset)), x);
}
SIMD_INLINE v_sum v_sum_add(v_sum sum, v_line w, uint32_t x, const int bits)
{
    const int8x16_t value = vreinterpretq_s8_u32(vdupq_n_u32(x));
    return (v_sum){neon_sum_add(sum.q0, w.q0, value, bits), neon_sum_add(sum.q1, w.q1, value, bits),
                   neon_sum_add(sum.q2, w.q2, value, bits),
                   neon_sum_add(sum.q3, w.q3, value, bits)};
}
SIMD_INLINE v16 v16_of_sum(v_sum sum, int32_t start, const int bits)
{
    (void)start;
    (void)bits;
    return (v16){vcvtq_f32_s32(sum.q0), vcvtq_f32_s32(sum.q1), vcvtq_f32_s32(sum.q2),
                 vcvtq_f32_s32(sum.q3)};
}
#endif

#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
#define SIMD_DOT 1
SIMD_INLINE float32x4_t neon_dot_bf16(float32x4_t acc, uint32x4_t w, uint32x4_t x)
{
    return vbfdotq_f32(acc, vreinterpretq_bf16_u32(w), vreinterpretq_bf16_u32(x));
}
SIMD_INLINE v16 v16_dot_bf16(v16 acc, v_line line, uint32_t pair)
{
    const uint32x4_t x = vdupq_n_u32(pair);
    return (v16){neon_dot_bf16(acc.q0, line.q0, x), neon_dot_bf16(acc.q1, line.q1, x),
                 neon_dot_bf16(acc.q2, line.q2, x), neon_dot_bf16(acc.q3, line.q3, x)};
}
#endif

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC) || defined(__ARM_FEATURE_MATMUL_INT8)
// Operands of products of 2 x 2 rows: of two lines of [16 rows] words, two words of two rows each.
typedef struct {
    uint32x4_t q[8];
} v_rows;

SIMD_INLINE v_rows v_rows_of(v_line first, v_line second)
{
    return (v_rows){{vzip1q_u32(first.q0, second.q0), vzip2q_u32(first.q0, second.q0),
                     vzip1q_u32(first.q1, second.q1), vzip2q_u32(first.q1, second.q1),
                     vzip1q_u32(first.q2, second.q2), vzip2q_u32(first.q2, second.q2),
                     vzip1q_u32(first.q3, second.q3), vzip2q_u32(first.q3, second.q3)}};
}
// The same of two columns of activations, whose second words are `step` words on.
SIMD_INLINE uint32x4_t neon_two_columns(const uint32_t *x, const size_t step)
{
    const uint32x2_t first = vld1_u32(x);
    const uint32x2_t second = vld1_u32(x + step);
    return vcombine_u32(vzip1_u32(first, second), vzip2_u32(first, second));
}
#endif

#ifdef __ARM_FEATURE_BF16_VECTOR_ARITHMETIC
// Two columns' sums as matrix products leave them: rows 2 i and 2 i + 1 of both.
#define SIMD_MMLA_BF16 1
typedef struct {
    float32x4_t q[8];
} v16_pair;

SIMD_INLINE v16_pair v16_pair_zero(void)
{
    const float32x4_t v = vdupq_n_f32(0);
    return (v16_pair){{v, v, v, v, v, v, v, v}};
}
SIMD_INLINE v16_pair v16_pair_add(v16_pair acc, v_rows w, const uint32_t *x, const size_t step)
{
    const bfloat16x8_t columns = vreinterpretq_bf16_u32(neon_two_columns(x, step));
    _Pragma("GCC unroll 8") for (int i = 0; i < 8; i++)
    {
        acc.q[i] = vbfmmlaq_f32(acc.q[i], vreinterpretq_bf16_u32(w.q[i]), columns);
    }
    return acc;
}
SIMD_INLINE v16 v16_pair_first(v16_pair a)
{
    return (v16){vuzp1q_f32(a.q[0], a.q[1]), vuzp1q_f32(a.q[2], a.q[3]), vuzp1q_f32(a.q[4], a.q[5]),
                 vuzp1q_f32(a.q[6], a.q[7])};
}
SIMD_INLINE v16 v16_pair_second(v16_pair a)
{
    return (v16){vuzp2q_f32(a.q[0], a.q[1]), vuzp2q_f32(a.q[2], a.q[3]), vuzp2q_f32(a.q[4], a.q[5]),
                 vuzp2q_f32(a.q[6], a.q[7])};
}
#endif

#ifdef __ARM_FEATURE_MATMUL_INT8
#define SIMD_MMLA_I8 1
typedef struct {
    int32x4_t q[8];
} v_sum_pair;

// From the start of the two columns' sums: all rows alike.
SIMD_INLINE v_sum_pair v_sum_pair_start(v_sum first, v_sum second)
{
    const int32x4_t v = vzip1q_s32(first.q0, second.q0);
    return (v_sum_pair){{v, v, v, v, v, v, v, v}};
}
SIMD_INLINE v_sum_pair v_sum_pair_add(v_sum_pair sum, v_rows w, const uint32_t *x,
                                      const size_t step, const int bits)
{
    const uint32x4_t offset = vdupq_n_u32(bits < 8 ? 0 : 0x80808080U);
    const int8x16_t columns = vreinterpretq_s8_u32(neon_two_columns(x, step));
    _Pragma("GCC unroll 8") for (int i = 0; i < 8; i++)
    {
        sum.q[i] = vmmlaq_s32(sum.q[i], vreinterpretq_s8_u32(veorq_u32(w.q[i], offset)), columns);
    }
    return sum;
}
SIMD_INLINE v_sum v_sum_pair_first(v_sum_pair s)
{
    return (v_sum){vuzp1q_s32(s.q[0], s.q[1]), vuzp1q_s32(s.q[2], s.q[3]),
                   vuzp1q_s32(s.q[4], s.q[5]), vuzp1q_s32(s.q[6], s.q[7])};
}
SIMD_INLINE v_sum v_sum_pair_second(v_sum_pair s)
{
    return (v_sum){vuzp2q_s32(s.q[0], s.q[1]), vuzp2q_s32(s.q[2], s.q[3]),
                   vuzp2q_s32(s.q[4], s.q[5]), vuzp2q_s32(s.q[6], s.q[7])};
}
#endif

#endif

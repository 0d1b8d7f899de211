#ifndef WORKLOADS_SIMD_C_H
#define WORKLOADS_SIMD_C_H

/** The vector layer that kernels are written in, here in plain C: the definition of what the
 *  other simd_<isa>.h do. A v16 is sixteen f32 lanes, a v_line the 64 bytes of a cache line.
 *
 *  SIMD_TILE: most columns of a tile; SIMD_TALL: row groups that such a tile takes at once;
 *  SIMD_WIDE: most columns of a tile that takes one row group;
 *  SIMD_LOAD_F16: defined where v16_load_f16() converts sixteen halves on their way from memory;
 *  SIMD_DOT: defined where v16_dot_bf16() exists; SIMD_BLOCKS: where the integer sums of the block
 *  formats do. Conversions take a line of weights:
 *  f32 [16 rows]; bf16 [16 rows][2 k] (even, odd k); f16 [2 k][16 rows] (low, high half). */

#include <stdint.h>
#include <string.h>

#define SIMD_ISA portable
#define SIMD_TILE 4
#define SIMD_TALL 1
#define SIMD_WIDE SIMD_TILE
#define SIMD_ROLLED // loops stay loops: this layer is for correctness and for the sanitizers
#define SIMD_INLINE static inline __attribute__((always_inline, unused))
#define SIMD_EACH for (int i = 0; i < 16; i++)

typedef struct {
    float f[16];
} v16;
typedef struct {
    uint32_t u[16];
} v_line;

SIMD_INLINE v16 v16_set1(float x)
{
    v16 v;
    SIMD_EACH v.f[i] = x;
    return v;
}
SIMD_INLINE v16 v16_zero(void)
{
    return v16_set1(0);
}
SIMD_INLINE v16 v16_load(const float *p)
{
    v16 v;
    memcpy(&v, p, sizeof v);
    return v;
}
SIMD_INLINE void v16_store(float *p, v16 v)
{
    memcpy(p, &v, sizeof v);
}
SIMD_INLINE v16 v16_add(v16 a, v16 b)
{
    SIMD_EACH a.f[i] += b.f[i];
    return a;
}
SIMD_INLINE v16 v16_fma(v16 acc, v16 a, v16 b)
{
    SIMD_EACH acc.f[i] += a.f[i] * b.f[i];
    return acc;
}
SIMD_INLINE v16 v16_mul(v16 a, v16 b)
{
    SIMD_EACH a.f[i] *= b.f[i];
    return a;
}
SIMD_INLINE v16 v16_max(v16 a, v16 b)
{
    SIMD_EACH a.f[i] = a.f[i] > b.f[i] ? a.f[i] : b.f[i];
    return a;
}
// a x 2^n, n being the low bits of `shifted` (a float of 1.5 x 2^23 + n): a stays normal.
SIMD_INLINE v16 v16_add_exponent(v16 a, v16 shifted)
{
    v_line x;
    v_line n;
    memcpy(&x, &a, sizeof x);
    memcpy(&n, &shifted, sizeof n);
    SIMD_EACH x.u[i] += n.u[i] << 23;
    memcpy(&a, &x, sizeof a);
    return a;
}
SIMD_INLINE float v16_reduce_max(v16 v)
{
    float m = v.f[0];
    SIMD_EACH m = v.f[i] > m ? v.f[i] : m;
    return m;
}
SIMD_INLINE float v16_reduce_add(v16 v)
{
    float sum = 0;
    SIMD_EACH sum += v.f[i];
    return sum;
}
SIMD_INLINE v_line v_line_zero(void)
{
    v_line l;
    memset(&l, 0, sizeof l);
    return l;
}
SIMD_INLINE v_line v_line_load(const unsigned char *p)
{
    v_line l;
    memcpy(&l, p, sizeof l);
    return l;
}
// The same, of lines that come from memory faster than they are multiplied.
SIMD_INLINE v_line v_line_stream(const unsigned char *p)
{
    return v_line_load(p);
}
SIMD_INLINE v_line v_line_or(v_line a, v_line b)
{
    SIMD_EACH a.u[i] |= b.u[i];
    return a;
}
SIMD_INLINE void v_line_store(unsigned char *p, v_line v)
{
    memcpy(p, &v, sizeof v);
}
SIMD_INLINE v16 v16_of_bytes(const signed char *p)
{
    v16 v;
    SIMD_EACH v.f[i] = (float)p[i];
    return v;
}
SIMD_INLINE v16 v16_of_f32(v_line line)
{
    v16 v;
    memcpy(&v, &line, sizeof v);
    return v;
}
SIMD_INLINE v16 v16_of_bf16_even(v_line line)
{
    SIMD_EACH line.u[i] <<= 16;
    return v16_of_f32(line);
}
SIMD_INLINE v16 v16_of_bf16_odd(v_line line)
{
    SIMD_EACH line.u[i] &= 0xffff0000U;
    return v16_of_f32(line);
}
// IEEE 754 binary16 to binary32; subnormals through the exact product with 2^-24.
SIMD_INLINE float simd_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000U) << 16;
    uint32_t exponent = (h >> 10) & 31U;
    uint32_t fraction = h & 1023U;
    uint32_t bits =
        exponent == 31 ? 0x7f800000U | fraction << 13 : (exponent + 112) << 23 | fraction << 13;
    float f;
    if (exponent == 0) {
        f = (float)fraction * 0x1p-24F;
        memcpy(&bits, &f, sizeof bits);
    }
    bits |= sign;
    memcpy(&f, &bits, sizeof f);
    return f;
}
SIMD_INLINE v16 simd_f16_half(v_line line, int from)
{
    v16 v;
    SIMD_EACH v.f[i] = simd_f16((uint16_t)(line.u[from + i / 2] >> (16 * (i % 2))));
    return v;
}
SIMD_INLINE v16 v16_of_f16_low(v_line line)
{
    return simd_f16_half(line, 0);
}
SIMD_INLINE v16 v16_of_f16_high(v_line line)
{
    return simd_f16_half(line, 8);
}
SIMD_INLINE void simd_prefetch(const unsigned char *p)
{
    __builtin_prefetch(p, 0, 2);
}

#define SIMD_BLOCKS 1
typedef struct {
    int32_t i[16];
} v_sum;

// Bytes of a line's low and high halves of bytes.
SIMD_INLINE v_line v_line_low_nibbles(v_line line)
{
    SIMD_EACH line.u[i] &= 0x0f0f0f0fU;
    return line;
}
SIMD_INLINE v_line v_line_high_nibbles(v_line line)
{
    SIMD_EACH line.u[i] = (line.u[i] >> 4) & 0x0f0f0f0fU;
    return line;
}
// Per 32-bit lane: with a mask, shifted left by n (right by -n).
SIMD_INLINE v_line v_line_mask(v_line line, uint32_t mask)
{
    SIMD_EACH line.u[i] &= mask;
    return line;
}
SIMD_INLINE v_line v_line_shift(v_line line, const int n)
{
    SIMD_EACH line.u[i] = n < 0 ? line.u[i] >> -n : line.u[i] << n;
    return line;
}
// Bytes below 16, each replaced by the table's.
SIMD_INLINE v_line v_line_lookup(v_line line, const uint8_t *table)
{
    uint8_t bytes[64];
    memcpy(bytes, &line, sizeof bytes);
    for (int i = 0; i < 64; i++) {
        bytes[i] = table[bytes[i] & 15U];
    }
    memcpy(&line, bytes, sizeof line);
    return line;
}
// The lowest byte of each lane as a number, without and with a sign.
SIMD_INLINE v16 v16_of_u8(v_line line)
{
    v16 v;
    SIMD_EACH v.f[i] = (float)(line.u[i] & 255U);
    return v;
}
SIMD_INLINE v16 v16_of_i8(v_line line)
{
    v16 v;
    SIMD_EACH v.f[i] = (float)((int32_t)((line.u[i] & 255U) ^ 128U) - 128);
    return v;
}
// The sum of a block's products for 16 rows: from v_sum_start() of -offset x sum(x) over up to
// eight v_sum_add() of lines [16 rows][4 k] of w + offset (`bits` wide) times four int8 x, to
// v16_of_sum(). Each ISA uses `start` in one of the two, or takes the offset off the weights.
SIMD_INLINE v_sum v_sum_start(int32_t start, const int bits)
{
    v_sum sum;
    (void)bits;
    SIMD_EACH sum.i[i] = start;
    return sum;
}
SIMD_INLINE int32_t simd_byte(uint32_t u, int byte)
{
    return (int32_t)(u >> (8 * byte) & 255U);
}
SIMD_INLINE v_sum v_sum_add(v_sum sum, v_line w, uint32_t x, const int bits)
{
    (void)bits;
    for (int k = 0; k < 4; k++) {
        const int32_t value = (simd_byte(x, k) ^ 128) - 128;
        SIMD_EACH sum.i[i] += simd_byte(w.u[i], k) * value;
    }
    return sum;
}
SIMD_INLINE v16 v16_of_sum(v_sum sum, int32_t start, const int bits)
{
    v16 v;
    (void)start;
    (void)bits;
    SIMD_EACH v.f[i] = (float)sum.i[i];
    return v;
}
// Integers of magnitude up to 127.
SIMD_INLINE void v16_store_i8(int8_t *p, v16 v)
{
    SIMD_EACH p[i] = (int8_t)v.f[i];
}

#endif

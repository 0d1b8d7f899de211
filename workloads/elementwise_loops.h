/** The loops of elementwise.h: included by elementwise_<isa>.c, which is compiled for its
 *  instruction set. Sums are kept in LANES partial ones, so that compilers may use vectors without
 *  changing the order of additions. */

#include "workloads/elementwise.h"

#include <math.h>
#include <string.h>

enum { LANES = 16 };

static void add(float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] += y[i];
    }
}

static float sum_lanes(const float *lanes)
{
    float sum = 0;
    for (int i = 0; i < LANES; i++) {
        sum += lanes[i];
    }
    return sum;
}

static float mean(const float *x, size_t n)
{
    float lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int j = 0; j < LANES; j++) {
            lanes[j] += x[i + (size_t)j];
        }
    }
    for (; i < n; i++) {
        lanes[0] += x[i];
    }
    return sum_lanes(lanes) / (float)n;
}

static float mean_square(const float *x, float minus, size_t n)
{
    float lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int j = 0; j < LANES; j++) {
            float value = x[i + (size_t)j] - minus;
            lanes[j] += value * value;
        }
    }
    for (; i < n; i++) {
        lanes[0] += (x[i] - minus) * (x[i] - minus);
    }
    return sum_lanes(lanes) / (float)n;
}

static void rms_norm(float *out, const float *x, const float *weight, size_t n)
{
    float scale = 1 / sqrtf(mean_square(x, 0, n) + ELEMENTWISE_EPSILON);
    for (size_t i = 0; i < n; i++) {
        out[i] = x[i] * scale * weight[i];
    }
}

static void layer_norm(float *out, const float *x, const float *weight, const float *bias, size_t n)
{
    float middle = mean(x, n);
    float scale = 1 / sqrtf(mean_square(x, middle, n) + ELEMENTWISE_EPSILON);
    for (size_t i = 0; i < n; i++) {
        out[i] = (x[i] - middle) * scale * weight[i] + bias[i];
    }
}

static void rotate(float *x, const float *turn, size_t half)
{
    float *y = x + half;
    const float *cosine = turn;
    const float *sine = turn + half;
    for (size_t i = 0; i < half; i++) {
        float a = x[i];
        float b = y[i];
        x[i] = a * cosine[i] - b * sine[i];
        y[i] = a * sine[i] + b * cosine[i];
    }
}

// exp(x), relative error below 2^-21: 2^n times a polynomial of degree 6 in the rest. Beyond +-87
// the exponential of the bound.
static inline float exponential(float x)
{
    const float magic = 0x1.8p23F;
    x = x < -87.0F ? -87.0F : x;
    x = x > 87.0F ? 87.0F : x;
    float shifted = x * 0x1.715476p0F + magic; // n in its low bits
    float n = shifted - magic;
    float r = x - n * 0x1.62e4p-1F; // ln 2 in two parts
    r = r - n * 0x1.7f7d1cp-20F;
    float p = 1.0F / 720;
    p = p * r + 1.0F / 120;
    p = p * r + 1.0F / 24;
    p = p * r + 1.0F / 6;
    p = p * r + 0.5F;
    p = p * r + 1.0F;
    p = p * r + 1.0F;
    uint32_t power;
    uint32_t bits;
    memcpy(&power, &shifted, sizeof power);
    memcpy(&bits, &p, sizeof bits);
    bits += power << 23;
    memcpy(&p, &bits, sizeof p);
    return p;
}

static inline float silu(float x)
{
    return x / (1 + exponential(-x));
}

static inline float gelu(float x)
{
    // 2 sqrt(2 / pi)
    return x / (1 + exponential(-1.5957691216F * (x + 0.044715F * x * x * x)));
}

static inline float relu(float x)
{
    return x > 0 ? x : 0;
}

#define ACTIVATION(name)                                                                        \
    static void name##_alone(float *restrict out, const float *gate, const float *up, size_t n) \
    {                                                                                           \
        (void)up;                                                                               \
        for (size_t i = 0; i < n; i++) {                                                        \
            out[i] = name(gate[i]);                                                             \
        }                                                                                       \
    }                                                                                           \
    static void name##_gated(float *restrict out, const float *gate, const float *up, size_t n) \
    {                                                                                           \
        for (size_t i = 0; i < n; i++) {                                                        \
            out[i] = name(gate[i]) * up[i];                                                     \
        }                                                                                       \
    }

ACTIVATION(silu)
ACTIVATION(gelu)
ACTIVATION(relu)

static inline float within(float x, float low, float high)
{
    x = x > high ? high : x;
    return x < low ? low : x;
}

static void clamped_gated(float *restrict out, const float *gate, const float *up, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float g = gate[i] > 7.0F ? 7.0F : gate[i];
        out[i] = g / (1 + exponential(-1.702F * g)) * (within(up[i], -7.0F, 7.0F) + 1);
    }
}

/** The row of an instruction set. */
#define ELEMENTWISE_ROW(needs_, isa)                                            \
    {                                                                           \
        .needs = (needs_), .isa_name = (isa), .add = add, .rms_norm = rms_norm, \
        .layer_norm = layer_norm, .rotate = rotate,                             \
        .activate = {[ELEMENTWISE_SILU] = {silu_alone, silu_gated},             \
                     [ELEMENTWISE_GELU] = {gelu_alone, gelu_gated},             \
                     [ELEMENTWISE_RELU] = {relu_alone, relu_gated},             \
                     [ELEMENTWISE_CLAMPED] = {silu_alone, clamped_gated}},      \
    }

#include "tests/test.h"
#include "workloads/elementwise.h"
#include "workloads/line.h"

enum { MOST = 100 };

static const uint32_t removed[] = {0, ISA_AVX512, ISA_AVX512 | ISA_AVX2 | ISA_NEON};

static void fill(float *out, size_t n, uint64_t seed, float scale)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = scale * line_random(&seed);
    }
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double activation(enum elementwise_activation which, double x)
{
    switch (which) {
    case ELEMENTWISE_SILU:
    case ELEMENTWISE_CLAMPED:
        return x * sigmoid(x);
    case ELEMENTWISE_GELU:
        // x (1 + tanh(z)) / 2, without its cancellation
        return x * sigmoid(2 * sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x));
    case ELEMENTWISE_RELU:
    case ELEMENTWISE_ACTIVATIONS:
        break;
    }
    return x > 0 ? x : 0;
}

static double gated_activation(enum elementwise_activation which, double gate, double up)
{
    if (which == ELEMENTWISE_CLAMPED) {
        gate = fmin(gate, 7);
        return gate * sigmoid(1.702 * gate) * (fmin(fmax(up, -7), 7) + 1);
    }
    return activation(which, gate) * up;
}

// Every activation, over values from tiny to far beyond where exp() overflows, and odd lengths.
static void activations(void **state)
{
    (void)state;
    float gate[MOST];
    float up[MOST];
    float out[MOST];
    for (size_t r = 0; r < sizeof removed / sizeof *removed; r++) {
        const struct elementwise *e = elementwise_find(isa_without(isa_detect(), removed[r]));
        for (int scale = -10; scale <= 10; scale += 2) {
            fill(gate, MOST, (uint64_t)(scale + 20), ldexpf(1, scale));
            fill(up, MOST, 3, 9);
            for (int a = 0; a < ELEMENTWISE_ACTIVATIONS; a++) {
                for (int gated = 0; gated < 2; gated++) {
                    e->activate[a][gated](out, gate, up, MOST - 3);
                    for (size_t i = 0; i < MOST - 3; i++) {
                        enum elementwise_activation which = (enum elementwise_activation)a;
                        double want = gated
                                          ? gated_activation(which, (double)gate[i], (double)up[i])
                                          : activation(which, (double)gate[i]);
                        // exp() magnifies the rounding of its argument.
                        if (!(fabs((double)out[i] - want) <= 2e-5 * fabs(want) + 1e-30)) {
                            fail_msg("%s: activation %d of %g: got %g, want %g", e->isa_name, a,
                                     (double)gate[i], (double)out[i], want);
                        }
                    }
                }
            }
        }
    }
}

static void check_norms(const struct elementwise *e, const float *x, size_t n)
{
    float weight[MOST];
    float bias[MOST];
    float rms[MOST];
    float layer[MOST];
    double mean = 0;
    double square = 0;
    double variance = 0;
    fill(weight, n, 5, 1);
    fill(bias, n, 6, 1);
    for (size_t i = 0; i < n; i++) {
        mean += (double)x[i] / (double)n;
        square += (double)x[i] * (double)x[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        variance += pow((double)x[i] - mean, 2) / (double)n;
    }
    e->rms_norm(rms, x, weight, n);
    e->layer_norm(layer, x, weight, bias, n);
    for (size_t i = 0; i < n; i++) {
        double by_rms = (double)x[i] * (double)weight[i] / sqrt(square + 1e-5);
        double by_layer =
            ((double)x[i] - mean) * (double)weight[i] / sqrt(variance + 1e-5) + (double)bias[i];
        assert_true(fabs((double)rms[i] - by_rms) < 1e-5);
        assert_true(fabs((double)layer[i] - by_layer) < 1e-5);
    }
}

static void norms(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 15, 16, 17, 96, 100};
    float x[MOST];
    fill(x, MOST, 9, 3);
    for (size_t r = 0; r < sizeof removed / sizeof *removed; r++) {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            check_norms(elementwise_find(isa_without(isa_detect(), removed[r])), x, lengths[i]);
        }
    }
}

static void rotation_and_sum(void **state)
{
    (void)state;
    enum { HALF = 20 };
    for (size_t r = 0; r < sizeof removed / sizeof *removed; r++) {
        const struct elementwise *e = elementwise_find(isa_without(isa_detect(), removed[r]));
        float x[2 * HALF];
        float before[2 * HALF];
        float turn[2 * HALF];
        fill(x, 2 * HALF, 4, 1);
        memcpy(before, x, sizeof x);
        for (int i = 0; i < HALF; i++) {
            turn[i] = (float)cos(0.3 * i);
            turn[HALF + i] = (float)sin(0.3 * i);
        }
        e->rotate(x, turn, HALF);
        for (int i = 0; i < HALF; i++) {
            double a = (double)before[i];
            double b = (double)before[HALF + i];
            assert_true(fabs((double)x[i] - (a * cos(0.3 * i) - b * sin(0.3 * i))) < 1e-6);
            assert_true(fabs((double)x[HALF + i] - (a * sin(0.3 * i) + b * cos(0.3 * i))) < 1e-6);
        }
        memcpy(x, before, sizeof x);
        e->add(x, turn, 2 * HALF - 1);
        assert_true(fabsf(x[3] - before[3] - turn[3]) < 1e-6F);
        assert_true(fabsf(x[2 * HALF - 1] - before[2 * HALF - 1]) <= 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations),
        cmocka_unit_test(norms),
        cmocka_unit_test(rotation_and_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

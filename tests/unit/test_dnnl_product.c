#include "tests/test.h"
#include "workloads/dnnl_product.h"

#include <stdlib.h>

enum { N = 96 };

static uint16_t bf16_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

// False where the build or the CPU has none: that is an answer too, with a reason.
static bool make(struct dnnl_product **out, enum dnnl_product_type type, void *a, void *b, void *c)
{
    struct status status = dnnl_product_create(out, type, N, a, b, c);
    if (status.code == STATUS_UNAVAILABLE) {
        assert_null(*out);
        assert_true(status.detail[0] != '\0');
        print_message("SKIPPED: %s\n", status.detail);
        return false;
    }
    ASSERT_OK(status);
    return true;
}

static void int8_is_exact(void **state)
{
    (void)state;
    static uint8_t a[N * N];
    static int8_t b[N * N];
    static int32_t c[N * N];
    struct dnnl_product *product = NULL;
    for (int i = 0; i < N * N; i++) {
        a[i] = (uint8_t)(i * 7 % 128);
        b[i] = (int8_t)(i * 11 % 127 - 63);
    }
    if (!make(&product, DNNL_PRODUCT_INT8, a, b, c)) {
        return;
    }
    assert_true(dnnl_product_run(product));
    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++) {
            int32_t want = 0;
            for (int k = 0; k < N; k++) {
                want += a[row * N + k] * b[k * N + column];
            }
            assert_int_equal(c[row * N + column], want);
        }
    }
    char version[32];
    assert_non_null(strstr(dnnl_product_version(version, sizeof version), "oneDNN 2."));
    assert_true(dnnl_product_kernel(product)[0] != '\0');
    dnnl_product_destroy(product);
}

static void bf16_of_whole_numbers_is_exact(void **state)
{
    (void)state;
    static uint16_t a[N * N];
    static uint16_t b[N * N];
    static float c[N * N];
    struct dnnl_product *product = NULL;
    for (int i = 0; i < N * N; i++) {
        a[i] = bf16_of((float)(i * 7 % 16 - 8));
        b[i] = bf16_of((float)(i * 5 % 16 - 8));
    }
    if (!make(&product, DNNL_PRODUCT_BF16, a, b, c)) {
        return;
    }
    assert_true(dnnl_product_run(product));
    for (int row = 0; row < N; row++) {
        for (int column = 0; column < N; column++) {
            int want = 0;
            for (int k = 0; k < N; k++) {
                want += ((row * N + k) * 7 % 16 - 8) * ((k * N + column) * 5 % 16 - 8);
            }
            assert_int_equal((int)c[row * N + column], want);
        }
    }
    dnnl_product_destroy(product);
    dnnl_product_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(int8_is_exact),
        cmocka_unit_test(bf16_of_whole_numbers_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/test.h"
#include "workloads/blas.h"

#include <stdlib.h>

static void core_choice(void **state)
{
    (void)state;
    enum { WIDE = ISA_AVX2 | ISA_AVX512, SPR = WIDE | ISA_AVX512_VNNI | ISA_AVX512_BF16 };
    static const struct {
        const char *own;
        uint32_t isa;
        bool amd;
        const char *want; // NULL: left alone
        int line;
    } cases[] = {
        {"Prescott", SPR, false, "SkylakeX", __LINE__}, // 0.3.21 on Emerald Rapids
        {"Prescott", WIDE, false, "SkylakeX", __LINE__},
        {"prescott", ISA_AVX2, false, "Haswell", __LINE__},
        {"Nehalem", ISA_AVX2, true, "Zen", __LINE__},
        {"Zen", WIDE, true, "SkylakeX", __LINE__}, // older than Zen 4
        {"Zen", ISA_AVX2, true, NULL, __LINE__},
        {"Haswell", ISA_AVX2, false, NULL, __LINE__},
        {"SkylakeX", SPR, false, NULL, __LINE__},
        {"Cooperlake", SPR, true, NULL, __LINE__},
        {"SapphireRapids", SPR, false, NULL, __LINE__},
        {"Prescott", ISA_PORTABLE, false, NULL, __LINE__}, // valgrind, emulators
        {"Haswell", ISA_PORTABLE, false, NULL, __LINE__},
        {"neoversen1", ISA_NEON | ISA_SVE, false, NULL, __LINE__},
        {"FutureLake", SPR, false, NULL, __LINE__},
        {"", SPR, false, NULL, __LINE__},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct isa_set isa = {.features = cases[i].isa};
        const char *got = blas_core_to_ask(cases[i].own, isa, cases[i].amd);
        const char *want = cases[i].want;
        if ((got == NULL) != (want == NULL) || (got != NULL && strcmp(got, want) != 0)) {
            fail_msg("line %d: got %s", cases[i].line, got != NULL ? got : "NULL");
        }
    }
}

static void check_product(struct blas *blas)
{
    enum { M = 3, N = 5, K = 4 };
    float a[M * K];
    float b[K * N];
    float c[M * N];
    double da[M * K];
    double db[K * N];
    double dc[M * N];
    for (int i = 0; i < M * K; i++) {
        a[i] = (float)(i % 7 - 3);
        da[i] = i % 7 - 3;
    }
    for (int i = 0; i < K * N; i++) {
        b[i] = (float)(i % 5 - 1);
        db[i] = i % 5 - 1;
    }
    blas_sgemm(blas, M, N, K, a, b, c);
    blas_dgemm(blas, M, N, K, da, db, dc);
    for (int i = 0; i < M * N; i++) {
        double want = 0;
        for (int k = 0; k < K; k++) {
            want += da[i / N * K + k] * db[k * N + i % N];
        }
        assert_true(fabs((double)c[i] - want) <= 0);
        assert_true(fabs(dc[i] - want) <= 0);
    }
}

static void the_library_multiplies(void **state)
{
    (void)state;
    struct blas *blas = NULL;
    struct blas_options options = {.isa = isa_detect(),
                                   .user_core_type = getenv("OPENBLAS_CORETYPE")};
    struct status status = blas_open(&blas, &options);
    if (status.code == STATUS_UNAVAILABLE) {
        skip();
    }
    ASSERT_OK(status);
    blas_set_threads(blas, 1);
    check_product(blas);
    struct blas_facts facts = blas_facts(blas);
    assert_non_null(strstr(facts.path, "openblas"));
    if (options.user_core_type == NULL && facts.core[0] != '\0') {
        assert_false(facts.core_is_poor);
    }
    blas_close(blas);
}

// With nothing but the base set allowed, the library keeps its own core.
static void never_beyond_the_set(void **state)
{
    (void)state;
    struct blas *blas = NULL;
    struct blas_options options = {.isa = {.features = ISA_PORTABLE}};
    if (blas_open(&blas, &options).code != STATUS_OK) {
        skip();
    }
    assert_false(blas_facts(blas).core_was_set);
    blas_close(blas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(core_choice),
        cmocka_unit_test(the_library_multiplies),
        cmocka_unit_test(never_beyond_the_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

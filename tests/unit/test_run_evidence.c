#include "profiler/result_build.h"
#include "profiler/run_evidence.h"
#include "tests/test.h"

#include <stdlib.h>

static void kernels_without_silicon_are_named_once(void **state)
{
    (void)state;
    struct result_run run = {.warning_count = 0};
    struct run_evidence evidence = {.count = 0};
    run_evidence_note(&evidence, "linear", "avx2/vfmadd231ps/f32", "f32");
    run_evidence_note(&evidence, "attention", "portable/c/f32", "f16");
    assert_int_equal(evidence.count, 0);
    run_evidence_note(&evidence, "linear", "amx_int8/tdpbsud/i32", "q8_0");
    run_evidence_note(&evidence, "linear", "amx_int8/tdpbsud/i32", "q4_0");
    run_evidence_note(&evidence, "linear", "neon/fmla/f32", "f32");
    run_evidence_warn(&run, &evidence);
    assert_int_equal(run.warning_count, 2);
    assert_string_equal(run.warnings[0].code, "kernel_unproven");
    assert_non_null(strstr(run.warnings[0].text, "2 points"));
    assert_non_null(strstr(run.warnings[0].text, "linear amx_int8/tdpbsud/i32"));
    assert_non_null(strstr(run.warnings[0].text, "never executed"));
    assert_non_null(strstr(run.warnings[1].text, "neon/fmla/f32"));
    assert_non_null(strstr(run.warnings[1].text, "emulator"));
    result_run_free(&run);
}

static void a_full_list_is_no_overflow(void **state)
{
    (void)state;
    static const char names[2 * RUN_EVIDENCE_MAX][2] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                                        "i", "j", "k", "l", "m", "n", "o", "p"};
    struct run_evidence evidence = {.count = 0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        run_evidence_note(&evidence, "linear", names[i], "f32");
    }
    assert_int_equal(evidence.count, RUN_EVIDENCE_MAX);
}

static void refused_instructions_are_named(void **state)
{
    (void)state;
    struct result_run run = {.warning_count = 0};
    const struct isa_set all = {.features = ISA_AVX2 | ISA_AMX_TILE | ISA_AMX_INT8};
    run_evidence_warn_refused(&run, all, all);
    assert_int_equal(run.warning_count, 0);
    run_evidence_warn_refused(&run, all, isa_without(all, ISA_AMX_INT8));
    assert_int_equal(run.warning_count, 1);
    assert_string_equal(run.warnings[0].code, "kernel_refused");
    assert_non_null(strstr(run.warnings[0].text, "by amx_int8 differ"));
    result_run_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_without_silicon_are_named_once),
        cmocka_unit_test(a_full_list_is_no_overflow),
        cmocka_unit_test(refused_instructions_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

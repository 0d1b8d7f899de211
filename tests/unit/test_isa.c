#include "tests/test.h"
#include "workloads/isa.h"

static void names_and_bits_agree(void **state)
{
    (void)state;
    uint32_t seen = 0;
    for (unsigned bit = 0; bit < 32; bit++) {
        enum isa_feature feature = (enum isa_feature)(1u << bit);
        const char *name = isa_name(feature);
        if (strcmp(name, "?") == 0) {
            continue;
        }
        enum isa_feature back = ISA_PORTABLE;
        assert_true(isa_of_name(&back, name));
        assert_int_equal(back, feature);
        seen |= 1u << bit;
    }
    struct isa_set all = {.features = seen};
    assert_true(isa_has(all, ISA_AVX2 | ISA_AMX_BF16 | ISA_SVE));
    char text[ISA_TEXT];
    isa_text(text, sizeof text, all);
    assert_true(strlen(text) + 1 < sizeof text);
    assert_non_null(strstr(text, " sve"));
    enum isa_feature none = ISA_PORTABLE;
    assert_false(isa_of_name(&none, "avx1024"));
}

static void sets(void **state)
{
    (void)state;
    struct isa_set set = {.features = ISA_AVX2 | ISA_AVX512};
    assert_true(isa_has(set, ISA_PORTABLE));
    assert_true(isa_has(set, ISA_AVX512));
    assert_false(isa_has(set, ISA_AVX512 | ISA_AVX512_VNNI));
    assert_false(isa_has(isa_without(set, ISA_AVX512), ISA_AVX512));
    char text[ISA_TEXT];
    assert_string_equal(isa_text(text, sizeof text, set), "avx2 avx512");
    assert_string_equal(isa_text(text, sizeof text, isa_without(set, ~0u)), "portable");
}

// What the set claims must be in the kernel's own list of the CPU's features.
static void never_beyond_the_kernel(void **state)
{
    (void)state;
    static const struct {
        enum isa_feature feature;
        const char *flag;
    } pairs[] = {{ISA_AVX2, " avx2 "},
                 {ISA_AVX2, " fma "},
                 {ISA_AVX2, " f16c "},
                 {ISA_AVX512, " avx512vl "},
                 {ISA_AVX512, " avx512dq "},
                 {ISA_AVX512_VNNI, " avx512_vnni "},
                 {ISA_AVX512_BF16, " avx512_bf16 "},
                 {ISA_AVX512_FP16, " avx512_fp16 "},
                 {ISA_AVX_VNNI, " avx_vnni "},
                 {ISA_AMX_TILE, " amx_tile "},
                 {ISA_NEON, " asimd "},
                 {ISA_NEON_DOTPROD, " asimddp "},
                 {ISA_NEON_I8MM, " i8mm "},
                 {ISA_NEON_BF16, " bf16 "},
                 {ISA_SVE, " sve "},
                 {ISA_SVE2, " sve2 "}};
    struct isa_set set = isa_detect();
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[8192] = "";
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!found) {
        skip();
    }
    line[strcspn(line, "\n")] = ' ';
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (isa_has(set, pairs[i].feature) && strstr(line, pairs[i].flag) == NULL) {
            fail_msg("%s claimed, but the kernel does not list%s", isa_name(pairs[i].feature),
                     pairs[i].flag);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_bits_agree),
        cmocka_unit_test(sets),
        cmocka_unit_test(never_beyond_the_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

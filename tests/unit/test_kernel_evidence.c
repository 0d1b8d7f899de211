#include "tests/test.h"
#include "workloads/attention.h"
#include "workloads/ceiling_kernel.h"
#include "workloads/kernel_evidence.h"
#include "workloads/linear.h"

#include <stdlib.h>

// The table of evidence and the kernels of this build name the same pairs.

enum { PAIRS_MAX = 512 };

struct pairs {
    size_t count;
    const char *operator_[PAIRS_MAX];
    const char *class_[PAIRS_MAX];
    const char *type[PAIRS_MAX];
};

static void add(struct pairs *pairs, const char *operator_, const char *class_, const char *type)
{
    assert_true(pairs->count < PAIRS_MAX);
    if (kernel_evidence_find(operator_, class_, type) == NULL) {
        fail_msg("%s %s of %s is in no row of kernel_evidence.c", operator_, class_, type);
    }
    pairs->operator_[pairs->count] = operator_;
    pairs->class_[pairs->count] = class_;
    pairs->type[pairs->count++] = type;
}

static void add_ceilings(struct pairs *pairs)
{
    for (size_t i = 0; ceiling_sets()[i] != NULL; i++) {
        const struct ceiling_set *set = ceiling_sets()[i];
        for (size_t k = 0; k < set->compute_count; k++) {
            add(pairs, "compute", set->compute[k].class_, set->compute[k].dtype);
        }
        for (size_t k = 0; k < set->stream_count; k++) {
            add(pairs, "streams", isa_name((enum isa_feature)set->streams[k].isa),
                set->streams[k].kernel);
        }
    }
}

static void fill(struct pairs *pairs)
{
    enum line_format format = LINE_F32;
    const char *name = NULL;
    *pairs = (struct pairs){0};
    for (size_t i = 0; linear_kernel_name(&format, &name, i); i++) {
        add(pairs, "linear", name, line_layout(format)->name);
    }
    for (size_t i = 0; attention_kernel_name(&format, &name, i); i++) {
        add(pairs, "attention", name, line_layout(format)->name);
    }
    add_ceilings(pairs);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool of_this_architecture(const char *class_)
{
    bool arm = begins(class_, "neon") || begins(class_, "sve");
    bool x86 = begins(class_, "avx") || begins(class_, "amx");
#if defined(__x86_64__)
    return !arm;
#elif defined(__aarch64__)
    return !x86;
#else
    return !arm && !x86;
#endif
    (void)arm;
    (void)x86;
}

static bool has(const struct pairs *pairs, const struct kernel_evidence *row, const char *type)
{
    for (size_t i = 0; i < pairs->count; i++) {
        if (strcmp(pairs->operator_[i], row->operator_) == 0 &&
            strcmp(pairs->class_[i], row->class_) == 0 && strcmp(pairs->type[i], type) == 0) {
            return true;
        }
    }
    return false;
}

static void every_kernel_has_a_row_and_every_row_its_kernels(void **state)
{
    (void)state;
    struct pairs pairs;
    fill(&pairs);
    assert_true(pairs.count > 0);
    for (size_t i = 0; kernel_evidence_row(i) != NULL; i++) {
        const struct kernel_evidence *row = kernel_evidence_row(i);
        char types[256];
        char *rest = NULL;
        (void)snprintf(types, sizeof types, "%s", row->types);
        for (char *type = strtok_r(types, " ", &rest); type != NULL;
             type = strtok_r(NULL, " ", &rest)) {
            if (of_this_architecture(row->class_) && !has(&pairs, row, type)) {
                fail_msg("no kernel for the row %s %s of %s", row->operator_, row->class_, type);
            }
        }
    }
}

static void a_kernel_without_a_row_is_seen(void **state)
{
    (void)state;
    assert_null(kernel_evidence_find("linear", "avx2/vfmadd231ps/f32", "q8_0"));
    assert_null(kernel_evidence_find("linear", "avx2/vfmadd231ps/f32", "f3"));
    assert_non_null(kernel_evidence_find("linear", "avx2/vfmadd231ps/f32", "f16"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_has_a_row_and_every_row_its_kernels),
        cmocka_unit_test(a_kernel_without_a_row_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "workloads/forward_plan.h"
#include "workloads/linear_plan.h"

enum { CHECKED_ROWS = 4, CHECKED_HEADS = 8 };

// Keeps the error that takes the largest share of its tolerance.
static void keep(struct forward_check *check, double error, double tolerance)
{
    if (check->tolerance <= 0 || error * check->tolerance > check->max_relative_error * tolerance) {
        check->max_relative_error = error;
        check->tolerance = tolerance;
    }
}

static bool is_checked(const struct forward_check *check, const struct forward_mark *mark)
{
    return mark->op == MODEL_OP_HEAD || mark->layer == 0 ||
           mark->layer + 1 == forward_layers(check->forward);
}

void forward_check_mark(void *context, const struct forward_mark *mark)
{
    struct forward_check *check = context;
    unsigned char *at[FORWARD_THREADS_MAX];
    if (!is_checked(check, mark)) {
        return;
    }
    for (unsigned t = 0; t < check->forward->params.threads; t++) {
        at[t] = check->memory[t] + mark->offset;
    }
    if (mark->linear != NULL) {
        keep(check, linear_check(mark->linear, (const unsigned char *const *)at, CHECKED_ROWS),
             linear_tolerance(mark->linear));
    } else if (mark->attention != NULL) {
        keep(check, attention_check(mark->attention, at, CHECKED_HEADS),
             attention_tolerance(mark->attention));
    }
}

#include "tests/unit/forward_reference.h"

#include <math.h>
#include <stdlib.h>

// The largest difference of a logit over their mean magnitude.
static double difference(const struct fixture *f)
{
    const struct forward *w = f->forward;
    const struct linear *l = forward_linear_of(&w->head, w->params.batch);
    double *want = reference_logits(f);
    double worst = 0;
    double size = 0;
    for (unsigned s = 0; s < w->params.batch; s++) {
        for (uint64_t n = 0; n < w->head.n; n++) {
            double error = fabs((double)l->y[s * l->ldy + n] - want[s * w->head.n + n]);
            worst = error > worst || isnan(error) ? error : worst;
            size += fabs(want[s * w->head.n + n]) / (double)(w->params.batch * w->head.n);
        }
    }
    free(want);
    return isnan(worst) ? HUGE_VAL : worst / size;
}

void reference_check(const struct forward_params *params, const char *name, double tolerance)
{
    struct fixture *f = calloc(1, sizeof *f);
    const struct forward_probe none = {NULL, NULL, false};
    fixture_setup(f, params);
    fixture_run(f, &none);
    fixture_run(f, &none); // the cache row of the first run is written again
    double error = difference(f);
    if (!(error <= tolerance)) {
        fail_msg("%s: threads %u batch %u context %d prompt %d: error %g, tolerance %g", name,
                 params->threads, params->batch, (int)params->context, (int)params->prompt, error,
                 tolerance);
    }
    fixture_teardown(f);
    free(f);
}

#include "profiler/run_rounds.h"

#include "profiler/clock.h"

static void one_round(struct run_rounds *r, struct rotation *rotation, struct run_measure *measure,
                      struct run_roof *read, struct run_roof *compute)
{
    bool disturbed = false;
    struct team_sample timing;
    unsigned i = r->n;
    r->read[i] = run_roof_sample(&measure->roofs, read, &disturbed);
    r->full[i] = rotation_sample(&timing, rotation, LINEAR_FULL);
    disturbed = disturbed || timing.disturbed;
    if (r->twins) {
        r->memory_only[i] = rotation_sample(&timing, rotation, LINEAR_MEMORY_ONLY);
        disturbed = disturbed || timing.disturbed;
        r->compute_only[i] = rotation_sample(&timing, rotation, LINEAR_COMPUTE_ONLY);
        disturbed = disturbed || timing.disturbed;
    }
    r->compute[i] = run_roof_sample(&measure->roofs, compute, &disturbed);
    r->disturbed[i] = disturbed;
    r->n++;
}

static unsigned quiet_rounds(const struct run_rounds *r)
{
    unsigned quiet = 0;
    for (unsigned i = 0; i < r->n; i++) {
        quiet += r->disturbed[i] ? 0 : 1;
    }
    return quiet;
}

// Drops the disturbed rounds where enough quiet ones are left. On a machine that is always
// disturbed all are kept, so that there is a result, and the caller warns.
static void drop_disturbed(struct run_rounds *r)
{
    r->kept_disturbed = quiet_rounds(r) < RUN_ROUNDS_MIN && quiet_rounds(r) < r->n;
    if (r->kept_disturbed) {
        r->disturbed_fraction = 1 - (double)quiet_rounds(r) / r->n;
        return;
    }
    unsigned kept = 0;
    for (unsigned i = 0; i < r->n; i++) {
        if (!r->disturbed[i]) {
            r->full[kept] = r->full[i];
            r->memory_only[kept] = r->memory_only[i];
            r->compute_only[kept] = r->compute_only[i];
            r->read[kept] = r->read[i];
            r->compute[kept] = r->compute[i];
            kept++;
        }
    }
    r->n = kept;
}

void run_rounds_take(struct run_rounds *r, struct rotation *rotation, struct run_measure *measure,
                     struct run_roof *read, struct run_roof *compute, double seconds)
{
    unsigned most = measure->rounds + measure->rounds / 2;
    most = most < RUN_ROUNDS_MAX ? most : RUN_ROUNDS_MAX;
    double begin = clock_seconds();
    while (r->n < most && quiet_rounds(r) < measure->rounds && !limit_reached(&measure->limit)) {
        bool late = seconds > 0 && clock_seconds() - begin > seconds;
        if (late && r->n >= RUN_ROUNDS_MIN) {
            break;
        }
        one_round(r, rotation, measure, read, compute);
    }
    drop_disturbed(r);
}

#include "profiler/run_rounds.h"

#include "profiler/clock.h"

#include <math.h>

unsigned run_rounds_roof_turns(double sample_bytes, double roof_bytes)
{
    enum { TURNS_MAX = 16 };
    double turns = sample_bytes / roof_bytes;
    return turns < 2 ? 1 : (unsigned)fmin(round(turns), TURNS_MAX);
}

// Seconds of a byte, summed over `turns` samples of the roof: a stretch that is as long as the
// kernel's sees as much of what comes and goes, where the median of shorter ones would pass over
// it.
static double read_seconds(struct run_measure *measure, struct run_roof *read, unsigned turns,
                           bool *disturbed)
{
    double seconds = 0; // of a byte
    for (unsigned i = 0; i < turns; i++) {
        seconds += 1 / run_roof_sample(&measure->roofs, read, disturbed);
    }
    return seconds;
}

static unsigned roof_turns(const struct run_roof *read, const struct rotation *rotation)
{
    const struct ceiling *c = &read->ceiling;
    if (c->level != LEVEL_DRAM) {
        return 1; // its passes last as long as they must
    }
    double threads = team_threads(rotation->team);
    return run_rounds_roof_turns((double)rotation->per_sample *
                                     (double)work_stored_bytes(rotation->work),
                                 (double)c->piece_bytes * threads);
}

static void one_round(struct run_rounds *r, struct rotation *rotation, struct run_measure *measure,
                      struct run_roof *read, struct run_roof *compute)
{
    bool disturbed = false;
    struct team_sample timing;
    unsigned i = r->n;
    unsigned turns = roof_turns(read, rotation);
    double byte_seconds = read_seconds(measure, read, (turns + 1) / 2, &disturbed);
    r->full[i] = rotation_sample(&timing, rotation, LINEAR_FULL);
    disturbed = disturbed || timing.disturbed;
    byte_seconds += read_seconds(measure, read, turns / 2, &disturbed); // the rest after it
    r->read[i] = turns / byte_seconds;
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

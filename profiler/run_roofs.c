#include "profiler/run_roofs.h"

#include "profiler/result_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void run_roofs_init(struct run_roofs *out, struct session *session)
{
    memset(out, 0, sizeof *out);
    out->session = session;
    out->roofs[0].ceiling = session->read_dram;
    (void)snprintf(out->roofs[0].key, sizeof out->roofs[0].key, "%s",
                   memory_level_name(LEVEL_DRAM));
    out->count = 1;
}

static struct run_roof *find(struct run_roofs *roofs, enum ceiling_kind kind, const char *key)
{
    for (size_t i = 0; i < roofs->count; i++) {
        if (roofs->roofs[i].ceiling.kind == kind && strcmp(roofs->roofs[i].key, key) == 0) {
            return &roofs->roofs[i];
        }
    }
    return NULL;
}

static struct run_roof *next(struct run_roofs *roofs, const char *key, struct status *why)
{
    if (roofs->count == RUN_ROOFS_MAX) {
        *why = status_error(STATUS_UNAVAILABLE, "more than %d roofs", RUN_ROOFS_MAX);
        return NULL;
    }
    struct run_roof *roof = &roofs->roofs[roofs->count];
    (void)snprintf(roof->key, sizeof roof->key, "%s", key);
    return roof;
}

struct run_roof *run_roofs_read(struct run_roofs *roofs, enum memory_level level,
                                struct status *why)
{
    struct run_roof *roof = find(roofs, CEILING_STREAM, memory_level_name(level));
    *why = status_ok();
    if (roof != NULL || (roof = next(roofs, memory_level_name(level), why)) == NULL) {
        return roof;
    }
    *why = ceiling_choose_stream(&roof->ceiling, roofs->session->ceilings, level, "load");
    roofs->count += why->code == STATUS_OK;
    return why->code == STATUS_OK ? roof : NULL;
}

struct status run_roofs_choose_again(struct run_roofs *roofs, const char *level)
{
    struct run_roof *roof = find(roofs, CEILING_STREAM, level);
    if (roof == NULL) {
        return status_error(STATUS_UNAVAILABLE, "no read roof of '%s'", level);
    }
    struct ceiling chosen;
    TRY(ceiling_choose_stream(&chosen, roofs->session->ceilings, roof->ceiling.level, "load"));
    if (chosen.stream != roof->ceiling.stream) {
        roof->samples = (struct spread){0}; // samples are of the variant that the report names
        roof->core_hz = (struct spread){0};
    }
    roof->ceiling = chosen;
    return status_ok();
}

struct run_roof *run_roofs_compute(struct run_roofs *roofs, const char *dtype, struct status *why)
{
    struct run_roof *roof = find(roofs, CEILING_CHAIN, dtype);
    *why = status_ok();
    if (roof != NULL || (roof = next(roofs, dtype, why)) == NULL) {
        return roof;
    }
    *why = ceiling_choose_compute(&roof->ceiling, roofs->session->ceilings, dtype, NULL);
    roofs->count += why->code == STATUS_OK;
    return why->code == STATUS_OK ? roof : NULL;
}

double run_roof_sample(struct run_roofs *roofs, struct run_roof *roof, bool *disturbed)
{
    struct ceiling_sample sample;
    ceiling_sample(&sample, roofs->session->ceilings, &roof->ceiling);
    *disturbed = *disturbed || sample.timing.disturbed;
    if (!sample.timing.disturbed || roof->samples.n == 0) {
        spread_add(&roof->samples, sample.per_s);
        spread_add(&roof->core_hz, sample.core_hz);
    }
    return sample.per_s;
}

void run_roofs_sample_caches(struct run_roofs *roofs, unsigned samples)
{
    static const enum memory_level caches[] = {LEVEL_L1, LEVEL_L2, LEVEL_L3};
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        struct status why;
        struct run_roof *roof = run_roofs_read(roofs, caches[i], &why);
        bool disturbed = false;
        for (unsigned s = 0; roof != NULL && s < samples; s++) {
            (void)run_roof_sample(roofs, roof, &disturbed);
        }
    }
}

static struct reading reading_of(const struct spread *samples)
{
    size_t count = 0;
    double present[READING_SAMPLES_MAX];
    for (size_t i = 0; i < samples->n; i++) {
        if (isfinite(samples->values[i])) {
            present[count++] = samples->values[i];
        }
    }
    return count > 0 ? reading_of_samples(present, count, BETTER_HIGHER, ORIGIN_TIMED)
                     : reading_absent(ABSENT_UNSUPPORTED, "not measured in this kernel", NULL);
}

static struct status report_roof(struct result_machine *machine, struct run_roofs *roofs,
                                 const struct run_roof *roof)
{
    struct status no_memory = status_error(STATUS_SYSTEM, "no memory for the roofs");
    if (roof->ceiling.kind == CEILING_STREAM) {
        struct result_bandwidth *to =
            result_append(&machine->bandwidth, &machine->bandwidth_count, sizeof *to);
        if (to == NULL) {
            return no_memory;
        }
        ceiling_describe_stream(to, roofs->session->ceilings, &roof->ceiling);
        to->bytes_per_s = reading_of(&roof->samples);
        return status_ok();
    }
    struct result_compute *to =
        result_append(&machine->compute, &machine->compute_count, sizeof *to);
    if (to == NULL) {
        return no_memory;
    }
    ceiling_describe_compute(to, roofs->session->ceilings, &roof->ceiling);
    (void)snprintf(to->dtype, sizeof to->dtype, "%s", roof->key);
    to->flop_per_s = reading_of(&roof->samples);
    to->core_hz = reading_of(&roof->core_hz);
    return status_ok();
}

struct status run_roofs_report(struct result_machine *machine, struct run_roofs *roofs)
{
    free(machine->bandwidth);
    free(machine->compute);
    machine->bandwidth = NULL;
    machine->compute = NULL;
    machine->bandwidth_count = 0;
    machine->compute_count = 0;
    for (size_t i = 0; i < roofs->count; i++) {
        if (roofs->roofs[i].samples.n > 0) {
            TRY(report_roof(machine, roofs, &roofs->roofs[i]));
        }
    }
    return status_ok();
}

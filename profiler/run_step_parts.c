#include "profiler/run_step_parts.h"

#include "profiler/clock.h"
#include "profiler/machine_rates.h"
#include "profiler/run_step_estimate.h"
#include "profiler/step_parts.h"
#include "roofline/estimate.h"

#include <math.h>
#include <stdlib.h>

struct run_step_parts {
    struct step_parts *parts;
    const struct result_machine *roofs;
    struct limit limit;
    struct step step;
    enum dtype_id dtype;
};

void run_step_parts_close(struct run_step_parts *parts)
{
    if (parts != NULL) {
        step_parts_destroy(parts->parts);
        free(parts);
    }
}

// Half of the step's time.
static struct limit choosing_limit(const struct limit *limit, double seconds)
{
    struct limit sooner = *limit;
    double half = clock_seconds() + seconds / 2;
    if (seconds > 0 && (limit->until_seconds <= 0 || half < limit->until_seconds)) {
        sooner.until_seconds = half;
    }
    return sooner;
}

static struct status create(struct run_step_parts *out, const struct result_step *step,
                            const struct run_steps *steps, const struct limit *choosing)
{
    const struct step_request wanted = run_step_request(step, steps->request->kv_dtype);
    struct session *session = steps->measure->session;
    bool prefill = wanted.phase == STEP_PREFILL;
    struct step_parts_request request = {.team = session->team,
                                         .arena = &session->arena,
                                         .isa = session->isa,
                                         .limit = *choosing,
                                         .kv_format = run_line_format(wanted.kv_dtype),
                                         .decode = !prefill,
                                         .prefill = prefill};
    TRY(step_compute(&out->step, steps->model, &wanted));
    out->dtype = wanted.dtype;
    request.rows = (double)out->step.rows;
    request.formats[run_line_format(out->dtype)] = true;
    return step_parts_create(&out->parts, &request);
}

struct status run_step_parts_open(struct run_step_parts **out, const struct result_step *step,
                                  const struct result_run *run, const struct run_steps *steps,
                                  double seconds)
{
    const struct limit choosing = choosing_limit(&steps->measure->limit, seconds);
    const struct session *session = steps->measure->session;
    *out = NULL;
    if (dtype_find_recipe(step->dtype) == DTYPE_STORED ||
        session->arena.bytes < session_dram_bytes(session)) {
        return status_ok();
    }
    struct run_step_parts *parts = calloc(1, sizeof *parts);
    if (parts == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the parts of a step");
    }
    parts->roofs = &run->machine;
    parts->limit = steps->measure->limit;
    struct status status = create(parts, step, steps, &choosing);
    if (limit_is_why(&choosing, status)) { // the step itself comes first
        run_step_parts_close(parts);
        return limit_heed(&steps->measure->limit);
    }
    if (!status_is_ok(status) || parts->step.weight_bytes < (double)session_dram_bytes(session)) {
        run_step_parts_close(parts);
        return status;
    }
    *out = parts;
    return status_ok();
}

bool run_step_parts_estimate(double *operator_seconds, struct run_step_parts *parts)
{
    struct estimate_time time;
    struct result_machine machine = *parts->roofs; // borrows its roofs
    machine.weight_reads = NULL;
    machine.weight_read_count = 0;
    machine.part_times = NULL;
    machine.part_time_count = 0;
    bool known = step_parts_sample(parts->parts, &parts->limit) &&
                 status_is_ok(step_parts_report(&machine, parts->parts,
                                                step_parts_rounds(parts->parts) - 1, 1));
    if (known) {
        const struct estimate_rates rates =
            machine_estimate_rates(&machine, parts->dtype, &parts->step, RATE_VALUE);
        estimate_time(&time, &parts->step, &rates);
        for (int op = 0; op < MODEL_OPERATORS; op++) {
            operator_seconds[op] = time.operator_seconds[op];
        }
    }
    free(machine.weight_reads);
    free(machine.part_times);
    return known;
}

static double median_of(const double (*operator_seconds)[MODEL_OPERATORS], unsigned n,
                        enum model_operator op)
{
    double values[READING_SAMPLES_MAX];
    for (unsigned i = 0; i < n; i++) {
        values[i] = operator_seconds[i][op];
    }
    return reading_of_samples(values, n, BETTER_LOWER, ORIGIN_MODELLED).value;
}

struct status run_step_parts_fill(struct result_step *out,
                                  const double (*operator_seconds)[MODEL_OPERATORS],
                                  const double *seconds, unsigned n)
{
    double sums[READING_SAMPLES_MAX];
    double ratios[READING_SAMPLES_MAX];
    for (unsigned i = 0; i < n; i++) {
        sums[i] = 0;
        for (int op = 0; op < MODEL_OPERATORS; op++) {
            sums[i] += operator_seconds[i][op];
        }
        ratios[i] = sums[i] / seconds[i];
    }
    double sum = reading_of_samples(sums, n, BETTER_LOWER, ORIGIN_MODELLED).value;
    if (!isfinite(sum) || !(sum > 0)) {
        out->estimated_seconds =
            reading_absent(ABSENT_FAILED, "a part of the step was not measured", NULL);
        return status_ok();
    }
    out->estimated_seconds = reading_plain(sum, ORIGIN_MODELLED);
    out->estimates[0].ratio = reading_of_samples(ratios, n, BETTER_LOWER, ORIGIN_TIMED);
    out->estimate_count = 1;
    for (size_t i = 0; i < out->operator_count; i++) {
        struct result_step_operator *to = &out->operators[i];
        double op = median_of(operator_seconds, n, model_operator_find(to->name));
        to->estimated_seconds = op > 0 ? op : (double)NAN;
    }
    return status_ok();
}

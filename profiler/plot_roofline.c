#include "profiler/plot_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double nice_below(double value)
{
    double decade = pow(10, floor(log10(value)));
    double digit = value / decade;
    return decade * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

static double nice_above(double value)
{
    double below = nice_below(value);
    double digit = below / pow(10, floor(log10(below) + 1e-9));
    return value <= below * 1.0001 ? below : below * (digit < 1.5 ? 2 : digit < 3 ? 2.5 : 2);
}

static void include(double *low, double *high, double from, double to)
{
    if (plot_drawable(from)) {
        *low = fmin(*low, from);
    }
    if (plot_drawable(to)) {
        *high = fmax(*high, to);
    }
}

// Every point, every corner of roofs and some room beside them.
static void set_ranges(struct plot *plot, size_t run_count)
{
    double x_low = (double)INFINITY;
    double x_high = 0;
    double y_low = (double)INFINITY;
    double y_high = 0;
    for (size_t i = 0; i < plot->point_count; i++) {
        const struct plot_point *point = &plot->points[i];
        include(&x_low, &x_high, point->x / 1.6, point->x * 1.6);
        include(&y_low, &y_high, point->y / 2, point->y * 1.6);
    }
    for (unsigned run = 0; run < run_count; run++) {
        double top = plot_extreme_rate(plot, run, PLOT_COMPUTE, true);
        double fast = plot_extreme_rate(plot, run, PLOT_MEMORY, true);
        double slow = plot_extreme_rate(plot, run, PLOT_MEMORY, false);
        include(&x_low, &x_high, top / fast / 2.2, top / slow * 6);
        include(&y_low, &y_high, top / 45, top * 1.8);
        if (!plot_drawable(top)) {
            include(&x_low, &x_high, 0.1, 100);
            include(&y_low, &y_high, slow / 10, fast * 100);
        }
    }
    if (x_high <= 0) {
        include(&x_low, &x_high, 0.1, 100);
    }
    plot->x.low = nice_below(x_low);
    plot->x.high = nice_above(x_high);
    plot->y.low = nice_below(y_low);
    plot->y.high = nice_above(y_high);
}

static const char *fact(const struct result_fact *facts, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(facts[i].name, name) == 0) {
            return facts[i].text;
        }
    }
    return "";
}

static void set_words(struct plot *plot, const struct result_run *runs, size_t run_count)
{
    const struct result_run *run = &runs[0];
    const char *cpu = fact(run->host, run->host_count, "name");
    const char *what = run->model_name[0] != '\0' ? run->model_name : "Machine";
    if (run_count > 1) {
        (void)snprintf(plot->title, sizeof plot->title, "%zu runs", run_count);
    } else {
        (void)snprintf(plot->title, sizeof plot->title, "%.60s%s%.60s", what,
                       cpu[0] == '\0' ? "" : " on ", cpu);
    }
    const char *threads = fact(run->conditions, run->condition_count, "threads");
    char missing[64] = "";
    if (plot->skipped > 0) {
        (void)snprintf(missing, sizeof missing, ", %zu points without a figure not drawn",
                       plot->skipped);
    }
    (void)snprintf(plot->subtitle, sizeof plot->subtitle, "%s%s%.10s%s%s",
                   run_count == 1 ? threads : "",
                   run_count == 1 && threads[0] != '\0' ? " threads, " : "", run->started_at,
                   run->complete ? "" : ", incomplete", missing);
    (void)snprintf(plot->x.title, sizeof plot->x.title,
                   "arithmetic intensity (FLOP per byte of modelled DRAM traffic)");
    (void)snprintf(plot->y.title, sizeof plot->y.title, "performance (FLOP/s)");
    for (size_t i = 0; i < plot->point_count; i++) {
        const struct plot_point *point = &plot->points[i];
        if (runs[point->run].points[point->index].integer_operations) {
            (void)snprintf(plot->y.title, sizeof plot->y.title,
                           "performance (FLOP/s; integer OP/s of quantised formats)");
        }
    }
}

static void lay_out(struct plot *out, const struct result_run *runs, size_t run_count)
{
    set_ranges(out, run_count);
    plot_axis_ticks(&out->x);
    plot_axis_ticks(&out->y);
    plot_place_roofs(out);
    set_words(out, runs, run_count);
}

struct status plot_roofline(struct plot *out, const struct result_run *runs, size_t run_count,
                            const char *const *labels)
{
    memset(out, 0, sizeof *out);
    TRY(plot_add_roofs(out, runs, run_count));
    TRY(plot_add_points(out, runs, run_count, labels));
    if (out->roof_count == 0 && out->point_count == 0) {
        return status_error(STATUS_INVALID,
                            "nothing to draw: found no roof and no point with a figure");
    }
    lay_out(out, runs, run_count);
    return run_count == 1 ? plot_add_notes(out, &runs[0]) : status_ok();
}

struct status plot_hierarchy(struct plot *out, const struct result_run *runs, size_t run_count,
                             const char *const *labels)
{
    memset(out, 0, sizeof *out);
    TRY(plot_add_roofs(out, runs, run_count));
    TRY(plot_add_levels(out, runs, run_count, labels));
    lay_out(out, runs, run_count);
    size_t used = strlen(out->title);
    (void)snprintf(out->title + used, sizeof out->title - used, ", by level of memory");
    (void)snprintf(out->x.title, sizeof out->x.title,
                   "arithmetic intensity (FLOP per byte counted at the level of the colour)");
    return run_count == 1 ? plot_add_level_notes(out, &runs[0]) : status_ok();
}

#include "profiler/plot_parts.h"
#include "roofline/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const levels[] = {"L1", "L2", "L3", "DRAM"};
enum { LEVELS = sizeof levels / sizeof *levels };

bool plot_drawable(double value)
{
    return isfinite(value) && value > 0;
}

bool plot_present(const struct reading *reading)
{
    return reading_is_present(reading) && plot_drawable(reading->value);
}

static void add_roof(struct plot *plot, unsigned run, enum plot_role role, double rate,
                     const char *name, const char *unit)
{
    char text[UNITS_TEXT];
    struct plot_roof *roof = &plot->roofs[plot->roof_count++];
    *roof = (struct plot_roof){.role = role, .run = run, .rate = rate};
    (void)snprintf(roof->label, sizeof roof->label, "%s %s", name,
                   units_format_short(text, rate, unit));
}

// The read roof of a level: the best of its loads, at whatever number of threads.
static void add_memory_roof(struct plot *plot, unsigned run, const struct result_machine *machine,
                            const char *level)
{
    // Where the memory's speed drifts (neighbours), points of a good moment lie above the median.
    static const double drifts = 1.15;
    double best = 0;
    double fastest = 0;
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        const struct result_bandwidth *row = &machine->bandwidth[i];
        if (strcmp(row->level, level) == 0 && strcmp(row->kernel, "load") == 0 &&
            plot_present(&row->bytes_per_s)) {
            best = fmax(best, row->bytes_per_s.value);
            fastest = fmax(fastest, row->bytes_per_s.best);
        }
    }
    if (best > 0) {
        add_roof(plot, run, PLOT_MEMORY, best, level, "B/s");
    }
    if (best > 0 && strcmp(level, "DRAM") == 0 && fastest > drifts * best) {
        add_roof(plot, run, PLOT_MEMORY, fastest, "DRAM at its fastest", "B/s");
    }
}

static bool same_family(const struct result_compute *a, const struct result_compute *b)
{
    return strcmp(a->dtype, b->dtype) == 0 && strcmp(a->kind, b->kind) == 0;
}

static bool is_best_of_family(const struct result_machine *machine, size_t index)
{
    const struct result_compute *row = &machine->compute[index];
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *other = &machine->compute[i];
        if (i != index && same_family(row, other) && plot_present(&other->flop_per_s) &&
            (other->flop_per_s.value > row->flop_per_s.value ||
             (i < index && other->flop_per_s.value >= row->flop_per_s.value))) {
            return false;
        }
    }
    return true;
}

// By dtype; block formats by the integer class that their points were judged by.
static bool is_used(const struct result_run *run, const struct result_compute *row)
{
    for (size_t i = 0; i < run->point_count; i++) {
        const struct result_point *point = &run->points[i];
        bool judged = point->integer_operations && row->integer_operations &&
                      strcmp(point->roof_class, row->class_) == 0;
        if (judged || strcmp(point->dtype, row->dtype) == 0) {
            return true;
        }
    }
    return run->point_count == 0 || strcmp(row->dtype, "f32") == 0;
}

// One plateau for each kind and dtype that the points use: the best class, which is what
// measurement judges by.
static void add_compute_roofs(struct plot *plot, unsigned run, const struct result_run *result)
{
    const struct result_machine *machine = &result->machine;
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *row = &machine->compute[i];
        if (!plot_present(&row->flop_per_s) || !is_used(result, row) ||
            !is_best_of_family(machine, i)) {
            continue;
        }
        char name[64];
        const char *kind = strcmp(row->kind, "fma") == 0    ? "FMA"
                           : strcmp(row->kind, "gemm") == 0 ? "GEMM"
                                                            : row->kind;
        (void)snprintf(name, sizeof name, "%s %s", kind, row->dtype);
        add_roof(plot, run, PLOT_COMPUTE, row->flop_per_s.value, name,
                 row->integer_operations ? "OP/s" : "FLOP/s");
    }
}

struct status plot_add_roofs(struct plot *plot, const struct result_run *runs, size_t run_count)
{
    size_t most = 0;
    for (size_t i = 0; i < run_count; i++) {
        most += LEVELS + 1 + runs[i].machine.compute_count;
    }
    plot->roofs = calloc(most + 1, sizeof *plot->roofs);
    if (plot->roofs == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to lay out the plot");
    }
    for (unsigned i = 0; i < run_count; i++) {
        for (size_t level = 0; level < LEVELS; level++) {
            add_memory_roof(plot, i, &runs[i].machine, levels[level]);
        }
        add_compute_roofs(plot, i, &runs[i]);
    }
    return status_ok();
}

// Highest (or lowest) rate of a role in a run; NaN if it has none.
double plot_extreme_rate(const struct plot *plot, unsigned run, enum plot_role role, bool highest)
{
    double found = (double)NAN;
    for (size_t i = 0; i < plot->roof_count; i++) {
        const struct plot_roof *roof = &plot->roofs[i];
        if (roof->run == run && roof->role == role) {
            found = highest ? fmax(found, roof->rate) : fmin(found, roof->rate);
        }
    }
    return found;
}

static void place_roof(struct plot *plot, struct plot_roof *roof, double top, double fast)
{
    if (roof->role == PLOT_MEMORY) {
        roof->x0 = fmax(plot->x.low, plot->y.low / roof->rate);
        roof->x1 = fmin(plot->x.high, (plot_drawable(top) ? top : plot->y.high) / roof->rate);
        roof->y0 = roof->rate * roof->x0;
        roof->y1 = roof->rate * roof->x1;
    } else {
        roof->x0 = fmax(plot->x.low, plot_drawable(fast) ? roof->rate / fast : 0);
        roof->x1 = plot->x.high;
        roof->y0 = roof->y1 = roof->rate;
    }
}

void plot_place_roofs(struct plot *plot)
{
    size_t kept = 0;
    for (size_t i = 0; i < plot->roof_count; i++) {
        struct plot_roof *roof = &plot->roofs[i];
        double top = plot_extreme_rate(plot, roof->run, PLOT_COMPUTE, true);
        double fast = plot_extreme_rate(plot, roof->run, PLOT_MEMORY, true);
        double slow = plot_extreme_rate(plot, roof->run, PLOT_MEMORY, false);
        place_roof(plot, roof, top, fast);
        double strong = roof->role == PLOT_MEMORY ? slow : top;
        roof->main = fabs(roof->rate - strong) <= 0;
        plot->roofs[kept] = *roof;
        // A slope that ends left of the picture has no place in it.
        kept += roof->x1 > roof->x0 ? 1 : 0;
    }
    plot->roof_count = kept;
    plot->ridge = plot_extreme_rate(plot, 0, PLOT_COMPUTE, true) /
                  plot_extreme_rate(plot, 0, PLOT_MEMORY, false);
}

#include "profiler/fleet/ranking.h"
#include "profiler/result_build.h"
#include "roofline/outlier.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Units of both sets are in the same order.
static int compare_units(const struct profile_unit *a, const struct profile_unit *b)
{
    int order = strverscmp(a->host, b->host);
    return order != 0 ? order : strverscmp(a->cpus, b->cpus);
}

// map[u] = the unit of `before` that unit u is; SIZE_MAX: none.
static void match_units(size_t *map, const struct profile_set *now,
                        const struct profile_set *before)
{
    size_t b = 0;
    assert(map != NULL);
    for (size_t u = 0; u < now->unit_count; u++) {
        while (b < before->unit_count && compare_units(&before->units[b], &now->units[u]) < 0) {
            b++;
        }
        bool same = b < before->unit_count && compare_units(&before->units[b], &now->units[u]) == 0;
        map[u] = same ? b : SIZE_MAX;
    }
}

static size_t find_ceiling(const struct profile_set *set, const char *name)
{
    for (size_t i = 0; i < set->ceiling_count; i++) {
        if (strcmp(set->ceilings[i].name, name) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

// The cell of a unit among those of one ceiling, which are sorted by unit.
static const struct ranking_cell *find_cell(const struct ranking *r, size_t ceiling, size_t unit)
{
    size_t low = 0;
    size_t high = r->cell_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct ranking_cell *cell = &r->cells[middle];
        if (cell->ceiling < ceiling || (cell->ceiling == ceiling && cell->unit < unit)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found =
        low < r->cell_count && r->cells[low].ceiling == ceiling && r->cells[low].unit == unit;
    return found ? &r->cells[low] : NULL;
}

struct pair {
    const struct ranking_cell *now;
    const struct ranking_cell *before;
};

struct pairs {
    struct pair *list; // by ceiling, then unit
    size_t count;
};

static void find_pairs(struct pairs *out, const struct ranking *now, const struct ranking *before,
                       const size_t *units)
{
    size_t last = SIZE_MAX;
    size_t ceiling = SIZE_MAX;
    for (size_t i = 0; i < now->cell_count; i++) {
        const struct ranking_cell *cell = &now->cells[i];
        if (cell->ceiling != last) {
            last = cell->ceiling;
            ceiling = find_ceiling(before->set, now->set->ceilings[last].name);
        }
        if (ceiling == SIZE_MAX || units[cell->unit] == SIZE_MAX) {
            continue;
        }
        const struct ranking_cell *old = find_cell(before, ceiling, units[cell->unit]);
        if (old != NULL) {
            out->list[out->count++] = (struct pair){cell, old};
        }
    }
}

static double log_ratio(const struct pair *pair)
{
    return log(pair->now->value / pair->before->value);
}

static struct status add_drift(struct ranking *r, const struct pair *pair, double scale,
                               double limit)
{
    double change = log_ratio(pair);
    bool apart = pair->now->high < pair->before->low || pair->before->high < pair->now->low;
    double z = profile_ceiling_sign(&r->set->ceilings[pair->now->ceiling]) * change / scale;
    if (!apart || fabs(expm1(change)) < r->least_fraction || fabs(z) <= limit) {
        return status_ok(); // too few to know the scale: z is NaN, and the rest decides
    }
    struct ranking_drift *drift = result_append(&r->drifts, &r->drift_count, sizeof *drift);
    if (drift == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for what has drifted");
    }
    *drift = (struct ranking_drift){.unit = pair->now->unit,
                                    .ceiling = pair->now->ceiling,
                                    .before = pair->before->value,
                                    .now = pair->now->value,
                                    .z = z,
                                    .drifted = true};
    return status_ok();
}

// The pairs of one ceiling: how much its values change from run to run is known from all of them.
static struct status judge_pairs(struct ranking *r, double *scratch, const struct pair *pairs,
                                 size_t n)
{
    struct outlier_spread spread;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = log_ratio(&pairs[i]);
    }
    outlier_spread(&spread, scratch, scratch + n, n);
    double limit = n < OUTLIER_LIKE_MIN ? (double)NAN : outlier_limit(n, n);
    for (size_t i = 0; i < n; i++) {
        TRY(add_drift(r, &pairs[i], spread.scale, limit));
    }
    return status_ok();
}

static int compare_drifts(const void *a, const void *b)
{
    const struct ranking_drift *x = a;
    const struct ranking_drift *y = b;
    double p = fabs(log(x->now / x->before));
    double q = fabs(log(y->now / y->before));
    return (p < q) - (p > q);
}

static struct status judge_all(struct ranking *r, double *scratch, const struct pairs *pairs)
{
    for (size_t first = 0; first < pairs->count;) {
        size_t n = 1;
        while (first + n < pairs->count &&
               pairs->list[first + n].now->ceiling == pairs->list[first].now->ceiling) {
            n++;
        }
        TRY(judge_pairs(r, scratch, &pairs->list[first], n));
        first += n;
    }
    if (r->drift_count > 1) {
        qsort(r->drifts, r->drift_count, sizeof *r->drifts, compare_drifts);
    }
    return status_ok();
}

struct status ranking_compare(struct ranking *ranking, const struct profile_set *before)
{
    struct ranking old;
    struct pairs pairs = {.list = calloc(ranking->cell_count, sizeof *pairs.list)};
    size_t *units = calloc(ranking->set->unit_count, sizeof *units);
    double *scratch = calloc(2 * ranking->cell_count + 2, sizeof *scratch);
    struct status status = ranking_compute(&old, before, ranking->least_fraction);
    if (status.code == STATUS_OK && (pairs.list == NULL || units == NULL || scratch == NULL)) {
        status = status_error(STATUS_SYSTEM, "no memory to compare two runs");
    }
    if (status.code == STATUS_OK) {
        match_units(units, ranking->set, before);
        find_pairs(&pairs, ranking, &old, units);
        ranking->drift_compared = pairs.count;
        status = pairs.count > 0
                     ? judge_all(ranking, scratch, &pairs)
                     : status_error(STATUS_INVALID, "the earlier run has no unit and ceiling in "
                                                    "common with this one");
    }
    free(pairs.list);
    free(units);
    free(scratch);
    ranking_free(&old);
    return status;
}

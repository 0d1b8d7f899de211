#include "profiler/fleet/ranking.h"

#include "profiler/fleet/cause.h"
#include "profiler/result_build.h"
#include "roofline/outlier.h"
#include "roofline/stats.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS_MAX = 64 };

static struct status no_memory(void)
{
    return status_error(STATUS_SYSTEM, "no memory to rank the fleet");
}

static void fill_cell(struct ranking_cell *cell, const struct profile_sample *samples, size_t n)
{
    double values[REPEATS_MAX];
    n = n < REPEATS_MAX ? n : REPEATS_MAX;
    cell->unit = samples->unit;
    cell->ceiling = samples->ceiling;
    cell->repeats = (unsigned)n;
    cell->low = n == 1 ? samples->low : samples->value;
    cell->high = n == 1 ? samples->high : samples->value;
    for (size_t i = 0; i < n; i++) {
        values[i] = samples[i].value;
        cell->low = n == 1 ? cell->low : fmin(cell->low, values[i]);
        cell->high = n == 1 ? cell->high : fmax(cell->high, values[i]);
    }
    cell->value = outlier_middle(values, n);
    cell->z = (double)NAN;
}

// Samples are sorted by ceiling and unit: a run of equal ones is a cell.
static struct status make_cells(struct ranking *r)
{
    const struct profile_set *set = r->set;
    r->cells = calloc(set->sample_count, sizeof *r->cells);
    if (r->cells == NULL) {
        return no_memory();
    }
    for (size_t i = 0; i < set->sample_count;) {
        size_t n = 1;
        while (i + n < set->sample_count && set->samples[i + n].unit == set->samples[i].unit &&
               set->samples[i + n].ceiling == set->samples[i].ceiling) {
            n++;
        }
        fill_cell(&r->cells[r->cell_count++], &set->samples[i], n);
        i += n;
    }
    return status_ok();
}

// Cells first..first + count of one ceiling: those of one group make a column.
static struct status make_column(struct ranking *r, double *scratch, size_t first, size_t count,
                                 size_t group)
{
    struct outlier_spread spread;
    size_t n = 0;
    assert(scratch != NULL);
    for (size_t i = first; i < first + count; i++) {
        if (r->set->units[r->cells[i].unit].group == group) {
            scratch[n++] = log(r->cells[i].value);
        }
    }
    if (n == 0) {
        return status_ok();
    }
    struct ranking_column *column =
        result_append(&r->columns, &r->column_count, sizeof *r->columns);
    if (column == NULL) {
        return no_memory();
    }
    outlier_spread(&spread, scratch, scratch + n, n);
    *column = (struct ranking_column){.group = group,
                                      .ceiling = r->cells[first].ceiling,
                                      .units = n,
                                      .center = exp(spread.center),
                                      .spread_fraction = spread.scale,
                                      .limit = (double)NAN};
    double sign = profile_ceiling_sign(&r->set->ceilings[column->ceiling]);
    for (size_t i = first; i < first + count; i++) {
        struct ranking_cell *cell = &r->cells[i];
        if (r->set->units[cell->unit].group == group) {
            cell->column = r->column_count - 1;
            cell->deviation_fraction = cell->value / column->center - 1;
            cell->z = sign * (log(cell->value) - spread.center) / spread.scale;
        }
    }
    return status_ok();
}

static struct status make_columns(struct ranking *r)
{
    double *scratch = calloc(2 * r->set->unit_count + 2, sizeof *scratch);
    struct status status = scratch == NULL ? no_memory() : status_ok();
    for (size_t first = 0; first < r->cell_count && status.code == STATUS_OK;) {
        size_t count = 1;
        while (first + count < r->cell_count &&
               r->cells[first + count].ceiling == r->cells[first].ceiling) {
            count++;
        }
        for (size_t g = 0; g < r->set->group_count && status.code == STATUS_OK; g++) {
            status = make_column(r, scratch, first, count, g);
        }
        first += count;
    }
    free(scratch);
    return status;
}

// All values of a group are judged at once: the more there are, the rarer each false alarm.
static void set_limits(struct ranking *r)
{
    for (size_t g = 0; g < r->set->group_count; g++) {
        size_t tests = 0;
        for (size_t c = 0; c < r->column_count; c++) {
            bool judged = r->columns[c].group == g && !isnan(r->columns[c].spread_fraction);
            tests += judged ? r->columns[c].units : 0;
        }
        size_t last_units = 0;
        double last = 0;
        for (size_t c = 0; c < r->column_count; c++) {
            struct ranking_column *column = &r->columns[c];
            if (column->group == g && !isnan(column->spread_fraction)) {
                last = column->units == last_units ? last : outlier_limit(column->units, tests);
                last_units = column->units;
                column->limit = last;
            }
        }
    }
    for (size_t i = 0; i < r->cell_count; i++) {
        struct ranking_cell *cell = &r->cells[i];
        cell->outlier = fabs(cell->z) > r->columns[cell->column].limit &&
                        fabs(cell->deviation_fraction) >= r->least_fraction;
    }
}

static const char *guess(const struct ranking *r, const struct ranking_place *place)
{
    double loss[CEILING_CLASSES];
    for (unsigned c = 0; c < CEILING_CLASSES; c++) {
        double losses[STATS_MAX];
        size_t n = 0;
        for (size_t i = 0; i < place->count && n < STATS_MAX; i++) {
            const struct ranking_cell *cell = &r->cells[r->by_unit[place->first + i]];
            const struct profile_ceiling *ceiling = &r->set->ceilings[cell->ceiling];
            if ((unsigned)ceiling->class_ == c) {
                losses[n++] = -profile_ceiling_sign(ceiling) * cell->deviation_fraction;
            }
        }
        loss[c] = n == 0 ? (double)NAN : stats_median(losses, n);
    }
    return cause_guess(loss, r->least_fraction);
}

static void find_worst(struct ranking *r, struct ranking_place *place)
{
    place->worst = SIZE_MAX;
    place->worst_z = (double)NAN;
    for (size_t i = 0; i < place->count; i++) {
        size_t index = r->by_unit[place->first + i];
        const struct ranking_cell *cell = &r->cells[index];
        place->outliers += cell->outlier ? 1 : 0;
        if (!isnan(cell->z) && !(cell->z >= place->worst_z)) {
            place->worst = index;
            place->worst_z = cell->z;
        }
    }
    if (place->outliers > 0) {
        bool worse = r->cells[place->worst].outlier;
        (void)snprintf(place->cause, sizeof place->cause, "%s",
                       worse ? guess(r, place) : "faster than its like: another part or setting?");
        r->outlier_units++;
    }
}

static int compare_places(const void *a, const void *b)
{
    const struct ranking_place *x = a;
    const struct ranking_place *y = b;
    if ((x->outliers > 0) != (y->outliers > 0)) {
        return x->outliers > 0 ? -1 : 1;
    }
    if (isnan(x->worst_z) || isnan(y->worst_z)) {
        return isnan(x->worst_z) - isnan(y->worst_z);
    }
    int order = (x->worst_z > y->worst_z) - (x->worst_z < y->worst_z);
    return order != 0 ? order : (x->unit > y->unit) - (x->unit < y->unit);
}

// Cells by unit: a counting sort.
static struct status make_places(struct ranking *r)
{
    size_t units = r->set->unit_count;
    size_t *ends = calloc(units + 1, sizeof *ends);
    r->by_unit = calloc(r->cell_count, sizeof *r->by_unit);
    r->places = calloc(units, sizeof *r->places);
    if (ends == NULL || r->by_unit == NULL || r->places == NULL) {
        free(ends);
        return no_memory();
    }
    for (size_t i = 0; i < r->cell_count; i++) {
        ends[r->cells[i].unit + 1]++;
    }
    for (size_t u = 0; u < units; u++) {
        ends[u + 1] += ends[u];
        if (ends[u + 1] > ends[u]) {
            r->places[r->place_count++] =
                (struct ranking_place){.unit = u, .first = ends[u], .count = ends[u + 1] - ends[u]};
        }
    }
    for (size_t i = 0; i < r->cell_count; i++) {
        r->by_unit[ends[r->cells[i].unit]++] = i;
    }
    free(ends);
    for (size_t p = 0; p < r->place_count; p++) {
        find_worst(r, &r->places[p]);
    }
    qsort(r->places, r->place_count, sizeof *r->places, compare_places);
    return status_ok();
}

struct status ranking_compute(struct ranking *out, const struct profile_set *set,
                              double least_fraction)
{
    memset(out, 0, sizeof *out);
    out->set = set;
    out->least_fraction = least_fraction;
    TRY(make_cells(out));
    TRY(make_columns(out));
    set_limits(out);
    return make_places(out);
}

void ranking_free(struct ranking *ranking)
{
    free(ranking->cells);
    free(ranking->by_unit);
    free(ranking->columns);
    free(ranking->places);
    free(ranking->drifts);
    memset(ranking, 0, sizeof *ranking);
}

char *ranking_odd_fact(char *out, size_t bytes, const struct profile_set *set, size_t unit)
{
    const struct profile_unit *odd = &set->units[unit];
    out[0] = '\0';
    for (size_t f = 0; f < PROFILE_FACTS; f++) {
        const char *other = "";
        size_t same = 0;
        size_t others = 0;
        for (size_t u = 0; u < set->unit_count; u++) {
            bool like = set->units[u].profiles > 0 && set->units[u].group == odd->group;
            bool equal = like && strcmp(set->units[u].facts[f], odd->facts[f]) == 0;
            same += equal ? 1 : 0;
            others += like && !equal ? 1 : 0;
            other = like && !equal ? set->units[u].facts[f] : other;
        }
        // Most others have another value, and this one is rare.
        if (others > 0 && 10 * same < others) {
            (void)snprintf(out, bytes, "%s is %s, of others %s", profile_fact_names[f],
                           odd->facts[f][0] == '\0' ? "unknown" : odd->facts[f],
                           other[0] == '\0' ? "unknown" : other);
            return out;
        }
    }
    return out;
}

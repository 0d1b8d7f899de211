#include "profiler/fleet/ranking_report.h"
#include "roofline/units.h"

#include <math.h>
#include <string.h>

char *ranking_cell_text(char *out, const struct ranking *ranking, const struct ranking_cell *cell)
{
    char name[PROFILE_UNIT_NAME];
    (void)snprintf(out, RANKING_TEXT, "%s: %s %+.1f %%",
                   profile_unit_name(name, ranking->set, cell->unit),
                   ranking->set->ceilings[cell->ceiling].name, 100 * cell->deviation_fraction);
    return out;
}

static const char *unit_sign(const struct profile_ceiling *ceiling)
{
    static const struct {
        const char *unit;
        const char *sign;
    } signs[] = {{"bytes_per_s", "B/s"}, {"flop_per_s", "FLOP/s"}, {"hz", "Hz"}, {"seconds", "s"}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strcmp(signs[i].unit, ceiling->unit) == 0) {
            return signs[i].sign;
        }
    }
    return "";
}

static void print_finding(FILE *out, const struct ranking *r, const struct ranking_place *place)
{
    char text[RANKING_TEXT];
    char fact[256];
    (void)fprintf(out, "  %s%s%s\n", ranking_cell_text(text, r, &r->cells[place->worst]),
                  place->cause[0] == '\0' ? "" : ", ", place->cause);
    for (size_t i = 0; i < place->count; i++) {
        const struct ranking_cell *cell = &r->cells[r->by_unit[place->first + i]];
        if (cell->outlier && cell != &r->cells[place->worst]) {
            (void)fprintf(out, "      also %s %+.1f %%, z %+.1f\n",
                          r->set->ceilings[cell->ceiling].name, 100 * cell->deviation_fraction,
                          cell->z);
        }
    }
    if (ranking_odd_fact(fact, sizeof fact, r->set, place->unit)[0] != '\0') {
        (void)fprintf(out, "      %s\n", fact);
    }
}

static void print_findings(FILE *out, const struct ranking *r)
{
    if (r->outlier_units == 0) {
        bool judged = r->place_count > 0 && r->places[0].worst != SIZE_MAX;
        (void)fprintf(out,
                      judged ? "\nNo unit differs from its like.\n" : "\nNo unit was judged.\n");
        return;
    }
    (void)fprintf(out, "\n%zu unit%s from the like:\n", r->outlier_units,
                  r->outlier_units == 1 ? " differs" : "s differ");
    for (size_t p = 0; p < r->place_count && r->places[p].outliers > 0; p++) {
        print_finding(out, r, &r->places[p]);
    }
}

static void print_groups(FILE *out, const struct ranking *r)
{
    for (size_t g = 0; g < r->set->group_count; g++) {
        (void)fprintf(out, "\n%s: %zu unit%s\n", r->set->groups[g].name, r->set->groups[g].units,
                      r->set->groups[g].units == 1 ? "" : "s");
        bool judged = false;
        for (size_t c = 0; c < r->column_count; c++) {
            const struct ranking_column *column = &r->columns[c];
            char text[UNITS_TEXT];
            if (column->group != g) {
                continue;
            }
            const struct profile_ceiling *ceiling = &r->set->ceilings[column->ceiling];
            judged = judged || !isnan(column->limit);
            (void)fprintf(out, "  %-52.52s %12s", ceiling->name,
                          units_format_decimal(text, column->center, unit_sign(ceiling)));
            if (!isnan(column->limit)) {
                (void)fprintf(out, "  sigma %4.1f %%, limit z %.1f", 100 * column->spread_fraction,
                              column->limit);
            }
            (void)fputc('\n', out);
        }
        if (!judged) {
            (void)fprintf(out, "  not judged: fewer than 5 like units\n");
        }
    }
}

static void print_places(FILE *out, const struct ranking *r, size_t top)
{
    (void)fprintf(out, "\n%5s  %-32s %6s  %s\n", "place", "unit, worst first", "z",
                  "its worst ceiling");
    for (size_t p = 0; p < r->place_count && p < top; p++) {
        const struct ranking_place *place = &r->places[p];
        char name[PROFILE_UNIT_NAME];
        (void)profile_unit_name(name, r->set, place->unit);
        if (place->worst == SIZE_MAX) {
            (void)fprintf(out, "%5zu  %-32s %6s\n", p + 1, name, "-");
        } else {
            const struct ranking_cell *cell = &r->cells[place->worst];
            (void)fprintf(out, "%5zu  %-32s %+6.1f  %s %+.1f %%\n", p + 1, name, place->worst_z,
                          r->set->ceilings[cell->ceiling].name, 100 * cell->deviation_fraction);
        }
    }
    if (r->place_count > top) {
        (void)fprintf(out, "       and %zu more (--top)\n", r->place_count - top);
    }
}

static void print_drifts(FILE *out, const struct ranking *r)
{
    if (r->drift_compared > 0) {
        (void)fprintf(out, "\nAgainst the earlier run: %zu of %zu ceilings have drifted\n",
                      r->drift_count, r->drift_compared);
    }
    for (size_t i = 0; i < r->drift_count; i++) {
        char name[PROFILE_UNIT_NAME];
        const struct ranking_drift *drift = &r->drifts[i];
        (void)fprintf(out, "  %s: %s %+.1f %%\n", profile_unit_name(name, r->set, drift->unit),
                      r->set->ceilings[drift->ceiling].name,
                      100 * (drift->now / drift->before - 1));
    }
}

static void print_missing(FILE *out, const struct ranking *r)
{
    for (size_t u = 0; u < r->set->unit_count; u++) {
        const struct profile_unit *unit = &r->set->units[u];
        if (unit->profiles == 0 || unit->problem[0] != '\0') {
            char name[PROFILE_UNIT_NAME];
            (void)fprintf(out, "missing: %s: %s\n", profile_unit_name(name, r->set, u),
                          unit->problem[0] == '\0' ? "its profile is not complete" : unit->problem);
        }
    }
}

void ranking_print(FILE *out, const struct ranking *ranking, size_t top)
{
    (void)fprintf(out, "%zu units, %zu profiles, %zu ceilings\n", ranking->place_count,
                  ranking->set->profile_count, ranking->set->ceiling_count);
    print_groups(out, ranking);
    print_findings(out, ranking);
    print_places(out, ranking, top);
    print_drifts(out, ranking);
    print_missing(out, ranking);
}

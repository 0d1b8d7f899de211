#include "profiler/fleet/ranking_report.h"

#include <math.h>

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
    "<title>lmroof-fleet: ranking</title>\n<style>\n"
    "body{font:14px sans-serif;margin:1.5em;color:#222;background:#fff}\n"
    "table{border-collapse:collapse}td,th{padding:1px 5px;font-weight:normal;text-align:right}\n"
    "th.c{writing-mode:vertical-rl;transform:rotate(180deg);text-align:left;max-height:24em}\n"
    "td.u{text-align:left;white-space:nowrap}td.o{outline:2px solid #222;font-weight:bold}\n"
    ".key span{display:inline-block;padding:1px 8px}\n</style></head><body>\n";

static void put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        default:
            (void)fputc(*text, out);
        }
    }
}

// Orange is worse, blue is better (told apart by the colour-blind), white is as the others.
static void put_colour(FILE *out, double z)
{
    double share = isnan(z) ? 0 : fmin(fabs(z) / 8, 1);
    static const int worse[] = {217, 95, 2};
    static const int better[] = {44, 123, 182};
    const int *full = z < 0 ? worse : better;
    (void)fputs("#", out);
    for (int i = 0; i < 3; i++) {
        (void)fprintf(out, "%02x", (unsigned)lround(255 + share * (full[i] - 255)));
    }
}

static void put_cell(FILE *out, const struct ranking *r, const struct ranking_place *place,
                     size_t column)
{
    for (size_t i = 0; i < place->count; i++) {
        const struct ranking_cell *cell = &r->cells[r->by_unit[place->first + i]];
        if (cell->column == column) {
            char text[RANKING_TEXT];
            (void)fprintf(out, "<td%s style=\"background:", cell->outlier ? " class=\"o\"" : "");
            put_colour(out, cell->z);
            (void)fputs("\" title=\"", out);
            put_text(out, ranking_cell_text(text, r, cell));
            if (!isnan(cell->z)) {
                (void)fprintf(out, ", z %+.1f", cell->z);
            }
            (void)fprintf(out, "\">%+.0f</td>", 100 * cell->deviation_fraction);
            return;
        }
    }
    (void)fputs("<td>-</td>", out);
}

static void put_row(FILE *out, const struct ranking *r, const struct ranking_place *place,
                    size_t group)
{
    char name[PROFILE_UNIT_NAME];
    (void)fputs("<tr><td class=\"u\">", out);
    put_text(out, profile_unit_name(name, r->set, place->unit));
    (void)fputs("</td>", out);
    for (size_t c = 0; c < r->column_count; c++) {
        if (r->columns[c].group == group) {
            put_cell(out, r, place, c);
        }
    }
    (void)fputs("<td class=\"u\">", out);
    put_text(out, place->cause);
    (void)fputs("</td></tr>\n", out);
}

static void put_group(FILE *out, const struct ranking *r, size_t group)
{
    size_t rows = 0;
    (void)fputs("<h2>", out);
    put_text(out, r->set->groups[group].name);
    (void)fprintf(out, ": %zu units</h2>\n<table>\n<tr><th></th>", r->set->groups[group].units);
    for (size_t c = 0; c < r->column_count; c++) {
        if (r->columns[c].group == group) {
            (void)fputs("<th class=\"c\">", out);
            put_text(out, r->set->ceilings[r->columns[c].ceiling].name);
            (void)fputs("</th>", out);
        }
    }
    (void)fputs("<th></th></tr>\n", out);
    for (size_t p = 0; p < r->place_count; p++) {
        bool own = r->set->units[r->places[p].unit].group == group;
        if (own && rows++ < RANKING_ROWS) {
            put_row(out, r, &r->places[p], group);
        }
    }
    (void)fputs("</table>\n", out);
    if (rows > RANKING_ROWS) {
        (void)fprintf(out, "<p>The worst %d of %zu units.</p>\n", (int)RANKING_ROWS, rows);
    }
}

void ranking_print_html(FILE *out, const struct ranking *ranking)
{
    (void)fputs(head, out);
    (void)fprintf(out,
                  "<h1>%zu units, %zu of them outliers</h1>\n<p class=\"key\">Deviation from the "
                  "like units' middle in percent; colour is robust z: ",
                  ranking->place_count, ranking->outlier_units);
    for (int z = -8; z <= 8; z += 4) {
        (void)fputs("<span style=\"background:", out);
        put_colour(out, z);
        (void)fprintf(out, "\">%+d</span>", z);
    }
    (void)fputs(" (negative: worse). Framed: an outlier.</p>\n", out);
    for (size_t g = 0; g < ranking->set->group_count; g++) {
        if (ranking->set->groups[g].units > 0) {
            put_group(out, ranking, g);
        }
    }
    (void)fputs("</body></html>\n", out);
}

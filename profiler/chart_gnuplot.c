#include "profiler/chart_gnuplot.h"

#include "profiler/gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const terminals[] = {
    [PLOT_SVG] = "svg size 1280,800 dynamic noenhanced background 'white' "
                 "font 'DejaVu Sans,Helvetica,Arial,sans-serif,16' linewidth 1.4",
    [PLOT_PNG] = "pngcairo size 1920,1200 noenhanced background 'white' font 'DejaVu Sans,20' "
                 "linewidth 2 pointscale 1.6",
    [PLOT_PDF] = "pdfcairo size 12.8in,8in noenhanced background 'white' font 'DejaVu Sans,18' "
                 "linewidth 1.8 pointscale 1.1"};

// Okabe & Ito, "Color universal design" (2008), extended by darker mixtures, as of the roofline.
static const char *const palette[] = {"#0072B2", "#D55E00", "#009E73", "#8E44AD",
                                      "#E69F00", "#C2185B", "#56B4E9", "#7F6000",
                                      "#666666", "#00695C", "#3949AB", "#9E9D24"};
enum { PALETTE = sizeof palette / sizeof *palette };

static void command_text(FILE *s, const char *command, const char *text)
{
    (void)fprintf(s, "set %s ", command);
    gnuplot_quote(s, text);
    (void)fputs("\n", s);
}

static void write_number(FILE *s, double value)
{
    if (isfinite(value)) {
        (void)fprintf(s, " %.12g", value);
    } else {
        (void)fputs(" NaN", s);
    }
}

static void write_lines_data(FILE *s, const struct chart *chart)
{
    for (size_t i = 0; i < chart->series_count; i++) {
        const struct chart_series *series = &chart->series[i];
        (void)fprintf(s, "$data%zu << EOD\n", i);
        for (size_t p = 0; p < series->count; p++) {
            const struct chart_point *point = &series->points[p];
            bool known = isfinite(point->low) && isfinite(point->high);
            write_number(s, point->x);
            write_number(s, point->y);
            write_number(s, known ? point->low : point->y);
            write_number(s, known ? point->high : point->y);
            (void)fputs("\n", s);
        }
        (void)fputs("EOD\n", s);
    }
}

static double value_at(const struct chart_series *series, size_t category)
{
    for (size_t i = 0; i < series->count; i++) {
        if (fabs(series->points[i].x - (double)category) < 0.5) {
            return series->points[i].y;
        }
    }
    return 0;
}

static void write_bars_data(FILE *s, const struct chart *chart)
{
    (void)fputs("$bars << EOD\n", s);
    for (size_t c = 0; c < chart->category_count; c++) {
        (void)fprintf(s, "%zu", c);
        for (size_t i = 0; i < chart->series_count; i++) {
            write_number(s, value_at(&chart->series[i], c));
        }
        (void)fputs("\n", s);
    }
    (void)fputs("EOD\n", s);
}

static void write_category_ticks(FILE *s, const struct chart *chart)
{
    (void)fprintf(s, "set xtics %s(", chart->stacked ? "rotate by -35 " : "");
    for (size_t c = 0; c < chart->category_count; c++) {
        (void)fputs(c == 0 ? "" : ", ", s);
        gnuplot_quote(s, chart->categories[c]);
        (void)fprintf(s, " %zu", c);
    }
    (void)fputs(")\n", s);
}

enum { TICKS_MAX = 24 };

// The least x of all series above after; infinite if there is none.
static double next_x(const struct chart *chart, double after)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < chart->series_count; i++) {
        for (size_t p = 0; p < chart->series[i].count; p++) {
            double x = chart->series[i].points[p].x;
            least = x > after && x < least ? x : least;
        }
    }
    return least;
}

// Ticks where the points of any series are: batches and thread counts are few and known.
static void write_point_ticks(FILE *s, const struct chart *chart)
{
    double ticks[TICKS_MAX];
    size_t count = 0;
    double x = next_x(chart, -(double)INFINITY);
    while (isfinite(x)) {
        if (count == TICKS_MAX) {
            return;
        }
        ticks[count++] = x;
        x = next_x(chart, x);
    }
    (void)fputs("set xtics (", s);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(s, "%s%.12g", i == 0 ? "" : ", ", ticks[i]);
    }
    (void)fputs(")\n", s);
}

// "0.8", not "800 m": prefixes only where there are thousands.
static const char *y_format(const struct chart *chart)
{
    double most = 0;
    for (size_t i = 0; i < chart->series_count; i++) {
        for (size_t p = 0; p < chart->series[i].count; p++) {
            most = fmax(most, chart->series[i].points[p].y);
        }
    }
    return chart->stacked ? "%.1f" : most < 1000 ? "%g" : "%.1s %c";
}

// The plot command's words for series i.
static void write_series(FILE *s, const struct chart_series *series, size_t i, bool text)
{
    const char *comma = i == 0 ? "" : ", ";
    const char *colour = palette[i % PALETTE];
    if (text) {
        (void)fprintf(s, "%s$data%zu using 1:2 with %s title ", comma, i,
                      series->bound ? "dots" : "points");
    } else {
        (void)fprintf(s, "%s$data%zu using 1:2 with linespoints pt %d lc rgb '%s'%s title ", comma,
                      i, series->bound ? 6 : 7, colour, series->bound ? " dt 2" : "");
    }
    gnuplot_quote(s, series->label);
    if (!text && !series->bound) {
        (void)fprintf(s, ", $data%zu using 1:2:3:4 with yerrorbars pt 0 lc rgb '%s' notitle", i,
                      colour);
    }
}

static void write_lines(FILE *s, const struct chart *chart, bool text)
{
    write_lines_data(s, chart);
    (void)fprintf(s, "%sset offsets graph 0.05, graph 0.05, graph 0.1, 0\nset yrange [0:*]\n",
                  chart->log_x ? "set logscale x 2\n" : "");
    write_point_ticks(s, chart);
    (void)fputs("plot ", s);
    for (size_t i = 0; i < chart->series_count; i++) {
        write_series(s, &chart->series[i], i, text);
    }
    (void)fputs("\n", s);
}

static void write_bars(FILE *s, const struct chart *chart)
{
    write_bars_data(s, chart);
    (void)fprintf(s,
                  "set style data histograms\nset style histogram %s\nset style fill solid 0.85 "
                  "border lc rgb '#FFFFFF'\nset boxwidth 0.8\nset yrange [0:*]\n",
                  chart->stacked ? "rowstacked" : "clustered gap 1");
    write_category_ticks(s, chart);
    (void)fputs("plot ", s);
    for (size_t i = 0; i < chart->series_count; i++) {
        (void)fprintf(s, "%s$bars using %zu lc rgb '%s' title ", i == 0 ? "" : ", ", i + 2,
                      palette[i % PALETTE]);
        gnuplot_quote(s, chart->series[i].label);
    }
    (void)fputs("\n", s);
}

static struct status draw(FILE *out, const struct chart *chart, const char *terminal, bool text)
{
    FILE *script = tmpfile();
    if (script == NULL) {
        return status_error(STATUS_SYSTEM, "cannot make a temporary file for gnuplot: %s",
                            strerror(errno));
    }
    (void)fprintf(script,
                  "set terminal %s\nset encoding utf8\nset border 3\nset tics nomirror out\n"
                  "set format y '%s'\nset key outside right top vertical reverse Left\n%s",
                  terminal, y_format(chart), text ? "" : "set grid ytics lc rgb '#E6E6E6'\n");
    command_text(script, "title", chart->title);
    command_text(script, "xlabel", chart->x_title);
    command_text(script, "ylabel", chart->y_title);
    if (chart->bars) {
        write_bars(script, chart);
    } else {
        write_lines(script, chart, text);
    }
    struct status status = text ? gnuplot_run_text(out, script, "") : gnuplot_run(out, script);
    (void)fclose(script);
    return status;
}

struct status chart_render(FILE *out, const struct chart *chart, enum plot_target target)
{
    return draw(out, chart, terminals[target], false);
}

struct status chart_render_text(FILE *out, const struct chart *chart, struct plot_terminal terminal)
{
    char text[64];
    (void)snprintf(text, sizeof text, "dumb noenhanced size %u,28%s", terminal.columns,
                   terminal.colour ? " ansi" : " mono");
    return draw(out, chart, text, true);
}

#include "profiler/plot_gnuplot.h"

#include "profiler/gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Distinguishable for the colour-blind on white: Okabe & Ito, "Color universal design" (2008),
// extended by darker mixtures.
static const char *const palette[] = {"#0072B2", "#D55E00", "#009E73", "#8E44AD",
                                      "#E69F00", "#C2185B", "#56B4E9", "#7F6000",
                                      "#666666", "#00695C", "#3949AB", "#9E9D24"};
enum { PALETTE = sizeof palette / sizeof *palette };

// gnuplot's point types of the cairo and svg terminals: open, filled.
static const int point_types[PLOT_MARKS][2] = {
    [PLOT_CIRCLE] = {6, 7},    [PLOT_SQUARE] = {4, 5},     [PLOT_TRIANGLE] = {8, 9},
    [PLOT_DIAMOND] = {12, 13}, [PLOT_INVERTED] = {10, 11}, [PLOT_PENTAGON] = {14, 15}};

// The plot's frame, as fractions of the picture; labels of plateaus stand right of it.
static const struct {
    double left, right, bottom, top;
} frame = {0.085, 0.82, 0.125, 0.88};

static const struct {
    const char *terminal;
    double width, height; // in one unit: only their ratio is used
    double points;        // of its text
} canvases[] = {
    [PLOT_SVG] = {"svg size 1280,800 dynamic noenhanced background 'white' "
                  "font 'DejaVu Sans,Helvetica,Arial,sans-serif,16' linewidth 1.2",
                  1280, 800, 16},
    [PLOT_PNG] = {"pngcairo size 1920,1200 noenhanced background 'white' font 'DejaVu Sans,20' "
                  "linewidth 2 pointscale 1.6",
                  1920, 1200, 20},
    [PLOT_PDF] = {"pdfcairo size 12.8in,8in noenhanced background 'white' font 'DejaVu Sans,18' "
                  "linewidth 1.6 pointscale 1.1",
                  1280, 800, 18}};

// Sizes of text, as parts of the canvas's own.
static const double title_size = 1.3;
static const double small_size = 0.8;

static void font(FILE *s, enum plot_target target, double size)
{
    (void)fprintf(s, " font ',%.3g'\n", canvases[target].points * size);
}

static void label(FILE *s, const char *text, double x, double y, const char *style)
{
    (void)fputs("set label ", s);
    gnuplot_quote(s, text);
    (void)fprintf(s, " at %.12g,%.12g %s", x, y, style);
}

static void write_axis(FILE *s, const char *name, const struct plot_axis *axis)
{
    (void)fprintf(s, "set logscale %s\nset %srange [%.12g:%.12g]\nset %stics (", name, name,
                  axis->low, axis->high, name);
    for (size_t i = 0; i < axis->tick_count; i++) {
        const struct plot_tick *tick = &axis->ticks[i];
        (void)fputs(i == 0 ? "" : ", ", s);
        gnuplot_quote(s, tick->text);
        (void)fprintf(s, " %.12g %d", tick->value, tick->text[0] == '\0');
    }
    (void)fprintf(s, ")\nset %slabel ", name);
    gnuplot_quote(s, axis->title);
    (void)fputs("\n", s);
}

// Of a line of slope 1, in the picture's pixels.
static double slope_degrees(const struct plot *plot, enum plot_target target)
{
    double width = canvases[target].width * (frame.right - frame.left);
    double height = canvases[target].height * (frame.top - frame.bottom);
    double x_decades = log10(plot->x.high / plot->x.low);
    double y_decades = log10(plot->y.high / plot->y.low);
    return atan2(height / y_decades, width / x_decades) * 180 / acos(-1);
}

static bool is_overlay(const struct plot *plot)
{
    return plot->roof_count > 0 && plot->roofs[plot->roof_count - 1].run > 0;
}

static const char *roof_colour(const struct plot *plot, const struct plot_roof *roof)
{
    return is_overlay(plot) ? palette[roof->run % PALETTE] : roof->main ? "#222222" : "#8A8A8A";
}

static void write_roofs(FILE *s, const struct plot *plot, enum plot_target target)
{
    for (size_t i = 0; i < plot->roof_count; i++) {
        const struct plot_roof *roof = &plot->roofs[i];
        (void)fprintf(s, "set arrow from %.12g,%.12g to %.12g,%.12g nohead lw %s lc rgb '%s' %s\n",
                      roof->x0, roof->y0, roof->x1, roof->y1, roof->main ? "2.2" : "1.1",
                      roof_colour(plot, roof), roof->main ? "" : "dt 2");
    }
    if (isfinite(plot->ridge) && plot->ridge > plot->x.low && plot->ridge < plot->x.high) {
        char text[48];
        (void)snprintf(text, sizeof text, " ridge %.3g", plot->ridge);
        (void)fprintf(s,
                      "set arrow from %.12g, graph 0 to %.12g, graph 1 nohead lw 0.7 "
                      "lc rgb '#BBBBBB' dt 3 back\n",
                      plot->ridge, plot->ridge);
        label(s, text, plot->ridge, plot->y.high / 1.08, "left tc rgb '#777777'");
        font(s, target, small_size);
    }
}

// Along the slope, a little above it, near its left end.
static void write_slope_label(FILE *s, const struct plot *plot, const struct plot_roof *roof,
                              enum plot_target target)
{
    double share = 0.035 + 0.13 * (double)(roof->run % 3);
    double x = roof->x0 * pow(plot->x.high / plot->x.low, share);
    char style[128];
    (void)snprintf(style, sizeof style,
                   "left rotate by %.4g tc rgb '%s' offset character -0.9, character 0.85",
                   slope_degrees(plot, target), roof_colour(plot, roof));
    label(s, roof->label, x, x * roof->rate, style);
    font(s, target, small_size);
}

static int by_rate_down(const void *a, const void *b)
{
    const struct plot_roof *x = *(const struct plot_roof *const *)a;
    const struct plot_roof *y = *(const struct plot_roof *const *)b;
    return (x->rate < y->rate) - (x->rate > y->rate);
}

// Right of the frame, spread so that no two touch, each with a line to its roof.
static void write_plateau_labels(FILE *s, const struct plot *plot, enum plot_target target)
{
    const struct plot_roof *roofs[PLOT_KEYS_MAX];
    double ys[PLOT_KEYS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < plot->roof_count && n < PLOT_KEYS_MAX; i++) {
        if (plot->roofs[i].role == PLOT_COMPUTE) {
            roofs[n++] = &plot->roofs[i];
        }
    }
    qsort(roofs, n, sizeof *roofs, by_rate_down);
    for (size_t i = 0; i < n; i++) {
        ys[i] = roofs[i]->rate;
    }
    plot_spread(ys, n, pow(plot->y.high / plot->y.low, 0.036));
    for (size_t i = 0; i < n; i++) {
        const char *colour = roof_colour(plot, roofs[i]);
        (void)fprintf(s,
                      "set arrow from graph 1, first %.12g to graph 1.018, first %.12g nohead "
                      "lw 0.7 lc rgb '%s'\nset label ",
                      roofs[i]->rate, ys[i], colour);
        gnuplot_quote(s, roofs[i]->label);
        (void)fprintf(s, " at graph 1.022, first %.12g left tc rgb '%s'", ys[i], colour);
        font(s, target, small_size);
    }
}

static void write_notes(FILE *s, const struct plot *plot, enum plot_target target)
{
    for (size_t i = 0; i < plot->note_count; i++) {
        const struct plot_note *note = &plot->notes[i];
        label(s, note->text, note->x, note->y, "center tc rgb '#555555'");
        font(s, target, small_size);
    }
}

// Points of one colour, mark and filling share a data block.
static unsigned group_count(const struct plot *plot)
{
    return (unsigned)(plot->colour_key_count * plot->mark_key_count * 2);
}

static unsigned group_of(const struct plot *plot, const struct plot_point *point)
{
    return (point->colour * (unsigned)plot->mark_key_count + point->mark) * 2 +
           (point->hollow ? 1 : 0);
}

static bool group_is_empty(const struct plot *plot, unsigned group)
{
    for (size_t i = 0; i < plot->point_count; i++) {
        if (group_of(plot, &plot->points[i]) == group) {
            return false;
        }
    }
    return true;
}

static void write_group(FILE *s, const struct plot *plot, unsigned group)
{
    (void)fprintf(s, "$data%u << END\n", group);
    for (size_t i = 0; i < plot->point_count; i++) {
        const struct plot_point *p = &plot->points[i];
        if (group_of(plot, p) == group) {
            (void)fprintf(s, "%.12g %.12g %.12g\n", p->x, p->y,
                          isfinite(p->attainable) ? p->attainable : p->y);
        }
    }
    (void)fputs("END\n", s);
}

static void write_data(FILE *s, const struct plot *plot)
{
    for (unsigned group = 0; group < group_count(plot); group++) {
        if (!group_is_empty(plot, group)) {
            write_group(s, plot, group);
        }
    }
}

static const char *key_colour(const struct plot *plot, unsigned key)
{
    return palette[plot->colour_keys[key].colour % PALETTE];
}

// The predictions first and thin, so that the measured points lie on top. Points of several
// operators often coincide: each next one is drawn smaller, so that all stay visible.
static void write_series(FILE *s, const struct plot *plot, bool predictions)
{
    for (unsigned group = 0; group < group_count(plot); group++) {
        if (group_is_empty(plot, group)) {
            continue;
        }
        unsigned colour = group / 2 / (unsigned)plot->mark_key_count;
        unsigned mark = group / 2 % (unsigned)plot->mark_key_count;
        const char *rgb = key_colour(plot, colour);
        if (predictions) {
            (void)fprintf(s,
                          "$data%u using 1:2:(0):($3-$2) with vectors nohead lw 0.8 lc rgb '%s' "
                          "notitle, ",
                          group, rgb);
        } else {
            int type = point_types[plot->mark_keys[mark].mark][group % 2 == 1 ? 0 : 1];
            double size = 1.75 - 0.9 * (double)colour / (double)plot->colour_key_count;
            (void)fprintf(s, "$data%u using 1:2 with points pt %d ps %.3g lc rgb '%s' notitle, ",
                          group, type, size, rgb);
        }
    }
}

static void write_legend(FILE *s, const struct plot *plot)
{
    for (size_t i = 0; i < plot->colour_key_count; i++) {
        (void)fprintf(s, "NaN with points pt 7 ps 1.3 lc rgb '%s' title ",
                      key_colour(plot, (unsigned)i));
        gnuplot_quote(s, plot->colour_keys[i].label);
        (void)fputs(", ", s);
    }
    for (size_t i = 0; i < plot->mark_key_count; i++) {
        (void)fprintf(s, "NaN with points pt %d ps 1.3 lc rgb '#444444' title ",
                      point_types[plot->mark_keys[i].mark][1]);
        gnuplot_quote(s, plot->mark_keys[i].label);
        (void)fputs(", ", s);
    }
    bool hollow = false;
    for (size_t i = 0; i < plot->point_count; i++) {
        hollow = hollow || plot->points[i].hollow;
    }
    if (hollow) {
        (void)fputs("NaN with points pt 6 ps 1.3 lc rgb '#444444' title 'hollow: counters ran "
                    "< 95 %', ",
                    s);
    }
}

static void write_picture(FILE *s, const struct plot *plot, enum plot_target target)
{
    (void)fprintf(s,
                  "set terminal %s\nset encoding utf8\nset border 3 lw 1 lc rgb '#444444'\n"
                  "set lmargin at screen %g\nset rmargin at screen %g\n"
                  "set bmargin at screen %g\nset tmargin at screen %g\n"
                  "set grid xtics ytics lw 0.5 lc rgb '#E6E6E6' dt 1\nset tics nomirror out\n",
                  canvases[target].terminal, frame.left, frame.right, frame.bottom, frame.top);
    write_axis(s, "x", &plot->x);
    write_axis(s, "y", &plot->y);
    (void)fputs("set label ", s);
    gnuplot_quote(s, plot->title);
    (void)fprintf(s, " at screen %g,0.957 left tc rgb '#111111'", frame.left);
    font(s, target, title_size);
    (void)fputs("set label ", s);
    gnuplot_quote(s, plot->subtitle);
    (void)fprintf(s, " at screen %g,0.917 left tc rgb '#666666'", frame.left);
    font(s, target, small_size);
    write_roofs(s, plot, target);
    for (size_t i = 0; i < plot->roof_count; i++) {
        if (plot->roofs[i].role == PLOT_MEMORY) {
            write_slope_label(s, plot, &plot->roofs[i], target);
        }
    }
    write_plateau_labels(s, plot, target);
    write_notes(s, plot, target);
    write_data(s, plot);
    (void)fputs("set key inside bottom right opaque box lc rgb '#CCCCCC' samplen 0.6 spacing 1.15 "
                "width 1 maxrows 7 reverse Left",
                s);
    font(s, target, small_size);
    (void)fputs("plot ", s);
    write_series(s, plot, true);
    write_series(s, plot, false);
    write_legend(s, plot);
    (void)fputs("NaN notitle\n", s);
}

struct status plot_render(FILE *out, const struct plot *plot, enum plot_target target)
{
    FILE *script = tmpfile();
    if (script == NULL) {
        return status_error(STATUS_SYSTEM, "cannot make a temporary file for gnuplot: %s",
                            strerror(errno));
    }
    write_picture(script, plot, target);
    struct status status = gnuplot_run(out, script);
    (void)fclose(script);
    return status;
}

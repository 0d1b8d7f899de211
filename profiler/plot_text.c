#include "profiler/gnuplot.h"
#include "profiler/plot_gnuplot.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Colours of ANSI terminals that stand out on black and on white, by key.
static const char *const palette[] = {"#0087ff", "#ff5f00", "#00af5f", "#af5fff",
                                      "#d7af00", "#ff5f87", "#00afd7", "#af8700"};
enum { PALETTE = sizeof palette / sizeof *palette };

static unsigned rows_of(struct plot_terminal terminal)
{
    return terminal.columns * 3 / 10;
}

static void write_axis(FILE *s, const char *name, const struct plot_axis *axis)
{
    (void)fprintf(s, "set logscale %s\nset %srange [%.12g:%.12g]\nset %stics (", name, name,
                  axis->low, axis->high, name);
    bool first = true;
    for (size_t i = 0; i < axis->tick_count; i++) {
        const struct plot_tick *tick = &axis->ticks[i];
        if (tick->text[0] != '\0') {
            (void)fputs(first ? "" : ", ", s);
            gnuplot_quote(s, tick->text);
            (void)fprintf(s, " %.12g", tick->value);
            first = false;
        }
    }
    (void)fputs(")\n", s);
}

static void write_text(FILE *s, double x, double y, const char *text, const char *style)
{
    (void)fputs("set label ", s);
    gnuplot_quote(s, text);
    (void)fprintf(s, " at %.12g,%.12g front %s\n", x, y, style);
}

// Rates of instructions are dotted like the slopes, those of whole kernels and products are not.
static char roof_mark(const struct plot_roof *roof)
{
    bool of_kernels = roof->role != PLOT_MEMORY && (strncmp(roof->label, "kernel", 6) == 0 ||
                                                    strncmp(roof->label, "GEMM", 4) == 0);
    return roof->main ? '*' : of_kernels ? '-' : '.';
}

// A roof is a row of characters, two a column so that steep parts have no gap.
static void write_roof(FILE *s, const struct plot_roof *roof, unsigned columns)
{
    unsigned steps = 2 * columns;
    for (unsigned i = 0; i <= steps; i++) {
        double part = (double)i / (double)steps;
        (void)fprintf(s, "%.12g %.12g %c\n", roof->x0 * pow(roof->x1 / roof->x0, part),
                      roof->y0 * pow(roof->y1 / roof->y0, part), roof_mark(roof));
    }
}

static void write_roofs(FILE *s, const struct plot *plot, unsigned columns, bool strong)
{
    (void)fprintf(s, "$%s << END\n", strong ? "strong" : "weak");
    for (size_t i = 0; i < plot->roof_count; i++) {
        if (plot->roofs[i].main == strong) {
            write_roof(s, &plot->roofs[i], columns);
        }
    }
    (void)fputs("END\n", s);
}

// The first word of a memory roof's label stands where its slope enters the picture.
static void write_roof_names(FILE *s, const struct plot *plot)
{
    for (size_t i = 0; i < plot->roof_count; i++) {
        const struct plot_roof *roof = &plot->roofs[i];
        if (roof->role == PLOT_MEMORY) {
            char name[16];
            (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(roof->label, " "), roof->label);
            double part = pow(plot->y.high / plot->y.low, 0.09);
            write_text(s, roof->x0 * part, roof->y0 * part, name,
                       roof->main ? "right offset character -1,0" : "left offset character 1,0");
        } else if (roof->main) {
            write_text(s, plot->x.high, roof->y1, roof->label, "right offset character -1,1");
        }
    }
}

static void write_points(FILE *s, const struct plot *plot, unsigned colour)
{
    (void)fprintf(s, "$points%u << END\n", colour);
    for (size_t i = 0; i < plot->point_count; i++) {
        const struct plot_point *point = &plot->points[i];
        if (point->colour == colour) {
            (void)fprintf(s, "%.12g %.12g %c\n", point->x, point->y,
                          plot->colour_keys[colour].letter);
        }
    }
    (void)fputs("END\n", s);
}

// A cell of the grid of characters, from the left and from the top.
static double column_of(const struct plot *plot, double x, struct plot_terminal terminal)
{
    return terminal.columns * log(x / plot->x.low) / log(plot->x.high / plot->x.low);
}

static double row_of(const struct plot *plot, double y, struct plot_terminal terminal)
{
    return rows_of(terminal) * log(plot->y.high / y) / log(plot->y.high / plot->y.low);
}

// Characters are larger than a picture's text: a note that would touch one before it is left out.
static void write_notes(FILE *s, const struct plot *plot, struct plot_terminal terminal)
{
    for (size_t i = 0; i < plot->note_count; i++) {
        const struct plot_note *note = &plot->notes[i];
        bool clear = true;
        for (size_t j = 0; j < i; j++) {
            const struct plot_note *other = &plot->notes[j];
            double columns =
                fabs(column_of(plot, note->x, terminal) - column_of(plot, other->x, terminal));
            double rows = fabs(row_of(plot, note->y, terminal) - row_of(plot, other->y, terminal));
            clear = clear && (columns > (double)strlen(note->text) + 1 || rows > 1);
        }
        if (clear) {
            write_text(s, note->x, note->y, note->text, "center");
        }
    }
}

static void write_script(FILE *s, const struct plot *plot, struct plot_terminal terminal)
{
    (void)fprintf(s,
                  "set terminal dumb size %u,%u noenhanced %s\nset encoding utf8\nset border 3\n"
                  "set tics nomirror out\nunset key\nset lmargin 9\nset rmargin 2\n"
                  "set tmargin 0\nset bmargin 2\n",
                  terminal.columns, rows_of(terminal), terminal.colour ? "ansi256" : "mono");
    write_axis(s, "x", &plot->x);
    write_axis(s, "y", &plot->y);
    write_roofs(s, plot, terminal.columns, false);
    write_roofs(s, plot, terminal.columns, true);
    write_roof_names(s, plot);
    write_notes(s, plot, terminal);
    for (unsigned i = 0; i < plot->colour_key_count; i++) {
        write_points(s, plot, i);
    }
    (void)fputs("plot $weak using 1:2:3 with labels, $strong using 1:2:3 with labels", s);
    for (unsigned i = 0; i < plot->colour_key_count; i++) {
        (void)fprintf(s, ", $points%u using 1:2:3 with labels tc rgb '%s'", i,
                      palette[plot->colour_keys[i].colour % PALETTE]);
    }
    (void)fputs("\n", s);
}

static void write_wrapped(FILE *out, unsigned *column, unsigned columns, const char *text)
{
    unsigned length = (unsigned)strlen(text);
    if (*column > 0 && *column + length + 2 > columns) {
        (void)fputs("\n", out);
        *column = 0;
    }
    (void)fprintf(out, "%s%s", *column == 0 ? "    " : "  ", text);
    *column += length + (*column == 0 ? 4 : 2);
}

static void write_legend(FILE *out, const struct plot *plot, unsigned columns)
{
    char text[PLOT_TEXT + 8];
    unsigned column = 0;
    for (size_t i = 0; i < plot->colour_key_count; i++) {
        const struct plot_key *key = &plot->colour_keys[i];
        (void)snprintf(text, sizeof text, "%c %s", key->letter, key->label);
        write_wrapped(out, &column, columns, text);
    }
    (void)fputs(column > 0 ? "\n" : "", out);
    column = 0;
    for (size_t i = 0; i < plot->roof_count; i++) {
        const struct plot_roof *roof = &plot->roofs[i];
        (void)snprintf(text, sizeof text, "%c %s", roof_mark(roof), roof->label);
        write_wrapped(out, &column, columns, text);
    }
    if (isfinite(plot->ridge)) {
        (void)snprintf(text, sizeof text, "ridge at %.3g FLOP/byte", plot->ridge);
        write_wrapped(out, &column, columns, text);
    }
    (void)fputs("\n", out);
}

struct status plot_render_text(FILE *out, const struct plot *plot, struct plot_terminal terminal)
{
    FILE *script = tmpfile();
    if (script == NULL) {
        return status_error(STATUS_SYSTEM, "cannot make a temporary file for gnuplot: %s",
                            strerror(errno));
    }
    write_script(script, plot, terminal);
    char heading[2 * PLOT_TEXT];
    (void)snprintf(heading, sizeof heading, "  %s\n  %s\n", plot->y.title, plot->title);
    struct status status = gnuplot_run_text(out, script, heading);
    (void)fclose(script);
    if (status.code == STATUS_OK) {
        (void)fprintf(out, "    %s\n", plot->x.title);
        write_legend(out, plot, terminal.columns);
    }
    return status;
}

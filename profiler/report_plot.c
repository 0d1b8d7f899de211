#include "profiler/report_plot.h"

#include "profiler/chart_gnuplot.h"

static struct status draw_chart(FILE *out, const struct report_input *input,
                                const struct plot_terminal *terminal, enum plot_target target)
{
    struct chart chart;
    struct status status =
        chart_make(&chart, *input->picture, input->runs, input->run_count, input->labels);
    if (status.code == STATUS_OK) {
        status = terminal != NULL ? chart_render_text(out, &chart, *terminal)
                                  : chart_render(out, &chart, target);
    }
    chart_free(&chart);
    return status;
}

static struct status lay_out(struct plot *out, const struct report_input *input)
{
    return input->hierarchy ? plot_hierarchy(out, input->runs, input->run_count, input->labels)
                            : plot_roofline(out, input->runs, input->run_count, input->labels);
}

struct status report_plot(FILE *out, const struct report_input *input, enum plot_target target)
{
    struct plot plot;
    if (input->picture != NULL) {
        return draw_chart(out, input, NULL, target);
    }
    struct status status = lay_out(&plot, input);
    if (status.code == STATUS_OK) {
        status = plot_render(out, &plot, target);
    }
    plot_free(&plot);
    return status;
}

struct status report_plot_text(FILE *out, const struct report_input *input)
{
    const struct plot_terminal terminal = {.columns = input->columns == 0 ? 110 : input->columns,
                                           .colour = input->colour};
    struct plot plot;
    if (input->picture != NULL) {
        return draw_chart(out, input, &terminal, PLOT_SVG);
    }
    struct status status = lay_out(&plot, input);
    if (status.code == STATUS_OK) {
        status = plot_render_text(out, &plot, terminal);
    }
    plot_free(&plot);
    return status;
}

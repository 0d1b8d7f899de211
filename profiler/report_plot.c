#include "profiler/report_plot.h"

struct status report_plot(FILE *out, const struct report_input *input, enum plot_target target)
{
    struct plot plot;
    struct status status = plot_roofline(&plot, input->runs, input->run_count, input->labels);
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
    struct status status = plot_roofline(&plot, input->runs, input->run_count, input->labels);
    if (status.code == STATUS_OK) {
        status = plot_render_text(out, &plot, terminal);
    }
    plot_free(&plot);
    return status;
}

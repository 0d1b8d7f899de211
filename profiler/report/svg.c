#include "profiler/report_format.h"
#include "profiler/report_plot.h"

static struct status write_svg(FILE *out, const struct report_input *input)
{
    return report_plot(out, input, PLOT_SVG);
}

const struct report_format report_svg = {
    .name = "svg", .summary = "roofline as a vector picture for the web", .write = write_svg};

#include "profiler/report_format.h"
#include "profiler/report_plot.h"

static struct status write_png(FILE *out, const struct report_input *input)
{
    return report_plot(out, input, PLOT_PNG);
}

const struct report_format report_png = {
    .name = "png", .summary = "roofline as a picture, 1920 x 1200", .write = write_png};

#include "profiler/report_format.h"
#include "profiler/report_plot.h"

static struct status write_pdf(FILE *out, const struct report_input *input)
{
    return report_plot(out, input, PLOT_PDF);
}

const struct report_format report_pdf = {
    .name = "pdf", .summary = "roofline as a page for print", .write = write_pdf};

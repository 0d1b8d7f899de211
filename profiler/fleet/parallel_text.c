#include "profiler/fleet/parallel_report.h"
#include "roofline/units.h"

static void print_part(FILE *out, const char *name, double seconds, double whole)
{
    char text[UNITS_TEXT];
    (void)fprintf(out, "  %-36s %10s  %4.1f %%\n", name, units_format_decimal(text, seconds, "s"),
                  100 * seconds / whole);
}

static void print_ranks(FILE *out, const struct parallel_report *r)
{
    (void)fprintf(out, "\n%6s  %-20s %-12s %7s  %10s  %10s  %10s\n", "rank", "host", "cpus",
                  "threads", "read roof", "bytes", "by roofs");
    for (size_t i = 0; i < r->index->row_count; i++) {
        char rate[UNITS_TEXT];
        char bytes[UNITS_TEXT];
        char seconds[UNITS_TEXT];
        const struct parallel_rank *rank = &r->ranks[i];
        (void)fprintf(out, "%6zu  %-20s %-12s %7u  %10s  %10s  %10s\n", i, r->index->rows[i].host,
                      r->index->rows[i].cpus, rank->threads,
                      units_format_decimal(rate, rank->read_bytes_per_s, "B/s"),
                      units_format_decimal(bytes, rank->bytes, "B"),
                      units_format_decimal(seconds, rank->roof_seconds, "s"));
    }
}

void parallel_print(FILE *out, const struct parallel_report *report)
{
    const struct parallel_report *r = report;
    char seconds[UNITS_TEXT];
    char predicted[UNITS_TEXT];
    char bytes[UNITS_TEXT];
    char reduce[UNITS_TEXT];
    (void)fprintf(out, "%s, %s, decode, batch %llu, context %llu, over %zu ranks\n", r->model,
                  r->dtype, (unsigned long long)r->batch, (unsigned long long)r->context,
                  r->index->row_count);
    char roofs[UNITS_TEXT];
    (void)fprintf(
        out, "step %s, %.1f tokens/s; predicted from its parts %s (%+.1f %%), at the roofs %s\n",
        units_format_decimal(seconds, r->seconds.value, "s"), (double)r->batch / r->seconds.value,
        units_format_decimal(predicted, r->predicted_seconds, "s"),
        100 * (r->predicted_seconds / r->seconds.value - 1),
        units_format_decimal(roofs, r->roof_seconds, "s"));
    print_part(out, "work of a rank (mean)", r->shares.work_seconds, r->shares.seconds);
    print_part(out, "waiting for the slowest rank", r->shares.imbalance_seconds, r->shares.seconds);
    print_part(out, "network", r->shares.network_seconds, r->shares.seconds);
    (void)fprintf(out, "  %llu all-reduces of %s a step; one alone takes %s\n",
                  (unsigned long long)r->reduces, units_format_binary(bytes, r->reduce_bytes),
                  units_format_decimal(reduce, r->reduce_seconds.value, "s"));
    (void)fprintf(out, "Bound by: %s\n", parallel_bound_name(r->bound));
    print_ranks(out, r);
}

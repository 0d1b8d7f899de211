#include "profiler/probe_text.h"

#include "roofline/units.h"

#include <math.h>
#include <string.h>

// "55.6 GB/s  [53.9 .. 56.7]": value and interval, or a dash.
static void print_rate(FILE *out, const struct reading *reading, const char *unit)
{
    char value[UNITS_TEXT];
    char low[UNITS_TEXT];
    char high[UNITS_TEXT];
    if (!reading_is_present(reading)) {
        (void)fprintf(out, "  %14s  %-30s", "-", "");
        return;
    }
    (void)units_format_decimal(value, reading->value, unit);
    (void)units_format_decimal(low, reading->ci95_low, "");
    (void)units_format_decimal(high, reading->ci95_high, "");
    char interval[2 * UNITS_TEXT + 8];
    (void)snprintf(interval, sizeof interval, "[%s .. %s]", low, high);
    if (reading->n == 1) { // nothing to have an interval of
        (void)snprintf(interval, sizeof interval, "[one sample]");
    }
    (void)fprintf(out, "  %14s  %-22s", value, interval);
}

static void print_bandwidth(FILE *out, const struct result_machine *machine)
{
    char size[UNITS_TEXT];
    char page[UNITS_TEXT];
    if (machine->bandwidth_count > 0) {
        (void)fprintf(out, "\nBandwidth (bytes the program moves; median and 95 %% interval)\n");
    }
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        const struct result_bandwidth *row = &machine->bandwidth[i];
        (void)fprintf(out, "  %-4s %-9s", row->level, row->kernel);
        print_rate(out, &row->bytes_per_s, "B/s");
        (void)fprintf(out, "  %u thread%s, %s, %s, %s pages%s\n", row->threads,
                      row->threads == 1 ? "" : "s", row->variant,
                      units_format_binary(size, row->working_set_bytes),
                      row->page_bytes > 0 ? units_format_binary(page, row->page_bytes) : "?",
                      row->unsteady[0] != '\0' ? ", unsteady" : "");
    }
    if (reading_is_present(&machine->write_allocate_factor)) {
        (void)fprintf(out, "  bytes moved per byte that copy stores: %.2f [%.2f .. %.2f]\n",
                      machine->write_allocate_factor.value, machine->write_allocate_factor.ci95_low,
                      machine->write_allocate_factor.ci95_high);
    }
}

static void print_compute(FILE *out, const struct result_machine *machine)
{
    char text[UNITS_TEXT];
    if (machine->compute_count > 0) {
        (void)fprintf(out, "\nCompute\n");
    }
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *row = &machine->compute[i];
        (void)fprintf(out, "  %-5s %-9s", row->dtype, row->kind);
        print_rate(out, &row->flop_per_s, row->integer_operations ? "OP/s" : "FLOP/s");
        (void)fprintf(out, "  %u thread%s, %s%s%s", row->threads, row->threads == 1 ? "" : "s",
                      row->class_, row->shape[0] != '\0' ? ", " : "", row->shape);
        if (reading_is_present(&row->core_hz)) {
            (void)fprintf(out, ", at %s", units_format_decimal(text, row->core_hz.value, "Hz"));
        }
        if (reading_is_present(&row->theoretical_flop_per_s)) {
            (void)fprintf(out, ", %.0f %% of theory",
                          100 * row->flop_per_s.value / row->theoretical_flop_per_s.value);
        }
        (void)fprintf(out, "%s%s\n", row->verified ? "" : ", NOT VERIFIED",
                      row->unsteady[0] != '\0' ? ", unsteady" : "");
    }
}

static void print_latency(FILE *out, const struct result_machine *machine)
{
    char text[UNITS_TEXT];
    if (machine->latency_count > 0) {
        (void)fprintf(out, "\nLatency of a dependent load\n");
    }
    for (size_t i = 0; i < machine->latency_count; i++) {
        const struct result_latency *row = &machine->latency[i];
        (void)fprintf(out, "  %-14s", row->level);
        print_rate(out, &row->seconds, "s");
        (void)fprintf(out, "  %s pages%s\n",
                      row->page_bytes > 0 ? units_format_binary(text, row->page_bytes) : "?",
                      row->unsteady[0] != '\0' ? ", unsteady" : "");
    }
    for (size_t i = 0; i < machine->loaded_latency_count; i++) {
        const struct result_loaded_latency *row = &machine->loaded_latency[i];
        (void)fprintf(out, "  DRAM, loaded  ");
        print_rate(out, &row->seconds, "s");
        (void)fprintf(out, "  while %u other thread%s read %s\n", row->threads,
                      row->threads == 1 ? "" : "s",
                      units_format_decimal(text, row->bytes_per_s.value, "B/s"));
    }
}

static void print_scaling(FILE *out, const struct result_machine *machine)
{
    if (machine->scaling_count > 0) {
        (void)fprintf(out, "\nDRAM load by threads\n");
    }
    for (size_t i = 0; i < machine->scaling_count; i++) {
        (void)fprintf(out, "  %-14u", machine->scaling[i].threads);
        print_rate(out, &machine->scaling[i].bytes_per_s, "B/s");
        (void)fprintf(out, "\n");
    }
    if (machine->scaling_count > 0 && reading_is_present(&machine->saturating_threads)) {
        (void)fprintf(out, "  %.0f threads reach 95 %% of it\n", machine->saturating_threads.value);
    } else if (machine->scaling_count > 0) {
        (void)fprintf(out, "  no knee: %s\n", machine->saturating_threads.absence.text);
    }
    if (machine->numa_count > 1) {
        (void)fprintf(out, "\nNodes: threads of a row, memory of a column\n");
    }
    for (size_t i = 0; i < machine->numa_count && machine->numa_count > 1; i++) {
        (void)fprintf(out, "  %4u -> %-4u  ", machine->numa[i].from, machine->numa[i].to);
        print_rate(out, &machine->numa[i].bytes_per_s, "B/s");
        (void)fprintf(out, "\n");
    }
}

static size_t count_code(const struct result_run *run, const char *code, size_t before)
{
    size_t count = 0;
    for (size_t i = 0; i < before; i++) {
        count += strcmp(run->warnings[i].code, code) == 0 ? 1 : 0;
    }
    return count;
}

// Of one code the first two in full and then how many more there are: the document has them all.
void probe_print_warnings(FILE *out, const struct result_run *run)
{
    enum { IN_FULL = 2 };
    if (run->warning_count > 0) {
        (void)fprintf(out, "\nWarnings\n");
    }
    for (size_t i = 0; i < run->warning_count; i++) {
        const struct result_warning *warning = &run->warnings[i];
        size_t before = count_code(run, warning->code, i);
        size_t all = count_code(run, warning->code, run->warning_count);
        if (before < IN_FULL) {
            (void)fprintf(out, "  %s: %s\n", warning->code, warning->text);
        } else if (before == IN_FULL) {
            (void)fprintf(out, "  %s: %zu more like these\n", warning->code, all - IN_FULL);
        }
        bool last = before + 1 == (all < IN_FULL ? all : IN_FULL);
        if (last && warning->try_[0] != '\0') {
            (void)fprintf(out, "      try: %s\n", warning->try_);
        }
    }
}

// What more threads bring, before all tables.
static void print_growth(FILE *out, const struct result_machine *machine)
{
    const struct result_scaling *few = NULL;
    const struct result_scaling *many = NULL;
    for (size_t i = 0; i < machine->scaling_count; i++) {
        const struct result_scaling *row = &machine->scaling[i];
        if (!reading_is_present(&row->bytes_per_s)) {
            continue;
        }
        few = few == NULL || row->threads < few->threads ? row : few;
        many = many == NULL || row->threads > many->threads ? row : many;
    }
    if (few == NULL || many->threads == few->threads) {
        return;
    }
    char low[UNITS_TEXT];
    char high[UNITS_TEXT];
    (void)fprintf(out, "threads: %u read DRAM at %s, %u at %s, %.2f times as fast; ", few->threads,
                  units_format_decimal(low, few->bytes_per_s.value, "B/s"), many->threads,
                  units_format_decimal(high, many->bytes_per_s.value, "B/s"),
                  many->bytes_per_s.value / few->bytes_per_s.value);
    if (reading_is_present(&machine->saturating_threads)) {
        (void)fprintf(out, "decode gains little beyond %.0f\n", machine->saturating_threads.value);
    } else {
        (void)fprintf(out, "no knee: more would still bring more\n");
    }
}

void probe_print(FILE *out, const struct result_run *run)
{
    for (size_t i = 0; i < run->host_count; i++) {
        if (strcmp(run->host[i].name, "name") == 0) {
            (void)fprintf(out, "%s\n", run->host[i].text);
        }
    }
    print_growth(out, &run->machine);
    print_bandwidth(out, &run->machine);
    print_compute(out, &run->machine);
    print_latency(out, &run->machine);
    print_scaling(out, &run->machine);
    probe_print_warnings(out, run);
}

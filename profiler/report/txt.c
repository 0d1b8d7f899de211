#include "profiler/report_missing.h"
#include "profiler/report_plot.h"
#include "profiler/report_table.h"
#include "roofline/units.h"

#include <stdlib.h>
#include <string.h>

// ANSI sequences for the few places that are coloured; empty where colour is off.
static const char *style(const struct report_input *input, const char *sequence)
{
    return input->colour ? sequence : "";
}

static void write_heading(FILE *out, const struct report_input *input, const char *text)
{
    (void)fprintf(out, "\n%s%s%s\n", style(input, "\033[1m"), text, style(input, "\033[0m"));
}

static void write_try(FILE *out, const char *indent, const char *text)
{
    if (text[0] != '\0') {
        (void)fprintf(out, "%stry: %s\n", indent, text);
    }
}

static void write_cell(FILE *out, const struct report_column *column, const char *text)
{
    char cut[REPORT_CELL];
    (void)snprintf(cut, sizeof cut, "%.*s", (int)column->width, text);
    int width = (int)column->width;
    (void)fprintf(out, column->left ? " %-*s" : " %*s", width, cut);
}

static void write_row(FILE *out, const struct result_point *point)
{
    (void)fputs(point->disturbed ? "!" : " ", out);
    for (const struct report_column *column = report_columns; column->title != NULL; column++) {
        char text[REPORT_CELL];
        column->text(text, point);
        write_cell(out, column, text);
    }
    (void)fputs("\n", out);
}

static void write_titles(FILE *out, const struct result_run *run,
                         const struct result_point *section)
{
    (void)fputs(" ", out);
    for (const struct report_column *column = report_columns; column->title != NULL; column++) {
        write_cell(out, column, report_title(column, run, section));
    }
    (void)fputs("\n", out);
}

static void write_steps(FILE *out, const struct result_run *run, const struct result_point *section)
{
    char text[REPORT_HEADING];
    for (size_t i = 0; i < run->step_count; i++) {
        if (report_step_text(text, &run->steps[i], section)) {
            (void)fprintf(out, "  whole step, %s\n", text);
        }
    }
}

static void write_crossovers(FILE *out, const struct result_run *run)
{
    for (size_t i = 0; i < run->crossover_count; i++) {
        char text[REPORT_HEADING];
        report_crossover_text(text, &run->crossovers[i]);
        (void)fprintf(out, "%s  %s\n", i == 0 ? "\n" : "", text);
    }
}

static void write_sweeps(FILE *out, const struct result_run *run)
{
    const char *heading = "\n  Threads (knee: more bring less than 5 %)\n";
    for (size_t i = 0; i < run->sweep_count; i++) {
        char text[REPORT_SWEEP];
        if (report_sweep_text(text, &run->sweeps[i])) {
            (void)fprintf(out, "%s    %s\n", heading, text);
            heading = "";
        }
    }
}

// Points without a figure have no row: one line for each reason.
static void write_missing(FILE *out, const struct result_point *const *order, size_t count)
{
    const char *heading = "\n  Not measured:\n";
    for (size_t i = 0; i < count; i++) {
        char text[REPORT_LINE];
        if (report_missing_text(text, order, count, i)) {
            const struct absence *why = &order[i]->seconds.absence;
            (void)fprintf(out, "%s    %s\n      %s\n", heading, text, why->text);
            write_try(out, "      ", why->try_);
            heading = "";
        }
    }
}

static void write_sections(FILE *out, const struct report_input *input,
                           const struct result_run *run, const struct result_point *const *order)
{
    const struct result_point *before = NULL; // the row above
    for (size_t i = 0; i < run->point_count; i++) {
        bool measured = reading_is_present(&order[i]->seconds);
        if (measured && (before == NULL || !report_same_section(before, order[i]))) {
            char heading[REPORT_HEADING];
            report_section_heading(heading, run, order[i]);
            write_heading(out, input, heading);
            write_titles(out, run, order[i]);
        } else if (measured && order[i]->batch != before->batch) {
            (void)fputs("\n", out);
        }
        if (measured) {
            write_row(out, order[i]);
            before = order[i];
        }
        bool last = i + 1 == run->point_count || !report_same_section(order[i], order[i + 1]);
        if (last && before != NULL && report_same_section(before, order[i])) {
            write_steps(out, run, order[i]);
        }
    }
}

static struct status write_points(FILE *out, const struct report_input *input,
                                  const struct result_run *run)
{
    const struct result_point **order = report_order(run);
    if (order == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to sort the table");
    }
    write_sections(out, input, run, order);
    write_missing(out, order, run->point_count);
    free(order);
    write_sweeps(out, run);
    write_crossovers(out, run);
    if (run->point_count > 0) {
        (void)fputs(
            "\n  AI, bytes/s: of modelled DRAM bytes (weights and KV cache). of it: fraction "
            "of the roof. m, k: the same call\n  without arithmetic and without memory. "
            "-: absent; the JSON document says why.\n",
            out);
        if (report_some_disturbed(run)) {
            (void)fputs("  ! at the left: other work disturbed the row; its time is too long.\n",
                        out);
        }
    }
    return status_ok();
}

static void write_bandwidth(FILE *out, const struct result_machine *machine)
{
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        const struct result_bandwidth *row = &machine->bandwidth[i];
        char rate[REPORT_CELL];
        char set[UNITS_TEXT];
        report_rate_text(rate, &row->bytes_per_s, "B/s");
        (void)fprintf(out, "  %-5s %-9s %-32s %u threads, %s in all, %s%s\n", row->level,
                      row->kernel, rate, row->threads,
                      units_format_binary(set, row->working_set_bytes), row->variant,
                      row->unsteady[0] != '\0' ? ", unsteady" : "");
    }
}

static void write_words(FILE *out, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (words[i][0] != '\0') {
            (void)fprintf(out, ", %s", words[i]);
        }
    }
}

static void write_compute(FILE *out, const struct result_machine *machine)
{
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *row = &machine->compute[i];
        char rate[REPORT_CELL];
        char clock[UNITS_TEXT] = "clock unknown";
        report_rate_text(rate, &row->flop_per_s, row->integer_operations ? "OP/s" : "FLOP/s");
        if (reading_is_present(&row->core_hz)) {
            units_format_decimal(clock, row->core_hz.value, "Hz");
        }
        (void)fprintf(out, "  %-5s %-9s %-32s %u threads, %s", row->dtype, row->kind, rate,
                      row->threads, clock);
        write_words(out, (const char *const[]){row->class_, row->shape, row->backend}, 3);
        (void)fprintf(out, "%s%s\n", row->verified ? "" : " (not verified)",
                      row->unsteady[0] != '\0' ? ", unsteady" : "");
    }
}

static void write_latency(FILE *out, const struct result_machine *machine)
{
    for (size_t i = 0; i < machine->latency_count; i++) {
        const struct result_latency *row = &machine->latency[i];
        char time[REPORT_CELL];
        char set[UNITS_TEXT];
        report_rate_text(time, &row->seconds, "s");
        (void)fprintf(out, "  %-5s %-9s %-32s %s%s\n", row->level, "latency", time,
                      units_format_binary(set, row->working_set_bytes),
                      row->unsteady[0] != '\0' ? ", unsteady" : "");
    }
}

static void write_facts(FILE *out, const struct report_input *input, const char *heading,
                        const struct result_fact *facts, size_t count)
{
    if (count > 0) {
        write_heading(out, input, heading);
    }
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "  %-25s %s\n", facts[i].name, facts[i].text);
    }
}

static void write_warnings(FILE *out, const struct report_input *input,
                           const struct result_run *run)
{
    if (run->warning_count > 0) {
        write_heading(out, input, "Warnings");
    }
    for (size_t i = 0; i < run->warning_count; i++) {
        const struct result_warning *warning = &run->warnings[i];
        (void)fprintf(out, "  %s%s%s: %s\n", style(input, "\033[33m"), warning->code,
                      style(input, "\033[0m"), warning->text);
        write_try(out, "    ", warning->try_);
    }
}

// What a reader must know first, and again last: the figures between are many.
static void write_state(FILE *out, const struct report_input *input, const struct result_run *run,
                        const char *before)
{
    char text[REPORT_LINE];
    if (report_incomplete_text(text, run)) {
        (void)fprintf(out, "%s%s%s%s\n", before, style(input, "\033[1;31m"), text,
                      style(input, "\033[0m"));
        write_try(out, "  ", report_incomplete_try(run));
        before = "";
    }
    if (report_disturbed_text(text, run)) {
        (void)fprintf(out, "%s%s%s%s\n", before, style(input, "\033[1;31m"), text,
                      style(input, "\033[0m"));
    }
}

static void write_claim(FILE *out, const struct report_input *input, size_t index)
{
    const struct result_claim *claim = &input->runs[index].claim;
    if (claim->claim[0] == '\0') {
        return;
    }
    if (input->run_count > 1) {
        (void)fprintf(out, "%s\n", input->labels[index]);
    }
    (void)fprintf(out, "Claim:   %s\nVerdict: %s%s%s\n         %s\n", claim->claim,
                  style(input, "\033[1m"), claim->verdict, style(input, "\033[0m"), claim->finding);
    for (size_t i = 0; i < claim->evidence_count; i++) {
        const struct verdict_evidence *evidence = &claim->evidence[i];
        (void)fprintf(out, "  %-19s%s %s\n%-23sexpected %s\n", evidence->test,
                      evidence->passed ? "+" : "-", evidence->found, "", evidence->expected);
    }
    (void)fputs("\n", out);
}

static struct status write_run(FILE *out, const struct report_input *input, size_t index)
{
    const struct result_run *run = &input->runs[index];
    if (input->run_count > 1) {
        write_heading(out, input, input->labels[index]);
    }
    TRY(write_points(out, input, run));
    if (run->machine.bandwidth_count + run->machine.latency_count + run->machine.compute_count >
        0) {
        write_heading(out, input,
                      "Ceilings (95 % interval of the median; bandwidth in user bytes)");
    }
    write_bandwidth(out, &run->machine);
    write_latency(out, &run->machine);
    write_compute(out, &run->machine);
    write_facts(out, input, "Host", run->host, run->host_count);
    write_facts(out, input, "Conditions", run->conditions, run->condition_count);
    write_warnings(out, input, run);
    write_state(out, input, run, "\n");
    return status_ok();
}

static struct status write_txt(FILE *out, const struct report_input *input)
{
    for (size_t i = 0; i < input->run_count; i++) {
        write_state(out, input, &input->runs[i], "");
        write_claim(out, input, i);
    }
    struct status drawn = report_plot_text(out, input);
    if (drawn.code != STATUS_OK) {
        // The tables do not need the drawing.
        (void)fprintf(out, "(%s)\n", drawn.detail);
    }
    for (size_t i = 0; i < input->run_count; i++) {
        TRY(write_run(out, input, i));
    }
    return status_ok();
}

const struct report_format report_txt = {
    .name = "txt", .summary = "tables and the roofline in characters", .write = write_txt};

#include "profiler/report_format.h"
#include "profiler/report_missing.h"
#include "profiler/report_table.h"

#include <stdlib.h>
#include <string.h>

// Texts come from files: nothing in them may become markup.
static void write_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) {
            (void)fputc(' ', out);
        } else {
            (void)fprintf(out, strchr("\\`*_{}[]<>|#&~$!", c) != NULL ? "\\%c" : "%c", c);
        }
    }
}

static void write_titles(FILE *out, const struct result_run *run,
                         const struct result_point *section)
{
    for (const struct report_column *column = report_columns; column->title != NULL; column++) {
        (void)fprintf(out, "| %s ", report_title(column, run, section));
    }
    (void)fputs("|\n", out);
    for (const struct report_column *column = report_columns; column->title != NULL; column++) {
        (void)fputs(column->left ? "|:---" : "|---:", out);
    }
    (void)fputs("|\n", out);
}

static void write_row(FILE *out, const struct result_point *point)
{
    for (const struct report_column *column = report_columns; column->title != NULL; column++) {
        char text[REPORT_CELL];
        column->text(text, point);
        (void)fputs(point->disturbed && column == report_columns ? "| ! " : "| ", out);
        write_escaped(out, text);
        (void)fputs(" ", out);
    }
    (void)fputs("|\n", out);
}

static void write_steps(FILE *out, const struct result_run *run, const struct result_point *section)
{
    char text[REPORT_HEADING];
    for (size_t i = 0; i < run->step_count; i++) {
        if (report_step_text(text, &run->steps[i], section)) {
            (void)fprintf(out, "\nWhole step, %s", text);
        }
    }
    (void)fputs("\n", out);
}

static void write_missing(FILE *out, const struct result_point *const *order, size_t count)
{
    const char *heading = "\n### Not measured\n\n";
    for (size_t i = 0; i < count; i++) {
        char text[REPORT_LINE];
        if (report_missing_text(text, order, count, i)) {
            const struct absence *why = &order[i]->seconds.absence;
            (void)fprintf(out, "%s- ", heading);
            write_escaped(out, text);
            (void)fputs(": ", out);
            write_escaped(out, why->text);
            (void)fputs(why->try_[0] == '\0' ? "" : "; try: ", out);
            write_escaped(out, why->try_);
            (void)fputs("\n", out);
            heading = "";
        }
    }
}

// What a reader must know first, and again last.
static void write_state(FILE *out, const struct result_run *run)
{
    char text[2][REPORT_LINE];
    bool said[2] = {report_incomplete_text(text[0], run), report_disturbed_text(text[1], run)};
    for (int i = 0; i < 2; i++) {
        if (said[i]) {
            (void)fputs("\n**", out);
            write_escaped(out, text[i]);
            (void)fputs("**\n", out);
        }
    }
}

static struct status write_points(FILE *out, const struct result_run *run)
{
    const struct result_point **order = report_order(run);
    if (order == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to sort the table");
    }
    const struct result_point *before = NULL; // the row above
    for (size_t i = 0; i < run->point_count; i++) {
        if (!reading_is_present(&order[i]->seconds)) {
            continue;
        }
        if (before == NULL || !report_same_section(before, order[i])) {
            if (before != NULL) {
                write_steps(out, run, before);
            }
            char heading[REPORT_HEADING];
            report_section_heading(heading, run, order[i]);
            (void)fputs("\n### ", out);
            write_escaped(out, heading);
            (void)fputs("\n\n", out);
            write_titles(out, run, order[i]);
        }
        write_row(out, order[i]);
        before = order[i];
    }
    if (before != NULL) {
        write_steps(out, run, before);
    }
    write_missing(out, order, run->point_count);
    free(order);
    return status_ok();
}

static void write_crossovers(FILE *out, const struct result_run *run)
{
    for (size_t i = 0; i < run->crossover_count; i++) {
        char text[REPORT_HEADING];
        report_crossover_text(text, &run->crossovers[i]);
        (void)fprintf(out, "\nThe %s.\n", text);
    }
}

static void write_sweeps(FILE *out, const struct result_run *run)
{
    for (size_t i = 0; i < run->sweep_count; i++) {
        char text[REPORT_SWEEP];
        if (report_sweep_text(text, &run->sweeps[i])) {
            (void)fputs("\nThreads: ", out);
            write_escaped(out, text);
            (void)fputs("\n", out);
        }
    }
}

static void write_key(FILE *out)
{
    (void)fputs("\nColumns:\n\n", out);
    for (const struct report_column *column = report_columns; column->title != NULL; column++) {
        (void)fprintf(out, "- %s: %s\n", column->title, column->meaning);
    }
}

static void write_ceiling(FILE *out, const char *what, const char *kind, const struct reading *rate,
                          const char *unit, unsigned threads, const char *how)
{
    char text[REPORT_CELL];
    report_rate_text(text, rate, unit);
    (void)fputs("| ", out);
    write_escaped(out, what);
    (void)fputs(" | ", out);
    write_escaped(out, kind);
    (void)fprintf(out, " | %s | %u | ", text, threads);
    write_escaped(out, how);
    (void)fputs(" |\n", out);
}

static void write_ceilings(FILE *out, const struct result_machine *machine)
{
    (void)fputs("\n### Ceilings\n\n| of | kind | rate (95 % interval) | threads | how "
                "|\n|:---|:---|:---|---:|:---|\n",
                out);
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        const struct result_bandwidth *row = &machine->bandwidth[i];
        write_ceiling(out, row->level, row->kernel, &row->bytes_per_s, "B/s", row->threads,
                      row->variant);
    }
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *row = &machine->compute[i];
        write_ceiling(out, row->dtype, row->kind, &row->flop_per_s,
                      row->integer_operations ? "OP/s" : "FLOP/s", row->threads, row->class_);
    }
}

static void write_facts(FILE *out, const char *heading, const struct result_fact *facts,
                        size_t count)
{
    if (count > 0) {
        (void)fprintf(out, "\n### %s\n\n", heading);
    }
    for (size_t i = 0; i < count; i++) {
        (void)fputs("- ", out);
        write_escaped(out, facts[i].name);
        (void)fputs(": ", out);
        write_escaped(out, facts[i].text);
        (void)fputs("\n", out);
    }
}

static void write_warnings(FILE *out, const struct result_run *run)
{
    if (run->warning_count > 0) {
        (void)fputs("\n### Warnings\n\n", out);
    }
    for (size_t i = 0; i < run->warning_count; i++) {
        const struct result_warning *warning = &run->warnings[i];
        (void)fputs("- **", out);
        write_escaped(out, warning->code);
        (void)fputs("**: ", out);
        write_escaped(out, warning->text);
        (void)fputs(warning->try_[0] == '\0' ? "" : "; try: ", out);
        write_escaped(out, warning->try_);
        (void)fputs("\n", out);
    }
}

static void write_claim(FILE *out, const struct result_claim *claim)
{
    if (claim->claim[0] == '\0') {
        return;
    }
    (void)fputs("\nClaim: ", out);
    write_escaped(out, claim->claim);
    (void)fputs("\n\nVerdict: **", out);
    write_escaped(out, claim->verdict);
    (void)fputs("**, ", out);
    write_escaped(out, claim->finding);
    (void)fputs("\n\n| test | for memory | found | expected |\n|:---|:---|:---|:---|\n", out);
    for (size_t i = 0; i < claim->evidence_count; i++) {
        const struct verdict_evidence *evidence = &claim->evidence[i];
        (void)fputs("| ", out);
        write_escaped(out, evidence->test);
        (void)fputs(evidence->passed ? " | yes | " : " | no | ", out);
        write_escaped(out, evidence->found);
        (void)fputs(" | ", out);
        write_escaped(out, evidence->expected);
        (void)fputs(" |\n", out);
    }
}

static struct status write_md(FILE *out, const struct report_input *input)
{
    for (size_t i = 0; i < input->run_count; i++) {
        const struct result_run *run = &input->runs[i];
        (void)fputs(i == 0 ? "## " : "\n## ", out);
        write_escaped(out, run->model_name[0] == '\0' ? "machine" : run->model_name);
        if (input->run_count > 1) {
            (void)fputs(", ", out);
            write_escaped(out, input->labels[i]);
        }
        (void)fputs("\n", out);
        write_state(out, run);
        write_claim(out, &run->claim);
        TRY(write_points(out, run));
        write_crossovers(out, run);
        write_sweeps(out, run);
        write_ceilings(out, &run->machine);
        write_facts(out, "Host", run->host, run->host_count);
        write_facts(out, "Conditions", run->conditions, run->condition_count);
        write_warnings(out, run);
        write_state(out, run);
    }
    write_key(out);
    return status_ok();
}

const struct report_format report_md = {
    .name = "md", .summary = "the tables in Markdown", .write = write_md};

#include "profiler/counters_report.h"

#include "roofline/units.h"

#include <math.h>
#include <string.h>

size_t counters_report_failures(const struct counters_report *report)
{
    size_t count = 0;
    size_t failures = 0;
    const struct certificate_entry *entries = counter_session_certificate(&count, report->session);
    for (size_t i = 0; i < count; i++) {
        failures += entries[i].fault != FAULT_NONE ? 1 : 0;
    }
    return failures;
}

static void print_head(FILE *out, const struct counters_report *report)
{
    const struct event_table *table = counter_session_table(report->session);
    const struct counter_surroundings *here = counter_session_surroundings(report->session);
    const struct machine *m = report->machine;
    (void)fprintf(out, "cpu       %s (%s family %u model %u stepping %u)%s%s\n",
                  m->name[0] == '\0' ? "-" : m->name, m->vendor[0] == '\0' ? "-" : m->vendor,
                  m->family, m->model, m->stepping, m->virtualized[0] == '\0' ? "" : ", in ",
                  m->virtualized);
    (void)fprintf(out, "events    %s: %s\n", table->name, table->family);
    if (here->paranoid == COUNTER_NO_FILE) {
        (void)fprintf(out, "rights    no perf_event_paranoid file");
    } else {
        (void)fprintf(out, "rights    perf_event_paranoid %d", here->paranoid);
    }
    (void)fprintf(out, ", CAP_PERFMON %s%s%s\n", here->capable ? "yes" : "no",
                  here->sandboxed ? ", seccomp filter on" : "",
                  here->watchdog ? ", NMI watchdog on" : "");
    (void)fprintf(out,
                  "sets      %zu: a point is run once for each; user mode only, %u threads\n\n",
                  counter_session_passes(report->session), report->threads);
}

// last is the advice printed before: the same one is not repeated.
static void print_metric(FILE *out, const struct counters_report *report, enum metric metric,
                         char last[static COUNTER_ADVICE])
{
    struct result_counter counter;
    counter_session_read(&counter, report->session, metric);
    if (reading_is_present(&counter.value)) {
        const char *note = counter_session_note(report->session, metric);
        (void)fprintf(out, "%-20s yes  %-6s %-4s  %s\n", counter.metric, counter.scope,
                      counter.source, counter.events);
        if (counter.running_fraction < 1) {
            (void)fprintf(out, "%-20s      ran %.0f %% of the time\n", "",
                          100 * counter.running_fraction);
        }
        if (note[0] != '\0') {
            (void)fprintf(out, "%-20s      %s\n", "", note);
        }
        return;
    }
    (void)fprintf(out, "%-20s -    %s: %s\n", counter.metric,
                  absent_state_name(counter.value.absence.state), counter.value.absence.text);
    if (counter.value.absence.try_[0] != '\0' && strcmp(counter.value.absence.try_, last) != 0) {
        (void)fprintf(out, "%-20s      try: %s\n", "", counter.value.absence.try_);
        (void)snprintf(last, COUNTER_ADVICE, "%s", counter.value.absence.try_);
    }
}

static void print_proofs(FILE *out, const struct counters_report *report)
{
    size_t count = 0;
    const struct certificate_entry *entries = counter_session_certificate(&count, report->session);
    if (count == 0) {
        (void)fprintf(out, "\nNothing to certify: no event could be opened.\n");
        return;
    }
    (void)fprintf(out, "\n%-11s %-20s %14s %14s %8s  %s\n", "kernel", "metric", "expected",
                  "counted", "ratio", "verdict");
    for (size_t i = 0; i < count; i++) {
        const struct certificate_entry *entry = &entries[i];
        char ratio[16] = "-";
        if (entry->expected > 0) {
            (void)snprintf(ratio, sizeof ratio, "%.4f", entry->counted / entry->expected);
        }
        (void)fprintf(out, "%-11s %-20s %14.0f %14.0f %8s  %s  %s\n", entry->kernel,
                      metric_row(entry->metric)->name, entry->expected, entry->counted, ratio,
                      entry->fault == FAULT_NONE ? "passed" : "FAILED", entry->event);
    }
}

static void print_cost(FILE *out, const struct counters_report *report)
{
    char text[UNITS_TEXT];
    if (!counter_session_counts(report->session)) {
        return;
    }
    (void)fprintf(
        out, "\nStarting and stopping a set takes %s; points are timed without.\n",
        units_format_decimal(text, report->counted_seconds - report->uncounted_seconds, "s"));
}

void counters_report_print(FILE *out, const struct counters_report *report, bool proofs)
{
    char advice[COUNTER_ADVICE] = "";
    print_head(out, report);
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        print_metric(out, report, (enum metric)m, advice);
    }
    if (proofs) {
        print_proofs(out, report);
    } else if (counters_report_failures(report) > 0) {
        (void)fprintf(out, "\nEvents that opened and counted wrong are not used: see 'lmroof "
                           "counters --certify'.\n");
    }
    print_cost(out, report);
}

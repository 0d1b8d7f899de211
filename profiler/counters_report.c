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
    if (counter_session_passes(report->session) > 0) {
        (void)fprintf(out,
                      "sets      %zu of events that fit together: a point is run again for each; "
                      "user mode only, %u threads\n",
                      counter_session_passes(report->session), report->threads);
    }
    if (here->virtual && here->sysfs && !here->core_pmu) {
        (void)fprintf(out,
                      "\nThis virtual machine has no PMU, so that the kernel has nothing to "
                      "count with (ENOENT). Rights%s\nare not the obstacle.\n",
                      strstr(m->virtualized, "container") != NULL ? " and the container" : "");
    }
    (void)fputs("\n", out);
}

static void print_counted(FILE *out, const struct counters_report *report, enum metric metric,
                          const struct result_counter *counter)
{
    const char *note = counter_session_note(report->session, metric);
    (void)fprintf(out, "%-20s yes  %-6s %-4s  %s\n", counter->metric, counter->scope,
                  counter->source, counter->events);
    if (counter->running_fraction < 1) {
        (void)fprintf(out, "%-20s      ran %.0f %% of the time\n", "",
                      100 * counter->running_fraction);
    }
    if (note[0] != '\0') {
        (void)fprintf(out, "%-20s      %s\n", "", note);
    }
}

// The reason without the events and paths that stand in brackets behind it.
static int reason_length(const struct absence *absence)
{
    size_t length = strcspn(absence->text, "(");
    while (length > 0 && absence->text[length - 1] == ' ') {
        length--;
    }
    return (int)length;
}

static bool same_reason(const struct reading *a, const struct reading *b)
{
    return !reading_is_present(a) && !reading_is_present(b) &&
           a->absence.state == b->absence.state &&
           reason_length(&a->absence) == reason_length(&b->absence) &&
           strncmp(a->absence.text, b->absence.text, (size_t)reason_length(&a->absence)) == 0 &&
           strcmp(a->absence.try_, b->absence.try_) == 0;
}

// One paragraph for all metrics that are absent for the reason of the first of them.
static void print_absent(FILE *out, const struct result_counter counters[METRIC_COUNT],
                         unsigned first)
{
    const struct absence *why = &counters[first].value.absence;
    for (unsigned m = 0; m < first; m++) {
        if (same_reason(&counters[m].value, &counters[first].value)) {
            return;
        }
    }
    unsigned alike = 0;
    int column = 0;
    for (unsigned m = first; m < METRIC_COUNT; m++) {
        if (same_reason(&counters[m].value, &counters[first].value)) {
            bool wrap = column > 80;
            column = wrap ? 0 : column;
            column += fprintf(out, "%s%s",
                              alike == 0 ? ""
                              : wrap     ? ",\n"
                                         : ", ",
                              counters[m].metric);
            alike++;
        }
    }
    (void)fprintf(out, "\n    %s: %.*s\n", absent_state_name(why->state),
                  alike == 1 ? (int)strlen(why->text) : reason_length(why), why->text);
    if (why->try_[0] != '\0') {
        (void)fprintf(out, "    try: %s\n", why->try_);
    }
}

static void print_metrics(FILE *out, const struct counters_report *report)
{
    struct result_counter counters[METRIC_COUNT];
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        counter_session_read(&counters[m], report->session, (enum metric)m);
        if (reading_is_present(&counters[m].value)) {
            print_counted(out, report, (enum metric)m, &counters[m]);
        }
    }
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        if (!reading_is_present(&counters[m].value)) {
            print_absent(out, counters, m);
        }
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

static void print_suspicions(FILE *out, const struct counters_report *report)
{
    size_t count = 0;
    const struct certificate_suspicion *list = counter_session_suspicions(&count, report->session);
    for (size_t i = 0; i < count; i++) {
        (void)fprintf(out, "%s%s: %s\n", i == 0 ? "\n" : "", metric_row(list[i].metric)->name,
                      list[i].text);
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
    print_head(out, report);
    print_metrics(out, report);
    if (proofs) {
        print_proofs(out, report);
    } else if (counters_report_failures(report) > 0) {
        (void)fprintf(out, "\nEvents that opened and counted wrong are not used: see 'lmroof "
                           "counters --certify'.\n");
    }
    print_suspicions(out, report);
    print_cost(out, report);
}

#include "profiler/report_missing.h"

#include <stdio.h>
#include <string.h>

size_t report_measured_count(const struct result_run *run)
{
    size_t count = 0;
    for (size_t i = 0; i < run->point_count; i++) {
        count += reading_is_present(&run->points[i].seconds) ? 1 : 0;
    }
    return count;
}

static const struct absence *first_absence(const struct result_run *run)
{
    for (size_t i = 0; i < run->point_count; i++) {
        if (!reading_is_present(&run->points[i].seconds)) {
            return &run->points[i].seconds.absence;
        }
    }
    return NULL;
}

bool report_incomplete_text(char out[REPORT_LINE], const struct result_run *run)
{
    size_t measured = report_measured_count(run);
    const struct absence *why = first_absence(run);
    out[0] = '\0';
    if (!run->complete && run->claim.claim[0] != '\0') { // such a document has no points
        (void)snprintf(out, REPORT_LINE, "INCOMPLETE: not every operator was measured");
    } else if (!run->complete) {
        (void)snprintf(out, REPORT_LINE,
                       "INCOMPLETE: ended before the last point; %zu point%s measured", measured,
                       measured == 1 ? " was" : "s were");
    } else if (why != NULL) {
        (void)snprintf(out, REPORT_LINE, "INCOMPLETE: %zu of %zu points measured%s%s", measured,
                       run->point_count, why->text[0] == '\0' ? "" : ": ", why->text);
    }
    return out[0] != '\0';
}

const char *report_incomplete_try(const struct result_run *run)
{
    const struct absence *why = first_absence(run);
    return why == NULL ? "" : why->try_;
}

bool report_disturbed_text(char out[REPORT_LINE], const struct result_run *run)
{
    const char *text = NULL;
    size_t warnings = 0;
    size_t disturbed = 0;
    for (size_t i = 0; i < run->warning_count; i++) {
        bool is_it = strcmp(run->warnings[i].code, "disturbed") == 0;
        text = is_it && text == NULL ? run->warnings[i].text : text;
        warnings += is_it ? 1 : 0;
    }
    for (size_t i = 0; i < run->point_count; i++) {
        disturbed += run->points[i].disturbed ? 1 : 0;
    }
    out[0] = '\0';
    if (warnings == 1) {
        (void)snprintf(out, REPORT_LINE, "DISTURBED: %s", text);
    } else if (warnings > 1) { // one a number of threads
        (void)snprintf(out, REPORT_LINE,
                       "DISTURBED: %zu of %zu points, at several numbers of threads, have too few "
                       "rounds without other work on the CPUs: their times are too long, and roofs "
                       "taken beside them too low",
                       disturbed, report_measured_count(run));
    }
    return out[0] != '\0';
}

bool report_some_disturbed(const struct result_run *run)
{
    for (size_t i = 0; i < run->point_count; i++) {
        if (run->points[i].disturbed) {
            return true;
        }
    }
    return false;
}

static bool same_absence(const struct result_point *a, const struct result_point *b)
{
    return !reading_is_present(&a->seconds) && !reading_is_present(&b->seconds) &&
           a->seconds.absence.state == b->seconds.absence.state &&
           strcmp(a->seconds.absence.text, b->seconds.absence.text) == 0;
}

bool report_missing_text(char out[REPORT_LINE], const struct result_point *const *order,
                         size_t count, size_t at)
{
    const struct absence *why = &order[at]->seconds.absence;
    const struct result_point *last = order[at];
    size_t alike = 0;
    if (reading_is_present(&last->seconds)) {
        return false; // nothing is missing here: not a look through all points for each point
    }
    for (size_t i = 0; i < at; i++) {
        if (same_absence(order[i], order[at])) {
            return false;
        }
    }
    for (size_t i = at; i < count; i++) {
        if (same_absence(order[i], order[at])) {
            last = order[i];
            alike++;
        }
    }
    char which[160];
    if (alike == 1) {
        (void)snprintf(which, sizeof which, "%s", last->id);
    } else {
        (void)snprintf(which, sizeof which, "%zu points, %s to %s", alike, order[at]->id, last->id);
    }
    (void)snprintf(out, REPORT_LINE, "%s: %s", which, absent_state_name(why->state));
    return alike > 0;
}

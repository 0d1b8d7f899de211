#ifndef PROFILER_CERTIFICATE_H
#define PROFILER_CERTIFICATE_H

/** The proof that an event counts: known work run under it, expected against counted. An event
 *  that opens and lies (some VMs) is found here and not used. */

#include "profiler/counter_interval.h"
#include "profiler/counter_source.h"
#include "profiler/results.h"
#include "workloads/isa.h"

#include <stdbool.h>
#include <stddef.h>

/** One event on one kernel. */
struct certificate_entry {
    enum metric metric;
    char event[COUNTER_NAME];
    const char *source;       /**< papi, perf, ... static */
    const char *kernel;       /**< known_work_name(); static */
    double expected;          /**< units of the metric */
    double counted;           /**< units of the metric; NaN if it could not be read */
    double low, high;         /**< accepted, units of the metric */
    enum counter_fault fault; /**< FAULT_NONE: passed */
};

enum { CERTIFICATE_SUSPICION = 224 };

/** What the channels of a memory, held against each other, make doubtful. */
struct certificate_suspicion {
    enum metric metric;
    char text[CERTIFICATE_SUSPICION];
};

/** Entries and suspicions, growing; release with certificate_free(). */
struct certificate {
    struct certificate_entry *entries;
    size_t count;
    struct certificate_suspicion *suspicions;
    size_t suspicion_count;
};

struct certificate_options {
    struct isa_set isa;
    bool fully; /**< longer kernels, and more of them */
};

/** What a kernel makes an event count, in units of its metric; false if nothing is known about
 *  the pair (then it proves nothing). *low and *high bound what is accepted. */
bool certificate_expected(double *expected, double *low, double *high,
                          const struct counter_event *event, enum known_work work,
                          struct known_amount amount);

/** Runs the kernels that say something about the group's events in the calling thread and appends
 *  one entry for each pair. faults[i] becomes FAULT_LIES (or what reading gave) for an event that
 *  failed; others are left. While a kernel runs the thread carries its name. */
void certificate_run(struct certificate *out, enum counter_fault *faults,
                     const struct counter_source *source, void *group,
                     const struct counter_event *events, size_t count,
                     const struct certificate_options *options);

/** The entry as it stands in documents. */
void certificate_result(struct result_certificate *out, const struct certificate_entry *entry);

void certificate_free(struct certificate *certificate);

#endif

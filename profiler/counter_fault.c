#include "profiler/counter_fault.h"

#include <errno.h>
#include <stdio.h>

struct fault_row {
    enum absent_state state;
    const char *text; /**< follows the name of the event or metric */
};

static const struct fault_row rows[] = {
    [FAULT_NONE] = {ABSENT_FAILED, ""},
    [FAULT_NOT_ASKED] = {ABSENT_NOT_ASKED, "was not asked for"},
    [FAULT_PERMISSION] = {ABSENT_NOT_PERMITTED, "the kernel does not permit this process to count"},
    [FAULT_NO_PART] = {ABSENT_UNSUPPORTED, "there is no event table for this CPU"},
    [FAULT_NO_PMU] = {ABSENT_UNSUPPORTED, "this system offers no hardware counters"},
    [FAULT_NO_EVENT] = {ABSENT_UNSUPPORTED, "this CPU family has no event for it"},
    [FAULT_UNSUPPORTED] = {ABSENT_UNSUPPORTED, "the kernel or CPU does not have this event"},
    [FAULT_NO_FIT] = {ABSENT_NOT_SCHEDULED, "does not fit the counters even alone"},
    [FAULT_RESOURCES] = {ABSENT_FAILED, "out of file descriptors or memory for counters"},
    [FAULT_READ] = {ABSENT_FAILED, "reading or controlling the counter failed"},
    [FAULT_NEVER_RAN] = {ABSENT_NOT_SCHEDULED, "the kernel never gave it a counter"},
    [FAULT_RAN_LITTLE] = {ABSENT_NOT_SCHEDULED, "it held a counter for less than half of the time"},
    [FAULT_NEGATIVE] = {ABSENT_FAILED, "the count went backwards"},
    [FAULT_GUARDS] = {ABSENT_FAILED, "the guard event of its set differs between threads or "
                                     "stood still"},
    [FAULT_MIGRATED] = {ABSENT_FAILED, "a thread moved to a core of another kind"},
    [FAULT_LIES] = {ABSENT_FAILED_CERTIFICATE, "known work was not counted within the tolerance"},
};

enum counter_fault counter_fault_of_errno(int error)
{
    switch (error) {
    case 0:
        return FAULT_NONE;
    case EACCES:
    case EPERM:
        return FAULT_PERMISSION;
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
    case ENOSYS:
        return FAULT_UNSUPPORTED;
    case ENOSPC:
    case EINVAL:
        return FAULT_NO_FIT;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
        return FAULT_RESOURCES;
    default:
        return FAULT_READ;
    }
}

enum counter_fault counter_fault_of_running(double running_fraction)
{
    if (!(running_fraction > 0)) {
        return FAULT_NEVER_RAN;
    }
    return running_fraction < COUNTER_RUNNING_USABLE ? FAULT_RAN_LITTLE : FAULT_NONE;
}

struct absence counter_fault_absence(enum counter_fault fault, const char *what, const char *advice)
{
    char text[sizeof((struct absence *)NULL)->text];
    if (what[0] == '\0') {
        (void)snprintf(text, sizeof text, "%s", rows[fault].text);
    } else if (fault == FAULT_NO_EVENT) {
        (void)snprintf(text, sizeof text, "%s", what); // the family's own reason
    } else {
        (void)snprintf(text, sizeof text, "%s (%s)", rows[fault].text, what);
    }
    return reading_absent(rows[fault].state, text, advice).absence;
}

enum counter_fault counter_delta(uint64_t *delta, uint64_t before, uint64_t after,
                                 unsigned width_bits)
{
    *delta = after - before;
    if (after >= before) {
        return FAULT_NONE;
    }
    if (width_bits == 0 || width_bits >= 64) {
        return FAULT_NEGATIVE;
    }
    uint64_t range = UINT64_C(1) << width_bits;
    if (before >= range || before < range / 2) {
        return FAULT_NEGATIVE;
    }
    *delta = range - before + after;
    return *delta < range / 2 ? FAULT_NONE : FAULT_NEGATIVE;
}

enum counter_fault counter_fault_worse(enum counter_fault a, enum counter_fault b)
{
    return a > b ? a : b;
}

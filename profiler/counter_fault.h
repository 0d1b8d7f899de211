#ifndef PROFILER_COUNTER_FAULT_H
#define PROFILER_COUNTER_FAULT_H

/** Everything that can go wrong with a count, and what becomes of it (contract, "Counter faults
 *  and what becomes of them"). Pure: no counter is touched here. */

#include "roofline/reading.h"

#include <stdint.h>

enum counter_fault {
    FAULT_NONE,
    FAULT_NOT_ASKED,
    FAULT_PERMISSION,  /**< EACCES, EPERM */
    FAULT_NO_PART,     /**< no event table for this CPU */
    FAULT_NO_PMU,      /**< no counter answers at all: a VM without one */
    FAULT_NO_EVENT,    /**< this family has no event for the metric */
    FAULT_UNSUPPORTED, /**< ENOENT, ENODEV, EOPNOTSUPP, ENOSYS: this event is not there */
    FAULT_NO_FIT,      /**< ENOSPC, EINVAL: does not fit a set; fatal only if it is alone */
    FAULT_RESOURCES,   /**< EMFILE, ENFILE, ENOMEM */
    FAULT_READ,        /**< short read, EIO, anything else that read or control calls gave */
    FAULT_NEVER_RAN,   /**< the kernel never scheduled it */
    FAULT_RAN_LITTLE,  /**< running below COUNTER_RUNNING_USABLE */
    FAULT_NEGATIVE,    /**< the count went backwards and no wrap explains it */
    FAULT_GUARDS,      /**< the guard event differs between threads, or stood still */
    FAULT_MIGRATED,    /**< a thread moved to a core of another kind */
    FAULT_LIES         /**< known work was not counted within its tolerance */
};

/** Fraction of the time below which a count is dropped, below which it is no evidence, and below
 *  which it is merely scaled. */
#define COUNTER_RUNNING_USABLE 0.5
#define COUNTER_RUNNING_EVIDENCE 0.95

/** The fault of an errno from opening or controlling an event; FAULT_NONE for 0. */
enum counter_fault counter_fault_of_errno(int error);

/** FAULT_NONE, FAULT_RAN_LITTLE or FAULT_NEVER_RAN for a fraction of time that a counter ran. */
enum counter_fault counter_fault_of_running(double running_fraction);

/** The absence that the contract prescribes. what, the event and what was said of it, follows the
 *  reason in brackets ("" for nothing; for FAULT_NO_EVENT it is the reason); advice becomes its
 *  "try" unless it is NULL. fault is not FAULT_NONE. */
struct absence counter_fault_absence(enum counter_fault fault, const char *what,
                                     const char *advice);

/** *delta = after - before of a counter that wraps at 2^width_bits (0 or 64: it does not). A
 *  decrease is a wrap only if the counter was then in its upper half and moved by less than half
 *  its range; anything else is FAULT_NEGATIVE. */
enum counter_fault counter_delta(uint64_t *delta, uint64_t before, uint64_t after,
                                 unsigned width_bits);

/** The graver of two faults: the one that a sum of both shows. FAULT_NONE is the least. */
enum counter_fault counter_fault_worse(enum counter_fault a, enum counter_fault b);

#endif

#ifndef FLEET_WATCHDOG_H
#define FLEET_WATCHDOG_H

/** Ends a process that waits in MPI for a rank that is no more: a thread that looks whether there
 *  was progress. It also ends a process that a signal has told to end and that cannot. */

#include "roofline/status.h"

#include <signal.h>
#include <stdatomic.h>

struct watchdog;

/** Starts. Without progress for `seconds` the process prints "lmroof-fleet: rank R: WHAT ..." to
 *  standard error and exits with 1; a second after *signal it exits with 128 + signal. Errors:
 *  SYSTEM. The caller ends it with watchdog_stop(). */
CHECKED struct status watchdog_start(struct watchdog **out, unsigned rank, double seconds,
                                     const volatile sig_atomic_t *signal);

/** There was progress; what comes next is `what`, static text. */
void watchdog_feed(struct watchdog *watchdog, const char *what);

/** NULL is accepted. */
void watchdog_stop(struct watchdog *watchdog);

#endif

#ifndef PROFILER_COUNTER_ENERGY_H
#define PROFILER_COUNTER_ENERGY_H

/** Energy of a session's work: by the sources' own events where there are some, else by powercap's
 *  files (energy.h). Shared by the files of a session. */

#include "profiler/counter_session.h"

/** Takes powercap for the energy metrics that were asked for and that no source offers. Errors:
 *  SYSTEM without memory. */
CHECKED struct status counter_energy_open(struct counter_session *session);

/** Adds powercap's joules per call to the measurement in progress. The counters behind powercap
 *  move once in a millisecond: the work is repeated until that no longer matters. */
void counter_energy_measure(struct counter_session *session, const struct counter_work *work);

/** True if the metric is powercap's. */
bool counter_energy_is_powercap(const struct counter_session *session, enum metric metric);

/** Names of the files that a metric of powercap is the sum of. */
const char *counter_energy_names(const struct counter_session *session, enum metric metric);

/** Why powercap has none of a metric although it is there: NULL if there is nothing to add to what
 *  the sources say. */
const struct reading *counter_energy_absent(const struct counter_session *session,
                                            enum metric metric);

#endif

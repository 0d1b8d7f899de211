#ifndef PROFILER_CERTIFICATE_CHANNELS_H
#define PROFILER_CERTIFICATE_CHANNELS_H

/** Memory channels against each other. Lines are spread evenly over the channels of a socket, so
 *  that after known traffic each must have counted about what its peers did. What differs makes no
 *  event unusable (a slot may be empty, a node may own only some of the channels): it is named. */

#include "profiler/certificate.h"

/** Compares the uncore events that count the kernel, those of one row on one CPU with each other,
 *  and the sum with the kernel's bytes; appends a suspicion for each channel that stands still or
 *  is far from the others, and for a sum that leaves room for a missing one. */
void certificate_compare_channels(struct certificate *out, const struct counter_event *events,
                                  size_t count, enum known_work work, double bytes,
                                  const struct counter_interval *interval);

/** Keeps a suspicion, once. */
void certificate_suspect(struct certificate *out, enum metric metric, const char *text);

#endif

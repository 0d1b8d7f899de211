#ifndef FLEET_CAUSE_H
#define FLEET_CAUSE_H

/** A guess at what is wrong with a machine from which of its ceilings are low. Pure. */

#include "profiler/fleet/profile_set.h"

/** loss[c] is the median loss of the ceilings of class c against like machines: 0.18 for 18 %
 *  worse, negative if better, NaN if there are none. `least` is the loss that counts. A question
 *  for the administrator, "" if no class lost that much. Static text. */
const char *cause_guess(const double loss[CEILING_CLASSES], double least);

#endif

#ifndef PROFILER_MEMORY_CHANNELS_H
#define PROFILER_MEMORY_CHANNELS_H

/** What a processor could do with memory modules: for telling which slots are missing and which
 *  speed is the processor's own limit. From a table by the processor's name. */

#include "machines/machine.h"
#include "machines/memory_modules.h"

struct memory_channels {
    unsigned per_package;
    double mt_per_s_max; /**< of the fastest product of the row */
    const char *source;
};

/** The row that fits; NULL if the table does not know the processor. Static. */
const struct memory_channels *memory_channels_of(const struct machine *machine);

/** What the names of the slots and the processor tell together: the channels that modules could be
 *  in (0: neither tells) and those that they are in, at most. */
unsigned memory_channels_count(unsigned *used, const struct machine *machine,
                               const struct memory_layout *memory);

#endif

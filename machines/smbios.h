#ifndef MACHINES_SMBIOS_H
#define MACHINES_SMBIOS_H

/** The structures of an SMBIOS table (DMTF DSP0134 3.7) that tell of memory. Untrusted bytes. */

#include "machines/memory_modules.h"

/** The slots for DRAM (type 17, 7.18) into out[0..size), without those of arrays for other uses
 *  (type 16, 7.17), flash, persistent memory and memory on the processor's package. Anything
 *  malformed ends the reading. Returns how many. */
size_t smbios_memory(struct memory_module *out, size_t size, const unsigned char *table,
                     size_t bytes);

#endif

#ifndef MACHINES_MEMORY_MODULES_H
#define MACHINES_MEMORY_MODULES_H

/** The memory modules that the firmware knows of, and what follows from them for the channels:
 *  from its raw table (smbios.h), which root alone may read, or from the copy that systemd's udev
 *  has kept for everybody since 248 (src/udev/dmi_memory_id there). Neither exists where there is
 *  no SMBIOS; what a hypervisor writes there is made up. Untrusted text. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEMORY_MODULES_MAX = 512, MEMORY_MODULE_TEXT = 48 };

/** A slot for DRAM. */
struct memory_module {
    bool present;
    uint64_t bytes;        /**< 0: empty or not told */
    double mt_per_s;       /**< as configured; 0 not told */
    double mt_per_s_rated; /**< what the module can do; 0 not told */
    unsigned data_bits;    /**< without those of error correction; 0 not told */
    char locator[MEMORY_MODULE_TEXT];
    char bank[MEMORY_MODULE_TEXT];
};

struct memory_layout {
    unsigned slots;
    unsigned modules;
    unsigned channels;      /**< that have slots, by the names of the slots; 0: they do not tell */
    unsigned channels_used; /**< with a module; 0 if channels is */
    double mt_per_s;        /**< of the slowest module as configured; 0 not told */
    double mt_per_s_rated;  /**< of that module; 0 not told */
    double bytes_per_s;     /**< of the channels used, by width and speed; 0 not told */
    uint64_t channel_bytes_least; /**< over the channels used; 0 not told */
    uint64_t channel_bytes_most;
};

/** The slots from udev's copy ("E:MEMORY_DEVICE_0_SIZE=..." lines) into out[0..size). Returns how
 *  many. Pure. */
size_t memory_modules_of_udev(struct memory_module *out, size_t size, const char *text);

/** Slots to layout. Slots of sockets that have no module at all do not count where the names tell
 *  of more sockets than packages. A channel is known by a word such as "CHANNEL A" in the bank or
 *  slot of each module, or by slots that end like DIMM_A1 or P1-DIMMA1; these rules, tried on the
 *  firmware of 2047 servers (linuxhw/DMI on GitHub), tell the channels of 945 of them. Pure. */
void memory_layout_of(struct memory_layout *out, const struct memory_module *modules, size_t count,
                      unsigned packages);

/** What the root's firmware table or udev's copy of it tells. False, all 0, if neither does. */
bool memory_layout_read(struct memory_layout *out, const char *root, unsigned packages);

#endif

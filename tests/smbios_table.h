#ifndef TESTS_SMBIOS_TABLE_H
#define TESTS_SMBIOS_TABLE_H

/** An SMBIOS table built by a test: memory arrays (type 16) and devices (type 17) as DMTF DSP0134
 *  3.7 lays them out. */

#include <stdint.h>
#include <string.h>

enum { SMBIOS_TABLE_BYTES = 1 << 16, SMBIOS_ARRAY_BYTES = 0x17, SMBIOS_DEVICE_BYTES = 0x5c };

struct smbios_table {
    unsigned char bytes[SMBIOS_TABLE_BYTES];
    size_t size;
};

struct smbios_device {
    const char *locator; /**< "" none */
    const char *bank;
    unsigned size; /**< the word as it stands; 0 empty */
    unsigned size_mib_long;
    unsigned rated;
    unsigned configured;
    unsigned bits;
    unsigned type;       /**< 0x22 DDR5 */
    unsigned technology; /**< 3 DRAM */
    unsigned array;      /**< handle */
};

static inline void smbios_put(unsigned char *at, unsigned value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> 8 * i);
    }
}

static inline void smbios_add_array(struct smbios_table *table, unsigned handle, unsigned location,
                                    unsigned use)
{
    unsigned char *at = table->bytes + table->size;
    memset(at, 0, SMBIOS_ARRAY_BYTES + 2);
    at[0] = 16;
    at[1] = SMBIOS_ARRAY_BYTES;
    smbios_put(at + 2, handle, 2);
    at[4] = (unsigned char)location;
    at[5] = (unsigned char)use;
    table->size += SMBIOS_ARRAY_BYTES + 2;
}

static inline void smbios_add_device(struct smbios_table *table, const struct smbios_device *device)
{
    unsigned char *at = table->bytes + table->size;
    unsigned char *text = at + SMBIOS_DEVICE_BYTES;
    const char *const strings[] = {device->locator, device->bank};
    unsigned number = 0;
    memset(at, 0, SMBIOS_DEVICE_BYTES);
    at[0] = 17;
    at[1] = SMBIOS_DEVICE_BYTES;
    smbios_put(at + 0x04, device->array, 2);
    smbios_put(at + 0x0a, device->bits, 2);
    smbios_put(at + 0x0c, device->size, 2);
    at[0x12] = (unsigned char)device->type;
    smbios_put(at + 0x15, device->rated, 2);
    smbios_put(at + 0x1c, device->size_mib_long, 4);
    smbios_put(at + 0x20, device->configured, 2);
    at[0x28] = (unsigned char)device->technology;
    for (size_t i = 0; i < 2; i++) {
        if (strings[i] != NULL && strings[i][0] != '\0') {
            at[0x10 + i] = (unsigned char)++number;
            memcpy(text, strings[i], strlen(strings[i]) + 1);
            text += strlen(strings[i]) + 1;
        }
    }
    if (number == 0) {
        *text++ = '\0';
    }
    *text++ = '\0';
    table->size = (size_t)(text - table->bytes);
}

#endif

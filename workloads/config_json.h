#ifndef WORKLOADS_CONFIG_JSON_H
#define WORKLOADS_CONFIG_JSON_H

/** Reader of Hugging Face config.json. */

#include "roofline/model.h"
#include "roofline/status.h"

#include <stddef.h>

enum { CONFIG_BYTES_MAX = 4 << 20 };

/** Reads the model that size bytes of JSON describe. label names the file in messages; name
 *  becomes the model's. Every key that can change the shape is understood or refused; class
 *  defaults are the reference implementation's (workloads/families.c). Errors: INVALID. */
CHECKED struct status config_read_model(struct model *out, const char *bytes, size_t size,
                                        const char *label, const char *name);

#endif

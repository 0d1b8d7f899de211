#ifndef TESTS_UNIT_CONFIG_FIXTURE_H
#define TESTS_UNIT_CONFIG_FIXTURE_H

/** Small configs as texts, and how the tests of the reader read them. */

#include "roofline/model.h"

#define DIMS                                                                                   \
    "\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"vocab_size\":100," \
    "\"intermediate_size\":128,"
#define LLAMA "{\"model_type\":\"llama\"," DIMS

/** Reads a config of `size` bytes; *counts (may be NULL) are the model's where it is accepted. What
 *  is refused must leave no partial model. */
CHECKED struct status config_fixture_read(struct model_counts *counts, const char *text,
                                          size_t size);

#endif

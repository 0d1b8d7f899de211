#ifndef WORKLOADS_CONFIG_KEYS_H
#define WORKLOADS_CONFIG_KEYS_H

/** Typed access to the keys of a config, with one message per fault: file, key, found, accepted.
 *  Every key that is asked for counts as understood; config_refuse_unknown() then refuses what
 *  looks like a part of the shape and was not asked for. Names may be alternatives, "a|b": all
 *  that are present must agree. An explicit null counts as absent where a default is given, as in
 *  the reference implementation. */

#include "roofline/dtype.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config;

/** Marks a number without default: absent or null is an error. */
#define CONFIG_REQUIRED UINT64_MAX

/** The file's name, for messages. Borrowed from config. */
const char *config_label(const struct config *config);

/** True if the object of this config was found inside another one (text_config): the reference
 *  implementation then writes only what differs from the class defaults. */
bool config_is_nested(const struct config *config);

/** True if one of the alternatives is present and not null. Marks them understood. */
bool config_has(struct config *config, const char *names);

/** True if one of the alternatives is present and null: the reference classes then derive the
 *  value, where absence gives the class default. */
bool config_is_null(const struct config *config, const char *names);

/** An integer in low..high; default_value if absent or null, unless CONFIG_REQUIRED. A number with
 * a fraction, a string, a bool or a list is refused. */
CHECKED struct status config_uint(uint64_t *out, struct config *config, const char *names,
                                  uint64_t default_value, uint64_t low, uint64_t high);

/** The same for a key whose null means nothing to the reference class: refused. */
CHECKED struct status config_uint_not_null(uint64_t *out, struct config *config, const char *names,
                                           uint64_t default_value, uint64_t low, uint64_t high);

/** true or false; null counts as false where the key is present, default_value if absent. */
CHECKED struct status config_bool(bool *out, struct config *config, const char *name,
                                  bool default_value);

/** Refuses a key whose value is not `expected` (null counts as false, absence as expected) because
 *  it asks for a variant that is not understood (why: which). */
CHECKED struct status config_expect_bool(struct config *config, const char *name, bool expected,
                                         const char *why);

/** Refuses a text that is none of the words "a|b"; absence and null are accepted. */
CHECKED struct status config_expect_text(struct config *config, const char *name,
                                         const char *words);

/** A non-negative number that may have a fraction. */
CHECKED struct status config_real(double *out, struct config *config, const char *name,
                                  double default_value);

/** A string into out (size bytes, cut); "" if absent or null. */
CHECKED struct status config_text(char *out, size_t size, struct config *config, const char *name);

/** A list of integers, at most max; *count is SIZE_MAX if absent or null. */
CHECKED struct status config_uint_list(uint64_t *out, size_t max, size_t *count,
                                       struct config *config, const char *name);

/** A list of strings, one per layer, each one of the words: out[i] is the word's index.
 *  *present is false if absent or null. */
CHECKED struct status config_word_list(uint8_t *out, bool *present, size_t layers,
                                       struct config *config, const char *name,
                                       const char *const *words, size_t word_count);

/** The object under a key, as a config of its own (nested); *out is NULL if absent or null. Owned
 *  by config. */
CHECKED struct status config_object(struct config **out, struct config *config, const char *name);

/** Lets go of the object that config_object() gave last: what else it holds is no shape, and is not
 *  refused. */
void config_drop_object(struct config *config);

/** Marks a key as understood without reading it. */
void config_ignore(struct config *config, const char *names);

/** An error about a key: "LABEL: key 'NAME': " and the formatted text. */
CHECKED struct status config_error(const struct config *config, const char *name,
                                   const char *format, ...) __attribute__((format(printf, 3, 4)));

/** A name that other families give to a number of this shape, and that number. */
struct config_synonym {
    const char *name;
    uint64_t value;
};

/** Refuses, by name, the first key that can change the shape, was not asked for and has a value
 *  that switches something on; a synonym is accepted if it says what is known already. */
CHECKED struct status config_refuse_unknown(const struct config *config, const char *family,
                                            const struct config_synonym *synonyms, size_t count);

/** A copy of untrusted text that is safe to print: printable ASCII, the rest '?'; cut to size. */
void config_printable(char *out, size_t size, const char *text);

#endif

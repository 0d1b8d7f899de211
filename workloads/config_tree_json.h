#ifndef WORKLOADS_CONFIG_TREE_JSON_H
#define WORKLOADS_CONFIG_TREE_JSON_H

/** The parsed config behind config_keys.h. Only for the *_json.c files that implement it. */

#include "workloads/config_keys.h"

#include <jansson.h>

enum { CONFIG_SEEN_MAX = 192, CONFIG_CHILDREN_MAX = 8 };

struct config {
    json_t *object;    /**< borrowed; never changed */
    const char *label; /**< of the file; borrowed */
    const char *path;  /**< "" or the key of the object this is; borrowed */
    bool nested;
    const char *seen[CONFIG_SEEN_MAX]; /**< names asked for, static strings, may be "a|b" */
    size_t seen_count;
    struct config *children[CONFIG_CHILDREN_MAX];
    size_t child_count;
};

/** Parses a config.json; *out is owned by the caller. Errors: INVALID for what is no JSON object,
 * is too large or repeats a key; a fault in the text is told by line, column and the key before it.
 */
CHECKED struct status config_parse(json_t **out, const char *bytes, size_t size, const char *label);

/** Frees the children, not config itself. */
void config_release(struct config *config);

/** True if name is one of the alternatives. */
bool config_name_matches(const char *names, const char *name);

/** What a value is, for messages: "-3", "the text 'abc'", "null", "a list". out has size bytes. */
void config_describe(char *out, size_t size, const json_t *value);

#endif

#include "workloads/config_json.h"
#include "workloads/config_tree_json.h"

#include <stdio.h>
#include <string.h>

enum { KEY_SHOWN = 48 };

// The last key of the text before `end`: the last string that a colon follows. What is no JSON at
// all gives some text or none; it is only shown.
static void last_key(char *out, size_t size, const char *bytes, size_t end)
{
    size_t from = 0; // of the last string, and where it ends
    size_t to = 0;
    bool inside = false;
    out[0] = '\0';
    for (size_t i = 0; i < end; i++) {
        if (inside && bytes[i] == '\\') {
            i++;
        } else if (bytes[i] == '"') {
            from = inside ? from : i + 1;
            to = i;
            inside = !inside;
        } else if (!inside && bytes[i] == ':' && to >= from) {
            char text[KEY_SHOWN];
            (void)snprintf(text, sizeof text, "%.*s",
                           (int)(to - from < sizeof text ? to - from : sizeof text), bytes + from);
            config_printable(out, size, text);
        }
    }
}

static struct status syntax_error(const json_error_t *error, const char *bytes, size_t size,
                                  const char *label)
{
    char text[160];
    char key[KEY_SHOWN];
    size_t at = error->position > 0 ? (size_t)error->position : 0;
    last_key(key, sizeof key, bytes, at < size ? at : size);
    config_printable(text, sizeof text, error->text);
    bool named = key[0] != '\0';
    return status_error(STATUS_INVALID,
                        "%s: line %d, column %d%s%s%s: found text that is not valid JSON (%s), "
                        "accepted JSON by RFC 8259",
                        label, error->line, error->column, named ? ", after key '" : "", key,
                        named ? "'" : "", text);
}

struct status config_parse(json_t **out, const char *bytes, size_t size, const char *label)
{
    *out = NULL;
    if (size > CONFIG_BYTES_MAX) {
        return status_error(STATUS_INVALID,
                            "%s: found %zu bytes, accepted a config.json of up to %d", label, size,
                            (int)CONFIG_BYTES_MAX);
    }
    if (size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        return status_error(STATUS_INVALID,
                            "%s: found a byte order mark, accepted JSON in UTF-8 without one",
                            label);
    }
    json_error_t error;
    json_t *root = json_loadb(bytes, size, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) {
        return syntax_error(&error, bytes, size, label);
    }
    if (!json_is_object(root)) {
        char found[80];
        config_describe(found, sizeof found, root);
        json_decref(root);
        return status_error(STATUS_INVALID,
                            "%s: found %s, accepted a JSON object (a Hugging Face config.json)",
                            label, found);
    }
    *out = root;
    return status_ok();
}

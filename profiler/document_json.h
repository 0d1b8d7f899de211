#ifndef PROFILER_DOCUMENT_JSON_H
#define PROFILER_DOCUMENT_JSON_H

/** The envelope of every JSON document and the ways a number is written in it (contract,
 *  "Numbers"): measured, derived, plain, absent. A NaN or infinity never reaches a file. */

#include "profiler/command.h"
#include "profiler/results.h"
#include "roofline/reading.h"

#include <jansson.h>

#include <stdint.h>

/** {"schema": "lmroof.<kind>/1", "tool": {name, version}, "started_at" (now, UTC, RFC 3339),
 *  "argv": [...], "warnings": []}. NULL if memory is short. The caller owns the reference. */
json_t *document_new(const char *kind, const struct command_context *context);

/** Appends {"code", "text", "try"} to the document's warnings; try_ may be NULL (null). */
void document_warn(json_t *document, const char *code, const char *text, const char *try_);

/** Appends what a profile warns of, its label in front of each text. */
void document_warn_of_profile(json_t *document, const struct result_run *run, const char *label);

/** object[key] = value, an integral one without decimal point and exactly; a NaN or infinite value
 * becomes null with why_absent failed. */
void json_put_number(json_t *object, const char *key, double value);

/** object[key] = an exact integer. */
void json_put_count(json_t *object, const char *key, uint64_t value);

/** object[key] = text; bytes that are not UTF-8 are replaced by '?'. "" gives an empty string. */
void json_put_text(json_t *object, const char *key, const char *text);

/** object[key] = null, object["why_absent"][key] = {"state", "text", "try"}. */
void json_put_absent(json_t *object, const char *key, const struct absence *absence);
void json_put_absent_because(json_t *object, const char *key, enum absent_state state,
                             const char *text, const char *try_);

/** object[key] = {"value", "ci95", "n", "best", "samples", "origin"} or, if absent, null with its
 *  reason. Without samples (n = 0) ci95 is null if unknown, n 1, samples [value]. */
void json_put_measured(json_t *object, const char *key, const struct reading *reading);

/** Origins of what a derived number was computed from; ORIGIN_ABSENT = does not enter. */
struct derived_from {
    enum origin flop;
    enum origin bytes;
    enum origin seconds;
};

/** object[key] = {"value", "ci95", "from": {"flop", "bytes", "seconds"}} or null with its reason.
 */
void json_put_derived(json_t *object, const char *key, const struct reading *reading,
                      struct derived_from from);

/** Writes the document, indented, to path atomically (path not NULL) and/or to context->out if
 *  to_stdout. Errors: as output_replace(). */
CHECKED struct status document_write(const json_t *document, const struct command_context *context,
                                     const char *path, bool to_stdout);

#endif

#ifndef PROFILER_RESULTS_JSON_H
#define PROFILER_RESULTS_JSON_H

/** Results as the documents lmroof.run/1 and lmroof.machine/1, and back. */

#include "profiler/command.h"
#include "profiler/results.h"
#include "roofline/status.h"

#include <jansson.h>

/** out[...] = the keys of a machine document less its envelope: what `probe` writes at the top
 *  and `run` under "machine". */
void machine_to_json(json_t *out, const struct result_machine *machine);

/** A document of that kind with what every measured one holds: envelope, complete, host,
 *  conditions, warnings. NULL if memory is short. */
json_t *measured_document(const char *kind, const struct result_run *run,
                          const struct command_context *context);

/** Points that a document may have. */
enum { RESULT_POINTS_MAX = 200000 };

/** The whole run document; started_at is the run's own if it has one. NULL if memory is short. */
json_t *run_document(const struct result_run *run, const struct command_context *context);

/** The machine document: envelope, host, conditions, warnings, machine_to_json(); points are left
 *  out. The caller may add "topology". NULL if memory is short. */
json_t *machine_document(const struct result_run *run, const struct command_context *context);

/** Fills a zeroed run from a run, validate or machine document (the last has no points). name
 * stands in front of errors. The caller frees out in either case. Errors: INVALID with the key,
 * what was found and what is accepted; SYSTEM. */
CHECKED struct status run_from_json(struct result_run *out, const json_t *document,
                                    const char *name);

/** The same from text. Errors: also INVALID with line and column if it is not JSON. */
CHECKED struct status run_parse(struct result_run *out, const char *text, size_t size,
                                const char *name);

/** The same from a file. text (may be NULL) becomes the document without blanks, owned by the
 *  caller, NULL on errors. thin (may be NULL): where *thin is true on entry, the samples of
 *  documents of more than 4 MiB are left out of both; *thin tells whether they were.
 *  Errors: also INVALID if it cannot be read or is larger than 1 GiB. */
CHECKED struct status run_read(struct result_run *out, char **text, bool *thin, const char *path);

#endif

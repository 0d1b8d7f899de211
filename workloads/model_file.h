#ifndef WORKLOADS_MODEL_FILE_H
#define WORKLOADS_MODEL_FILE_H

/** Models as users name them. */

#include "roofline/embedded.h"
#include "roofline/model.h"
#include "roofline/status.h"

/** Loads a model by what `word` is, found out from content, not from its name:
 *  - a regular file that starts with the GGUF magic: gguf_read_model();
 *  - any other regular file: a Hugging Face config.json;
 *  - a directory: its config.json, else its only .gguf (or the first shard of a split one);
 *  - no such file: a built-in model of that name (model_builtins()).
 *  A built-in name wins over a file of the same name only if there is no such file; "./name" is
 *  always a file. out is checked (model_check()) and zeroed on failure.
 *  Errors: INVALID, with file, key, what was found and what is accepted. */
CHECKED struct status model_load(struct model *out, const char *word);

/** The built-in configs, ended by a NULL name; static. */
const struct embedded_file *model_builtins(void);

#endif

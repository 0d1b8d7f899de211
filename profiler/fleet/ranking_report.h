#ifndef FLEET_RANKING_REPORT_H
#define FLEET_RANKING_REPORT_H

/** A ranking for people: text and a heat map; and as the document lmroof.ranking/1. */

#include "profiler/command.h"
#include "profiler/fleet/ranking.h"

#include <stdio.h>

/** Findings, then the first `top` places, then what has drifted and who is missing. */
void ranking_print(FILE *out, const struct ranking *ranking, size_t top);

/** One page of HTML that needs nothing else: units, worst first and at most RANKING_ROWS of each
 *  group, by ceilings; colour is z, the number the deviation in percent. */
void ranking_print_html(FILE *out, const struct ranking *ranking);

enum { RANKING_ROWS = 400 };

/** Writes the document to path (NULL: to no file) and, if to_stdout, to the context's output.
 *  Errors: as document_write(). */
CHECKED struct status ranking_write(const struct ranking *ranking,
                                    const struct command_context *context, const char *path,
                                    bool to_stdout);

/** "node7: DRAM load, 96 threads -18.1 %" for a cell. out has RANKING_TEXT bytes. Returns out. */
char *ranking_cell_text(char *out, const struct ranking *ranking, const struct ranking_cell *cell);

enum { RANKING_TEXT = 384 };

#endif

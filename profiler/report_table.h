#ifndef PROFILER_REPORT_TABLE_H
#define PROFILER_REPORT_TABLE_H

/** The table that people read: one const list of columns, and the points in reading order. Used by
 *  the formats txt and md; html shows the same columns. */

#include "profiler/results.h"

#include <stdbool.h>
#include <stddef.h>

enum { REPORT_CELL = 64, REPORT_HEADING = 192, REPORT_SWEEP = 512 };

struct report_column {
    const char *title;
    const char *meaning; /**< one line, for a key below the table */
    unsigned width;      /**< characters in a terminal */
    bool left;           /**< aligned to the left */
    /** The cell's text; "-" where the figure is absent. */
    void (*text)(char out[REPORT_CELL], const struct result_point *point);
};

/** Ended by a NULL title. */
extern const struct report_column report_columns[];

/** The column's title in a section of the run: a rate of operations is not in FLOP where some of
 *  them are integer ones. */
const char *report_title(const struct report_column *column, const struct result_run *run,
                         const struct result_point *section);

/** The run's points by phase, context, prompt, dtype and batch, then as measured; an array of
 *  point_count borrowed pointers that the caller frees. NULL if memory is short. */
const struct result_point **report_order(const struct result_run *run);

/** True if b continues a's section: the same phase, context, prompt, dtype and threads. */
bool report_same_section(const struct result_point *a, const struct result_point *b);

/** "decode, context 512, bf16" or "prefill of 512 tokens, f32"; with the threads where the run was
 *  made at several numbers of them. */
void report_section_heading(char out[REPORT_HEADING], const struct result_run *run,
                            const struct result_point *point);

/** Tokens per second of a step of a section, measured and predicted: "batch 4: 98.1 tokens/s
 *  (bound 104)". False if the run has no step there. */
bool report_step_text(char out[REPORT_HEADING], const struct result_step *step,
                      const struct result_point *section);

/** "crossover of bf16: batch 15.2 predicted (linears), 29.1 (step), 12.4 measured"; "never" where
 *  no batch reaches the ridge, "-" where it was not found. */
void report_crossover_text(char out[REPORT_HEADING], const struct result_crossover *crossover);

/** "decode, batch 1, context 512, bf16: tokens/s by threads 1: 12.1, 2: 23.4; knee 2"; false if
 *  there is nothing to say. */
bool report_sweep_text(char out[REPORT_SWEEP], const struct result_sweep *sweep);

/** "331 GFLOP/s" with its 95 % interval "(329..333)"; "-" if absent. */
void report_rate_text(char out[REPORT_CELL], const struct reading *reading, const char *unit);

#endif

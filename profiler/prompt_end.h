#ifndef PROFILER_PROMPT_END_H
#define PROFILER_PROMPT_END_H

/** Work that leaves nothing behind (reading, parsing, drawing into memory) may be ended by a signal
 *  at any instant, however long its library calls take: no flag has to be looked at. Not around
 *  temporary files or other programs. */

#include <signal.h>

struct prompt_end {
    struct sigaction interrupt; /**< as they were */
    struct sigaction terminate;
};

/** From now on SIGINT and SIGTERM end the process with 128 + their number. */
void prompt_end_begin(struct prompt_end *out);

/** As before. */
void prompt_end_finish(const struct prompt_end *before);

#endif

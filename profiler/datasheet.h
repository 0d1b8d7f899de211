#ifndef PROFILER_DATASHEET_H
#define PROFILER_DATASHEET_H

/** Machines that nobody here has measured: what their makers publish, each number with its source
 *  (machines/data/, lmroof.datasheet/1). A sheet gives peaks, hence bounds; never what is reached.
 */

#include "profiler/results.h"
#include "roofline/embedded.h"
#include "roofline/status.h"

/** Where each number is published. A text that begins with "not opened: " names a source that
 *  nobody of the project could read when the sheet was written: the number is recalled. */
struct datasheet_sources {
    char cores[RESULT_TEXT];
    char memory[RESULT_TEXT];
    char max_hz[RESULT_TEXT];
    char flop_per_cycle[RESULT_TEXT];
};

struct datasheet {
    char name[RESULT_NAME]; /**< as users write it */
    char title[96];
    char architecture[16];
    unsigned sockets;
    unsigned cores_per_socket;
    unsigned threads_per_core;
    char memory_kind[16];
    unsigned channels_per_socket;
    double transfers_per_s;
    unsigned bytes_per_transfer;
    double max_hz; /**< highest boost clock: no core is ever faster */
    /** Of one core, by type of the operands; NaN where it has no instruction for it. Integer
     *  operations count like FLOP. */
    double flop_per_cycle_f32;
    double flop_per_cycle_f16;
    double flop_per_cycle_bf16;
    double flop_per_cycle_int8;
    uint64_t llc_bytes_per_socket; /**< 0 not told */
    double tdp_watts_per_socket;   /**< NaN not told */
    struct datasheet_sources sources;
    char note[RESULT_TEXT]; /**< "" none */
};

/** The built-in sheets, ended by a NULL name; static. */
const struct embedded_file *datasheet_builtins(void);

/** Parses a lmroof.datasheet/1. name stands in front of errors. Errors: INVALID with key, found and
 *  accepted; every number must be there with its source, above 0 and within what machines have. */
CHECKED struct status datasheet_parse(struct datasheet *out, const char *text, size_t size,
                                      const char *name);

/** The built-in sheet that a word names: NAME[/CORES][@MT], CORES of its cores in use, modules of
 *  MT million transfers a second. Errors: INVALID if there is none, or CORES or MT is out of
 *  range; the text lists near names. */
CHECKED struct status datasheet_find(struct datasheet *out, const char *word);

/** Cores of all sockets. */
unsigned datasheet_cores(const struct datasheet *sheet);

/** Peak bytes/s of all channels. */
double datasheet_bytes_per_s(const struct datasheet *sheet);

/** The sheet as a profile: DRAM load and FMA roofs of origin datasheet, a warning that says so.
 *  out is zeroed by the caller, who frees it. Errors: SYSTEM. */
CHECKED struct status datasheet_profile(struct result_run *out, const struct datasheet *sheet);

#endif

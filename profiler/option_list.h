#ifndef PROFILER_OPTION_LIST_H
#define PROFILER_OPTION_LIST_H

/** Values of options: numbers and comma-separated lists, checked to the last character. */

#include "roofline/dtype.h"
#include "roofline/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTION_LIST_MAX = 64 };

/** A list of counts, in the order given. */
struct option_counts {
    size_t count;
    uint64_t values[OPTION_LIST_MAX];
};

/** Parses "N" into low..high. Errors: INVALID, with option, text and what is accepted. */
CHECKED struct status option_count(uint64_t *out, const char *option, const char *text,
                                   uint64_t low, uint64_t high);

/** Parses "N,N,..." of 1..OPTION_LIST_MAX counts. Errors as option_count(). */
CHECKED struct status option_count_list(struct option_counts *out, const char *option,
                                        const char *text, uint64_t low, uint64_t high);

/** The decimal number that text starts with, "2", "0.5" or "1e12", up to the character end; false
 * if it is none or not finite: hexadecimal, "inf" and "nan" are no numbers here. */
bool option_decimal(double *out, const char *text, char end);

/** Parses a number above 0, possibly with a decimal exponent (1e12). Errors: INVALID. */
CHECKED struct status option_positive(double *out, const char *option, const char *text);

/** Calls one(context, word) for each word of "a,b,c" (at most OPTION_LIST_MAX of 1..31 bytes);
 *  stops at the first error and returns it. */
CHECKED struct status option_words(const char *option, const char *text,
                                   struct status (*one)(void *context, const char *word),
                                   void *context);

/** Parses the name of a type that weights and caches may have. Errors: INVALID listing them. */
CHECKED struct status option_dtype(enum dtype_id *out, const char *option, const char *text);

#endif

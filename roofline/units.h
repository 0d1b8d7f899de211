#ifndef ROOFLINE_UNITS_H
#define ROOFLINE_UNITS_H

/** Numbers with units as text. Everything inside lmroof is SI base units; scaling happens only
 *  here. Rates take decimal prefixes (GB/s, GFLOP/s), capacities binary ones (MiB). */

#include <stddef.h>
#include <stdint.h>

/** Enough for any text that the functions below write. */
enum { UNITS_TEXT = 40 };

/** value in unit with a decimal prefix (n, u, m, none, k, M, G, T, P) and three significant
 *  digits, for example 31.2 GB/s. NaN (the value of an absent reading) gives "-".
 *  out has UNITS_TEXT bytes. Returns out. */
char *units_format_decimal(char *out, double value, const char *unit);

/** value with a decimal prefix and no more digits than it needs, for ticks and labels: "0.5",
 *  "20 k", "1 T"; with a unit "331 GFLOP/s". At most three significant digits. NaN gives "-".
 *  out has UNITS_TEXT bytes. Returns out. */
char *units_format_short(char *out, double value, const char *unit);

/** bytes with a binary prefix, for example 32 KiB or 1.5 GiB; exact multiples have no decimals.
 *  out has UNITS_TEXT bytes. Returns out. */
char *units_format_binary(char *out, uint64_t bytes);

#endif

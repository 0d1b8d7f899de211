#include "roofline/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

char *units_format_decimal(char *out, double value, const char *unit)
{
    static const char *const prefixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
    enum { NONE = 3, LAST = 8 };
    if (isnan(value)) {
        (void)snprintf(out, UNITS_TEXT, "-");
        return out;
    }
    int prefix = NONE;
    double scaled = value;
    // 999.5 would print as 1000 with three digits: move on to the next prefix from there.
    while (fabs(scaled) >= 999.5 && prefix < LAST) {
        scaled /= 1e3;
        prefix++;
    }
    while (fabs(scaled) < 0.9995 && fabs(scaled) > 0 && prefix > 0) {
        scaled *= 1e3;
        prefix--;
    }
    double magnitude = fabs(scaled);
    int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
    (void)snprintf(out, UNITS_TEXT, "%.*f %s%s", decimals, scaled, prefixes[prefix], unit);
    return out;
}

char *units_format_short(char *out, double value, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    if (isnan(value)) {
        (void)snprintf(out, UNITS_TEXT, "-");
        return out;
    }
    size_t prefix = 0;
    while (fabs(value) >= 999.5 && prefix + 1 < sizeof prefixes / sizeof *prefixes) {
        value /= 1e3;
        prefix++;
    }
    bool bare = prefix == 0 && unit[0] == '\0';
    (void)snprintf(out, UNITS_TEXT, "%.3g%s%s%s", value, bare ? "" : " ", prefixes[prefix], unit);
    return out;
}

char *units_format_binary(char *out, uint64_t bytes)
{
    static const char *const prefixes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    int prefix = 0;
    uint64_t divisor = 1;
    while (prefix < 5 && bytes / divisor >= 1024) {
        divisor *= 1024;
        prefix++;
    }
    if (bytes % divisor == 0) {
        (void)snprintf(out, UNITS_TEXT, "%llu %s", (unsigned long long)(bytes / divisor),
                       prefixes[prefix]);
    } else {
        // Up to 1023 fit below the next prefix; three digits would turn them into 1.02e+03.
        double scaled = (double)bytes / (double)divisor;
        (void)snprintf(out, UNITS_TEXT, scaled < 999.5 ? "%.3g %s" : "%.0f %s", scaled,
                       prefixes[prefix]);
    }
    return out;
}

#ifndef FLEET_PROFILE_SET_H
#define FLEET_PROFILE_SET_H

/** The profiles of a fleet as one table of samples: unit (host and cpus) by ceiling by repeat.
 *  Units of like machines form groups; only those are compared. Knows nothing of statistics. */

#include "profiler/fleet/index_json.h"
#include "roofline/status.h"

#include <stddef.h>
#include <stdint.h>

/** What a ceiling is of: for hints at causes. */
enum ceiling_class {
    CLASS_DRAM,
    CLASS_L3,
    CLASS_INNER, /**< L1, L2 */
    CLASS_COMPUTE,
    CLASS_CLOCK,
    CLASS_LATENCY,
    CLASS_NUMA,
    CEILING_CLASSES
};

struct profile_ceiling {
    char name[128];   /**< "DRAM load, 96 threads" */
    const char *unit; /**< "bytes_per_s", "flop_per_s", "hz", "seconds"; static */
    enum ceiling_class class_;
};

/** Facts that explain differences between like machines. */
enum { PROFILE_FACTS = 8, PROFILE_FACT = 64 };
extern const char *const profile_fact_names[PROFILE_FACTS];

struct profile_unit {
    char host[FLEET_HOST];
    char cpus[FLEET_CPUS]; /**< "" for a file outside of a fleet's folder */
    size_t group;
    unsigned profiles;                       /**< whole ones */
    char problem[FLEET_PROBLEM];             /**< of a unit without any; "" */
    char facts[PROFILE_FACTS][PROFILE_FACT]; /**< of its first profile */
};

/** Like machines: same processor, cores, caches, cpus in use. */
struct profile_group {
    char name[96];
    char key[384];
    size_t units;
};

struct profile_sample {
    uint32_t unit;
    uint32_t ceiling;
    double value;
    double low; /**< 95 % interval within the profile; NaN unknown */
    double high;
};

/** Owner of its lists. */
struct profile_set {
    struct profile_unit *units; /**< by host, then cpus */
    size_t unit_count;
    struct profile_group *groups;
    size_t group_count;
    struct profile_ceiling *ceilings;
    size_t ceiling_count;
    struct profile_sample *samples; /**< by ceiling, then unit */
    size_t sample_count;
    size_t profile_count;
    size_t incomplete_count; /**< profiles that were left out: their probe was ended early */
};

/** Reads fleets' folders (by their index.json, else all *.json) and single profiles into a zeroed
 *  set; folders of several runs give the repeats of the same units. To be freed in either case.
 *  Errors: INVALID, naming file, what was found and what is accepted; SYSTEM. */
CHECKED struct status profile_set_read(struct profile_set *out, char *const *paths, size_t count);

void profile_set_free(struct profile_set *set);

/** Seconds are better low, all others high: +1 or -1. */
double profile_ceiling_sign(const struct profile_ceiling *ceiling);

/** "node7", with " cpus 0-3" where the set has several units of that host. out has
 *  FLEET_HOST + FLEET_CPUS + 8 bytes. Returns out. */
char *profile_unit_name(char *out, const struct profile_set *set, size_t unit);

enum { PROFILE_UNIT_NAME = FLEET_HOST + FLEET_CPUS + 8 };

#endif

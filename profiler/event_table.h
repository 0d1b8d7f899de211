#ifndef PROFILER_EVENT_TABLE_H
#define PROFILER_EVENT_TABLE_H

/** How one CPU family counts the metrics: constant rows, one file per family in events/, each
 *  registered by one word in CMakeLists.txt. A metric is the sum of weight x count over its rows
 *  of one rank; where no event of a rank can be opened, the next rank is tried. The same shape is
 *  read from JSON by events_json.h. */

#include "machines/machine.h"
#include "profiler/metric.h"
#include "workloads/known_work.h"

#include <stddef.h>
#include <stdint.h>

/** perf's event types that are fixed numbers (perf_event_open(2)), and two of our own. */
enum {
    EVENT_TYPE_HARDWARE = 0,    /**< the kernel's generic events */
    EVENT_TYPE_RAW = 4,         /**< this CPU's own codes */
    EVENT_TYPE_SYSFS = 0x10000, /**< a PMU named in sysfs: row.pmu */
    EVENT_TYPE_NONE = 0x10001   /**< only PAPI knows it */
};

enum { EVENT_RANKS_MAX = 6, COUNTER_EVENT_TEXT = 100 /* longest name or terms */ };

/** Known work that an event must count, for rows whose metric is a flop_*. */
#define WORK_F64                                                                         \
    (KNOWN_BIT(KNOWN_F64_SCALAR) | KNOWN_BIT(KNOWN_F64_128) | KNOWN_BIT(KNOWN_F64_256) | \
     KNOWN_BIT(KNOWN_F64_512))
#define WORK_F32                                                                         \
    (KNOWN_BIT(KNOWN_F32_SCALAR) | KNOWN_BIT(KNOWN_F32_128) | KNOWN_BIT(KNOWN_F32_256) | \
     KNOWN_BIT(KNOWN_F32_512))
#define WORK_F16                                                                         \
    (KNOWN_BIT(KNOWN_F16_SCALAR) | KNOWN_BIT(KNOWN_F16_128) | KNOWN_BIT(KNOWN_F16_256) | \
     KNOWN_BIT(KNOWN_F16_512))
#define WORK_BF16 \
    (KNOWN_BIT(KNOWN_BF16_128) | KNOWN_BIT(KNOWN_BF16_256) | KNOWN_BIT(KNOWN_BF16_512))
#define WORK_SVE (KNOWN_BIT(KNOWN_F64_SVE) | KNOWN_BIT(KNOWN_F32_SVE))

/** One event of one metric. All text is static, or owned by the table read from JSON. */
struct event_row {
    enum metric metric;
    unsigned rank;        /**< 0 is preferred */
    const char *event;    /**< libpfm4 spelling without the PMU, or a PAPI_ preset; NULL: none */
    uint32_t type;        /**< EVENT_TYPE_* */
    uint64_t config;      /**< code for perf_event_open(2) */
    uint64_t config1;     /**< second word, 0 for most */
    const char *pmu;      /**< sysfs PMU, a trailing '*' standing for every number; NULL: core */
    const char *terms;    /**< sysfs spelling, "event=0x1f,umask=0x7fe" or an alias; NULL: config */
    const char *papi_pmu; /**< libpfm4's PMU of a system event, '*' as in pmu; NULL: none */
    double weight;        /**< units of the metric per count */
    bool per_vector;      /**< weight is per 128 bits of vector: x the SVE length / 128 */
    uint32_t work;        /**< KNOWN_BIT()s of the kernels that it counts; 0: see the metric */
    const char *note;     /**< what it leaves out or adds; NULL: nothing */
};

/** A CPU that a table is for. A list ends with vendor NULL. */
struct event_match {
    const char *vendor; /**< "GenuineIntel", "AuthenticAMD", Arm's implementer "0x41" */
    unsigned family;    /**< display family; 0 on Arm */
    unsigned model_first, model_last;       /**< display model; part number on Arm */
    unsigned stepping_first, stepping_last; /**< Arm: variant << 4 | revision */
};

struct event_table {
    const char *name;   /**< as its file, for example "skylake_sp" */
    const char *family; /**< for people */
    const struct event_match *matches;
    const char *pmus; /**< libpfm4's core PMUs, separated by blanks: "skx clx" */
    const char
        *core_pmu;       /**< sysfs PMU of the core events where there are several; NULL: the one */
    unsigned counters;   /**< general counters of a thread, as documented; 0 unknown */
    unsigned width_bits; /**< of the core's counters; 0: the kernel extends them */
    const struct event_row *rows;
    size_t row_count;
    const char *absent[METRIC_COUNT]; /**< why the family has no event for a metric; NULL: the rows
                                           say */
    const char *source;               /**< document of codes and meanings */
};

/** The table for a machine's cores; the generic one (kernel events, presets, sysfs aliases) for
 *  any other. Never NULL. */
const struct event_table *event_table_find(const struct machine *machine);

/** All built-in tables, ended by NULL. */
const struct event_table *const *event_tables(void);

/** True for the table that event_table_find() gives to CPUs that no other table is for. */
bool event_table_is_generic(const struct event_table *table);

/** True if one of the table's matches is the machine. */
bool event_table_matches(const struct event_table *table, const struct machine *machine);

/** True if the row counts everything that uses its part of the machine. */
enum metric_scope event_row_scope(const struct event_row *row);

/** "uncore", "core" or "" for the metrics of memory traffic: where the bytes were counted. */
const char *event_row_place(const struct event_row *row);

#endif

#ifndef PROFILER_PROBE_ITEMS_H
#define PROFILER_PROBE_ITEMS_H

/** The roofs of one team while they are measured, shared by probe_choose.c and probe_roofs.c
 *  alone. */

#include "profiler/probe_samples.h"
#include "profiler/probe_session.h"

enum item_role { ROLE_STREAM, ROLE_PLATEAU, ROLE_CHAIN };

struct probe_item {
    enum item_role role;
    struct ceiling ceiling;
    struct probe_samples samples;
    struct reading per_s;
    struct reading core_hz;
    char unsteady[RESULT_UNSTEADY];
};

struct item_list {
    struct probe_item *items;
    size_t count;
    // Shares of the time that is left: choosing, the least samples, all samples; then the rest.
    double choose_by;
    double sample_by;
    double enough_by;
};

/** Appends the fastest kernel of each name at each level asked for, calibrated. brief: only loads
 *  from memory. Errors: INTERRUPTED; those of the ceilings. */
CHECKED struct status probe_choose_streams(struct item_list *list, struct probe *probe,
                                           struct probe_session *session, bool brief);

/** Appends the fastest instruction class of each type asked for and, unless quick, the others.
 *  brief: only the first type. */
CHECKED struct status probe_choose_chains(struct item_list *list, struct probe *probe,
                                          struct probe_session *session, bool brief);

#endif

#include "profiler/event_table.h"

#include <string.h>

#define X(name) extern const struct event_table event_table_##name;
#include "event_table_registry.inc"
#undef X

static const struct event_table *const tables[] = {
#define X(name) &event_table_##name,
#include "event_table_registry.inc"
#undef X
    NULL};

const struct event_table *const *event_tables(void)
{
    return tables;
}

bool event_table_is_generic(const struct event_table *table)
{
    return table == &event_table_generic;
}

static bool match_is(const struct event_match *match, const struct machine *machine)
{
    return strcmp(match->vendor, machine->vendor) == 0 && match->family == machine->family &&
           machine->model >= match->model_first && machine->model <= match->model_last &&
           machine->stepping >= match->stepping_first && machine->stepping <= match->stepping_last;
}

bool event_table_matches(const struct event_table *table, const struct machine *machine)
{
    for (const struct event_match *m = table->matches; m->vendor != NULL; m++) {
        if (match_is(m, machine)) {
            return true;
        }
    }
    return false;
}

const struct event_table *event_table_find(const struct machine *machine)
{
    for (size_t i = 0; tables[i] != NULL; i++) {
        if (event_table_matches(tables[i], machine)) {
            return tables[i];
        }
    }
    return &event_table_generic;
}

enum metric_scope event_row_scope(const struct event_row *row)
{
    return row->pmu == NULL ? SCOPE_THREAD : SCOPE_SYSTEM;
}

const char *event_row_place(const struct event_row *row)
{
    if (row->metric != METRIC_DRAM_READ_BYTES && row->metric != METRIC_DRAM_WRITE_BYTES) {
        return "";
    }
    return event_row_scope(row) == SCOPE_SYSTEM ? "uncore" : "core";
}

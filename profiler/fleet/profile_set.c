#include "profiler/fleet/profile_set.h"

#include "profiler/fleet/profile_files.h"
#include "profiler/result_build.h"
#include "profiler/results_json.h"

#include <omp.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CEILINGS_MAX = 4096, READ_AT_ONCE = 256 };

const char *const profile_fact_names[PROFILE_FACTS] = {
    "governor",       "transparent_huge_pages", "microcode",    "kernel",
    "numa_balancing", "cpu_quota_cores",        "memory_limit", "virtualized"};

double profile_ceiling_sign(const struct profile_ceiling *ceiling)
{
    return strcmp(ceiling->unit, "seconds") == 0 ? -1 : 1;
}

char *profile_unit_name(char *out, const struct profile_set *set, size_t unit)
{
    const struct profile_unit *u = &set->units[unit];
    bool several = (unit > 0 && strcmp(u[-1].host, u->host) == 0) ||
                   (unit + 1 < set->unit_count && strcmp(u[1].host, u->host) == 0);
    (void)snprintf(out, PROFILE_UNIT_NAME, "%s%s%s", u->host, several ? " cpus " : "",
                   several ? u->cpus : "");
    return out;
}

static const char *fact_of(const struct result_run *run, const char *name)
{
    for (size_t i = 0; i < run->host_count; i++) {
        if (strcmp(run->host[i].name, name) == 0) {
            return run->host[i].text;
        }
    }
    for (size_t i = 0; i < run->condition_count; i++) {
        if (strcmp(run->conditions[i].name, name) == 0) {
            return run->conditions[i].text;
        }
    }
    return "";
}

static struct status find_group(size_t *out, struct profile_set *set, const struct result_run *run)
{
    static const char *const same[] = {
        "name",  "architecture", "family_model_stepping", "packages", "numa_nodes",
        "cores", "pus",          "usable_cpus",           "l1",       "l2",
        "l3"};
    struct profile_group made = {.units = 0};
    size_t used = 0;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        int n = snprintf(made.key + used, sizeof made.key - used, "%s|", fact_of(run, same[i]));
        used += n < 0 || used + (size_t)n >= sizeof made.key ? 0 : (size_t)n;
    }
    for (size_t g = 0; g < set->group_count; g++) {
        if (strcmp(set->groups[g].key, made.key) == 0) {
            *out = g;
            return status_ok();
        }
    }
    (void)snprintf(made.name, sizeof made.name, "%.50s, %.12s, %.8s of %.8s cpus",
                   fact_of(run, "name"), fact_of(run, "architecture"), fact_of(run, "usable_cpus"),
                   fact_of(run, "pus"));
    struct profile_group *group = result_append(&set->groups, &set->group_count, sizeof *group);
    if (group == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a group of machines");
    }
    *group = made;
    *out = set->group_count - 1;
    return status_ok();
}

struct filling {
    struct profile_set *set;
    uint32_t unit;
    size_t first; // sample of the profile at hand
    size_t room;  // for samples
    const char *path;
};

static struct status find_ceiling(uint32_t *out, struct profile_set *set, const char *name,
                                  const char *unit, enum ceiling_class class_)
{
    for (size_t i = 0; i < set->ceiling_count; i++) {
        if (strcmp(set->ceilings[i].name, name) == 0) {
            *out = (uint32_t)i;
            return status_ok();
        }
    }
    struct profile_ceiling *made =
        set->ceiling_count < CEILINGS_MAX
            ? result_append(&set->ceilings, &set->ceiling_count, sizeof *made)
            : NULL;
    if (made == NULL) {
        return status_error(STATUS_INVALID, "more than %d different ceilings", CEILINGS_MAX);
    }
    (void)snprintf(made->name, sizeof made->name, "%s", name);
    made->unit = unit;
    made->class_ = class_;
    *out = (uint32_t)set->ceiling_count - 1;
    return status_ok();
}

static struct status grow_samples(struct filling *filling)
{
    struct profile_set *set = filling->set;
    if (set->sample_count < filling->room) {
        return status_ok();
    }
    size_t room = filling->room == 0 ? 4096 : 2 * filling->room;
    struct profile_sample *grown = realloc(set->samples, room * sizeof *grown);
    if (grown == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu samples", room);
    }
    set->samples = grown;
    filling->room = room;
    return status_ok();
}

static struct status add_sample(struct filling *filling, const char *name, const char *unit,
                                enum ceiling_class class_, const struct reading *reading)
{
    struct profile_set *set = filling->set;
    struct profile_sample made = {filling->unit, 0, reading->value, reading->ci95_low,
                                  reading->ci95_high};
    if (!reading_is_present(reading) || !isfinite(reading->value)) {
        return status_ok();
    }
    if (!(reading->value > 0)) {
        return status_error(STATUS_INVALID, "%s: %s: found %g, accepted more than 0", filling->path,
                            name, reading->value);
    }
    TRY(find_ceiling(&made.ceiling, set, name, unit, class_));
    for (size_t i = filling->first; i < set->sample_count; i++) {
        if (set->samples[i].ceiling == made.ceiling) {
            return status_ok(); // other cpus of the same machine: the first set stands for it
        }
    }
    TRY(grow_samples(filling));
    set->samples[set->sample_count++] = made;
    return status_ok();
}

static struct status add_bandwidths(struct filling *filling, const struct result_machine *machine)
{
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        char name[128];
        const struct result_bandwidth *b = &machine->bandwidth[i];
        enum ceiling_class class_ = strcmp(b->level, "DRAM") == 0 ? CLASS_DRAM
                                    : strcmp(b->level, "L3") == 0 ? CLASS_L3
                                                                  : CLASS_INNER;
        (void)snprintf(name, sizeof name, "%s %s, %u thread%s", b->level, b->kernel, b->threads,
                       b->threads == 1 ? "" : "s");
        TRY(add_sample(filling, name, "bytes_per_s", class_, &b->bytes_per_s));
    }
    for (size_t i = 0; i < machine->numa_count; i++) {
        char name[128];
        const struct result_numa *n = &machine->numa[i];
        if (n->from != n->to) {
            (void)snprintf(name, sizeof name, "%s from node %u to %u, %u threads", n->kernel,
                           n->from, n->to, n->threads);
            TRY(add_sample(filling, name, "bytes_per_s", CLASS_NUMA, &n->bytes_per_s));
        }
    }
    return status_ok();
}

static struct status add_computes(struct filling *filling, const struct result_machine *machine)
{
    for (size_t i = 0; i < machine->compute_count; i++) {
        char name[128];
        const struct result_compute *c = &machine->compute[i];
        (void)snprintf(name, sizeof name, "%s %s %s, %u thread%s", c->dtype, c->kind, c->class_,
                       c->threads, c->threads == 1 ? "" : "s");
        TRY(add_sample(filling, name, "flop_per_s", CLASS_COMPUTE, &c->flop_per_s));
        (void)snprintf(name, sizeof name, "clock in %s %s %s, %u thread%s", c->dtype, c->kind,
                       c->class_, c->threads, c->threads == 1 ? "" : "s");
        TRY(add_sample(filling, name, "hz", CLASS_CLOCK, &c->core_hz));
    }
    for (size_t i = 0; i < machine->latency_count; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "latency %s", machine->latency[i].level);
        TRY(add_sample(filling, name, "seconds", CLASS_LATENCY, &machine->latency[i].seconds));
    }
    return status_ok();
}

static struct status add_profile(struct filling *filling, const struct result_run *run)
{
    struct profile_unit *unit = &filling->set->units[filling->unit];
    size_t group = 0;
    TRY(find_group(&group, filling->set, run));
    if (unit->profiles == 0) {
        unit->group = group;
        filling->set->groups[group].units++;
        for (size_t i = 0; i < PROFILE_FACTS; i++) {
            (void)snprintf(unit->facts[i], PROFILE_FACT, "%s", fact_of(run, profile_fact_names[i]));
        }
    } else if (unit->group != group) {
        return status_error(STATUS_INVALID,
                            "%s: is of another machine (%s) than an earlier profile of %s (%s)",
                            filling->path, filling->set->groups[group].name, unit->host,
                            filling->set->groups[unit->group].name);
    }
    filling->first = filling->set->sample_count;
    unit->profiles++;
    filling->set->profile_count++;
    TRY(add_bandwidths(filling, &run->machine));
    return add_computes(filling, &run->machine);
}

static struct status add_runs(struct filling *filling, const struct profile_entry *entries,
                              const struct result_run *runs, const struct status *read,
                              size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct profile_set *set = filling->set;
        bool same = set->unit_count > 0 &&
                    strcmp(set->units[set->unit_count - 1].host, entries[i].host) == 0 &&
                    strcmp(set->units[set->unit_count - 1].cpus, entries[i].cpus) == 0;
        struct profile_unit *unit =
            same ? &set->units[set->unit_count - 1]
                 : result_append(&set->units, &set->unit_count, sizeof *unit);
        if (unit == NULL) {
            return status_error(STATUS_SYSTEM, "no memory for a list of units");
        }
        (void)snprintf(unit->host, sizeof unit->host, "%s", entries[i].host);
        (void)snprintf(unit->cpus, sizeof unit->cpus, "%s", entries[i].cpus);
        if (entries[i].path == NULL) {
            (void)snprintf(unit->problem, sizeof unit->problem, "%s", entries[i].problem);
            continue;
        }
        TRY(read[i]);
        filling->unit = (uint32_t)(set->unit_count - 1);
        filling->path = entries[i].path;
        if (runs[i].complete) {
            TRY(add_profile(filling, &runs[i]));
        } else {
            set->incomplete_count++;
        }
    }
    return status_ok();
}

// Files are parsed by all threads, a batch at a time, and added in their order.
static struct status read_batch(struct filling *filling, const struct profile_entry *entries,
                                struct result_run *runs, struct status *read, size_t count)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < count; i++) {
        memset(&runs[i], 0, sizeof runs[i]);
        read[i] =
            entries[i].path == NULL ? status_ok() : run_read(&runs[i], NULL, NULL, entries[i].path);
    }
    struct status status = add_runs(filling, entries, runs, read, count);
    for (size_t i = 0; i < count; i++) {
        result_run_free(&runs[i]);
    }
    return status;
}

static struct status read_entries(struct profile_set *out, const struct profile_entries *entries)
{
    struct filling filling = {.set = out};
    struct result_run *runs = calloc(READ_AT_ONCE, sizeof *runs);
    struct status *read = calloc(READ_AT_ONCE, sizeof *read);
    struct status status = runs == NULL || read == NULL
                               ? status_error(STATUS_SYSTEM, "no memory to read profiles")
                               : status_ok();
    for (size_t i = 0; i < entries->count && status.code == STATUS_OK; i += READ_AT_ONCE) {
        size_t left = entries->count - i;
        status = read_batch(&filling, entries->list + i, runs, read,
                            left < READ_AT_ONCE ? left : READ_AT_ONCE);
    }
    free(runs);
    free(read);
    return status;
}

static int compare_samples(const void *a, const void *b)
{
    const struct profile_sample *x = a;
    const struct profile_sample *y = b;
    int ceiling = (x->ceiling > y->ceiling) - (x->ceiling < y->ceiling);
    return ceiling != 0 ? ceiling : (x->unit > y->unit) - (x->unit < y->unit);
}

struct status profile_set_read(struct profile_set *out, char *const *paths, size_t count)
{
    struct profile_entries entries = {.list = NULL};
    struct status status = profile_entries_find(&entries, paths, count);
    if (status.code == STATUS_OK) {
        status = read_entries(out, &entries);
    }
    profile_entries_free(&entries);
    TRY(status);
    if (out->sample_count == 0) {
        return status_error(STATUS_INVALID,
                            "%s: found no whole profile with ceilings, accepted at least one",
                            paths[0]);
    }
    qsort(out->samples, out->sample_count, sizeof *out->samples, compare_samples);
    return status_ok();
}

void profile_set_free(struct profile_set *set)
{
    free(set->units);
    free(set->groups);
    free(set->ceilings);
    free(set->samples);
    memset(set, 0, sizeof *set);
}

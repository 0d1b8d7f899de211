#include "profiler/counter_energy.h"

#include "profiler/clock.h"

#include <math.h>
#include <time.h>

// Energy counters move about once in a millisecond (Intel SDM vol. 3, "RAPL interfaces"): so long
// a stretch is known to 2 %.
static const double stretch_seconds = 0.05;

// Stands for powercap where a source is named: there is nothing to open.
static const struct counter_source source_powercap = {.name = "powercap"};

static bool domain_of(enum energy_domain *out, enum metric metric)
{
    *out = metric == METRIC_DRAM_JOULES ? ENERGY_DRAM : ENERGY_PACKAGE;
    return metric == METRIC_DRAM_JOULES || metric == METRIC_PACKAGE_JOULES;
}

static void take(struct counter_session *session, enum metric metric)
{
    enum energy_domain domain = ENERGY_PACKAGE;
    struct metric_plan *plan = &session->plan.metrics[metric];
    if (!domain_of(&domain, metric) || plan->fault == FAULT_NONE ||
        plan->fault == FAULT_NOT_ASKED) {
        return;
    }
    struct session_energy *energy = &session->energy[domain];
    energy->opened = energy_joules(session->meter, domain);
    if (reading_is_present(&energy->opened)) {
        energy->by_powercap = true;
        *plan = (struct metric_plan){.source = &source_powercap, .scope = SCOPE_SYSTEM};
    }
}

struct status counter_energy_open(struct counter_session *session)
{
    enum counter_policy policy = session->options.policy;
    if (policy != COUNTERS_AUTO && policy != COUNTERS_REQUIRE) {
        return status_ok();
    }
    TRY(energy_open(&session->meter, session->options.root));
    take(session, METRIC_PACKAGE_JOULES);
    take(session, METRIC_DRAM_JOULES);
    return status_ok();
}

bool counter_energy_is_powercap(const struct counter_session *session, enum metric metric)
{
    enum energy_domain domain = ENERGY_PACKAGE;
    return domain_of(&domain, metric) && session->energy[domain].by_powercap;
}

const char *counter_energy_names(const struct counter_session *session, enum metric metric)
{
    enum energy_domain domain = ENERGY_PACKAGE;
    (void)domain_of(&domain, metric);
    return energy_zones(session->meter, domain);
}

const struct reading *counter_energy_absent(const struct counter_session *session,
                                            enum metric metric)
{
    enum energy_domain domain = ENERGY_PACKAGE;
    if (session->meter == NULL || !domain_of(&domain, metric)) {
        return NULL;
    }
    const struct reading *opened = &session->energy[domain].opened;
    bool known = opened->origin == ORIGIN_ABSENT && opened->absence.text[0] != '\0' &&
                 opened->absence.state != ABSENT_UNSUPPORTED;
    return known ? opened : NULL;
}

static void joules_now(double joules[ENERGY_DOMAINS], const struct counter_session *session)
{
    energy_update(session->meter);
    for (int d = 0; d < ENERGY_DOMAINS; d++) {
        joules[d] = energy_joules(session->meter, (enum energy_domain)d).value;
    }
}

// What the machine draws while this program does nothing, once for every point.
static void measure_idle(struct counter_session *session)
{
    double before[ENERGY_DOMAINS];
    double after[ENERGY_DOMAINS];
    const struct timespec pause = {.tv_nsec = (long)(stretch_seconds * 1e9)};
    joules_now(before, session);
    double began = clock_seconds();
    (void)nanosleep(&pause, NULL);
    joules_now(after, session);
    session->idle_seconds = clock_seconds() - began;
    for (int d = 0; d < ENERGY_DOMAINS; d++) {
        session->energy[d].idle_joules = after[d] - before[d];
    }
}

static void add(struct counter_session *session, enum metric metric, double joules, double seconds,
                double calls)
{
    enum energy_domain domain = ENERGY_PACKAGE;
    struct session_metric *measured = &session->metrics[metric];
    if (!domain_of(&domain, metric) || !session->energy[domain].by_powercap) {
        return;
    }
    if (!isfinite(joules)) {
        measured->fault = FAULT_READ;
        return;
    }
    double idle = session->energy[domain].idle_joules / session->idle_seconds * seconds;
    measured->total += joules / calls;
    measured->background += fmin(idle, joules) / calls;
}

void counter_energy_measure(struct counter_session *session, const struct counter_work *work)
{
    if (!session->energy[ENERGY_PACKAGE].by_powercap && !session->energy[ENERGY_DRAM].by_powercap) {
        return;
    }
    if (!(session->idle_seconds > 0)) {
        measure_idle(session);
    }
    double before[ENERGY_DOMAINS];
    double after[ENERGY_DOMAINS];
    double calls = 0;
    double seconds = 0;
    joules_now(before, session);
    double began = clock_seconds();
    session->counting = false;
    while (calls <= 0 || seconds < stretch_seconds) {
        counter_session_run(session, work);
        calls += session->calls;
        seconds = clock_seconds() - began;
    }
    joules_now(after, session);
    add(session, METRIC_PACKAGE_JOULES, after[ENERGY_PACKAGE] - before[ENERGY_PACKAGE], seconds,
        calls);
    add(session, METRIC_DRAM_JOULES, after[ENERGY_DRAM] - before[ENERGY_DRAM], seconds, calls);
}

#include "profiler/clock.h"
#include "profiler/probe_session.h"
#include "profiler/result_build.h"
#include "roofline/units.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct status probe_interrupted(const struct probe *probe)
{
    if (probe->host->signal != NULL && *probe->host->signal != 0) {
        return status_error(STATUS_INTERRUPTED, "interrupted; what was measured until then is "
                                                "marked incomplete");
    }
    return status_ok();
}

void probe_leave_out(struct probe *probe, const char *first, const char *second)
{
    size_t used = strlen(probe->left_out);
    char name[64];
    int length = snprintf(name, sizeof name, "%s %s", first, second);
    probe->over_budget = true;
    if (strstr(probe->left_out, name) != NULL) {
        return;
    }
    if (used + (size_t)length + sizeof ", " > sizeof probe->left_out) {
        probe->left_out_more = true;
        return;
    }
    (void)snprintf(probe->left_out + used, sizeof probe->left_out - used, "%s%s",
                   used > 0 ? ", " : "", name);
}

bool probe_has_time_for(struct probe *probe, const char *first, const char *second)
{
    bool time = clock_seconds() < probe->deadline;
    if (!time) {
        probe_leave_out(probe, first, second);
    }
    return time;
}

struct status probe_in_time(struct probe *probe, struct status status, const char *first,
                            const char *second)
{
    if (!limit_is_why(&probe->limit, status)) {
        return status;
    }
    probe_leave_out(probe, first, second);
    return status_ok();
}

void probe_progress(const struct probe *probe, const char *what)
{
    if (probe->host->progress != NULL) {
        probe->host->progress(probe->host->progress_context, what);
    }
}

unsigned probe_repeats(const struct probe *probe)
{
    return probe->options->quick ? 7 : 15;
}

double probe_knee(const unsigned *threads, const double *bytes_per_s, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        most = bytes_per_s[i] > most ? bytes_per_s[i] : most;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        if (bytes_per_s[i] >= 0.95 * most) {
            return threads[i];
        }
    }
    return (double)NAN;
}

// Where no cache is told, a sweep goes so far: four times any last-level cache but the largest, in
// the time there is to touch it.
enum { SWEEP_QUICK_BYTES = 256 << 20, SWEEP_BYTES = 1 << 30 };

static uint64_t inner_bytes(const struct machine *machine, const struct probe_options *options)
{
    uint64_t most = 0;
    for (unsigned level = 1; level <= 3; level++) {
        uint64_t bytes = machine_cache_bytes(machine, level) *
                         (machine_cache_instances(machine, level) + (uint64_t)1) / 2;
        most = options->levels[level - 1] && bytes > most ? bytes : most;
    }
    // Three arrays for each thread, rounded up to whole blocks and staggered.
    return most + machine->usable_count * 8 * STREAM_BLOCK;
}

struct status probe_plan_memory(uint64_t *bytes, bool *dram, struct result_run *run,
                                const struct machine *machine, const struct probe_options *options)
{
    char why[128];
    char need[UNITS_TEXT];
    char left[MACHINE_AVAILABLE_TEXT];
    uint64_t inner = inner_bytes(machine, options);
    // The three arrays of a triad rotate over the whole; a block each is lost to staggering.
    uint64_t outer = 4 * machine->llc_total_bytes + machine->usable_count * 8 * STREAM_BLOCK;
    uint64_t most = machine->memory_available_bytes / 5 * 4;
    most = machine->memory_available_bytes == 0 ? UINT64_MAX : most;
    bool sane = working_set_sizes_sane(why, sizeof why, machine);
    *dram = options->levels[LEVEL_DRAM];
    if (sane && *dram && outer > most) {
        *dram = false;
        result_warn(run, "memory_short", "free memory or raise the cgroup's limit",
                    "DRAM was not measured: it needs %s (4 x all last-level caches), of %s that "
                    "are available",
                    units_format_binary(need, outer),
                    machine_format_available(left, machine, machine->memory_available_bytes));
    }
    *bytes = *dram && outer > inner ? outer : inner;
    if (!sane) { // nothing says where memory begins: a sweep will
        *bytes = (uint64_t)(options->quick ? SWEEP_QUICK_BYTES : SWEEP_BYTES);
        *bytes = *bytes < most / 4 ? *bytes : most / 4;
    }
    if (*bytes > most) {
        return status_error(
            STATUS_UNAVAILABLE,
            "probe needs %s of memory; %s are available (four fifths of it may "
            "be used)",
            units_format_binary(need, *bytes),
            machine_format_available(left, machine, machine->memory_available_bytes));
    }
    return status_ok();
}

static void look_again(struct probe_session *session)
{
    witness_look(&session->last, session->witness);
    session->best.loop_per_s = fmax(session->best.loop_per_s, session->last.loop_per_s);
    session->best.copy_per_s = fmax(session->best.copy_per_s, session->last.copy_per_s);
}

struct status probe_session_open(struct probe_session *out, struct probe *probe,
                                 const unsigned *cpus, unsigned threads)
{
    memset(out, 0, sizeof *out);
    out->threads = threads;
    memcpy(out->cpus, cpus, threads * sizeof *cpus);
    bool again = probe->filled && probe->host->machine->numa_nodes > 1;
    if (again) {
        size_t bytes = probe->arena.bytes;
        arena_unmap(&probe->arena);
        TRY(arena_map(&probe->arena, bytes, true));
    }
    TRY(team_create(&out->team, cpus, threads));
    struct status status = ceilings_create(&out->ceilings, probe->host->machine, out->team,
                                           &probe->arena, &probe->kernels);
    if (status.code == STATUS_OK) {
        ceilings_stop_for(out->ceilings, probe->limit);
        status = witness_create(&out->witness, out->team, &probe->kernels);
    }
    if (status.code == STATUS_OK && (!probe->filled || again)) {
        probe_progress(probe, "touching memory");
        status = ceilings_fill(out->ceilings);
        probe->filled = true;
    }
    if (status.code != STATUS_OK) {
        probe_session_close(out);
        return status;
    }
    look_again(out);
    return status;
}

// A neighbour comes and goes within milliseconds: a look costs less than a window.
void probe_session_await(struct probe_session *session)
{
    enum { LOOKS = 12 };
    for (unsigned i = 0; i < LOOKS; i++) {
        struct probe_pace seen = {session->last.loop_per_s, session->last.copy_per_s};
        if (!probe_is_crowded(seen, session->best)) {
            return;
        }
        look_again(session);
    }
}

void probe_session_keep(struct probe_session *session, struct probe_samples *samples, double per_s,
                        double core_hz, const struct interference_signs *signs)
{
    struct witness_look before = session->last;
    struct witness_places *places = &session->view.places;
    look_again(session);
    if (samples->count < PROBE_WINDOWS_MAX) {
        samples->of[samples->count++] =
            (struct probe_sample){.per_s = per_s,
                                  .core_hz = core_hz,
                                  .signs = *signs,
                                  .place_before = witness_place(places, &before),
                                  .place_after = witness_place(places, &session->last),
                                  .loop_per_s = fmin(before.loop_per_s, session->last.loop_per_s),
                                  .copy_per_s = fmin(before.copy_per_s, session->last.copy_per_s)};
    }
}

void probe_session_close(struct probe_session *session)
{
    witness_destroy(session->witness);
    ceilings_destroy(session->ceilings);
    team_destroy(session->team);
    session->witness = NULL;
    session->ceilings = NULL;
    session->team = NULL;
}

static struct status all_stages(struct probe *probe, struct probe_session *session)
{
    TRY(probe_roofs(probe, session, false));
    if (!probe->options->quick) {
        TRY(probe_attention(probe, session));
        TRY(probe_kernels(probe, session));
        TRY(probe_reads(probe, session));
    }
    if (probe->options->sweep) {
        TRY(probe_sweep(probe, session));
    }
    return probe_latency(probe, session); // last: it writes pointers into the arena
}

static struct status measure_team(struct probe *probe, const struct probe_task *task)
{
    struct probe_session session;
    TRY(probe_session_open(&session, probe, probe_plan_cpus(&probe->plan, task), task->threads));
    struct status status = status_ok();
    if (probe->why_sweep[0] != '\0' && probe->extras->size_count == 0) {
        status = probe_sweep_first(probe, &session);
    }
    if (status.code == STATUS_OK) {
        status = task->kind == PROBE_TEAM ? all_stages(probe, &session)
                                          : probe_roofs(probe, &session, true);
    }
    probe_session_close(&session);
    return status;
}

static struct status measure_all(struct probe *probe)
{
    for (size_t i = 0; i < probe->plan.task_count; i++) {
        const struct probe_task *task = &probe->plan.tasks[i];
        char threads[24];
        (void)snprintf(threads, sizeof threads, "%u-thread", task->threads);
        if ((task->kind == PROBE_TEAM || task->kind == PROBE_TEAM_BRIEF) &&
            probe_has_time_for(probe, threads, "roofs")) {
            TRY(probe_in_time(probe, measure_team(probe, task), threads, "roofs"));
        }
    }
    TRY(probe_scaling(probe));
    return probe_numa(probe);
}

// A name for the machine as this process sees it: vendor, model, cpus.
static void name_profile(struct result_machine *out, const struct machine *machine)
{
    char text[sizeof out->profile_id];
    (void)snprintf(text, sizeof text, "%.40s-%zucpu",
                   machine->name[0] != '\0' ? machine->name : "unknown", machine->usable_count);
    size_t used = 0;
    for (size_t i = 0; text[i] != '\0'; i++) {
        bool plain = isalnum((unsigned char)text[i]) != 0;
        if (plain || (used > 0 && out->profile_id[used - 1] != '-')) {
            out->profile_id[used++] = plain ? (char)tolower((unsigned char)text[i]) : '-';
        }
    }
    out->profile_id[used] = '\0';
}

static const char *budget_text(char *out, size_t size, const struct probe_options *options)
{
    (void)snprintf(out, size, "the time of %.3g s", options->budget_seconds);
    return options->budget_name == NULL ? out : options->budget_name;
}

static void warn_of_budget(const struct probe *probe)
{
    char budget[40];
    result_warn(probe->run, "budget", probe->options->budget_try,
                "%s was used up before every ceiling was measured; missing: %s%s",
                budget_text(budget, sizeof budget, probe->options), probe->left_out,
                probe->left_out_more ? " and more" : "");
}

static struct status nothing_measured(const struct probe *probe)
{
    char budget[40];
    const struct result_run *run = probe->run;
    if (probe->over_budget) {
        return status_error(STATUS_UNAVAILABLE,
                            "no ceiling could be measured: %s was used up by the preparation, "
                            "which took %.3g s%s%s",
                            budget_text(budget, sizeof budget, probe->options),
                            clock_seconds() - probe->deadline + probe->options->budget_seconds,
                            probe->options->budget_try != NULL ? "; try " : "",
                            probe->options->budget_try != NULL ? probe->options->budget_try : "");
    }
    return status_error(STATUS_UNAVAILABLE, "no ceiling could be measured: %s",
                        run->warning_count > 0 ? run->warnings[0].text : "nothing was asked");
}

struct status probe_measure(struct result_run *out, struct probe_extras *extras,
                            const struct probe_options *options, const struct probe_host *host)
{
    uint64_t bytes = 0;
    struct probe probe = {.options = options, .run = out, .extras = extras};
    struct probe_host own = *host;
    probe.host = &own;
    if (!working_set_sizes_sane(probe.why_sweep, sizeof probe.why_sweep, host->machine)) {
        probe.swept = *host->machine; // borrows its lists
        own.machine = &probe.swept;
    }
    double begin = options->begin_seconds > 0 ? options->begin_seconds : clock_seconds();
    probe.deadline = begin + options->budget_seconds;
    probe.limit = (struct limit){host->signal, probe.deadline};
    name_profile(&out->machine, host->machine);
    TRY(probe_plan_memory(&bytes, &probe.dram, out, host->machine, options));
    TRY(ceiling_kernels_load(&probe.kernels, host->isa));
    TRY(probe_plan_make(&probe.plan, host->machine, options, probe.dram));
    struct status status = arena_map(&probe.arena, bytes, true);
    if (status.code == STATUS_OK) {
        extras->arena_bytes = probe.arena.bytes;
        status = measure_all(&probe);
        arena_unmap(&probe.arena);
    }
    probe_plan_free(&probe.plan);
    probe_check_roofs(out, host->machine, &probe.seen);
    if (probe.over_budget) {
        warn_of_budget(&probe);
    }
    bool nothing = out->machine.bandwidth_count + out->machine.compute_count == 0;
    return status.code == STATUS_OK && nothing ? nothing_measured(&probe) : status;
}

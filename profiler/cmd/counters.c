#include "profiler/counters.h"

#include "profiler/counters_report.h"
#include "profiler/events_json.h"
#include "profiler/option_list.h"
#include "profiler/output.h"
#include "profiler/session.h"
#include "roofline/stats.h"

enum { KEY_CERTIFY = 0x100, KEY_JSON, KEY_COUNTERS, KEY_EVENTS, KEY_THREADS, KEY_QUIET };
enum { COST_SAMPLES = 51, EXIT_CHECK_FAILED = 5 };

struct counters_input {
    struct command_input common; // first: command_parse() writes it
    enum counter_policy policy;
    const char *events_path;
    const char *output;
    uint64_t threads;
    bool certify;
    bool json;
};

static const struct argp_option options[] = {
    {"certify", KEY_CERTIFY, NULL, 0,
     "prove every event on kernels of known work and show expected and counted; exit status 5 if "
     "an event that opens counts wrong",
     0},
    {"counters", KEY_COUNTERS, "WORD", 0, "auto, off, require, papi or perf (auto)", 0},
    {"events", KEY_EVENTS, "FILE", 0, "event table of a CPU newer than this build", 0},
    {"threads", KEY_THREADS, "N", 0, "bound threads (one per usable core, within the quota)", 0},
    {"json", KEY_JSON, NULL, 0, "one JSON document (lmroof.counters/1) on standard output", 0},
    {"output", 'o', "FILE", 0, "the JSON document into FILE", 0},
    {"quiet", KEY_QUIET, NULL, 0, "no progress on standard error", 0},
    {0}};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct counters_input *input = state->input;
    struct status status = status_ok();
    switch (key) {
    case KEY_CERTIFY:
        input->certify = true;
        break;
    case KEY_JSON:
        input->json = true;
        break;
    case KEY_COUNTERS:
        status = counter_policy_of_name(&input->policy, text);
        break;
    case KEY_EVENTS:
        input->events_path = text;
        break;
    case KEY_THREADS:
        status = option_count(&input->threads, "--threads", text, 1, 1 << 20);
        break;
    case 'o':
        input->output = text;
        break;
    case KEY_QUIET:
        break; // this command reports no progress
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return status_is_ok(status) ? 0 : command_option_error(state, status);
}

static const struct argp parser = {
    options,
    parse_option,
    NULL,
    "Shows which metrics can be counted on this machine, by which events and source, and for the "
    "others why not and what would unlock them.\v"
    "Examples:\n"
    "  lmroof counters\n"
    "  lmroof counters --certify --counters perf\n\n"
    "The file of --events is JSON: {\"schema\": \"lmroof.events/1\", \"name\", \"family\", "
    "\"pmus\" (libpfm4's core PMUs), \"core_pmu\" (in sysfs, hybrid CPUs only), \"counters\", "
    "\"width_bits\", \"match\": [{\"vendor\", \"family\", \"model\": [first, last], \"stepping\": "
    "[first, last]}], \"absent\": {METRIC: reason}, \"source\", \"events\": [{\"metric\", "
    "\"weight\" (units per count), \"event\" (libpfm4's name), \"config\", \"config1\" (codes, "
    "\"0x..\"), \"type\": raw|hardware|sysfs|papi, \"pmu\", \"terms\" (of sysfs), \"papi_pmu\", "
    "\"rank\" (0 is tried first), \"per_vector\", \"counts\" (kernels it must count, as --certify "
    "names them), \"note\"}]}",
    NULL,
    NULL,
    NULL};

static void nothing(void *context, unsigned thread, unsigned threads)
{
    (void)context;
    (void)thread;
    (void)threads;
}

/** The empty work, and how long it took with each set of events. */
struct empty_work {
    struct team *team;
    size_t n;
    double seconds[COST_SAMPLES];
};

static double run_empty(void *context, struct team_probe probe)
{
    struct empty_work *work = context;
    struct team_sample sample;
    team_time_probed(&sample, work->team, (struct team_body){nothing, NULL}, probe);
    if (work->n < COST_SAMPLES) {
        work->seconds[work->n++] = sample.seconds;
    }
    return 1;
}

static void loop(void *context, unsigned thread, unsigned threads)
{
    (void)context;
    (void)thread;
    (void)threads;
    known_work_run(KNOWN_LOOP, 10000, NULL);
}

static double run_loop(void *context, struct team_probe probe)
{
    struct team_sample sample;
    team_time_probed(&sample, context, (struct team_body){loop, NULL}, probe);
    return 1;
}

static double median_empty_seconds(struct team *team)
{
    double seconds[COST_SAMPLES];
    for (int i = 0; i < COST_SAMPLES; i++) {
        struct team_sample sample;
        team_time(&sample, team, (struct team_body){nothing, NULL});
        seconds[i] = sample.seconds;
    }
    return stats_median(seconds, COST_SAMPLES);
}

static void measure(struct counters_report *report, struct counter_session *session,
                    struct team *team)
{
    struct empty_work empty = {.team = team};
    report->uncounted_seconds = median_empty_seconds(team);
    while (counter_session_counts(session) && empty.n < COST_SAMPLES) {
        counter_session_measure(session,
                                &(struct counter_work){.run = run_empty, .context = &empty});
    }
    report->counted_seconds = empty.n > 0 ? stats_median(empty.seconds, empty.n) : 0;
    counter_session_reset(session);
    if (counter_session_counts(session)) {
        counter_session_measure(session, &(struct counter_work){.run = run_loop, .context = team});
    }
}

static struct status answer(int *exit_code, const struct command_context *context,
                            const struct counters_input *input,
                            const struct session *machine_session, const struct event_table *table)
{
    struct team *team = NULL;
    struct counter_session *session = NULL;
    const struct counter_options wanted = {
        .policy = input->policy, .table = table, .certify_fully = input->certify};
    TRY(team_create(&team, machine_session->cpus, machine_session->threads));
    struct status status = counter_session_open(&session, &machine_session->machine, team, &wanted);
    if (status_is_ok(status)) {
        struct counters_report report = {.machine = &machine_session->machine,
                                         .session = session,
                                         .threads = machine_session->threads};
        measure(&report, session, team);
        if (input->json || input->output != NULL) {
            status = counters_report_write(&report, context, input->output, input->json);
        }
        if (!input->json && status_is_ok(status)) {
            counters_report_print(context->out, &report, input->certify);
        }
        if (input->certify && counters_report_failures(&report) > 0) {
            *exit_code = EXIT_CHECK_FAILED;
        }
    }
    counter_session_close(session);
    team_destroy(team);
    return status;
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct counters_input input = {.policy = COUNTERS_AUTO};
    struct event_file *events = NULL;
    struct session session;
    bool done = false;
    TRY(command_parse(&done, context, &parser, argc, argv, &input));
    if (done) {
        return status_ok();
    }
    if (input.output != NULL) {
        TRY(output_check(input.output));
    }
    if (input.events_path != NULL) {
        TRY(event_file_read(&events, input.events_path));
    }
    struct status status =
        session_open(&session, &(struct session_options){.threads = (unsigned)input.threads});
    if (status_is_ok(status)) {
        status = answer(exit_code, context, &input, &session, event_file_table(events));
    }
    session_close(&session);
    event_file_free(events);
    return status;
}

const struct command command_counters = {
    .name = "counters",
    .summary = "show what this machine can count, and prove that it counts right",
    .run = run,
};

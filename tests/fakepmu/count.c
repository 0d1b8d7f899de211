// Counts a small body on a machine told by arguments and prints one line a metric: what the tests
// of counting sessions compare with their script.
//   count VENDOR FAMILY MODEL STEPPING THREADS POLICY REPEATS [EVENTS.json|REPLAY]
#include "profiler/counters.h"
#include "profiler/events_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void body(void *context, unsigned thread, unsigned threads)
{
    (void)context;
    (void)thread;
    (void)threads;
    known_work_run(KNOWN_LOOP, 1000, NULL);
}

static double run(void *context, struct team_probe probe)
{
    struct team_sample sample;
    team_time_probed(&sample, context, (struct team_body){body, NULL}, probe);
    return 1;
}

static void print_metric(const struct counter_session *session, enum metric metric)
{
    struct result_counter counter;
    counter_session_read(&counter, session, metric);
    if (reading_is_present(&counter.value)) {
        printf("%s %.0f %s %s %g %zu %s\n", counter.metric, counter.value.value, counter.scope,
               counter.source, counter.running_fraction, counter.value.n, counter.events);
    } else {
        printf("%s absent %s | %s | %s\n", counter.metric,
               absent_state_name(counter.value.absence.state), counter.value.absence.text,
               counter.value.absence.try_);
    }
}

static void print_intensity(const struct counter_session *session)
{
    struct reading flop;
    struct reading bytes;
    const char *place = NULL;
    counter_session_flop(&flop, session);
    counter_session_dram_bytes(&bytes, &place, session);
    if (reading_is_present(&flop) && reading_is_present(&bytes)) {
        printf("intensity %.17g %s\n", flop.value / bytes.value, place);
    } else {
        printf("intensity absent %s\n", place);
    }
}

static void print_certificate(const struct counter_session *session)
{
    size_t count = 0;
    const struct certificate_entry *entries = counter_session_certificate(&count, session);
    for (size_t i = 0; i < count; i++) {
        printf("certificate %s %s %s %.0f %.0f %s\n", entries[i].kernel,
               metric_row(entries[i].metric)->name, entries[i].source, entries[i].expected,
               entries[i].counted, entries[i].fault == FAULT_NONE ? "passed" : "failed");
    }
}

static void print_suspicions(const struct counter_session *session)
{
    size_t count = 0;
    const struct certificate_suspicion *list = counter_session_suspicions(&count, session);
    for (size_t i = 0; i < count; i++) {
        printf("suspicion %s %s\n", metric_row(list[i].metric)->name, list[i].text);
    }
}

static int fail(struct status status)
{
    (void)fprintf(stderr, "count: %s\n", status.detail);
    return 2;
}

static int count(const struct machine *machine, struct team *team,
                 const struct counter_options *options, unsigned repeats)
{
    struct counter_session *session = NULL;
    struct status status = counter_session_open(&session, machine, team, options);
    if (!status_is_ok(status)) {
        return fail(status);
    }
    for (unsigned i = 0; i < repeats; i++) {
        counter_session_measure(session, &(struct counter_work){.run = run, .context = team});
    }
    printf("table %s\npasses %zu\n", counter_session_table(session)->name,
           counter_session_passes(session));
    for (unsigned m = 0; m < METRIC_COUNT; m++) {
        print_metric(session, (enum metric)m);
    }
    print_intensity(session);
    print_certificate(session);
    print_suspicions(session);
    counter_session_close(session);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 8) {
        (void)fprintf(stderr, "usage: count VENDOR FAMILY MODEL STEPPING THREADS POLICY REPEATS\n");
        return 2;
    }
    struct machine machine = {.family = (unsigned)strtoul(argv[2], NULL, 0),
                              .model = (unsigned)strtoul(argv[3], NULL, 0),
                              .stepping = (unsigned)strtoul(argv[4], NULL, 0)};
    (void)snprintf(machine.vendor, sizeof machine.vendor, "%s", argv[1]);
    const unsigned cpus[] = {0, 1, 2, 3};
    struct counter_options options = {.policy = COUNTERS_AUTO};
    struct event_file *file = NULL;
    struct status status = status_ok();
    if (strcmp(argv[6], "replay") == 0) {
        options.policy = COUNTERS_REPLAY;
        options.replay_path = argc > 8 ? argv[8] : NULL;
    } else {
        status = counter_policy_of_name(&options.policy, argv[6]);
        if (status_is_ok(status) && argc > 8) {
            status = event_file_read(&file, argv[8]);
            options.table = event_file_table(file);
        }
    }
    struct team *team = NULL;
    if (status_is_ok(status)) {
        status = team_create(&team, cpus, (unsigned)strtoul(argv[5], NULL, 10) % 5);
    }
    int result = status_is_ok(status)
                     ? count(&machine, team, &options, (unsigned)strtoul(argv[7], NULL, 10))
                     : fail(status);
    team_destroy(team);
    event_file_free(file);
    return result;
}

#include "profiler/exec.h"

#include "machines/detect.h"
#include "profiler/events_json.h"
#include "profiler/exec_place.h"
#include "profiler/exec_window.h"
#include "profiler/host_facts.h"
#include "profiler/output.h"
#include "profiler/result_build.h"
#include "profiler/run_document_json.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TASKS_MAX = 8192 };

// How long the system is counted by itself before a command begins.
static const double idle_seconds = 0.05;

/** A watch being set up. */
struct setup {
    const struct exec_request *request;
    const struct command_context *context;
    struct machine machine;
    struct event_file *events;
    struct process_tree *tree;
    struct process_counters *counters;
    struct exec_markers markers;
    struct exec_result *result;
};

// Everything that can be wrong with what was asked for, before anything runs.
static struct status prepare(struct setup *s)
{
    const struct exec_request *request = s->request;
    TRY(exec_request_check(request));
    if (request->output != NULL) {
        TRY(output_check(request->output));
    }
    if (request->events_path != NULL) {
        TRY(event_file_read(&s->events, request->events_path));
    }
    TRY(exec_place_model(&s->result->place, request));
    run_document_started(&s->result->run, s->context);
    TRY(machine_detect(&s->machine));
    host_facts_add(&s->result->run, &s->machine, isa_detect());
    return status_ok();
}

static struct status open_counters(struct setup *s, const int *tasks, size_t count, bool on_exec)
{
    assert(s->machine.usable != NULL); // machine_detect() found one cpu at least
    const struct process_counter_options options = {.machine = &s->machine,
                                                    .cpu = s->machine.usable[0].os_index,
                                                    .policy = s->request->counters,
                                                    .table = event_file_table(s->events),
                                                    .tasks = tasks,
                                                    .task_count = count,
                                                    .on_exec = on_exec,
                                                    .list_only = s->request->markers};
    return process_counters_open(&s->counters, &options);
}

static void clean_up(struct setup *s)
{
    exec_markers_end(&s->markers);
    process_counters_close(s->counters);
    process_tree_destroy(s->tree);
    event_file_free(s->events);
    machine_free(&s->machine);
}

static void warn_of_watch(struct exec_result *out)
{
    const struct watch *watch = &out->watch;
    if (watch->ended && watch->left_running > 0) {
        result_warn(&out->run, "left_running", "lmroof attach --pid PID",
                    "%u processes that it started still run: what they do from now on is not in "
                    "the figures",
                    watch->left_running);
    }
    double seconds = watch->samples[watch->count - 1].seconds;
    if (seconds > 1 && watch->own_cpu_seconds > 0.01 * seconds) {
        result_warn(&out->run, "own_cost", "a larger --interval",
                    "watching took %.3g of a CPU: more than 1 %%",
                    watch->own_cpu_seconds / seconds);
    }
    const struct result_counter *reads = &out->whole[METRIC_DRAM_READ_BYTES];
    if (out->attached && reading_is_present(&reads->value) && reads->scope[0] == 's') {
        result_warn(&out->run, "background_unknown", "lmroof exec, which counts before it begins",
                    "memory traffic is that of the whole system: what it moves without this "
                    "process is not known");
    }
    if (out->place.placed && out->place.lower_bound) {
        result_warn(&out->run, "phase_unknown", "--window A:B around the decode",
                    "whether the steady stretch is decode alone cannot be told%s: its rate is at "
                    "least what is shown",
                    reading_is_present(&out->whole[METRIC_CYCLES].value) ? ""
                                                                         : " without counters");
    }
    if (reading_is_present(&out->place.roof_fraction) && out->place.placed &&
        out->place.roof_fraction.value > 1) {
        result_warn(&out->run, "above_roof", "check --tokens, --dtype and -m; --machine FILE",
                    "it runs at %.2f of its roof: suspect more tokens than the window holds, "
                    "weights in cache, another type, or a roof of fewer threads",
                    out->place.roof_fraction.value);
    }
}

static void print_warnings(const struct exec_result *out, FILE *err)
{
    for (size_t i = 0; i < out->run.warning_count; i++) {
        (void)fprintf(err, "lmroof: warning: %s\n", out->run.warnings[i].text);
    }
}

// Everything after the watch: what was seen is shown even if its place cannot be had.
static struct status conclude(struct setup *s, FILE *summary)
{
    struct exec_result *out = s->result;
    const struct exec_request *request = s->request;
    TRY(exec_window_find(out, request, s->counters));
    struct status placed = status_ok();
    if (request->markers) {
        out->region_count = exec_markers_collect(out->regions, &s->markers, s->counters);
    }
    if (out->place.asked || out->region_count > 0) {
        placed = exec_place_roofs(out, request, s->context);
    }
    exec_place_window(out);
    warn_of_watch(out);
    out->run.complete = out->watch.ended || (out->watch.signal == 0 && request->seconds_max > 0);
    if (!request->quiet) {
        print_warnings(out, s->context->err);
    }
    if (!request->json && !(request->quiet && summary == s->context->err)) {
        exec_print(summary, out);
    }
    TRY(placed);
    return request->json || request->output != NULL
               ? exec_write_json(out, s->context, request->output, request->json)
               : status_ok();
}

static struct status watch_command(struct setup *s, struct launch *launch)
{
    int task = (int)launch->pid;
    TRY(process_tree_create(&s->tree, "", task, (int)getpid()));
    if (!s->request->markers) { // else they are known already, and left to the program
        TRY(open_counters(s, &task, 1, true));
    }
    process_counters_idle(s->counters, idle_seconds);
    return watch_run(&s->result->watch,
                     &(struct watch_options){.tree = s->tree,
                                             .counters = s->counters,
                                             .interval_seconds = s->request->interval_seconds,
                                             .launch = launch,
                                             .pid = task});
}

static int exit_code_of(const struct watch *watch)
{
    if (watch->exec_error != 0) {
        return watch->exec_error == ENOENT ? EXEC_NOT_FOUND : EXEC_NOT_RUN;
    }
    return WIFSIGNALED(watch->wait_status) ? 128 + WTERMSIG(watch->wait_status)
                                           : WEXITSTATUS(watch->wait_status);
}

static struct status run_command(int *exit_code, struct setup *s)
{
    const struct exec_request *request = s->request;
    struct launch launch;
    TRY(prepare(s));
    const char *name = strrchr(request->command[0], '/');
    (void)snprintf(s->result->name, sizeof s->result->name, "%.31s",
                   name == NULL ? request->command[0] : name + 1);
    if (request->markers) {
        TRY(open_counters(s, NULL, 0, true));
        TRY(exec_markers_offer(&s->markers, s->counters));
    }
    // Orphans of the command become our children, and stay in the tree.
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    TRY(launch_prepare(&launch, &(struct launch_options){.argv = request->command,
                                                         .output_to_error = request->json,
                                                         .inherited = s->context->inherited}));
    s->result->pid = (int)launch.pid;
    struct status status = watch_command(s, &launch);
    if (!s->result->watch.ended) {
        launch_abandon(&launch);
        return status;
    }
    *exit_code = exit_code_of(&s->result->watch);
    if (s->result->watch.exec_error != 0) {
        return status_error(STATUS_UNAVAILABLE, "%s: %s", request->command[0],
                            strerror(s->result->watch.exec_error));
    }
    TRY(status);
    return conclude(s, s->context->err);
}

struct status exec_command(int *exit_code, const struct exec_request *request,
                           const struct command_context *context)
{
    struct exec_result *result = calloc(1, sizeof *result);
    struct setup s = {.request = request, .context = context, .result = result};
    if (result == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to watch a command");
    }
    struct status status = run_command(exit_code, &s);
    clean_up(&s);
    exec_result_free(result);
    free(result);
    return status;
}

static size_t list_tasks(int *out, size_t count, int pid)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return count;
    }
    const struct dirent *entry = NULL;
    while (count < TASKS_MAX && (entry = readdir(directory)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            out[count++] = atoi(entry->d_name);
        }
    }
    (void)closedir(directory);
    return count;
}

// The threads of the tree as it is now; what they create later is counted with them.
static struct status count_tree(struct setup *s)
{
    struct tree_totals totals;
    TRY(process_tree_sample(&totals, s->tree));
    int *tasks = calloc(TASKS_MAX, sizeof *tasks);
    if (tasks == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a list of threads");
    }
    size_t members = 0;
    size_t count = 0;
    const struct process_facts *list = process_tree_members(&members, s->tree);
    for (size_t i = 0; i < members; i++) {
        count = list_tasks(tasks, count, list[i].pid);
    }
    struct status status = open_counters(s, tasks, count, false);
    free(tasks);
    return status;
}

static struct status watch_process(struct setup *s)
{
    const struct exec_request *request = s->request;
    struct process_facts facts;
    if (!process_identify(&facts, "", request->pid) || process_is_zombie(&facts)) {
        return status_error(STATUS_INVALID, "--pid %d: there is no such process%s", request->pid,
                            request->pid == facts.pid && facts.state != '\0' ? " any more" : "");
    }
    TRY(prepare(s));
    TRY(process_tree_create(&s->tree, "", request->pid, 0));
    TRY(count_tree(s));
    s->result->attached = true;
    s->result->pid = request->pid;
    (void)snprintf(s->result->name, sizeof s->result->name, "%s", facts.name);
    TRY(watch_run(&s->result->watch,
                  &(struct watch_options){.tree = s->tree,
                                          .counters = s->counters,
                                          .interval_seconds = request->interval_seconds,
                                          .seconds_max = request->seconds_max,
                                          .pid = request->pid}));
    return conclude(s, s->context->out);
}

struct status exec_attach(int *exit_code, const struct exec_request *request,
                          const struct command_context *context)
{
    struct exec_result *result = calloc(1, sizeof *result);
    struct setup s = {.request = request, .context = context, .result = result};
    if (result == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to watch a process");
    }
    struct status status = watch_process(&s);
    if (status_is_ok(status) && result->watch.signal != 0) {
        *exit_code = 128 + result->watch.signal;
    }
    clean_up(&s);
    exec_result_free(result);
    free(result);
    return status;
}

#include "profiler/exec_request.h"

#include "profiler/option_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum option_key {
    KEY_TOKENS = 256,
    KEY_BATCH,
    KEY_CONTEXT,
    KEY_DTYPE,
    KEY_KV_DTYPE,
    KEY_INTERVAL,
    KEY_WINDOW,
    KEY_MACHINE,
    KEY_COUNTERS,
    KEY_EVENTS,
    KEY_JSON,
    KEY_QUIET,
    KEY_PID,
    KEY_DURATION,
    KEY_MARKERS,
};

static const struct argp_option common_options[] = {
    {"model", 'm', "MODEL", 0,
     "place the steady window as decode of this model: a built-in name, config.json or its "
     "folder, .gguf; needs --tokens",
     1},
    {"tokens", KEY_TOKENS, "N", 0, "tokens decoded in the window, all sequences together", 1},
    {"batch", KEY_BATCH, "N", 0, "sequences decoded at once (1)", 1},
    {"context", KEY_CONTEXT, "N", 0, "tokens cached before the first (0)", 1},
    {"dtype", KEY_DTYPE, "D", 0, "type of all weights (the model's own): f32 bf16 q8_0 ...", 1},
    {"kv-dtype", KEY_KV_DTYPE, "D", 0, "type of the cache (f16)", 1},
    {"machine", KEY_MACHINE, "FILE", 0,
     "take the roofs from a document of probe or run (measured afterwards)", 1},
    {"interval", KEY_INTERVAL, "S", 0, "seconds between two looks, 0.01 to 60 (0.1)", 2},
    {"window", KEY_WINDOW, "A:B", 0,
     "the steady window, in seconds from the start; either may be left out (found by itself)", 2},
    {"counters", KEY_COUNTERS, "WORD", 0, "auto, off, require (auto)", 3},
    {"events", KEY_EVENTS, "FILE", 0, "event table of a CPU newer than this build", 3},
    {"output", 'o', "FILE", 0, "the JSON document into FILE", 4},
    {"quiet", KEY_QUIET, NULL, 0, "no summary, no warnings on standard error", 4},
    {0}};

static const struct argp_option exec_options[] = {
    {"markers", KEY_MARKERS, NULL, 0,
     "place the regions that the program marks with lmroof.h; counters count in them alone", 1},
    {"json", KEY_JSON, NULL, 0,
     "one JSON document (lmroof.exec/1) on standard output; the command's goes to standard error",
     4},
    {0}};

static const struct argp_option attach_options[] = {
    {"pid", KEY_PID, "PID", 0, "the process", 1},
    {"duration", KEY_DURATION, "S", 0, "seconds to watch (until it ends, or Ctrl-C)", 2},
    {"json", KEY_JSON, NULL, 0, "one JSON document (lmroof.exec/1) on standard output", 4},
    {0}};

void exec_request_defaults(struct exec_request *out)
{
    *out = (struct exec_request){.batch = 1,
                                 .dtype = DTYPE_STORED,
                                 .kv_dtype = DTYPE_F16,
                                 .interval_seconds = 0.1,
                                 .window_end = (double)INFINITY,
                                 .counters = COUNTERS_AUTO};
}

static struct status set_dtype(enum dtype_id *out, const char *option, const char *text)
{
    *out = dtype_find(text);
    return *out < DTYPE_COUNT && dtype_get(*out)->use == DTYPE_WEIGHTS
               ? status_ok()
               : status_error(STATUS_INVALID,
                              "%s '%.20s': accepted the types that 'lmroof model --dtype' takes",
                              option, text);
}

static bool parse_seconds(double *out, const char *text, char end)
{
    return option_decimal(out, text, end) && *out >= 0;
}

static struct status set_window(struct exec_request *request, const char *text)
{
    const char *colon = strchr(text, ':');
    bool good = colon != NULL && strlen(text) > 1;
    request->has_window = true;
    request->window_begin = 0;
    request->window_end = (double)INFINITY;
    if (good && colon != text) {
        good = parse_seconds(&request->window_begin, text, ':');
    }
    if (good && colon[1] != '\0') {
        good = parse_seconds(&request->window_end, colon + 1, '\0');
    }
    return good && request->window_begin < request->window_end
               ? status_ok()
               : status_error(STATUS_INVALID,
                              "--window '%.40s': accepted A:B in seconds with A below B, A: or :B",
                              text);
}

static struct status set_interval(struct exec_request *request, const char *text)
{
    TRY(option_positive(&request->interval_seconds, "--interval", text));
    return request->interval_seconds >= 0.01 && request->interval_seconds <= 60
               ? status_ok()
               : status_error(STATUS_INVALID, "--interval '%.20s': accepted 0.01 to 60 seconds",
                              text);
}

static struct status set_counters(struct exec_request *request, const char *text)
{
    TRY(counter_policy_of_name(&request->counters, text));
    bool known = request->counters == COUNTERS_AUTO || request->counters == COUNTERS_OFF ||
                 request->counters == COUNTERS_REQUIRE;
    return known ? status_ok()
                 : status_error(STATUS_INVALID, "--counters '%.20s': accepted auto, off, require",
                                text);
}

static struct status set_pid(struct exec_request *request, const char *text)
{
    uint64_t pid = 0;
    TRY(option_count(&pid, "--pid", text, 1, 1 << 30));
    request->pid = (int)pid;
    return status_ok();
}

static struct status set_model_option(bool *known, struct exec_request *request, int key,
                                      char *text)
{
    *known = true;
    switch (key) {
    case 'm':
        request->model = text;
        return status_ok();
    case KEY_TOKENS:
        return option_count(&request->tokens, "--tokens", text, 1, UINT64_C(1) << 40);
    case KEY_BATCH:
        return option_count(&request->batch, "--batch", text, 1, 1 << 20);
    case KEY_CONTEXT:
        return option_count(&request->context, "--context", text, 0, 1 << 24);
    case KEY_DTYPE:
        return set_dtype(&request->dtype, "--dtype", text);
    case KEY_KV_DTYPE:
        return set_dtype(&request->kv_dtype, "--kv-dtype", text);
    case KEY_MACHINE:
        request->machine = text;
        return status_ok();
    default:
        *known = false;
        return status_ok();
    }
}

static struct status set_watch_option(bool *known, struct exec_request *request, int key,
                                      char *text)
{
    *known = true;
    switch (key) {
    case KEY_INTERVAL:
        return set_interval(request, text);
    case KEY_WINDOW:
        return set_window(request, text);
    case KEY_COUNTERS:
        return set_counters(request, text);
    case KEY_EVENTS:
        request->events_path = text;
        return status_ok();
    case 'o':
        request->output = text;
        return status_ok();
    case KEY_JSON:
        request->json = true;
        return status_ok();
    case KEY_QUIET:
        request->quiet = true;
        return status_ok();
    case KEY_MARKERS:
        request->markers = true;
        return status_ok();
    case KEY_PID:
        return set_pid(request, text);
    case KEY_DURATION:
        return option_positive(&request->seconds_max, "--duration", text);
    default:
        *known = false;
        return status_ok();
    }
}

static error_t parse_common(int key, char *text, struct argp_state *state)
{
    struct exec_request *request = state->input;
    bool known = false;
    struct status status = set_model_option(&known, request, key, text);
    if (!known) {
        status = set_watch_option(&known, request, key, text);
    }
    if (!known) {
        return ARGP_ERR_UNKNOWN;
    }
    return status_is_ok(status) ? 0 : command_option_error(state, status);
}

// The first word that is no option begins the command: what follows is its own.
static error_t parse_exec(int key, char *text, struct argp_state *state)
{
    struct exec_request *request = state->input;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = state->input;
        return 0;
    }
    if (key == ARGP_KEY_ARGS) {
        request->command = state->argv + state->next;
        state->next = state->argc;
        return 0;
    }
    return key == KEY_JSON || key == KEY_MARKERS ? parse_common(key, text, state)
                                                 : ARGP_ERR_UNKNOWN;
}

static error_t parse_attach(int key, char *text, struct argp_state *state)
{
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = state->input;
        return 0;
    }
    bool own = key == KEY_JSON || key == KEY_PID || key == KEY_DURATION;
    return own ? parse_common(key, text, state) : ARGP_ERR_UNKNOWN;
}

static const struct argp common_argp = {.options = common_options, .parser = parse_common};
static const struct argp_child children[] = {{&common_argp, 0, NULL, 0}, {0}};

static const struct argp exec_argp = {
    .options = exec_options,
    .parser = parse_exec,
    .args_doc = "-- COMMAND...",
    .doc = "Runs a command and watches it and all that it starts from outside: time, CPU, memory, "
           "faults, switches, storage, every counter that exists.\v"
           "The command's input and output are its own; the summary goes to standard error when "
           "it has ended. Exit status: the command's; 128 + N if signal N ended it; 125 if lmroof "
           "itself failed, 126 if the command cannot be run, 127 if it is not found. Signals sent "
           "to lmroof alone are passed on.\n"
           "Example: lmroof exec -m model.gguf --tokens 640 -o out.json -- llama-bench -m "
           "model.gguf -p 0 -n 128 -r 5",
    .children = children};

static const struct argp attach_argp = {
    .options = attach_options,
    .parser = parse_attach,
    .args_doc = NULL,
    .doc = "Watches a process that runs already, and what it starts, from outside: as lmroof exec "
           "does for a command.\v"
           "Ends with the process, after --duration, or at Ctrl-C (exit status 130); then shows "
           "what was seen. The process is not disturbed.\n"
           "Example: lmroof attach --pid 4711 --duration 30 -m model.gguf --tokens 900",
    .children = children};

const struct argp *exec_request_argp(void)
{
    return &exec_argp;
}

const struct argp *attach_request_argp(void)
{
    return &attach_argp;
}

struct status exec_request_check(const struct exec_request *request)
{
    if (request->model != NULL && request->tokens == 0) {
        return status_error(STATUS_INVALID, "-m needs --tokens N: how many tokens were decoded");
    }
    if (request->model == NULL && request->tokens != 0) {
        return status_error(STATUS_INVALID, "--tokens needs -m MODEL: what decoded them");
    }
    return status_ok();
}

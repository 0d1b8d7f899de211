#include "profiler/run_request.h"

#include "profiler/session_memory.h"
#include "workloads/attention_quant.h"

#include <stdio.h>
#include <string.h>

enum option_key {
    KEY_PHASE = 256,
    KEY_BATCH,
    KEY_CONTEXT,
    KEY_PROMPT,
    KEY_DTYPE,
    KEY_KV_DTYPE,
    KEY_THREADS,
    KEY_SMT,
    KEY_NUMA,
    KEY_PAGES,
    KEY_COUNTERS,
    KEY_EVENTS,
    KEY_STEP,
    KEY_NO_TWINS,
    KEY_REPEAT,
    KEY_BUDGET,
    KEY_JSON,
    KEY_QUIET,
};

static const struct argp_option options[] = {
    {"model", 'm', "MODEL", 0,
     "a built-in name (lmroof model --list), a config.json or its folder, a .gguf (llama-3.2-1b)",
     1},
    {"phase", KEY_PHASE, "LIST", 0, "decode, prefill (both)", 1},
    {"batch", KEY_BATCH, "LIST", 0, "sequences decoded at once (1)", 1},
    {"context", KEY_CONTEXT, "LIST", 0,
     "tokens cached before a decode step (512); a prefill starts from empty", 1},
    {"prompt", KEY_PROMPT, "LIST", 0, "tokens of a prefill (512)", 1},
    {"dtype", KEY_DTYPE, "LIST", 0,
     "of the weights: f32, bf16, f16, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k, q6_k, int8, "
     "int4_g128, mxfp4 (the model's own)",
     2},
    {"kv-dtype", KEY_KV_DTYPE, "D", 0,
     "of the cache: f32, bf16, f16, q8_0 (a scale per 32 of a head), int8 (per head) (f16)", 2},
    {"threads", KEY_THREADS, "LIST", 0,
     "bound threads (one per usable core, within the quota); of several the knee is told", 3},
    {"smt", KEY_SMT, "on|off", 0, "use SMT siblings too (off)", 3},
    {"numa", KEY_NUMA, "WORD", 0,
     "where the data lies: local (on its thread's node), interleave (page by page over the nodes), "
     "replicate (all of it on each) (local)",
     3},
    {"pages", KEY_PAGES, "small|huge", 0, "ask for 4 KiB or transparent huge pages (huge)", 3},
    {"counters", KEY_COUNTERS, "WORD", 0, "auto, off, require, papi, perf (auto)", 4},
    {"events", KEY_EVENTS, "FILE", 0,
     "event table of a CPU newer than this build (lmroof counters --help)", 4},
    {"step", KEY_STEP, NULL, 0,
     "run the whole step too: all layers in order, tokens/s, time by operator", 4},
    {"no-twins", KEY_NO_TWINS, NULL, 0, "skip the memory-only and compute-only twins", 4},
    {"repeat", KEY_REPEAT, "N", 0, "rounds per point, 3 to 64 (11)", 5},
    {"budget", KEY_BUDGET, "SECONDS", 0, "fewer rounds so that the run ends in time (no limit)", 5},
    {"json", KEY_JSON, NULL, 0, "one JSON document on standard output", 6},
    {"output", 'o', "FILE", 0, "the JSON document into FILE, replaced after every operator", 6},
    {"quiet", KEY_QUIET, NULL, 0, "no progress and no warnings on standard error", 6},
    {0}};

void run_request_defaults(struct run_request *out)
{
    memset(out, 0, sizeof *out);
    out->model = "llama-3.2-1b";
    out->kv_dtype = DTYPE_F16;
    out->repeat = 11;
    out->budget_try = "a larger --budget, or a quiet machine";
    out->counters = COUNTERS_AUTO;
    out->numa = SESSION_LOCAL;
}

void run_request_finish(struct run_request *request)
{
    if (!request->decode && !request->prefill) {
        request->decode = true;
        request->prefill = true;
    }
    if (request->batch.count == 0) {
        request->batch = (struct option_counts){1, {1}};
    }
    if (request->context.count == 0) {
        request->context = (struct option_counts){1, {512}};
    }
    if (request->prompt.count == 0) {
        request->prompt = (struct option_counts){1, {512}};
    }
}

static struct status set_phase(void *context, const char *word)
{
    struct run_request *request = context;
    bool decode = strcmp(word, "decode") == 0;
    bool prefill = strcmp(word, "prefill") == 0;
    request->decode = request->decode || decode;
    request->prefill = request->prefill || prefill;
    return decode || prefill
               ? status_ok()
               : status_error(STATUS_INVALID, "--phase '%s': accepted decode, prefill", word);
}

// Of the weights, or of the cache.
static bool has_kernels(enum line_format format, bool weights)
{
    return weights || !line_is_blocks(format) || attention_is_quant(format);
}

static struct status runnable_dtype(enum dtype_id *out, const char *option, const char *word,
                                    bool weights)
{
    enum line_format format = LINE_F32;
    char accepted[96] = "";
    size_t used = 0;
    *out = dtype_find(word);
    if (*out < DTYPE_COUNT && line_find(&format, dtype_name(*out)) &&
        has_kernels(format, weights)) {
        return status_ok();
    }
    for (int i = 0; i < LINE_FORMATS && used < sizeof accepted; i++) {
        if (has_kernels((enum line_format)i, weights)) {
            used += (size_t)snprintf(accepted + used, sizeof accepted - used, " %s",
                                     line_layout((enum line_format)i)->name);
        }
    }
    return status_error(STATUS_INVALID, "%s '%.16s': %s; accepted%s", option, word,
                        *out < DTYPE_COUNT ? "no kernels" : "no dtype", accepted);
}

static struct status add_dtype(void *context, const char *word)
{
    struct run_request *request = context;
    enum dtype_id id = DTYPE_NONE;
    TRY(runnable_dtype(&id, "--dtype", word, true));
    for (size_t i = 0; i < request->dtype_count; i++) {
        if (request->dtypes[i] == id) {
            return status_ok();
        }
    }
    if (request->dtype_count < RUN_DTYPES_MAX) {
        request->dtypes[request->dtype_count++] = id;
    }
    return status_ok();
}

struct status run_request_dtypes(struct run_request *request, const char *text)
{
    return option_words("--dtype", text, add_dtype, request);
}

struct status run_request_one_dtype(struct run_request *request, const char *text)
{
    request->dtype_count = 0;
    TRY(run_request_dtypes(request, text));
    return request->dtype_count == 1
               ? status_ok()
               : status_error(STATUS_INVALID, "--dtype '%.40s': accepted one type", text);
}

static struct status one_of(const char **out, const char *option, const char *text,
                            const char *first, const char *second)
{
    *out = strcmp(text, first) == 0 ? first : second;
    if (strcmp(text, *out) == 0) {
        return status_ok();
    }
    return status_error(STATUS_INVALID, "%s '%.40s': accepted %s, %s", option, text, first, second);
}

static struct status set_numa(struct run_request *request, const char *text)
{
    return session_numa_find(&request->numa, text)
               ? status_ok()
               : status_error(STATUS_INVALID,
                              "--numa '%.40s': accepted local, interleave, replicate", text);
}

static struct status set_list(struct run_request *request, int key, const char *text)
{
    switch (key) {
    case KEY_PHASE:
        return option_words("--phase", text, set_phase, request);
    case KEY_BATCH:
        return option_count_list(&request->batch, "--batch", text, 1, 512);
    case KEY_CONTEXT:
        return option_count_list(&request->context, "--context", text, 0, 1 << 24);
    case KEY_PROMPT:
        return option_count_list(&request->prompt, "--prompt", text, 1, 1 << 20);
    case KEY_DTYPE:
        return run_request_dtypes(request, text);
    default:
        return runnable_dtype(&request->kv_dtype, "--kv-dtype", text, false);
    }
}

static struct status set_threads(struct run_request *request, const char *text)
{
    struct option_counts *counts = &request->thread_counts;
    TRY(option_count_list(counts, "--threads", text, 1, 1 << 20));
    size_t kept = 0;
    for (size_t i = 0; i < counts->count; i++) {
        size_t before = 0;
        while (before < kept && counts->values[before] != counts->values[i]) {
            before++;
        }
        if (before == kept) {
            counts->values[kept++] = counts->values[i]; // not twice
        }
    }
    counts->count = kept;
    request->threads = counts->values[0];
    return status_ok();
}

static struct status set_machine(struct run_request *request, int key, const char *text)
{
    const char *word = NULL;
    switch (key) {
    case KEY_THREADS:
        return set_threads(request, text);
    case KEY_SMT:
        TRY(one_of(&word, "--smt", text, "on", "off"));
        request->smt = strcmp(word, "on") == 0;
        return status_ok();
    case KEY_NUMA:
        return set_numa(request, text);
    case KEY_PAGES:
        TRY(one_of(&word, "--pages", text, "small", "huge"));
        request->small_pages = strcmp(word, "small") == 0;
        return status_ok();
    case KEY_COUNTERS:
        return counter_policy_of_name(&request->counters, text);
    case KEY_REPEAT:
        return option_count(&request->repeat, "--repeat", text, 3, READING_SAMPLES_MAX);
    default:
        return option_positive(&request->budget_seconds, "--budget", text);
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct run_request *request = state->input;
    struct status status = status_ok();
    switch (key) {
    case ARGP_KEY_ARG:
        if (state->arg_num > 0) {
            return ARGP_ERR_UNKNOWN; // a second model
        }
        request->model = arg;
        break;
    case 'm':
        request->model = arg;
        break;
    case KEY_PHASE:
    case KEY_BATCH:
    case KEY_CONTEXT:
    case KEY_PROMPT:
    case KEY_DTYPE:
    case KEY_KV_DTYPE:
        status = set_list(request, key, arg);
        break;
    case KEY_THREADS:
    case KEY_SMT:
    case KEY_NUMA:
    case KEY_PAGES:
    case KEY_COUNTERS:
    case KEY_REPEAT:
    case KEY_BUDGET:
        status = set_machine(request, key, arg);
        break;
    case KEY_EVENTS:
        request->events_path = arg;
        break;
    case KEY_STEP:
        request->step = true;
        break;
    case KEY_NO_TWINS:
        request->no_twins = true;
        break;
    case KEY_JSON:
        request->json = true;
        break;
    case 'o':
        request->output = arg;
        break;
    case KEY_QUIET:
        request->quiet = true;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return status.code == STATUS_OK ? 0 : command_option_error(state, status);
}

const struct argp *run_request_argp(void)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .args_doc = "[MODEL]",
        .doc = "Measures the operators of a model's decode and prefill on this machine, each "
               "interleaved with the roofs it is judged by, and says what bounds it.\v"
               "Each operator is checked against a double-precision reference before it is timed. "
               "In the table: AI in FLOP/byte of memory traffic (weights and cache), 'of it' the "
               "fraction of the roof, t the time of a call, m and k the same call without "
               "arithmetic and without memory.\n\n"
               "Exit status: 0 done, 1 the machine could not or a result was wrong, 2 bad usage.\n"
               "Examples:\n"
               "  lmroof run -m llama-3.2-1b --phase decode --batch 1,4,16 --dtype bf16\n"
               "  lmroof run ./config.json --budget 60 -o run.json\n"
               "  lmroof run -m llama-3.2-1b --threads 1,2,4 --step"};
    return &argp;
}

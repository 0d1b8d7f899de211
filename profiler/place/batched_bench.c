#include "profiler/place_tool.h"

#include <math.h>

// llama.cpp's tools/batched-bench: keys of --output-format jsonl, then columns of its table.
#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct status take_shape(struct place_test *out, const struct place_row *row, bool *shared)
{
    uint64_t is_shared = 0;
    out->batch = 0;
    TRY(place_row_count(&out->prompt, row, KEYS("pp", "PP")));
    TRY(place_row_count(&out->generated, row, KEYS("tg", "TG")));
    TRY(place_row_count(&out->batch, row, KEYS("pl", "B")));
    if (place_row_text(row, KEYS("pl", "B")) == NULL && place_row_text(row, KEYS("N_KV")) != NULL) {
        out->batch = 1; // llama-sweep-bench: one sequence, N_KV tokens cached before
        TRY(place_row_count(&out->depth, row, KEYS("N_KV")));
    }
    TRY(place_row_count(&is_shared, row, KEYS("is_pp_shared")));
    TRY(place_row_count(&out->ubatch, row, KEYS("n_ubatch")));
    if (out->batch == 0 || out->prompt + out->generated == 0) {
        return status_error(STATUS_INVALID,
                            "row %zu: found no 'pp', 'tg' and 'pl' above 0, accepted the output of "
                            "llama-batched-bench (--output-format jsonl or md)",
                            row->number);
    }
    *shared = is_shared != 0;
    return status_ok();
}

static struct status take_seconds(double *out, const struct place_row *row, const char *const *keys)
{
    TRY(place_row_number(out, row, keys, 0));
    return status_ok();
}

// Two tests a row: the prompts of all sequences (or the one that they share), then the decode.
static struct status take(struct place_test *out, size_t *count, const struct place_row *row,
                          const struct place_hints *hints)
{
    bool shared = false;
    double prefill = 0;
    double decode = 0;
    uint64_t threads = hints->threads;
    TRY(take_shape(out, row, &shared));
    TRY(place_row_count(&threads, row, KEYS("n_threads")));
    TRY(take_seconds(&prefill, row, KEYS("t_pp", "T_PP s")));
    TRY(take_seconds(&decode, row, KEYS("t_tg", "T_TG s")));
    out->threads = (unsigned)threads;
    struct place_test both = *out;
    *count = 0;
    if (both.prompt > 0 && prefill > 0) {
        out[*count] = both;
        out[*count].batch = shared ? 1 : both.batch;
        out[*count].generated = 0;
        out[(*count)++].seconds = prefill;
    }
    if (both.generated > 0 && decode > 0) {
        out[*count] = both;
        out[*count].depth = both.depth + both.prompt;
        out[*count].prompt = 0;
        out[(*count)++].seconds = decode;
    }
    return *count > 0
               ? status_ok()
               : status_error(STATUS_INVALID, "row %zu: found no time above 0 ('t_pp', 't_tg')",
                              row->number);
}

const struct place_tool place_tool_batched_bench = {
    "llama-batched-bench", "llama.cpp's llama-batched-bench: --output-format jsonl, md", true,
    take};

#include "profiler/place_tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

// vLLM's benchmarks: `bench latency` (avg_latency), `bench throughput` (elapsed_time,
// num_requests), `bench serve` (duration, completed, total_*_tokens). The first two do not write
// their shape.
#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct status need(const struct place_row *row, const char *what, const char *option)
{
    return status_error(STATUS_INVALID, "row %zu: the file does not tell %s; accepted %s",
                        row->number, what, option);
}

static struct status take_latency(struct place_test *out, const struct place_row *row,
                                  double seconds)
{
    if (out->batch == 0 || out->prompt == 0 || out->generated == 0) {
        return need(row, "batch, prompt and generated tokens",
                    "--batch N --prompt N --generated N as given to vLLM (--batch-size, "
                    "--input-len, --output-len)");
    }
    out->seconds = seconds;
    return status_ok();
}

// The file's own mean where it tells one; an option of other length than that is a mistake.
static struct status take_mean(uint64_t *out, const struct place_row *row, double mean,
                               const char *option)
{
    if (!(mean > 0) || mean > UINT32_MAX) {
        return status_ok();
    }
    if (*out != 0 && fabs((double)*out - mean) > 0.03 * mean) {
        return status_error(STATUS_INVALID,
                            "row %zu: %s %" PRIu64 ", but the file tells %.4g a request; accepted "
                            "no %s, or the same",
                            row->number, option, *out, mean, option);
    }
    *out = (uint64_t)llround(mean);
    return status_ok();
}

// Requests came in waves of batch at once: one wave's share of the time.
static struct status take_requests(struct place_test *out, const struct place_row *row,
                                   double seconds)
{
    double requests = 0;
    double prompts = 0;
    double outputs = 0;
    TRY(place_row_number(&requests, row, KEYS("completed", "num_requests"), 1));
    TRY(place_row_number(&prompts, row, KEYS("total_input_tokens"), 0));
    TRY(place_row_number(&outputs, row, KEYS("total_output_tokens"), 0));
    if (isnan(requests)) {
        return need(row, "the number of requests", "'num_requests' or 'completed'");
    }
    TRY(take_mean(&out->prompt, row, prompts / requests, "--prompt"));
    TRY(take_mean(&out->generated, row, outputs / requests, "--generated"));
    if (out->batch == 0) {
        TRY(place_row_count(&out->batch, row, KEYS("max_concurrency")));
    }
    if (out->batch == 0 || out->prompt == 0 || out->generated == 0) {
        return need(row, "how many requests ran at once and their tokens",
                    "--batch N (vLLM's --max-num-seqs or --max-concurrency) --prompt N "
                    "--generated N");
    }
    out->batch = (double)out->batch < requests ? out->batch : (uint64_t)requests;
    out->seconds = seconds * (double)out->batch / requests;
    return status_ok();
}

static struct status take(struct place_test *out, size_t *count, const struct place_row *row,
                          const struct place_hints *hints)
{
    double latency = 0;
    double elapsed = 0;
    out->batch = hints->batch;
    out->prompt = hints->prompt;
    out->generated = hints->generated;
    out->threads = (unsigned)hints->threads;
    const char *model = place_row_text(row, KEYS("model_id", "model", "args.model"));
    (void)snprintf(out->model, sizeof out->model, "%s", model == NULL ? "" : model);
    TRY(place_row_number(&latency, row, KEYS("avg_latency"), 0));
    TRY(place_row_number(&elapsed, row, KEYS("elapsed_time", "duration"), 0));
    *count = 1;
    if (latency > 0) {
        return take_latency(out, row, latency);
    }
    if (elapsed > 0) {
        return take_requests(out, row, elapsed);
    }
    return status_error(STATUS_INVALID,
                        "row %zu: found no 'avg_latency', 'elapsed_time' or 'duration' above 0, "
                        "accepted the JSON of vLLM's bench latency, throughput or serve",
                        row->number);
}

const struct place_tool place_tool_vllm = {
    "vllm", "vLLM's bench latency, throughput, serve: their JSON", true, take};

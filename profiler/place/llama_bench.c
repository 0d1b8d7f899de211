#include "profiler/place_tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Names of llama.cpp's fields as llama-bench prints them in JSON, CSV and SQL, then the columns of
// its Markdown table (tools/llama-bench, 2023 to 2026: "test" and "t/s" carry several of them).
#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct status missing(const struct place_row *row, const char *key)
{
    return status_error(STATUS_INVALID,
                        "row %zu: found no '%s', accepted the output of llama-bench (-o json, "
                        "jsonl, csv or md)",
                        row->number, key);
}

// "3.56 GiB", "636.18 MiB"; "6.74 B", "314.06 M" with unit a factor of 1000.
static double scaled(const char *text, double unit)
{
    static const char letters[] = "KMGT";
    char *end = NULL;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value) || !(value > 0)) {
        return (double)NAN;
    }
    end += strspn(end, " ");
    const char *billion = *end == 'B' && unit < 1001 ? "G" : end; // "6.74 B" parameters
    const char *found = *billion == '\0' ? NULL : strchr(letters, *billion);
    return found == NULL ? value : value * pow(unit, (double)(found - letters) + 1);
}

static struct status take_sizes(struct place_test *out, const struct place_row *row)
{
    TRY(place_row_number(&out->file_bytes, row, KEYS("model_size"), 0));
    TRY(place_row_number(&out->parameters, row, KEYS("model_n_params"), 0));
    out->parameters_exact = !isnan(out->parameters);
    const char *size = place_row_text(row, KEYS("size"));
    const char *parameters = place_row_text(row, KEYS("params"));
    if (isnan(out->file_bytes) && size != NULL) {
        out->file_bytes = scaled(size, 1024);
    }
    if (isnan(out->parameters) && parameters != NULL) {
        out->parameters = scaled(parameters, 1000);
    }
    if (!(out->file_bytes > 0)) {
        out->file_bytes = (double)NAN;
    }
    return status_ok();
}

static struct status take_count(uint64_t *out, const struct place_row *row, const char *text,
                                char **end)
{
    *out = strtoull(text, end, 10);
    return *end != text && *out <= UINT32_MAX
               ? status_ok()
               : status_error(STATUS_INVALID, "row %zu: 'test': found '%.20s', accepted a number",
                              row->number, text);
}

// "pp512", "tg128", "pp 512", "pp512+tg128", each possibly with " @ d1024"; ik_llama.cpp also has
// "tg64@pp512": generated behind a prompt that is not timed.
static uint64_t *part_of(struct place_test *out, const char *at, bool behind)
{
    if (strncmp(at, "pp", 2) == 0) {
        return behind ? &out->depth : &out->prompt;
    }
    if (strncmp(at, "tg", 2) == 0) {
        return &out->generated;
    }
    return *at == 'd' ? &out->depth : NULL;
}

static struct status take_test_text(struct place_test *out, const struct place_row *row,
                                    const char *text)
{
    bool any = false;
    bool behind = false; // of an '@'
    for (const char *at = text; *at != '\0';) {
        char *end = NULL;
        uint64_t *target = part_of(out, at, behind);
        if (target == NULL && strchr("+@ ", *at) == NULL) {
            break;
        }
        if (target == NULL) {
            behind = behind || *at == '@';
            at++;
            continue;
        }
        at += *at == 'd' ? 1 : 2;
        TRY(take_count(target, row, at + strspn(at, " "), &end));
        any = true;
        at = end;
    }
    return any ? status_ok()
               : status_error(STATUS_INVALID,
                              "row %zu: 'test': found '%.40s', accepted ppN, tgN or ppN+tgN",
                              row->number, text);
}

static struct status take_work(struct place_test *out, const struct place_row *row)
{
    const char *text = place_row_text(row, KEYS("test"));
    if (text != NULL) {
        return take_test_text(out, row, text);
    }
    TRY(place_row_count(&out->prompt, row, KEYS("n_prompt")));
    TRY(place_row_count(&out->generated, row, KEYS("n_gen")));
    TRY(place_row_count(&out->depth, row, KEYS("n_depth")));
    return out->prompt + out->generated > 0 ? status_ok() : missing(row, "n_prompt, n_gen");
}

// Behind a rate: " ± 0.05", in some tables " +- 0.05"; 0 if there is none.
static double deviation_behind(const char *text)
{
    const char *number = text + strcspn(text, "0123456789|");
    double value = strtod(number, NULL);
    return isfinite(value) ? value : 0;
}

static struct status take_rate(struct place_test *out, const struct place_row *row)
{
    double deviation = 0;
    double rate = (double)NAN;
    const char *text = place_row_text(row, KEYS("t/s"));
    if (text != NULL) { // "12.34 ± 0.05"
        char *end = NULL;
        rate = strtod(text, &end);
        if (end == text || !isfinite(rate) || (*end != '\0' && *end != ' ')) {
            return status_error(STATUS_INVALID, "row %zu: 't/s': found '%.40s', accepted a number",
                                row->number, text);
        }
        deviation = deviation_behind(end);
    } else {
        TRY(place_row_number(&rate, row, KEYS("avg_ts"), 0));
        TRY(place_row_number(&deviation, row, KEYS("stddev_ts"), 0));
    }
    if (isnan(rate)) {
        return missing(row, "avg_ts");
    }
    if (!(rate > 0)) {
        return status_error(STATUS_INVALID, "row %zu: found %g tokens/s, accepted more than 0",
                            row->number, rate);
    }
    out->seconds = (double)(out->prompt + out->generated) / rate;
    out->spread_fraction = deviation > 0 ? deviation / rate : 0;
    return status_ok();
}

static struct status take(struct place_test *out, size_t *count, const struct place_row *row,
                          const struct place_hints *hints)
{
    uint64_t threads = hints->threads;
    const char *type = place_row_text(row, KEYS("model_type", "model"));
    const char *cache = place_row_text(row, KEYS("type_k"));
    TRY(take_work(out, row));
    TRY(take_rate(out, row));
    TRY(take_sizes(out, row));
    TRY(place_row_count(&threads, row, KEYS("n_threads", "threads")));
    TRY(place_row_count(&out->ubatch, row, KEYS("n_ubatch")));
    const char *backend = place_row_text(row, KEYS("backends", "backend"));
    (void)snprintf(out->backend, sizeof out->backend, "%s", backend == NULL ? "" : backend);
    const char *flash = place_row_text(row, KEYS("flash_attn", "fa")); // -1: as the program likes
    out->flash_attention = flash != NULL && (strcmp(flash, "1") == 0 || strcmp(flash, "true") == 0);
    out->batch = 1;
    out->threads = (unsigned)threads;
    if (type != NULL) {
        (void)snprintf(out->model, sizeof out->model, "%s", type);
        out->dtype = place_dtype_of(type);
    }
    if (cache != NULL && dtype_find(cache) < DTYPE_COUNT) {
        out->kv_dtype = dtype_find(cache);
    }
    *count = 1;
    return status_ok();
}

const struct place_tool place_tool_llama_bench = {
    "llama-bench", "llama.cpp's llama-bench: -o json, jsonl, csv, md", false, take};

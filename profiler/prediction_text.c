#include "profiler/prediction_text.h"

#include "profiler/machine_rates.h"
#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void print_heading(FILE *out, const struct prediction *prediction, size_t index)
{
    const struct step_request *request = &prediction->steps[index].request;
    const char *dtype = dtype_name(prediction->step_dtypes[index]);
    if (request->phase == STEP_DECODE) {
        (void)fprintf(out, "\ndecode, batch %" PRIu64 ", context %" PRIu64 ", %s\n", request->batch,
                      request->context, dtype);
    } else {
        (void)fprintf(out, "\nprefill of %" PRIu64 " tokens, batch %" PRIu64 ", %s\n",
                      request->prompt, request->batch, dtype);
    }
}

static void print_number(FILE *out, int width, double value)
{
    char text[UNITS_TEXT];
    units_format_decimal(text, value, "");
    size_t length = strlen(text);
    if (value > 1e-3 && value < 1) { // 0.822, not 822 m
        (void)snprintf(text, sizeof text, "%.3g", value);
    } else if (width == 0 && length > 0 && text[length - 1] == ' ') {
        text[length - 1] = '\0'; // in a sentence: without a unit there is no blank behind it
    }
    (void)fprintf(out, " %*s", width, text);
}

static void print_seconds(FILE *out, int width, double value)
{
    char text[UNITS_TEXT];
    units_format_decimal(text, value, "s");
    (void)fprintf(out, " %*s", width, text);
}

static void print_row(FILE *out, const struct prediction *prediction,
                      const struct prediction_machine *machine, size_t index, bool priced)
{
    const struct step *step = &prediction->steps[index];
    const struct prediction_cell *cell = &machine->cells[index];
    double tokens = prediction_tokens(step);
    (void)fprintf(out, "  %-24.24s%c", machine->source->label,
                  machine->source->is_datasheet ? '*' : ' ');
    print_number(out, 8, tokens / cell->seconds);
    print_number(out, 8, tokens / cell->seconds_high);
    print_number(out, 8, tokens / cell->seconds_low);
    print_number(out, 8, tokens / cell->bound_seconds);
    print_seconds(out, 9, cell->seconds);
    (void)fprintf(out, "  %s",
                  isnan(cell->bound_seconds) ? "-"
                  : cell->compute_bound      ? "compute"
                                             : "memory ");
    if (priced) {
        print_number(out, 10, prediction_tokens_per_price(machine, step, cell));
    }
    (void)fprintf(out, "\n");
}

static bool has_prices(const struct prediction *prediction)
{
    for (size_t i = 0; i < prediction->machine_count; i++) {
        if (!isnan(prediction->machines[i].price_per_hour)) {
            return true;
        }
    }
    return false;
}

static void print_step(FILE *out, const struct prediction *prediction, size_t index)
{
    bool priced = has_prices(prediction);
    bool decode = prediction->steps[index].request.phase == STEP_DECODE;
    print_heading(out, prediction, index);
    (void)fprintf(out, "  %-25s %8s %8s %8s %8s %9s  %s%s\n", "machine", "tokens/s", "from", "to",
                  "bound", decode ? "TPOT" : "TTFT", "limit", priced ? "     per price" : "");
    for (size_t i = 0; i < prediction->machine_count; i++) {
        print_row(out, prediction, &prediction->machines[prediction->order[i]], index, priced);
    }
}

static void format_batch(char out[UNITS_TEXT], bool never, double batch)
{
    (void)snprintf(out, UNITS_TEXT, "%.0f", batch);
    if (never) {
        (void)snprintf(out, UNITS_TEXT, "never");
    }
}

static void print_crossover(FILE *out, const char *label,
                            const struct prediction_crossover *crossover)
{
    char linears[UNITS_TEXT] = "-";
    char step[UNITS_TEXT] = "-";
    if (!isnan(crossover->ridge_flop_per_byte)) {
        format_batch(linears, crossover->crossover.linears_never,
                     crossover->crossover.linears_batch);
        format_batch(step, crossover->crossover.step_never, crossover->crossover.step_batch);
    }
    (void)fprintf(out, "  %-25.25s %-6s %8" PRIu64, label, dtype_name(crossover->dtype),
                  crossover->context);
    print_number(out, 8, crossover->ridge_flop_per_byte);
    (void)fprintf(out, " %9s %9s\n", linears, step);
}

static void print_crossovers(FILE *out, const struct prediction *prediction)
{
    (void)fprintf(out,
                  "\nbatch at which decode turns from memory to arithmetic\n"
                  "  %-25s %-6s %8s %8s %9s %9s\n",
                  "machine", "dtype", "context", "ridge", "linears", "step");
    for (size_t i = 0; i < prediction->machine_count; i++) {
        const struct prediction_machine *machine = &prediction->machines[prediction->order[i]];
        for (size_t c = 0; c < prediction->crossover_count; c++) {
            print_crossover(out, machine->source->label, &machine->crossovers[c]);
        }
    }
}

static void print_legend(FILE *out, const struct prediction *prediction)
{
    size_t sheets = 0;
    for (size_t i = 0; i < prediction->machine_count; i++) {
        sheets += prediction->machines[i].source->is_datasheet;
    }
    (void)fprintf(out, "\nbound: max(FLOP / peak, bytes / read roof), which no program exceeds; "
                       "machines by the first\n");
    if (sheets < prediction->machine_count) {
        (void)fprintf(out, "tokens/s of a measured machine: each operator at its roof, from .. to: "
                           "the roofs' 95 %% intervals\n");
    }
    if (sheets > 0) {
        (void)fprintf(out, "* data sheet: tokens/s is the bound times the median fraction that "
                           "public measurements reached,\n  from .. to: their extremes (lmroof "
                           "predict --json names their number)\n");
    }
    if (sheets > 0 && sheets < prediction->machine_count) {
        (void)fprintf(out, "Unlike: peaks of data sheets beside measured roofs; a sheet looks "
                           "better than it is.\n");
    }
}

static const char *batch_words(char out[96], const struct prediction_crossover *crossover)
{
    const struct estimate_crossover *turn = &crossover->crossover;
    if (isnan(crossover->ridge_flop_per_byte)) {
        (void)snprintf(out, 96, "where it turns is unknown: a roof is missing");
    } else if (turn->step_never && turn->linears_never) {
        (void)snprintf(out, 96, "memory binds at every batch");
    } else if (turn->step_never) {
        (void)snprintf(out, 96, "its matrices turn to arithmetic at batch %.0f, the step never",
                       turn->linears_batch);
    } else {
        (void)snprintf(out, 96, "it turns from memory to arithmetic at batch %.0f (matrices: %.0f)",
                       turn->step_batch, turn->linears_batch);
    }
    return out;
}

// The answer for the first step and context, a line for each of the best machines.
static void print_answer(FILE *out, const struct prediction *prediction)
{
    enum { LINES_MAX = 8 };
    const struct step *step = &prediction->steps[0];
    for (size_t i = 0; i < prediction->machine_count && i < LINES_MAX; i++) {
        const struct prediction_machine *machine = &prediction->machines[prediction->order[i]];
        const struct prediction_cell *cell = &machine->cells[0];
        char words[96];
        (void)fprintf(out, "%s%s:", machine->source->label,
                      machine->source->is_datasheet ? "*" : "");
        print_number(out, 0, prediction_tokens(step) / cell->seconds);
        (void)fputs(" tokens/s (at most", out);
        print_number(out, 0, prediction_tokens(step) / cell->bound_seconds);
        (void)fprintf(out, ") in %s at batch %" PRIu64 ", context %" PRIu64 "; %s\n",
                      dtype_name(prediction->step_dtypes[0]), step->request.batch,
                      step->request.context, batch_words(words, &machine->crossovers[0]));
    }
}

// The machine of the most tokens for the money; NULL if fewer than two have a price.
static const struct prediction_machine *best_value(double *best, double *next,
                                                   const struct prediction *prediction)
{
    const struct prediction_machine *first = NULL;
    *best = *next = (double)NAN;
    for (size_t i = 0; i < prediction->machine_count; i++) {
        const struct prediction_machine *machine = &prediction->machines[i];
        double value =
            prediction_tokens_per_price(machine, &prediction->steps[0], &machine->cells[0]);
        if (isnan(value)) {
            continue;
        }
        if (first == NULL || value > *best) {
            *next = *best;
            *best = value;
            first = machine;
        } else if (!(value <= *next)) {
            *next = value;
        }
    }
    return isnan(*next) ? NULL : first;
}

// Of measured machines: what their roofs' intervals leave open.
static bool ranges_overlap(const struct prediction_machine *faster,
                           const struct prediction_machine *slower)
{
    return !faster->source->is_datasheet && !slower->source->is_datasheet && faster != slower &&
           slower->cells[0].seconds_low <= faster->cells[0].seconds_high;
}

void prediction_print_choice(FILE *out, const struct prediction *prediction)
{
    const struct prediction_machine *first = &prediction->machines[prediction->order[0]];
    const struct prediction_machine *second =
        &prediction->machines[prediction->order[prediction->machine_count > 1]];
    double ratio = second->cells[0].seconds / first->cells[0].seconds;
    double best = 0;
    double next = 0;
    if (!isnan(ratio)) {
        (void)fprintf(out, "%s%s decodes %.2f times as fast as %s%s", first->source->label,
                      first->source->is_datasheet ? "*" : "", ratio, second->source->label,
                      second->source->is_datasheet ? "*" : "");
        if (ranges_overlap(first, second)) {
            (void)fputs(", but their ranges overlap: cannot tell", out);
        }
        const struct prediction_machine *value = best_value(&best, &next, prediction);
        if (value != NULL) {
            (void)fprintf(out, "; for its price %s%s gives most: %.2f times the next",
                          value->source->label, value->source->is_datasheet ? "*" : "",
                          best / next);
        }
        (void)fputs("\n", out);
    }
}

void prediction_print(FILE *out, const struct prediction *prediction)
{
    (void)fprintf(out, "decode of %s, cache %s\n", prediction->model->name,
                  dtype_name(prediction->request.kv_dtype));
    print_answer(out, prediction);
    for (size_t i = 0; i < prediction->step_count; i++) {
        print_step(out, prediction, i);
    }
    print_crossovers(out, prediction);
    print_legend(out, prediction);
}

struct status prediction_list_machines(FILE *out)
{
    (void)fprintf(out, "Built-in machines, by data sheet (NAME/CORES: so many cores in use; "
                       "NAME@MT: memory of MT million transfers/s):\n");
    for (const struct embedded_file *file = datasheet_builtins(); file->name != NULL; file++) {
        struct datasheet sheet;
        char bandwidth[UNITS_TEXT];
        char memory[RESULT_NAME];
        TRY(datasheet_parse(&sheet, (const char *)file->bytes, file->size, file->name));
        (void)snprintf(memory, sizeof memory, "%ux%u %s-%.0f", sheet.sockets,
                       sheet.channels_per_socket, sheet.memory_kind, sheet.transfers_per_s / 1e6);
        (void)fprintf(out, "  %-20s %-44s %4u cores  %-18s %10s\n", sheet.name, sheet.title,
                      datasheet_cores(&sheet), memory,
                      units_format_decimal(bandwidth, datasheet_bytes_per_s(&sheet), "B/s"));
    }
    return status_ok();
}

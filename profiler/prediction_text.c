#include "profiler/prediction_text.h"

#include "profiler/machine_rates.h"
#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>

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
    if (value > 1e-3 && value < 1) { // 0.822, not 822 m
        (void)snprintf(text, sizeof text, "%.3g", value);
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

void prediction_print(FILE *out, const struct prediction *prediction)
{
    (void)fprintf(out, "%s, cache %s\n", prediction->model->name,
                  dtype_name(prediction->request.kv_dtype));
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

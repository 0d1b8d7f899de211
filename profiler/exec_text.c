#include "profiler/exec.h"
#include "profiler/exec_place.h"
#include "roofline/units.h"

#include <math.h>
#include <string.h>
#include <sys/wait.h>

static const struct watch_sample *last_of(const struct exec_result *result)
{
    return &result->watch.samples[result->watch.count - 1];
}

static void print_end(FILE *out, const struct exec_result *result)
{
    const struct watch *watch = &result->watch;
    double seconds = last_of(result)->seconds;
    (void)fprintf(out, "%s (%d): ", result->name, result->pid);
    if (!watch->ended) {
        (void)fprintf(out, "still runs; watched for %.4g s\n", seconds);
    } else if (result->attached) {
        (void)fprintf(out, "ended after %.4g s of watching\n", seconds);
    } else if (WIFSIGNALED(watch->wait_status)) {
        (void)fprintf(out, "ended by signal %d after %.4g s\n", WTERMSIG(watch->wait_status),
                      seconds);
    } else {
        (void)fprintf(out, "ended with status %d after %.4g s\n", WEXITSTATUS(watch->wait_status),
                      seconds);
    }
}

static void print_totals(FILE *out, const struct exec_result *result)
{
    const struct watch_sample *last = last_of(result);
    const struct tree_totals *first = &result->watch.samples[0].totals;
    const struct tree_totals *t = &last->totals;
    char text[2][UNITS_TEXT];
    double user = t->user_seconds - first->user_seconds;
    double system = t->system_seconds - first->system_seconds;
    (void)fprintf(out, "  CPU        %.4g s user, %.4g s system: %.3g CPUs\n", user, system,
                  last->seconds > 0 ? (user + system) / last->seconds : 0);
    (void)fprintf(out, "  memory     %s at most, in %zu processes\n",
                  units_format_binary(text[0], result->watch.rss_peak_bytes),
                  result->watch.processes_seen);
    (void)fprintf(out, "  faults     %llu minor, %llu major\n",
                  (unsigned long long)(t->minor_faults - first->minor_faults),
                  (unsigned long long)(t->major_faults - first->major_faults));
    (void)fprintf(out, "  switches   %llu voluntary, %llu involuntary\n",
                  (unsigned long long)(t->voluntary_switches - first->voluntary_switches),
                  (unsigned long long)(t->involuntary_switches - first->involuntary_switches));
    if (t->io == PROCESS_IO_KNOWN) {
        (void)fprintf(out, "  storage    %s read, %s written\n",
                      units_format_binary(text[0], t->read_bytes - first->read_bytes),
                      units_format_binary(text[1], t->write_bytes - first->write_bytes));
    } else {
        (void)fprintf(out, "  storage    -: %s\n", process_io_why(t->io));
    }
}

static void print_counters(FILE *out, const struct exec_result *result)
{
    char text[UNITS_TEXT];
    bool any = false;
    for (int m = 0; m < METRIC_COUNT; m++) {
        const struct result_counter *counter = &result->whole[m];
        if (reading_is_present(&counter->value)) {
            any = true;
            (void)fprintf(
                out, "  %-20s %s (%s%s)\n", counter->metric,
                units_format_decimal(text, counter->value.value, metric_row((enum metric)m)->unit),
                counter->source, counter->scope[0] == 's' ? ", the whole system" : ", user mode");
        }
    }
    if (!any) {
        (void)fprintf(out, "  counters   -: %s\n", result->whole[METRIC_CYCLES].value.absence.text);
    }
}

static void print_phases(FILE *out, const struct exec_result *result)
{
    enum { SHOWN = 12 };
    (void)fprintf(out, "stretches    seconds from the start%s\n",
                  result->attached ? " of watching" : "");
    for (size_t i = 0; i < result->phases.count && i < SHOWN; i++) {
        const struct phase *phase = &result->phases.list[i];
        (void)fprintf(out, "  %8.2f to %8.2f s  %s\n", phase->begin_seconds, phase->end_seconds,
                      phase_name(phase->kind));
    }
    if (result->phases.count > SHOWN) {
        (void)fprintf(out, "  ...         %zu stretches in all\n", result->phases.count);
    }
    const struct exec_window *window = &result->window;
    if (window->known) {
        (void)fprintf(out, "window       %.4g to %.4g s (%s), %.3g CPUs busy; decode alone: %s\n",
                      window->begin_seconds, window->end_seconds, window->given ? "given" : "found",
                      window->cores,
                      window->given                  ? "as given"
                      : window->kind == PHASE_DECODE ? "yes"
                                                     : "cannot tell");
    } else {
        (void)fprintf(out, "window       none: no steady stretch\n");
    }
}

// Which roof, how high it is at that intensity, and whose.
static void print_roof(FILE *out, const struct exec_placement *place, const struct exec_roof *roof)
{
    char text[2][UNITS_TEXT];
    bool by_memory = strncmp(roof->name, "DRAM", 4) == 0;
    double attainable = roof->attainable_flop_per_s.value;
    (void)fprintf(out, "%s %s%s%s", roof->name,
                  by_memory ? units_format_decimal(text[0], place->roof_bytes_per_s.value, "B/s")
                            : "",
                  by_memory ? ", " : "", units_format_decimal(text[1], attainable, "FLOP/s"));
    (void)fprintf(out, " by %u threads (%s)", place->roof_threads, place->roofs_from);
}

static void print_place(FILE *out, const struct exec_placement *place)
{
    char text[3][UNITS_TEXT];
    const char *least = place->lower_bound ? "at least " : "";
    if (!place->asked) {
        return;
    }
    if (!place->placed) {
        (void)fprintf(out, "place        -: %s\n", place->why.text);
        return;
    }
    (void)fprintf(out, "place        %s (%s): %s%.4g tokens/s, %.3g FLOP/byte, %s, %s modelled\n",
                  place->model, place->dtype, least, place->tokens_per_s.value,
                  place->flop_per_byte_predicted,
                  units_format_decimal(text[0], place->flop_per_s.value, "FLOP/s"),
                  units_format_decimal(text[1], place->bytes_per_s_modelled.value, "B/s"));
    if (reading_is_present(&place->bytes_per_s_counted)) {
        (void)fprintf(out, "             %s counted\n",
                      units_format_decimal(text[0], place->bytes_per_s_counted.value, "B/s"));
    }
    if (reading_is_present(&place->joules_per_token)) {
        (void)fprintf(out, "             %.4g J per token, idle share included\n",
                      place->joules_per_token.value);
    }
    if (reading_is_present(&place->roof_fraction)) {
        (void)fprintf(out, "roof         ");
        print_roof(out, place, &place->roof);
        (void)fprintf(out, ": %s%.3g of it\n", least, place->roof_fraction.value);
    } else {
        (void)fprintf(out, "roof         -: %s\n", place->roof_fraction.absence.text);
    }
}

static void print_regions(FILE *out, const struct exec_result *result)
{
    char text[3][UNITS_TEXT];
    for (size_t i = 0; i < result->region_count; i++) {
        const struct exec_region *region = &result->regions[i];
        struct exec_region_place place;
        exec_place_region(&place, result, region);
        (void)fprintf(out, "region       %s: %llu calls, %u threads, %.4g s, %.3g FLOP/byte, %s",
                      region->name, (unsigned long long)region->calls, region->threads,
                      region->seconds, region->flop / region->bytes,
                      units_format_decimal(text[0], place.flop_per_s, "FLOP/s"));
        if (!isnan(place.flop_per_byte_counted)) {
            (void)fprintf(out, ", %.3g counted", place.flop_per_byte_counted);
        }
        if (place.roof.name[0] == '\0') {
            (void)fprintf(out, "\n             roof -: %s\n",
                          place.roof.attainable_flop_per_s.absence.text);
            continue;
        }
        (void)fprintf(out, "\n             %.3g of the roof: ", place.roof_fraction);
        print_roof(out, &result->place, &place.roof);
        (void)fprintf(out, "\n");
    }
}

void exec_print(FILE *out, const struct exec_result *result)
{
    print_end(out, result);
    print_totals(out, result);
    print_counters(out, result);
    print_phases(out, result);
    print_place(out, &result->place);
    print_regions(out, result);
}

#include "profiler/datasheet.h"

#include "profiler/option_list.h"
#include "profiler/result_build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct embedded_file machine_data[];

const struct embedded_file *datasheet_builtins(void)
{
    return machine_data;
}

unsigned datasheet_cores(const struct datasheet *sheet)
{
    return sheet->sockets * sheet->cores_per_socket;
}

double datasheet_bytes_per_s(const struct datasheet *sheet)
{
    return (double)sheet->sockets * sheet->channels_per_socket * sheet->transfers_per_s *
           sheet->bytes_per_transfer;
}

static struct status unknown_name(const char *word)
{
    return status_error(STATUS_INVALID,
                        "machine '%.60s': found no such file or built-in machine; accepted a "
                        "profile of 'lmroof probe -o', or NAME[/CORES][@MT] of '--list'",
                        word);
}

static struct status builtin(struct datasheet *out, const char *name, size_t length,
                             const char *word)
{
    for (const struct embedded_file *file = machine_data; file->name != NULL; file++) {
        if (strlen(file->name) == length && memcmp(file->name, name, length) == 0) {
            return datasheet_parse(out, (const char *)file->bytes, file->size, file->name);
        }
    }
    return unknown_name(word);
}

// "/CORES": the rates of so many cores; the memory stays that of the whole machine.
static struct status use_cores(struct datasheet *out, const char *text)
{
    uint64_t cores = 0;
    TRY(option_count(&cores, "machine /CORES", text, 1, datasheet_cores(out)));
    size_t used = strlen(out->name);
    (void)snprintf(out->name + used, sizeof out->name - used, "/%u", (unsigned)cores);
    if (cores % out->sockets == 0) {
        out->cores_per_socket = (unsigned)cores / out->sockets;
        return status_ok();
    }
    // An uneven share of the sockets: all channels are still in reach.
    out->channels_per_socket *= out->sockets;
    out->llc_bytes_per_socket *= out->sockets;
    out->tdp_watts_per_socket *= out->sockets;
    out->sockets = 1;
    out->cores_per_socket = (unsigned)cores;
    return status_ok();
}

static struct status use_transfers(struct datasheet *out, const char *text)
{
    uint64_t mega = 0;
    TRY(option_count(&mega, "machine @MT", text, 100, 100000));
    out->transfers_per_s = (double)mega * 1e6;
    size_t used = strlen(out->name);
    (void)snprintf(out->name + used, sizeof out->name - used, "@%u", (unsigned)mega);
    (void)snprintf(out->sources.memory, sizeof out->sources.memory, "given by the user");
    return status_ok();
}

struct status datasheet_find(struct datasheet *out, const char *word)
{
    char copy[64];
    if (strlen(word) >= sizeof copy) {
        return unknown_name(word);
    }
    (void)snprintf(copy, sizeof copy, "%s", word);
    char *speed = strchr(copy, '@');
    if (speed != NULL) {
        *speed++ = '\0';
    }
    char *cores = strchr(copy, '/');
    if (cores != NULL) {
        *cores++ = '\0';
    }
    TRY(builtin(out, copy, strlen(copy), word));
    if (cores != NULL) {
        TRY(use_cores(out, cores));
    }
    return speed != NULL ? use_transfers(out, speed) : status_ok();
}

static struct status add_bandwidth(struct result_machine *machine, const struct datasheet *sheet)
{
    struct result_bandwidth *to =
        result_append(&machine->bandwidth, &machine->bandwidth_count, sizeof *to);
    if (to == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the roofs of %s", sheet->name);
    }
    (void)snprintf(to->level, sizeof to->level, "DRAM");
    (void)snprintf(to->kernel, sizeof to->kernel, "load");
    (void)snprintf(to->variant, sizeof to->variant, "%ux%u %s %.0f MT/s", sheet->sockets,
                   sheet->channels_per_socket, sheet->memory_kind, sheet->transfers_per_s / 1e6);
    to->threads = datasheet_cores(sheet);
    (void)snprintf(to->placement, sizeof to->placement, "local");
    to->bytes_per_s = reading_plain(datasheet_bytes_per_s(sheet), ORIGIN_DATASHEET);
    return status_ok();
}

static struct status add_compute(struct result_machine *machine, const struct datasheet *sheet,
                                 const char *dtype, double flop_per_cycle)
{
    if (isnan(flop_per_cycle)) {
        return status_ok();
    }
    struct result_compute *to =
        result_append(&machine->compute, &machine->compute_count, sizeof *to);
    if (to == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the roofs of %s", sheet->name);
    }
    (void)snprintf(to->dtype, sizeof to->dtype, "%s", dtype);
    (void)snprintf(to->kind, sizeof to->kind, "fma");
    (void)snprintf(to->class_, sizeof to->class_, "%s/%.6g per cycle/data sheet",
                   sheet->architecture, flop_per_cycle);
    (void)snprintf(to->backend, sizeof to->backend, "data sheet");
    to->threads = datasheet_cores(sheet);
    to->integer_operations = strcmp(dtype, "int8") == 0;
    double flop_per_s = datasheet_cores(sheet) * flop_per_cycle * sheet->max_hz;
    to->flop_per_s = reading_plain(flop_per_s, ORIGIN_DATASHEET);
    to->theoretical_flop_per_s = to->flop_per_s;
    to->core_hz = reading_plain(sheet->max_hz, ORIGIN_DATASHEET);
    return status_ok();
}

// Adds the key of a source that was not read.
static void note_unopened(char *out, size_t size, const char *key, const char *source)
{
    size_t used = strlen(out);
    if (strncmp(source, "not opened: ", 12) == 0) {
        (void)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "", key);
    }
}

static void warn_of_sheet(struct result_run *out, const struct datasheet *sheet)
{
    char recalled[64] = "";
    note_unopened(recalled, sizeof recalled, "cores", sheet->sources.cores);
    note_unopened(recalled, sizeof recalled, "memory", sheet->sources.memory);
    note_unopened(recalled, sizeof recalled, "max_hz", sheet->sources.max_hz);
    note_unopened(recalled, sizeof recalled, "flop_per_cycle", sheet->sources.flop_per_cycle);
    result_warn(out, "data_sheet", "lmroof probe -o PROFILE.json on that machine",
                "%s: peaks of a data sheet; no machine reaches them%s%s", sheet->name,
                recalled[0] != '\0' ? ". Recalled, the source was not opened: " : "", recalled);
}

struct status datasheet_profile(struct result_run *out, const struct datasheet *sheet)
{
    struct result_machine *machine = &out->machine;
    (void)snprintf(machine->profile_id, sizeof machine->profile_id, "%s", sheet->name);
    TRY(add_bandwidth(machine, sheet));
    TRY(add_compute(machine, sheet, "f32", sheet->flop_per_cycle_f32));
    TRY(add_compute(machine, sheet, "f16", sheet->flop_per_cycle_f16));
    TRY(add_compute(machine, sheet, "bf16", sheet->flop_per_cycle_bf16));
    TRY(add_compute(machine, sheet, "int8", sheet->flop_per_cycle_int8));
    const char *why = "a data sheet does not tell it";
    machine->write_allocate_factor = reading_absent(ABSENT_UNSUPPORTED, why, "lmroof probe");
    machine->saturating_threads = reading_absent(ABSENT_UNSUPPORTED, why, "lmroof probe");
    result_fact(&out->host, &out->host_count, "name", "%s", sheet->title);
    result_fact(&out->host, &out->host_count, "architecture", "%s", sheet->architecture);
    result_fact(&out->host, &out->host_count, "packages", "%u", sheet->sockets);
    result_fact(&out->host, &out->host_count, "cores", "%u", datasheet_cores(sheet));
    result_fact(&out->conditions, &out->condition_count, "threads", "%u", datasheet_cores(sheet));
    warn_of_sheet(out, sheet);
    (void)snprintf(out->tool, sizeof out->tool, "data sheet");
    out->complete = true;
    return status_ok();
}

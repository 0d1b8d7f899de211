#include "machines/detect.h"
#include "profiler/command.h"
#include "profiler/doctor_facts.h"
#include "profiler/output.h"
#include "profiler/probe_text.h"
#include "profiler/topology_json.h"
#include "profiler/topology_text.h"

#include <stdbool.h>

enum { KEY_INPUT = 0x100, KEY_JSON, KEY_QUIET };

struct topo_input {
    struct command_input common; // first: command_parse() writes it
    const char *input;
    const char *output;
    bool json;
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct topo_input *input = state->input;
    switch (key) {
    case KEY_INPUT:
        input->input = text;
        return 0;
    case KEY_JSON:
        input->json = true;
        return 0;
    case KEY_QUIET:
        return 0; // this command reports no progress
    case 'o':
        input->output = text;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"input", KEY_INPUT, "FILE|DIR", 0,
     "describe another machine: an hwloc XML file (lstopo FILE.xml) or a saved root with sys/ and "
     "proc/ below it (this machine)",
     0},
    {"json", KEY_JSON, NULL, 0, "one JSON document (lmroof.topology/1) on standard output", 0},
    {"output", 'o', "FILE", 0, "the JSON document into FILE", 0},
    {"quiet", KEY_QUIET, NULL, 0, "no progress on standard error", 0},
    {0}};

static const struct argp parser = {
    options,
    parse_option,
    NULL,
    "Shows packages, cores, caches, memory and settings, and what this process may use of them: "
    "affinity, cpuset, CFS quota and memory limits, and what costs it bandwidth or FLOPs: clocks, "
    "pages, memory modules, limits, hidden instruction sets.\v"
    "Examples:\n"
    "  lmroof topo\n"
    "  lmroof topo --input other.xml --json",
    NULL,
    NULL,
    NULL};

// Files of the machine beyond its topology: none with an XML file.
static const char *root_of(const struct machine *machine, const struct topo_input *input)
{
    switch (machine->origin) {
    case MACHINE_RUNNING:
        return "";
    case MACHINE_ROOT:
        return input->input;
    case MACHINE_XML:
        break;
    }
    return NULL;
}

static struct status show(const struct command_context *context, const struct machine *machine,
                          const struct result_run *findings, const struct topo_input *input)
{
    if (input->json || input->output != NULL) {
        TRY(topology_write(machine, findings, context, input->output, input->json));
    }
    if (!input->json) {
        topology_print(context->out, machine);
        for (size_t i = 0; i < findings->host_count; i++) { // what the doctor read beside
            (void)fprintf(context->out, "%-14s%s\n", "modules", findings->host[i].text);
        }
        probe_print_warnings(context->out, findings);
        if (findings->warning_count == 0 && root_of(machine, input) != NULL) {
            (void)fprintf(context->out,
                          "\nWarnings\n  none: nothing was found that costs bandwidth "
                          "or FLOPs\n");
        }
    }
    return status_ok();
}

static struct status describe(const struct command_context *context, const struct topo_input *input)
{
    struct machine machine;
    struct result_run findings = {.complete = true};
    TRY(input->output == NULL ? status_ok() : output_check(input->output));
    TRY(input->input == NULL ? machine_detect(&machine)
                             : machine_detect_input(&machine, input->input));
    doctor_visit_root(&findings, &machine, root_of(&machine, input));
    struct status status = show(context, &machine, &findings, input);
    result_run_free(&findings);
    machine_free(&machine);
    return status;
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct topo_input input = {0};
    bool done = false;
    (void)exit_code;
    TRY(command_parse(&done, context, &parser, argc, argv, &input));
    return done ? status_ok() : describe(context, &input);
}

const struct command command_topo = {
    .name = "topo",
    .summary = "packages, cores, caches, memory, and what this process may use",
    .run = run};

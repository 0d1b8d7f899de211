#include "profiler/fleet/network_json.h"
#include "profiler/option_list.h"
#include "profiler/output.h"
#include "profiler/result_build.h"
#include "roofline/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_SIZES = 0x100, KEY_REPEAT, KEY_TIMEOUT, KEY_JSON };

struct input {
    struct command_input common; // first: command_parse() writes it
    struct option_counts sizes;
    uint64_t repeat;
    double timeout_seconds;
    const char *output;
    bool json;
};

static const struct argp_option options[] = {
    {"sizes", KEY_SIZES, "LIST", 0,
     "bytes of the messages, multiples of 4 (8 to 4194304, times 4 or 8)", 0},
    {"repeat", KEY_REPEAT, "N", 0, "samples of each size, 1 to 64 (9)", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0, "without progress for so long a rank is given up (60)",
     0},
    {"json", KEY_JSON, NULL, 0, "one JSON document (lmroof.network/1) on standard output", 0},
    {"output", 'o', "FILE", 0, "the JSON document into FILE", 0},
    {0}};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct input *input = state->input;
    struct status status = status_ok();
    switch (key) {
    case KEY_SIZES:
        status = option_count_list(&input->sizes, "--sizes", text, 4, NETWORK_BYTES_MAX);
        break;
    case KEY_REPEAT:
        status = option_count(&input->repeat, "--repeat", text, 1, READING_SAMPLES_MAX);
        break;
    case KEY_TIMEOUT:
        status = option_positive(&input->timeout_seconds, "--timeout", text);
        break;
    case 'o':
        input->output = text;
        return 0;
    case KEY_JSON:
        input->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return status.code == STATUS_OK ? 0 : command_option_error(state, status);
}

static const struct argp parser = {
    options,
    parse_option,
    NULL,
    "Measures the roofs of the interconnect: messages between neighbouring ranks (latency, "
    "bandwidth) and all-reduces of all ranks, by size.\v"
    "Ranks of one host exchange through its memory: start one rank per node to see the network. "
    "Example:\n"
    "  mpirun -n 4 --map-by node lmroof-fleet net -o net.json\n",
    NULL,
    NULL,
    NULL};

static struct status check_input(struct input *input)
{
    static const uint64_t sizes[] = {8, 64, 512, 4096, 32768, 262144, 1048576, 4194304};
    if (input->sizes.count == 0) {
        input->sizes.count = sizeof sizes / sizeof *sizes;
        memcpy(input->sizes.values, sizes, sizeof sizes);
    }
    if (input->sizes.count > NETWORK_SIZES_MAX) {
        return status_error(STATUS_INVALID, "--sizes: found %zu, accepted at most %d",
                            input->sizes.count, (int)NETWORK_SIZES_MAX);
    }
    for (size_t i = 0; i < input->sizes.count; i++) {
        if (input->sizes.values[i] % sizeof(float) != 0) {
            return status_error(STATUS_INVALID, "--sizes: found %llu, accepted multiples of 4",
                                (unsigned long long)input->sizes.values[i]);
        }
    }
    return input->output == NULL ? status_ok() : output_check(input->output);
}

// A rank alone sends nothing: what it "measures" would be the cost of a function call.
static struct status check_ranks(const struct world *world)
{
    return world_size(world) > 1
               ? status_ok()
               : status_error(STATUS_INVALID, "net: found 1 rank, accepted 2 or more: mpirun -n 2 "
                                              "lmroof-fleet net, srun -n 2 lmroof-fleet net");
}

static struct status heed_signal(const struct command_context *context)
{
    return *context->signal == 0 ? status_ok() : status_error(STATUS_INTERRUPTED, "interrupted");
}

// What rank 0 has on disk is always whole; the other ranks write nothing.
static struct status save(const struct network_report *report, const struct input *input,
                          const struct command_context *context, struct world *world)
{
    struct status status = heed_signal(context);
    if (status.code == STATUS_OK && input->output != NULL && world_rank(world) == 0) {
        status = network_write(report, context, input->output, false);
    }
    return world_agree(world, status);
}

static struct status measure_links(struct network_report *report,
                                   const struct network_options *network, const struct input *input,
                                   const struct command_context *context)
{
    // Of two ranks there is one pair.
    unsigned pairs = report->ranks == 2 ? 1 : report->ranks;
    for (unsigned i = 0; i < pairs; i++) {
        struct network_link *link = &report->links[i];
        link->from = i;
        link->to = (i + 1) % report->ranks;
        report->link_count++;
        for (size_t s = 0; s < input->sizes.count; s++) {
            struct network_point *point = &link->points[link->count++];
            point->bytes = (size_t)input->sizes.values[s];
            network_ping(&point->seconds, network, link->from, link->to, point->bytes);
        }
        TRY(save(report, input, context, network->world));
    }
    for (size_t s = 0; s < input->sizes.count; s++) {
        struct network_point *point = &report->all_reduce[report->all_reduce_count++];
        point->bytes = (size_t)input->sizes.values[s];
        network_all_reduce(&point->seconds, network, point->bytes);
        TRY(save(report, input, context, network->world));
    }
    report->complete = true;
    return save(report, input, context, network->world);
}

static void print_points(FILE *out, const struct network_point *points, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char bytes[UNITS_TEXT];
        char seconds[UNITS_TEXT];
        char rate[UNITS_TEXT];
        (void)fprintf(
            out, "  %10s  %10s  %12s\n", units_format_binary(bytes, points[i].bytes),
            units_format_decimal(seconds, points[i].seconds.value, "s"),
            units_format_decimal(rate, (double)points[i].bytes / points[i].seconds.value, "B/s"));
    }
}

static void print_slowest(FILE *out, const struct network_report *report)
{
    const struct network_link *slow = &report->links[0];
    const struct network_link *fast = slow;
    for (size_t i = 1; i < report->link_count; i++) {
        const struct network_link *link = &report->links[i];
        double seconds = link->points[link->count - 1].seconds.value;
        slow = seconds > slow->points[slow->count - 1].seconds.value ? link : slow;
        fast = seconds < fast->points[fast->count - 1].seconds.value ? link : fast;
    }
    if (slow != fast) {
        (void)fprintf(out,
                      "\nSlowest link: ranks %u and %u (%s, %s), %.2f times the fastest's time\n",
                      slow->from, slow->to, report->hosts[slow->from], report->hosts[slow->to],
                      slow->points[slow->count - 1].seconds.value /
                          fast->points[fast->count - 1].seconds.value);
    }
}

static void print_report(FILE *out, const struct network_report *report)
{
    for (size_t i = 0; i < report->link_count; i++) {
        const struct network_link *link = &report->links[i];
        (void)fprintf(out, "Messages, rank %u (%s) to %u (%s): one way\n", link->from,
                      report->hosts[link->from], link->to, report->hosts[link->to]);
        print_points(out, link->points, link->count);
    }
    if (report->link_count > 1) {
        print_slowest(out, report);
    }
    (void)fprintf(out, "\nAll-reduce over %u ranks (f32 sum)\n", report->ranks);
    print_points(out, report->all_reduce, report->all_reduce_count);
}

static struct status prepare(struct network_report *report, struct network_options *network,
                             const struct input *input, struct world *world)
{
    uint64_t most = 0;
    char host[FLEET_HOST] = "";
    for (size_t i = 0; i < input->sizes.count; i++) {
        most = input->sizes.values[i] > most ? input->sizes.values[i] : most;
    }
    report->ranks = world_size(world);
    (void)snprintf(report->library, sizeof report->library, "%s", world_library(world));
    report->hosts = calloc(report->ranks, sizeof *report->hosts);
    report->links = calloc(report->ranks, sizeof *report->links);
    network->buffer = calloc(1, (size_t)most);
    struct status status = report->hosts == NULL || report->links == NULL || network->buffer == NULL
                               ? status_error(STATUS_SYSTEM, "no memory for messages")
                               : status_ok();
    TRY(world_agree(world, status));
    (void)gethostname(host, sizeof host - 1);
    world_gather(world, report->hosts, host, sizeof host);
    return status_ok();
}

static struct status measure(const struct input *input, const struct command_context *context,
                             struct world *world, struct watchdog *watchdog)
{
    struct network_report report = {.complete = false};
    struct network_options network = {.world = world,
                                      .watchdog = watchdog,
                                      .repeats = (unsigned)input->repeat,
                                      .sample_seconds = 0.01};
    struct status status = prepare(&report, &network, input, world);
    if (status.code == STATUS_OK) {
        status = measure_links(&report, &network, input, context);
    }
    if (status.code == STATUS_OK && input->json) {
        status = network_write(&report, context, NULL, true);
    } else if (status.code == STATUS_OK) {
        print_report(context->out, &report);
    }
    free(report.hosts);
    free(report.links);
    free(network.buffer);
    return status;
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct input input = {.repeat = 9, .timeout_seconds = 60};
    struct world *world = NULL;
    struct watchdog *watchdog = NULL;
    bool done = false;
    (void)exit_code;
    TRY(command_parse(&done, context, &parser, argc, argv, &input));
    if (done) {
        return status_ok();
    }
    TRY(check_input(&input));
    TRY(world_open(&world));
    struct status status = check_ranks(world);
    if (status.code == STATUS_OK) {
        status =
            watchdog_start(&watchdog, world_rank(world), input.timeout_seconds, context->signal);
        status = world_agree(world, status);
    }
    if (status.code == STATUS_OK) {
        status = measure(&input, context, world, watchdog);
    }
    watchdog_stop(watchdog);
    world_close(world);
    return status;
}

const struct command command_fleet_net = {
    .name = "net",
    .summary = "measure the interconnect: messages and all-reduces by size",
    .run = run};

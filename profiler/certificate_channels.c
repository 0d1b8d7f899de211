#include "profiler/certificate_channels.h"

#include "roofline/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A channel of a socket counts between these parts of its peers' median.
static const double far_below = 0.5;
static const double far_above = 2;
// Fewer bytes over all channels of a socket are nobody's known work: another socket did it.
static const double least_fraction = 0.1;
// Of what was certain to come from memory; other users can only add to it.
static const double sum_short = 0.95;

/** Channels of one row on one CPU, by their place among the events. */
struct peers {
    size_t count;
    size_t event[COUNTER_EVENTS_MAX];
    double bytes[COUNTER_EVENTS_MAX];
    double sum;
};

void certificate_suspect(struct certificate *out, enum metric metric, const char *text)
{
    for (size_t i = 0; i < out->suspicion_count; i++) {
        if (strcmp(out->suspicions[i].text, text) == 0) {
            return;
        }
    }
    struct certificate_suspicion *grown =
        realloc(out->suspicions, (out->suspicion_count + 1) * sizeof *grown);
    if (grown != NULL) {
        out->suspicions = grown;
        out->suspicions[out->suspicion_count] = (struct certificate_suspicion){.metric = metric};
        (void)snprintf(grown[out->suspicion_count].text, sizeof grown->text, "%s", text);
        out->suspicion_count++;
    }
}

static bool is_channel(const struct counter_event *event, enum known_work work)
{
    return event->cpu >= 0 && (event->row->work & KNOWN_BIT(work)) != 0;
}

static void find_peers(struct peers *out, size_t first, const struct counter_event *events,
                       size_t count, enum known_work work, const struct counter_interval *interval)
{
    *out = (struct peers){.count = 0};
    for (size_t i = 0; i < count; i++) {
        bool alike = is_channel(&events[i], work) && events[i].row == events[first].row &&
                     events[i].cpu == events[first].cpu && interval->fault[i] == FAULT_NONE;
        if (alike) {
            out->event[out->count] = i;
            out->bytes[out->count] = interval->count[i] * events[i].weight;
            out->sum += out->bytes[out->count];
            out->count++;
        }
    }
}

static void judge_peers(struct certificate *out, const struct peers *peers,
                        const struct counter_event *events)
{
    double median = stats_median(peers->bytes, peers->count);
    for (size_t i = 0; i < peers->count; i++) {
        const struct counter_event *event = &events[peers->event[i]];
        double bytes = peers->bytes[i];
        char text[CERTIFICATE_SUSPICION];
        if (bytes >= far_below * median && bytes <= far_above * median) {
            continue;
        }
        (void)snprintf(text, sizeof text,
                       "%.60s on cpu %d counted %.3g bytes of known traffic, its %zu peers %.3g "
                       "each: %s",
                       event->label, event->cpu, bytes, peers->count - 1, median,
                       bytes > median ? "another user of it, or an event of something else"
                                      : "an empty channel, one of another node, or a broken count");
        certificate_suspect(out, event->row->metric, text);
    }
}

void certificate_compare_channels(struct certificate *out, const struct counter_event *events,
                                  size_t count, enum known_work work, double bytes,
                                  const struct counter_interval *interval)
{
    double sum = 0;
    size_t channels = 0;
    size_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_channel(&events[i], work) || interval->fault[i] != FAULT_NONE) {
            continue;
        }
        struct peers peers;
        find_peers(&peers, i, events, count, work, interval);
        if (peers.count > 1 && peers.event[0] == i && peers.sum >= least_fraction * bytes) {
            judge_peers(out, &peers, events);
        }
        sum += interval->count[i] * events[i].weight;
        channels++;
        last = i;
    }
    if (channels > 0 && sum < sum_short * bytes) {
        char text[CERTIFICATE_SUSPICION];
        (void)snprintf(text, sizeof text,
                       "%zu channels (%.60s the last) counted %.3g of the %.3g bytes that were "
                       "certain: is one of them missing?",
                       channels, events[last].label, sum, bytes);
        certificate_suspect(out, events[last].row->metric, text);
    }
}

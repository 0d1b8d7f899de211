#include "profiler/fleet/network.h"

#include "profiler/clock.h"

#include <math.h>
#include <string.h>

struct message {
    bool reduces;
    unsigned from;
    unsigned to;
    size_t bytes;
};

static void send(const struct network_options *o, const struct message *message,
                 unsigned long repeats)
{
    if (!message->reduces) {
        world_ping(o->world, message->from, message->to, o->buffer, message->bytes, repeats);
        return;
    }
    for (unsigned long i = 0; i < repeats; i++) {
        world_sum(o->world, o->buffer, message->bytes / sizeof(float));
    }
}

// Seconds of one repeat, of the rank that took longest; the same in all ranks. Ranks that only
// look on take no time.
static double sample(const struct network_options *o, const struct message *message,
                     unsigned long repeats)
{
    world_barrier(o->world);
    double begin = clock_seconds();
    send(o, message, repeats);
    double seconds = (clock_seconds() - begin) / (double)repeats;
    watchdog_feed(o->watchdog, message->reduces ? "an all-reduce" : "a message between two ranks");
    unsigned rank = world_rank(o->world);
    bool takes_part = message->reduces || rank == message->from || rank == message->to;
    return world_max(o->world, takes_part ? seconds : 0);
}

static void measure(struct reading *out, const struct network_options *o,
                    const struct message *message)
{
    double samples[READING_SAMPLES_MAX];
    // The sums must stay finite: zeros are as good as any other values to a network.
    memset(o->buffer, 0, message->bytes);
    (void)sample(o, message, 1); // connections are made at first use
    double one = sample(o, message, 1);
    double wanted = ceil(o->sample_seconds / fmax(one, 1e-8));
    unsigned long repeats = (unsigned long)fmin(fmax(wanted, 1), 1e6);
    unsigned n = o->repeats < READING_SAMPLES_MAX ? o->repeats : READING_SAMPLES_MAX;
    for (unsigned i = 0; i < n; i++) {
        samples[i] = sample(o, message, repeats) / (message->reduces ? 1 : 2);
    }
    *out = reading_of_samples(samples, n, BETTER_LOWER, ORIGIN_TIMED);
}

void network_ping(struct reading *out, const struct network_options *options, unsigned from,
                  unsigned to, size_t bytes)
{
    const struct message message = {.from = from, .to = to, .bytes = bytes};
    measure(out, options, &message);
}

void network_all_reduce(struct reading *out, const struct network_options *options, size_t bytes)
{
    const struct message message = {.reduces = true, .bytes = bytes};
    measure(out, options, &message);
}

#include "profiler/witness.h"

#include "profiler/clock.h"
#include "workloads/ceiling_check.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BURSTS = 5, TRIPS = 16, SPINS = 256, LINE = 128 };
/** Each side of the copy: both fit a first cache of 32 KiB, and hardly beside another's data. */
enum { COPY_BYTES = 3 * STREAM_BLOCK, COPY_ROOM = 2 * (COPY_BYTES + LINE) };

static const double patience_seconds = 3e-4;
static const double loop_seconds = 2e-5;

struct witness_pair {
    _Alignas(LINE) _Atomic unsigned line;
    _Alignas(LINE) _Atomic bool over;
    double seconds; // by the even thread
};

struct witness {
    struct team *team;
    const struct compute_kernel *kernel;
    const struct compute_kernel *wide; // the most that a core's pipes do
    const struct stream_kernel *copy;
    uint64_t iterations;
    uint64_t wide_iterations;
    size_t passes;
    unsigned pairs;
    struct witness_pair *pair;
    struct compute_state *states; // one per thread
    struct compute_state *wide_states;
    unsigned char *copied; // COPY_ROOM per thread
    double *loops_per_s;   // one per thread
    double *copies_per_s;  // one per thread
};

// False once the other side has given up or the deadline is over.
static bool wait_for(struct witness_pair *pair, unsigned value, double deadline)
{
    for (unsigned spins = 0; atomic_load_explicit(&pair->line, memory_order_acquire) != value;) {
        if (++spins % SPINS == 0 && (atomic_load(&pair->over) || clock_seconds() > deadline)) {
            atomic_store(&pair->over, true);
            return false;
        }
    }
    return true;
}

// Some round trips; false if the other side got no time.
static bool burst(struct witness_pair *pair, unsigned *count, double deadline)
{
    for (unsigned i = 0; i < TRIPS; i++, *count += 2) {
        if (!wait_for(pair, *count, deadline)) {
            return false;
        }
        atomic_store_explicit(&pair->line, *count + 1, memory_order_release);
    }
    return true;
}

static void pass_line(struct witness_pair *pair, unsigned side)
{
    double best = (double)INFINITY;
    double deadline = clock_seconds() + patience_seconds;
    unsigned count = side;
    bool answered = true;
    for (unsigned i = 0; i < BURSTS && answered; i++) {
        double begin = clock_seconds();
        answered = burst(pair, &count, deadline);
        double seconds = (clock_seconds() - begin) / (2 * TRIPS);
        // The first burst waits for the other thread to arrive.
        best = answered && i > 0 && seconds < best ? seconds : best;
    }
    if (side == 0) {
        pair->seconds = isinf(best) ? (double)NAN : best;
    }
}

static double copies(const struct witness *witness, unsigned thread, size_t passes)
{
    unsigned char *room = witness->copied + (size_t)thread * COPY_ROOM;
    struct stream_slice slice = {.to = (double *)(void *)room,
                                 .from = (double *)(void *)(room + COPY_BYTES + LINE),
                                 .bytes = COPY_BYTES,
                                 .passes = passes};
    double begin = clock_seconds();
    witness->copy->run(&slice);
    return (double)passes / (clock_seconds() - begin);
}

static void look(void *context, unsigned thread, unsigned threads)
{
    struct witness *witness = context;
    (void)threads;
    if (thread / 2 < witness->pairs) {
        pass_line(&witness->pair[thread / 2], thread % 2);
    }
    double begin = clock_seconds();
    witness->kernel->run(&witness->states[thread], witness->iterations);
    witness->loops_per_s[thread] = (double)witness->iterations / (clock_seconds() - begin);
    (void)copies(witness, thread, 2); // whatever ran before has emptied the cache
    witness->copies_per_s[thread] = copies(witness, thread, witness->passes);
}

// Which threads run the wide loop: all, or those of this parity.
enum wide_who { WIDE_EVEN, WIDE_ODD, WIDE_ALL };

struct wide_call {
    struct witness *witness;
    enum wide_who who;
};

static void run_wide(void *context, unsigned thread, unsigned threads)
{
    const struct wide_call *call = context;
    struct witness *witness = call->witness;
    (void)threads;
    if (call->who == WIDE_ALL || thread % 2 == call->who) {
        double begin = clock_seconds();
        witness->wide->run(&witness->wide_states[thread], witness->wide_iterations);
        witness->loops_per_s[thread] = (double)witness->wide_iterations / (clock_seconds() - begin);
    }
}

static void time_wide(struct witness *witness, enum wide_who who)
{
    struct wide_call call = {witness, who};
    team_run(witness->team, (struct team_body){run_wide, &call});
}

double witness_sharing(struct witness *witness)
{
    double together[2 * WITNESS_PAIRS_MAX];
    double lowest = (double)NAN;
    time_wide(witness, WIDE_ALL);
    memcpy(together, witness->loops_per_s, 2 * witness->pairs * sizeof *together);
    time_wide(witness, WIDE_EVEN);
    time_wide(witness, WIDE_ODD);
    for (unsigned t = 0; t < 2 * witness->pairs; t++) {
        lowest = fmin(lowest, together[t] / witness->loops_per_s[t]); // NaN gives way
    }
    return lowest;
}

void witness_look(struct witness_look *out, struct witness *witness)
{
    unsigned threads = team_threads(witness->team);
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < witness->pairs; i++) {
        atomic_store(&witness->pair[i].line, 0);
        atomic_store(&witness->pair[i].over, false);
    }
    team_run(witness->team, (struct team_body){look, witness});
    out->pairs = witness->pairs;
    out->loop_per_s = out->copy_per_s = (double)INFINITY;
    for (unsigned i = 0; i < witness->pairs; i++) {
        out->line_seconds[i] = witness->pair[i].seconds;
    }
    for (unsigned t = 0; t < threads; t++) {
        out->loop_per_s = fmin(out->loop_per_s, witness->loops_per_s[t]);
        out->copy_per_s = fmin(out->copy_per_s, witness->copies_per_s[t]);
    }
}

static const struct compute_kernel *portable_kernel(const struct ceiling_kernels *kernels)
{
    for (size_t i = 0; i < kernels->compute_count; i++) {
        const struct compute_kernel *kernel = kernels->compute[i];
        if (kernels->verified[i] && kernel->isa == ISA_PORTABLE &&
            strcmp(kernel->dtype, "f32") == 0) {
            return kernel;
        }
    }
    return NULL;
}

// The verified f32 arithmetic that does most at once, with most chains to fill the pipes.
static const struct compute_kernel *widest_chains(const struct ceiling_kernels *kernels,
                                                  const struct compute_kernel *least)
{
    const struct compute_kernel *widest = least;
    for (size_t i = 0; i < kernels->compute_count; i++) {
        const struct compute_kernel *kernel = kernels->compute[i];
        bool usable = kernels->verified[i] && strcmp(kernel->dtype, "f32") == 0 &&
                      kernel->meaning == COMPUTE_FMA && kernel->prepare == NULL;
        bool wider = kernel->vector_bytes > widest->vector_bytes ||
                     (kernel->vector_bytes == widest->vector_bytes &&
                      (kernel->chains > widest->chains || widest->meaning != COMPUTE_FMA));
        widest = usable && wider ? kernel : widest;
    }
    return widest;
}

// The widest, which meets the ports' limit where a neighbour takes from it.
static const struct stream_kernel *widest_copy(const struct ceiling_kernels *kernels)
{
    const struct stream_kernel *widest = NULL;
    for (size_t i = 0; i < kernels->stream_count; i++) {
        const struct stream_kernel *kernel = kernels->streams[i];
        if (strcmp(kernel->kernel, "copy") == 0 && kernel->prefetch_bytes == 0 &&
            (widest == NULL || kernel->width_bits > widest->width_bits)) {
            widest = kernel;
        }
    }
    return widest;
}

static struct status allocate(struct witness *witness, unsigned threads)
{
    size_t pairs = witness->pairs > 0 ? witness->pairs : 1;
    witness->pair = aligned_alloc(LINE, pairs * sizeof *witness->pair);
    witness->states =
        aligned_alloc(_Alignof(struct compute_state), threads * sizeof *witness->states);
    witness->loops_per_s = calloc(threads, sizeof *witness->loops_per_s);
    witness->wide_states =
        aligned_alloc(_Alignof(struct compute_state), threads * sizeof *witness->wide_states);
    witness->copied = aligned_alloc(LINE, (size_t)threads * COPY_ROOM);
    witness->copies_per_s = calloc(threads, sizeof *witness->copies_per_s);
    if (witness->pair == NULL || witness->states == NULL || witness->loops_per_s == NULL ||
        witness->wide_states == NULL || witness->copied == NULL || witness->copies_per_s == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a witness of %u threads", threads);
    }
    memset(witness->pair, 0, pairs * sizeof *witness->pair);
    memset(witness->states, 0, threads * sizeof *witness->states);
    memset(witness->wide_states, 0, threads * sizeof *witness->wide_states);
    memset(witness->copied, 1, (size_t)threads * COPY_ROOM);
    for (unsigned t = 0; t < threads; t++) {
        compute_state_fill(&witness->states[t], witness->kernel, witness->kernel->vector_bytes);
        compute_state_fill(&witness->wide_states[t], witness->wide, witness->wide->vector_bytes);
    }
    return status_ok();
}

// Turns that last as long as the loop shall, by the fastest of a few looks.
static void calibrate(struct witness *witness)
{
    enum { LOOKS = 5 };
    double loop = 0;
    double copy = 0;
    witness->iterations = 2000;
    witness->passes = 50;
    for (unsigned i = 0; i < LOOKS; i++) {
        struct witness_look first;
        witness_look(&first, witness);
        loop = fmax(loop, first.loop_per_s);
        copy = fmax(copy, first.copy_per_s);
    }
    witness->iterations = (uint64_t)(loop * loop_seconds) + 1;
    witness->passes = (size_t)(copy * loop_seconds) + 1;
    witness->wide_iterations = 500;
    time_wide(witness, WIDE_ALL); // once to settle
    time_wide(witness, WIDE_ALL);
    witness->wide_iterations = (uint64_t)(witness->loops_per_s[0] * loop_seconds) + 1;
}

struct status witness_create(struct witness **out, struct team *team,
                             const struct ceiling_kernels *kernels)
{
    unsigned threads = team_threads(team);
    const struct compute_kernel *kernel = portable_kernel(kernels);
    *out = NULL;
    const struct stream_kernel *copy = widest_copy(kernels);
    if (kernel == NULL || copy == NULL) {
        return status_error(STATUS_UNAVAILABLE, "no portable f32 arithmetic passed its check, or "
                                                "there is no plain copy");
    }
    struct witness *witness = calloc(1, sizeof *witness);
    if (witness == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a witness");
    }
    *witness = (struct witness){.team = team,
                                .kernel = kernel,
                                .wide = widest_chains(kernels, kernel),
                                .copy = copy,
                                .pairs = threads / 2};
    witness->pairs = witness->pairs < WITNESS_PAIRS_MAX ? witness->pairs : WITNESS_PAIRS_MAX;
    struct status status = allocate(witness, threads);
    if (status.code != STATUS_OK) {
        witness_destroy(witness);
        return status;
    }
    calibrate(witness);
    *out = witness;
    return status;
}

double witness_copy_bytes(void)
{
    return 2.0 * COPY_BYTES;
}

void witness_destroy(struct witness *witness)
{
    if (witness != NULL) {
        free(witness->pair);
        free(witness->states);
        free(witness->wide_states);
        free(witness->copied);
        free(witness->loops_per_s);
        free(witness->copies_per_s);
        free(witness);
    }
}

bool witness_moved(const struct witness_look *a, const struct witness_look *b)
{
    unsigned pairs = a->pairs < b->pairs ? a->pairs : b->pairs;
    for (unsigned i = 0; i < pairs; i++) {
        // Comparisons with NaN are false: what was not seen is no sign.
        double low = fmin(a->line_seconds[i], b->line_seconds[i]);
        double high = fmax(a->line_seconds[i], b->line_seconds[i]);
        if (high > 1.6 * low && high - low > 15e-9) {
            return true;
        }
    }
    return false;
}

double witness_longest_line(const struct witness_look *look)
{
    double longest = (double)NAN;
    for (unsigned i = 0; i < look->pairs; i++) {
        longest = fmax(longest, look->line_seconds[i]); // NaN gives way
    }
    return longest;
}

unsigned witness_place(struct witness_places *places, const struct witness_look *look)
{
    for (unsigned i = 0; i < places->count; i++) {
        if (!witness_moved(&places->looks[i], look)) {
            return i;
        }
    }
    if (places->count < WITNESS_PLACES_MAX) {
        places->looks[places->count++] = *look;
    }
    return places->count - 1;
}

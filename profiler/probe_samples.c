#include "profiler/probe_samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double steady_width = 0.10;
static const double steady_drift = 0.08;

enum { QUARTERS = 4 };

static bool is_moved(const struct probe_sample *sample, unsigned usual)
{
    return sample->place_before != usual || sample->place_after != usual;
}

static bool is_slowed(const struct probe_sample *sample, const struct probe_view *view)
{
    return sample->loop_per_s < PROBE_SLOWED_FRACTION * view->loop_best_per_s;
}

bool probe_sample_is_clean(const struct probe_sample *sample, const struct probe_view *view)
{
    return !interference_disturbed(&sample->signs) && !is_moved(sample, view->usual_place) &&
           !is_slowed(sample, view);
}

bool probe_is_crowded(struct probe_pace seen, struct probe_pace best)
{
    double clock = fmin(1, seen.loop_per_s / best.loop_per_s);
    return seen.copy_per_s < PROBE_SLOWED_FRACTION * clock * best.copy_per_s;
}

static bool is_crowded(const struct probe_sample *sample, const struct probe_samples *samples,
                       const struct probe_view *view)
{
    struct probe_pace seen = {sample->loop_per_s, sample->copy_per_s};
    struct probe_pace best = {view->loop_best_per_s, view->copy_best_per_s};
    return samples->heeds_copy && probe_is_crowded(seen, best);
}

static unsigned most_common(const struct probe_samples *const *all, size_t count)
{
    size_t seen[WITNESS_PLACES_MAX] = {0};
    unsigned best = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < all[i]->count; j++) {
            const struct probe_sample *sample = &all[i]->of[j];
            seen[sample->place_before] += sample->place_before == sample->place_after ? 1 : 0;
        }
    }
    for (unsigned i = 1; i < WITNESS_PLACES_MAX; i++) {
        best = seen[i] > seen[best] ? i : best;
    }
    return best;
}

static void count_sample(struct probe_view *view, const struct probe_sample *sample,
                         const struct probe_samples *samples)
{
    if (is_crowded(sample, samples, view)) {
        view->crowded++;
        view->copy_worst_fraction =
            fmin(view->copy_worst_fraction, sample->copy_per_s / view->copy_best_per_s);
    }
    view->sampled++;
    view->moved += is_moved(sample, view->usual_place) ? 1 : 0;
    view->slowed += is_slowed(sample, view) ? 1 : 0;
    view->interrupted += interference_disturbed(&sample->signs) ? 1 : 0;
    view->loop_worst_fraction =
        fmin(view->loop_worst_fraction, sample->loop_per_s / view->loop_best_per_s);
    view->signs.steal_seconds += fmax(sample->signs.steal_seconds, 0);
    view->signs.throttled_count += fmax(sample->signs.throttled_count, 0);
    view->signs.involuntary_switches += fmax(sample->signs.involuntary_switches, 0);
}

void probe_view_make(struct probe_view *view, const struct probe_samples *const *all, size_t count,
                     double copy_known_per_s)
{
    struct witness_places places = view->places;
    *view = (struct probe_view){.places = places,
                                .sharing = view->sharing,
                                .copy_best_per_s = fmax(copy_known_per_s, 0), // NaN gives way
                                .loop_worst_fraction = 1,
                                .copy_worst_fraction = 1};
    view->usual_place = most_common(all, count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < all[i]->count; j++) {
            view->loop_best_per_s = fmax(view->loop_best_per_s, all[i]->of[j].loop_per_s);
            view->copy_best_per_s = fmax(view->copy_best_per_s, all[i]->of[j].copy_per_s);
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < all[i]->count; j++) {
            count_sample(view, &all[i]->of[j], all[i]);
        }
    }
}

void probe_view_add(struct probe_view *sum, const struct probe_view *view)
{
    if (sum->sampled == 0) {
        *sum = *view;
        return;
    }
    for (unsigned i = 0; i < view->places.count; i++) {
        (void)witness_place(&sum->places, &view->places.looks[i]);
    }
    sum->sharing = fmin(sum->sharing, view->sharing); // NaN gives way
    sum->sampled += view->sampled;
    sum->moved += view->moved;
    sum->slowed += view->slowed;
    sum->interrupted += view->interrupted;
    sum->crowded += view->crowded;
    sum->loop_worst_fraction = fmin(sum->loop_worst_fraction, view->loop_worst_fraction);
    sum->copy_worst_fraction = fmin(sum->copy_worst_fraction, view->copy_worst_fraction);
    sum->signs.steal_seconds += view->signs.steal_seconds;
    sum->signs.throttled_count += view->signs.throttled_count;
    sum->signs.involuntary_switches += view->signs.involuntary_switches;
}

// What was seen around these samples, appended to text: counts, and how strong.
static void describe(char *out, size_t size, const struct probe_view *seen,
                     const struct witness_places *places)
{
    char switches[160];
    char moved[112] = "";
    char slowed[96] = "";
    char crowded[128] = "";
    if (seen->moved > 0 && places->count > 1) {
        double low = (double)INFINITY;
        double high = 0;
        for (unsigned i = 0; i < places->count; i++) {
            low = fmin(low, witness_longest_line(&places->looks[i]));
            high = fmax(high, witness_longest_line(&places->looks[i]));
        }
        (void)snprintf(moved, sizeof moved,
                       ", the hypervisor moved cpus (a line between them takes %.0f or %.0f ns)",
                       1e9 * low, 1e9 * high);
    }
    if (seen->slowed > 0) {
        (void)snprintf(slowed, sizeof slowed,
                       ", cores slowed to %.0f %% at worst by neighbours or stolen time",
                       100 * seen->loop_worst_fraction);
    }
    if (seen->crowded > 0) {
        (void)snprintf(crowded, sizeof crowded,
                       ", a neighbour on the same core (a known copy in L1 at %.0f %%)",
                       100 * seen->copy_worst_fraction);
    }
    (void)interference_describe(switches, sizeof switches, &seen->signs);
    char all[512];
    (void)snprintf(all, sizeof all, "%s%s%s%s%s", switches[0] != '\0' ? ", " : "", switches, moved,
                   slowed, crowded);
    (void)snprintf(out, size, "%s", all[0] == '\0' ? "" : all + 2);
}

char *probe_view_describe(char *out, size_t size, const struct probe_view *view)
{
    describe(out, size, view, &view->places);
    return out;
}

// The windows that make a figure, by what they saw: nothing, a neighbour on the core, anything.
struct chosen {
    const struct probe_sample *of[PROBE_WINDOWS_MAX];
    size_t count;
    size_t clean;
    size_t crowded; // with no other sign; not chosen where there are enough clean ones
};

enum window_class { WINDOW_CLEAN, WINDOW_CROWDED, WINDOW_DISTURBED };

static enum window_class class_of(const struct probe_sample *sample,
                                  const struct probe_samples *samples,
                                  const struct probe_view *view)
{
    if (!probe_sample_is_clean(sample, view)) {
        return WINDOW_DISTURBED;
    }
    return is_crowded(sample, samples, view) ? WINDOW_CROWDED : WINDOW_CLEAN;
}

static void take_class(struct chosen *out, const struct probe_samples *samples,
                       const struct probe_view *view, enum window_class wanted, size_t most)
{
    for (size_t i = 0; i < samples->count && out->count < most; i++) {
        if (class_of(&samples->of[i], samples, view) == wanted) {
            out->of[out->count++] = &samples->of[i];
        }
    }
}

// Each class in the order of time, the worse only where the better are not enough.
static void choose(struct chosen *out, const struct probe_samples *samples,
                   const struct probe_view *view, size_t least)
{
    *out = (struct chosen){.count = 0};
    for (size_t i = 0; i < samples->count; i++) {
        enum window_class class = class_of(&samples->of[i], samples, view);
        out->clean += class == WINDOW_CLEAN ? 1 : 0;
        out->crowded += class == WINDOW_CROWDED ? 1 : 0;
    }
    take_class(out, samples, view, WINDOW_CLEAN, PROBE_WINDOWS_MAX);
    if (out->count < least) {
        take_class(out, samples, view, WINDOW_CROWDED, PROBE_WINDOWS_MAX);
    }
    take_class(out, samples, view, WINDOW_DISTURBED, least);
}

// How far apart the bests of the run's quarters are; 0 where they have less than two windows each.
static double drift_of(const struct chosen *chosen)
{
    double most = 0;
    double least = (double)INFINITY;
    for (size_t q = 0; q < QUARTERS; q++) {
        double best = 0;
        for (size_t i = q * chosen->clean / QUARTERS; i < (q + 1) * chosen->clean / QUARTERS; i++) {
            best = fmax(best, chosen->of[i]->per_s);
        }
        most = fmax(most, best);
        least = fmin(least, best);
    }
    return chosen->clean < 2 * (size_t)QUARTERS ? 0 : 1 - least / most;
}

static void name_signs(char *out, size_t size, const struct probe_samples *samples,
                       const struct probe_view *view, size_t least, bool others)
{
    struct probe_view own = *view;
    own.sampled = own.moved = own.slowed = own.interrupted = own.crowded = 0;
    own.loop_worst_fraction = own.copy_worst_fraction = 1;
    own.signs = (struct interference_signs){.elapsed_seconds = 0};
    for (size_t i = 0; i < samples->count; i++) {
        count_sample(&own, &samples->of[i], samples);
    }
    // Where time ran out before there were enough, what the whole session saw is why.
    describe(out, size, samples->count < least ? view : &own, &view->places);
    size_t used = strlen(out);
    if (others) {
        (void)snprintf(out + used, size - used,
                       "%sothers use the same cache or memory (its speed changed, that of the "
                       "arithmetic in between did not)",
                       used > 0 ? ", " : "");
    }
}

static void explain(char *out, size_t size, const struct reading *reading,
                    const struct chosen *chosen, size_t least, const struct probe_samples *samples,
                    const struct probe_view *view)
{
    double width = (reading->ci95_high - reading->ci95_low) / reading->value;
    double drift = drift_of(chosen);
    bool scattered = width > steady_width || drift > steady_drift;
    char signs[384];
    out[0] = '\0';
    bool interrupted = 2 * (chosen->clean + chosen->crowded) < samples->count;
    if (chosen->clean >= least && !scattered && !interrupted) {
        return;
    }
    // The windows in question are undisturbed ones: no other sign explains why they scatter.
    bool others = samples->shared && scattered && chosen->clean >= least;
    name_signs(signs, sizeof signs, samples, view, least, others);
    (void)snprintf(out, size,
                   "interval %.0f %% wide, bests of the run's quarters %.0f %% apart, %zu of %zu "
                   "windows disturbed%s%s",
                   100 * width, 100 * drift, samples->count - chosen->clean, samples->count,
                   signs[0] != '\0' ? ": " : "; no sign was seen", signs);
}

static struct reading clock_reading(const double *hz, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (isnan(hz[i])) {
            return reading_absent(ABSENT_UNSUPPORTED,
                                  "no clock chain was the longest path of this loop", NULL);
        }
    }
    return reading_of_samples(hz, count, BETTER_HIGHER, ORIGIN_TIMED);
}

// Each group's best window; returns how many groups there are.
static size_t best_of_groups(double *per_s, double *hz, const struct chosen *chosen, size_t least)
{
    size_t groups = chosen->count < least ? chosen->count : least;
    for (size_t i = 0; i < chosen->count; i++) {
        size_t group = i % groups;
        if (i < groups || chosen->of[i]->per_s > per_s[group]) {
            per_s[group] = chosen->of[i]->per_s;
            hz[group] = chosen->of[i]->core_hz;
        }
    }
    return groups;
}

void probe_samples_read(struct reading *out, struct reading *core_hz, char *unsteady, size_t size,
                        const struct probe_samples *samples, const struct probe_view *view,
                        size_t least)
{
    double per_s[READING_SAMPLES_MAX] = {0};
    double hz[READING_SAMPLES_MAX] = {0};
    struct chosen chosen;
    choose(&chosen, samples, view, least);
    size_t groups = best_of_groups(per_s, hz, &chosen, least);
    *out = reading_of_samples(per_s, groups, BETTER_HIGHER, ORIGIN_TIMED);
    if (core_hz != NULL) {
        size_t ran = chosen.clean + chosen.crowded;
        *core_hz = ran > 0
                       ? clock_reading(hz, ran < groups ? ran : groups)
                       : reading_absent(ABSENT_FAILED, "no undisturbed sample to count cycles in",
                                        "repeat it on a quiet machine");
    }
    unsteady[0] = '\0';
    if (groups > 0) {
        explain(unsteady, size, out, &chosen, least, samples, view);
    }
}

#include "profiler/probe_samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double steady_width = 0.10;

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

static void count_sample(struct probe_view *view, const struct probe_sample *sample)
{
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

void probe_view_make(struct probe_view *view, const struct probe_samples *const *all, size_t count)
{
    struct witness_places places = view->places;
    *view = (struct probe_view){.places = places, .loop_worst_fraction = 1};
    view->usual_place = most_common(all, count);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < all[i]->count; j++) {
            view->loop_best_per_s = fmax(view->loop_best_per_s, all[i]->of[j].loop_per_s);
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < all[i]->count; j++) {
            count_sample(view, &all[i]->of[j]);
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
    sum->sampled += view->sampled;
    sum->moved += view->moved;
    sum->slowed += view->slowed;
    sum->interrupted += view->interrupted;
    sum->loop_worst_fraction = fmin(sum->loop_worst_fraction, view->loop_worst_fraction);
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
    (void)interference_describe(switches, sizeof switches, &seen->signs);
    char all[384];
    (void)snprintf(all, sizeof all, "%s%s%s%s", switches[0] != '\0' ? ", " : "", switches, moved,
                   slowed);
    (void)snprintf(out, size, "%s", all[0] == '\0' ? "" : all + 2);
}

char *probe_view_describe(char *out, size_t size, const struct probe_view *view)
{
    describe(out, size, view, &view->places);
    return out;
}

static void explain(char *out, size_t size, const struct reading *reading, size_t clean,
                    size_t least, const struct probe_samples *samples,
                    const struct probe_view *view)
{
    double width = (reading->ci95_high - reading->ci95_low) / reading->value;
    char signs[320];
    struct probe_view own = *view;
    out[0] = '\0';
    if (clean >= least && width <= steady_width) {
        return;
    }
    own.sampled = own.moved = own.slowed = own.interrupted = 0;
    own.loop_worst_fraction = 1;
    own.signs = (struct interference_signs){.elapsed_seconds = 0};
    for (size_t i = 0; i < samples->count; i++) {
        count_sample(&own, &samples->of[i]);
    }
    // Where time ran out before there were enough, what the whole session saw is why.
    describe(signs, sizeof signs, samples->count < least ? view : &own, &view->places);
    (void)snprintf(out, size, "interval %.0f %% wide, %zu of %zu samples disturbed%s%s",
                   100 * width, samples->count - clean, samples->count,
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

void probe_samples_read(struct reading *out, struct reading *core_hz, char *unsteady, size_t size,
                        const struct probe_samples *samples, const struct probe_view *view,
                        size_t least)
{
    double per_s[READING_SAMPLES_MAX] = {0};
    double hz[READING_SAMPLES_MAX] = {0};
    size_t count = 0;
    size_t clean = 0;
    for (unsigned disturbed = 0; disturbed < 2; disturbed++) {
        for (size_t i = 0; i < samples->count; i++) {
            bool wanted = probe_sample_is_clean(&samples->of[i], view) == (disturbed == 0);
            if (wanted && (disturbed == 0 || count < least)) {
                per_s[count] = samples->of[i].per_s;
                hz[count++] = samples->of[i].core_hz;
            }
        }
        clean = disturbed == 0 ? count : clean;
    }
    *out = reading_of_samples(per_s, count, BETTER_HIGHER, ORIGIN_TIMED);
    if (core_hz != NULL) {
        *core_hz = clean > 0
                       ? clock_reading(hz, clean)
                       : reading_absent(ABSENT_FAILED, "no undisturbed sample to count cycles in",
                                        "repeat it on a quiet machine");
    }
    unsteady[0] = '\0';
    if (count > 0) {
        explain(unsteady, size, out, clean, least, samples, view);
    }
}

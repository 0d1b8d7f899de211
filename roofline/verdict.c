#include "roofline/verdict.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// A read stream that more threads no longer speed up by a tenth, while no other mix of traffic
// moves a tenth more, is at the memory's limit.
static const double saturated_growth = 1.10;
static const double other_mix_more = 1.10;
// Counted bytes within this of the model's are "the bytes that were meant".
static const double counted_near = 0.15;
static const double stalls_most = 0.5;
// Time that follows bytes to within this has no other cause than bytes.
static const double scaling_near = 0.15;

enum twins_say {
    TWINS_ABSENT,
    TWINS_MEMORY,
    TWINS_COMPUTE,
    TWINS_LATENCY,
    TWINS_NOTHING,
    TWINS_DISTURBED
};

static const char *const bound_names[] = {[BOUND_UNKNOWN] = "unknown",
                                          [BOUND_MEMORY_SATURATED] = "memory_saturated",
                                          [BOUND_MEMORY_CORE_LIMITED] = "memory_core_limited",
                                          [BOUND_COMPUTE] = "compute",
                                          [BOUND_LATENCY] = "latency"};

const char *verdict_bound_name(enum verdict_bound bound)
{
    return bound_names[bound];
}

bool verdict_bound_find(enum verdict_bound *out, const char *name)
{
    for (size_t i = 0; i < sizeof bound_names / sizeof *bound_names; i++) {
        if (strcmp(bound_names[i], name) == 0) {
            *out = (enum verdict_bound)i;
            return true;
        }
    }
    return false;
}

bool verdict_is_memory(enum verdict_bound bound)
{
    return bound == BOUND_MEMORY_SATURATED || bound == BOUND_MEMORY_CORE_LIMITED;
}

const char *verdict_claim_name(enum verdict_claim claim)
{
    static const char *const names[] = {[CLAIM_CONFIRMED] = "confirmed",
                                        [CLAIM_REFUTED] = "refuted",
                                        [CLAIM_CANNOT_TELL] = "cannot_tell"};
    return names[claim];
}

static __attribute__((format(printf, 2, 3))) void say(char out[VERDICT_TEXT], const char *format,
                                                      ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(out, VERDICT_TEXT, format, args);
    va_end(args);
}

static struct verdict_evidence *add(struct verdict *out, const char *test, bool passed)
{
    assert(out->evidence_count < VERDICT_EVIDENCE_MAX);
    struct verdict_evidence *evidence = &out->evidence[out->evidence_count++];
    (void)snprintf(evidence->test, sizeof evidence->test, "%s", test);
    evidence->passed = passed;
    return evidence;
}

static bool test_intensity(struct verdict *out, const struct verdict_input *in)
{
    bool below = in->flop_per_byte < in->ridge_flop_per_byte;
    if (isnan(in->flop_per_byte) || isnan(in->ridge_flop_per_byte)) {
        return false;
    }
    struct verdict_evidence *e = add(out, "intensity", below);
    say(e->expected, "below the ridge of %.3g FLOP/byte", in->ridge_flop_per_byte);
    say(e->found, "%.3g FLOP/byte", in->flop_per_byte);
    return below;
}

static bool test_achieved(struct verdict *out, const struct verdict_input *in)
{
    if (isnan(in->read_roof_fraction.value)) {
        return false;
    }
    bool reached = in->read_roof_fraction.value >= VERDICT_ACHIEVED_MIN;
    struct verdict_evidence *e = add(out, "achieved_bandwidth", reached);
    say(e->expected, "at least %.2f of the read roof of the same threads", VERDICT_ACHIEVED_MIN);
    say(e->found, "%.2f [%.2f, %.2f]", in->read_roof_fraction.value, in->read_roof_fraction.low,
        in->read_roof_fraction.high);
    return reached;
}

// True if the larger twin takes the full time, within the limit or as far as the interval tells.
// A twin does less than the full work: where it takes longer, its denser stream met a slower memory
// (a Zen 4 VM: up to 1.36), which leaves no doubt that it accounts for the full time.
static bool takes_all(struct verdict_ratio larger)
{
    double off = 1 - larger.value;
    bool noisy = off <= VERDICT_TWIN_NOISY && larger.high >= 1 - VERDICT_TWIN_NEAR;
    return (off <= VERDICT_TWIN_NEAR || noisy) && larger.value <= VERDICT_TWIN_LONGEST;
}

// An interval as wide as that is another program's doing, not the operator's.
static bool too_wide(struct verdict_ratio ratio)
{
    return ratio.high > VERDICT_WIDEST * ratio.low;
}

static enum twins_say twins_of(const struct verdict_input *in)
{
    struct verdict_ratio m = in->memory_only;
    struct verdict_ratio k = in->compute_only;
    if (isnan(m.value) || isnan(k.value)) {
        return TWINS_ABSENT;
    }
    bool memory_larger = m.value > k.value;
    struct verdict_ratio larger = memory_larger ? m : k;
    if (too_wide(larger)) {
        return TWINS_DISTURBED;
    }
    bool apart = larger.value >= VERDICT_TWIN_APART * fmin(m.value, k.value);
    // Work at the read roof does not wait for anything but bytes, whatever it fails to overlap.
    bool at_roof = memory_larger && in->read_roof_fraction.value >= VERDICT_AT_ROOF;
    if (apart && (takes_all(larger) || at_roof)) {
        return memory_larger ? TWINS_MEMORY : TWINS_COMPUTE;
    }
    return 1 >= VERDICT_ADDITIVE * (m.value + k.value) ? TWINS_LATENCY : TWINS_NOTHING;
}

static enum twins_say test_twins(struct verdict *out, const struct verdict_input *in)
{
    static const char *const meaning[] = {[TWINS_MEMORY] = "follows memory",
                                          [TWINS_COMPUTE] = "follows compute",
                                          [TWINS_LATENCY] =
                                              "memory and compute add up: latency or overlap",
                                          [TWINS_NOTHING] = "follows neither clearly",
                                          [TWINS_DISTURBED] = "intervals too wide to tell"};
    enum twins_say twins = twins_of(in);
    if (twins == TWINS_ABSENT) {
        return twins;
    }
    if (in->disturbed_fraction > VERDICT_DISTURBED) {
        struct verdict_evidence *e = add(out, "twins", false);
        say(e->expected, "at most %.0f %% of the rounds disturbed", 100 * VERDICT_DISTURBED);
        say(e->found,
            "full 1, memory-only %.2f, compute-only %.2f, but other work on the CPUs disturbed "
            "%.0f %% of the rounds: they tell nothing",
            in->memory_only.value, in->compute_only.value, 100 * in->disturbed_fraction);
        return TWINS_DISTURBED;
    }
    struct verdict_evidence *e = add(out, "twins", twins == TWINS_MEMORY);
    say(e->expected,
        "full time within %.0f %% of the memory-only twin (%.0f %% where the interval reaches "
        "that, or at the read roof), compute-only %.1fx shorter",
        100 * VERDICT_TWIN_NEAR, 100 * VERDICT_TWIN_NOISY, VERDICT_TWIN_APART);
    say(e->found, "full 1, memory-only %.2f [%.2f, %.2f], compute-only %.2f [%.2f, %.2f]: %s",
        in->memory_only.value, in->memory_only.low, in->memory_only.high, in->compute_only.value,
        in->compute_only.low, in->compute_only.high, meaning[twins]);
    return twins;
}

static void test_dtype_scaling(struct verdict *out, const struct verdict_input *in)
{
    if (isnan(in->dtype_time_ratio) || isnan(in->dtype_byte_ratio)) {
        return;
    }
    double off = fabs(in->dtype_time_ratio / in->dtype_byte_ratio - 1);
    struct verdict_evidence *e = add(out, "dtype_scaling", off <= scaling_near);
    say(e->expected, "time grows %.2fx with the bytes, within %.0f %%", in->dtype_byte_ratio,
        100 * scaling_near);
    say(e->found, "%.2fx", in->dtype_time_ratio);
}

// True if the memory itself is the limit, not what these cores can ask of it.
static bool test_saturation(struct verdict *out, const struct verdict_input *in)
{
    bool grows = !isnan(in->read_growth) && in->read_growth >= saturated_growth;
    bool more = !isnan(in->other_mix) && in->other_mix >= other_mix_more;
    bool known = !isnan(in->read_growth) || !isnan(in->other_mix);
    bool saturated = known && !grows && !more && in->threads > 1;
    if (!known) {
        return false;
    }
    struct verdict_evidence *e = add(out, "saturation", saturated);
    say(e->expected,
        "saturated: reads grow less than %.2fx from half of the threads to all, and "
        "non-temporal stores or copies move less than %.2fx of what reads do",
        saturated_growth, other_mix_more);
    char growth[48] = "one thread";
    if (!isnan(in->read_growth)) {
        (void)snprintf(growth, sizeof growth, "reads grow %.2fx", in->read_growth);
    }
    if (isnan(in->other_mix)) {
        say(e->found, "%s: %s", growth, saturated ? "saturated" : "not saturated");
    } else {
        say(e->found, "%s, non-temporal stores or copies move %.2fx of what reads do: %s", growth,
            in->other_mix, saturated ? "saturated" : "not saturated");
    }
    return saturated;
}

static void test_counters(struct verdict *out, const struct verdict_input *in)
{
    if (!isnan(in->counted_byte_ratio)) {
        bool near = fabs(in->counted_byte_ratio - 1) <= counted_near;
        struct verdict_evidence *e = add(out, "counted_bytes", near);
        say(e->expected, "counted over predicted bytes within %.0f %% of 1", 100 * counted_near);
        say(e->found, "%.3f", in->counted_byte_ratio);
    }
    if (!isnan(in->memory_stall_fraction)) {
        bool most = in->memory_stall_fraction >= stalls_most;
        struct verdict_evidence *e = add(out, "stalls", most);
        say(e->expected, "at least %.2f of the cycles stalled on memory", stalls_most);
        say(e->found, "%.2f", in->memory_stall_fraction);
    }
}

static enum verdict_bound decide(struct verdict *out, enum twins_say twins, bool below_ridge,
                                 bool achieved, bool saturated)
{
    switch (twins) {
    case TWINS_MEMORY:
        if (below_ridge || achieved) {
            return saturated ? BOUND_MEMORY_SATURATED : BOUND_MEMORY_CORE_LIMITED;
        }
        say(out->open, "the twins say memory, but intensity and bandwidth do not: measure the "
                       "roofs again on quiet CPUs");
        return BOUND_UNKNOWN;
    case TWINS_COMPUTE:
        if (!below_ridge || !achieved) {
            return BOUND_COMPUTE;
        }
        say(out->open, "the twins say compute, but it moves bytes at the roof: measure again on "
                       "quiet CPUs");
        return BOUND_UNKNOWN;
    case TWINS_LATENCY:
        return BOUND_LATENCY;
    case TWINS_NOTHING:
        say(out->open, "memory-only and compute-only times are too close: near the ridge; a "
                       "smaller or larger batch falls clearly on one side");
        return BOUND_UNKNOWN;
    case TWINS_DISTURBED:
        say(out->open, "the twins' times scatter by more than %.0fx: measure on quiet CPUs",
            VERDICT_WIDEST);
        return BOUND_UNKNOWN;
    case TWINS_ABSENT:
        break;
    }
    say(out->open, "no twins (a library call is a black box, or twins were not asked for): "
                   "hardware counters or an own kernel would settle it");
    return BOUND_UNKNOWN;
}

void verdict_point(struct verdict *out, const struct verdict_input *input)
{
    *out = (struct verdict){.bound = BOUND_UNKNOWN};
    bool below_ridge = test_intensity(out, input);
    bool achieved = test_achieved(out, input);
    enum twins_say twins = test_twins(out, input);
    test_dtype_scaling(out, input);
    bool saturated = test_saturation(out, input);
    test_counters(out, input);
    out->bound = decide(out, twins, below_ridge, achieved, saturated);
    if (twins == TWINS_DISTURBED && input->disturbed_fraction > VERDICT_DISTURBED) {
        say(out->open,
            "other work on the CPUs disturbed %.0f %% of the rounds: measure on quiet CPUs",
            100 * input->disturbed_fraction);
    }
    if (input->roof_fraction.value > VERDICT_ABOVE) {
        out->bound = BOUND_UNKNOWN;
        say(out->open,
            "at %.2f of its roof, which the interval does not explain away: measure the "
            "roofs again on quiet CPUs",
            input->roof_fraction.value);
    }
    // An interval wholly above 1 is no noise.
    if (!isnan(input->roof_fraction.low) && input->roof_fraction.low > 1 &&
        input->roof_fraction.value > 1) {
        out->above_roof = true;
        out->bound = BOUND_UNKNOWN;
        say(out->open, "faster than its roof: suspect data served from a cache, a roof measured "
                       "under disturbance, or a unit or scope that does not match");
    }
}

enum verdict_claim verdict_step(double *memory_fraction, double *unknown_fraction,
                                const struct verdict_share *shares, size_t count)
{
    double told = 0;
    *memory_fraction = 0;
    *unknown_fraction = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(shares[i].time_share_fraction)) {
            continue;
        }
        told += shares[i].time_share_fraction;
        if (shares[i].from_dram && verdict_is_memory(shares[i].bound)) {
            *memory_fraction += shares[i].time_share_fraction;
        } else if (shares[i].from_dram && shares[i].bound == BOUND_UNKNOWN) {
            *unknown_fraction += shares[i].time_share_fraction;
        }
    }
    *unknown_fraction += told < 1 - 1e-6 ? 1 - told : 0; // time that nobody measured
    if (*memory_fraction >= 0.9) {
        return CLAIM_CONFIRMED;
    }
    // A claim is refuted by what is known, not by what is unknown.
    return *memory_fraction + *unknown_fraction < 0.5 ? CLAIM_REFUTED : CLAIM_CANNOT_TELL;
}

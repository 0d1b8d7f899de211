// What the measured roofs say about each other.
#include "profiler/probe_session.h"
#include "profiler/result_build.h"
#include "roofline/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Well below what clocks of many busy cores explain, and above two threads on one core.
#define SHARING_WARNED 0.7

static const char *rate_text(char *out, const struct reading *rate, const char *unit)
{
    return units_format_decimal(out, rate->value, unit);
}

static const struct result_bandwidth *find_load(const struct result_machine *machine,
                                                const char *level, unsigned threads,
                                                const char *cpus)
{
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        const struct result_bandwidth *row = &machine->bandwidth[i];
        if (strcmp(row->level, level) == 0 && strcmp(row->kernel, "load") == 0 &&
            row->threads == threads && strcmp(row->cpus, cpus) == 0) {
            return row;
        }
    }
    return NULL;
}

// L1 >= L2 >= L3 >= DRAM for the same threads; neighbours may be equal within their intervals.
static void check_order(struct result_run *run)
{
    for (size_t i = 0; i < run->machine.bandwidth_count; i++) {
        const struct result_bandwidth *outer = &run->machine.bandwidth[i];
        enum memory_level level = LEVEL_L1;
        if (strcmp(outer->kernel, "load") != 0 || !memory_level_of_name(&level, outer->level)) {
            continue;
        }
        for (unsigned inside = 0; inside < (unsigned)level; inside++) {
            const char *name = memory_level_name((enum memory_level)inside);
            const struct result_bandwidth *inner =
                find_load(&run->machine, name, outer->threads, outer->cpus);
            if (inner != NULL && inner->bytes_per_s.ci95_high < outer->bytes_per_s.ci95_low) {
                result_warn(run, "level_order", "lmroof probe --sweep; repeat on a quiet machine",
                            "%s loads slower than %s outside it (%.3g against %.3g B/s, %u "
                            "threads): one of them is not what it is called",
                            name, outer->level, inner->bytes_per_s.value, outer->bytes_per_s.value,
                            outer->threads);
            }
        }
    }
}

static double best_clock(const struct result_machine *machine)
{
    double best = (double)NAN;
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct reading *hz = &machine->compute[i].core_hz;
        if (reading_is_present(hz) && !(hz->best <= best)) {
            best = hz->best;
        }
    }
    return best;
}

// No core of today loads more than three vectors of 512 bits in a cycle.
static void check_physics(struct result_run *run)
{
    double hz = best_clock(&run->machine);
    for (size_t i = 0; i < run->machine.bandwidth_count && !isnan(hz); i++) {
        const struct result_bandwidth *row = &run->machine.bandwidth[i];
        double most = 3 * 64 * hz * row->threads;
        if (strcmp(row->kernel, "load") == 0 && row->bytes_per_s.value > most) {
            char rate[UNITS_TEXT];
            char limit[UNITS_TEXT];
            char clock[UNITS_TEXT];
            result_warn(run, "implausible", NULL,
                        "%s load of %s is more than %u cores can issue at %s (%s)", row->level,
                        rate_text(rate, &row->bytes_per_s, "B/s"), row->threads,
                        units_format_decimal(clock, hz, "Hz"),
                        units_format_decimal(limit, most, "B/s"));
        }
    }
}

// Of a disturbed product nothing is told about the library.
static void check_gemm(struct result_run *run)
{
    const struct result_machine *machine = &run->machine;
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *gemm = &machine->compute[i];
        double peak = 0;
        bool steady = strcmp(gemm->kind, "gemm") == 0 && gemm->unsteady[0] == '\0';
        for (size_t j = 0; j < machine->compute_count && steady; j++) {
            const struct result_compute *fma = &machine->compute[j];
            bool same = strcmp(fma->kind, "fma") == 0 && fma->threads == gemm->threads &&
                        strcmp(fma->dtype, gemm->dtype) == 0;
            peak = same && fma->flop_per_s.value > peak ? fma->flop_per_s.value : peak;
        }
        if (peak > 0 && gemm->flop_per_s.value < 0.6 * peak) {
            char rate[UNITS_TEXT];
            result_warn(run, "blas_slow",
                        "install a newer libopenblas0-openmp, or set OPENBLAS_CORETYPE to a core "
                        "that this CPU can run (SkylakeX, Zen, Haswell)",
                        "%s reaches %s in %s with %u threads, %.0f %% of the FMA peak: matrix "
                        "products of prefill run below what the CPU can do",
                        gemm->backend, rate_text(rate, &gemm->flop_per_s, "FLOP/s"), gemm->class_,
                        gemm->threads, 100 * gemm->flop_per_s.value / peak);
        }
    }
}

// True if products of this type can be made of that class's instructions without loss.
static bool serves(const struct result_compute *fma, const struct result_compute *gemm)
{
    bool widened = strcmp(fma->dtype, "f32") == 0 &&
                   (strcmp(gemm->dtype, "bf16") == 0 || strcmp(gemm->dtype, "f16") == 0);
    return strcmp(fma->kind, "fma") == 0 && fma->threads == gemm->threads &&
           (strcmp(fma->dtype, gemm->dtype) == 0 || widened);
}

static struct result_compute *fastest_for(struct result_machine *machine,
                                          const struct result_compute *gemm)
{
    struct result_compute *best = NULL;
    for (size_t i = 0; i < machine->compute_count; i++) {
        struct result_compute *fma = &machine->compute[i];
        if (serves(fma, gemm) && (best == NULL || fma->flop_per_s.value > best->flop_per_s.value)) {
            best = fma;
        }
    }
    return best;
}

// A product above the peak of the instructions that it is made of shows that the peak was not
// reached when it was measured.
static void check_above(struct result_run *run)
{
    for (size_t i = 0; i < run->machine.compute_count; i++) {
        const struct result_compute *gemm = &run->machine.compute[i];
        struct result_compute *peak = NULL;
        if (strcmp(gemm->kind, "gemm") == 0) {
            peak = fastest_for(&run->machine, gemm);
        }
        if (peak == NULL || !(gemm->flop_per_s.value > peak->flop_per_s.value) ||
            !(gemm->flop_per_s.ci95_low > peak->flop_per_s.ci95_high)) {
            continue;
        }
        char reached[UNITS_TEXT];
        char rate[UNITS_TEXT];
        (void)rate_text(reached, &gemm->flop_per_s, "FLOP/s");
        (void)rate_text(rate, &peak->flop_per_s, "FLOP/s");
        (void)snprintf(peak->unsteady, sizeof peak->unsteady,
                       "no ceiling: the %s gemm reached %s in the same minute", gemm->dtype,
                       reached);
        result_warn(run, "above_roof", "repeat it on a quiet machine",
                    "the %s gemm reached %s where the fastest instructions it can be made of were "
                    "measured at %s (%s %s): that peak was disturbed and is no ceiling",
                    gemm->dtype, reached, rate, peak->dtype, peak->class_);
    }
}

static void mark_bandwidth(struct result_run *run, const char *why)
{
    for (size_t i = 0; i < run->machine.bandwidth_count; i++) {
        struct result_bandwidth *row = &run->machine.bandwidth[i];
        if (row->threads > 1 && row->unsteady[0] == '\0') {
            (void)snprintf(row->unsteady, sizeof row->unsteady, "%s", why);
        }
    }
}

static void mark_compute(struct result_run *run, const char *why)
{
    for (size_t i = 0; i < run->machine.compute_count; i++) {
        struct result_compute *row = &run->machine.compute[i];
        if (row->threads > 1 && row->unsteady[0] == '\0') {
            (void)snprintf(row->unsteady, sizeof row->unsteady, "%s", why);
        }
    }
}

// Threads that share a last-level cache pass a line through it, in a fraction of the time that
// memory takes. If it takes as long as that, they do not share one.
static void check_distance(struct result_run *run, const struct machine *machine,
                           const struct probe_view *seen)
{
    const struct witness_look *look = &seen->places.looks[seen->usual_place];
    double line = seen->places.count > 0 ? witness_longest_line(look) : (double)NAN;
    bool one_cache = machine_cache_instances(machine, 3) == 1 && machine->packages == 1;
    double memory = (double)NAN;
    char why[160];
    for (size_t i = 0; i < run->machine.latency_count; i++) {
        const struct result_latency *row = &run->machine.latency[i];
        bool is_memory = strcmp(row->level, "DRAM") == 0 && reading_is_present(&row->seconds);
        memory = is_memory ? row->seconds.value : memory;
    }
    if (!isnan(line)) {
        result_fact(&run->conditions, &run->condition_count, "line_seconds", "%.3g", line);
    }
    if (!one_cache || !(line > 0.7 * memory)) { // also if either is unknown
        return;
    }
    result_warn(run, "cpus_apart", "repeat it: the hypervisor may move them together again",
                "a cache line takes %.0f ns from one thread to the next and memory %.0f ns: the "
                "hypervisor runs these cpus on different caches, though the topology tells one L3; "
                "bandwidths of several threads are of that placement",
                1e9 * line, 1e9 * memory);
    (void)snprintf(why, sizeof why,
                   "cpus apart: a line between them takes %.0f ns, the topology tells one L3",
                   1e9 * line);
    mark_bandwidth(run, why);
}

// Threads on cores of their own take nothing from each other's arithmetic but some clock; two on
// one core have half of it each.
static void check_sharing(struct result_run *run, const struct machine *machine,
                          const struct probe_view *seen)
{
    char why[160];
    if (seen->sharing > 0) {
        result_fact(&run->conditions, &run->condition_count, "core_sharing", "%.3g", seen->sharing);
    }
    // Where the topology tells two threads of a core they may have been asked for.
    if (!(seen->sharing > 0 && seen->sharing < SHARING_WARNED) || machine->smt) {
        return;
    }
    (void)snprintf(why, sizeof why,
                   "one core for two cpus: together they run known arithmetic at %.0f %% of what "
                   "each does alone",
                   100 * seen->sharing);
    result_warn(
        run, "cores_shared",
        "ask the provider for whole cores, or repeat it: the hypervisor may move them apart",
        "%s, though the topology tells two cores: ceilings of several threads are of that "
        "placement",
        why);
    mark_bandwidth(run, why);
    mark_compute(run, why);
}

struct name_list {
    char text[160];
    size_t count;
};

static void add_name(struct name_list *list, const char *unsteady, const char *first,
                     const char *second)
{
    size_t used = strlen(list->text);
    if (unsteady[0] == '\0') {
        return;
    }
    if (list->count++ < 4) {
        (void)snprintf(list->text + used, sizeof list->text - used, "%s%s %s", used > 0 ? ", " : "",
                       first, second);
    }
}

static void check_steady(struct result_run *run, const struct probe_view *seen)
{
    const struct result_machine *machine = &run->machine;
    size_t all = machine->bandwidth_count + machine->compute_count + machine->latency_count;
    struct name_list names = {.count = 0};
    char signs[RESULT_UNSTEADY];
    for (size_t i = 0; i < machine->bandwidth_count; i++) {
        const struct result_bandwidth *row = &machine->bandwidth[i];
        add_name(&names, row->unsteady, row->level, row->kernel);
    }
    for (size_t i = 0; i < machine->compute_count; i++) {
        const struct result_compute *row = &machine->compute[i];
        add_name(&names, row->unsteady, row->dtype, row->kind);
    }
    for (size_t i = 0; i < machine->latency_count; i++) {
        add_name(&names, machine->latency[i].unsteady, machine->latency[i].level, "latency");
    }
    if (names.count > 0) {
        (void)probe_view_describe(signs, sizeof signs, seen);
        result_warn(run, "unsteady", "repeat it on a quiet machine; the document names each",
                    "%zu of %zu ceilings (%s%s); seen: %s", names.count, all, names.text,
                    names.count > 4 ? ", ..." : "",
                    signs[0] != '\0' ? signs : "no sign but the width of the intervals");
    }
}

// Kernels have no windows that signs belong to: what shows is the width of their intervals.
static void check_kernels(struct result_run *run)
{
    for (size_t i = 0; i < run->machine.compute_count; i++) {
        struct result_compute *row = &run->machine.compute[i];
        const struct reading *rate = &row->flop_per_s;
        bool windowless = strcmp(row->kind, "kernel") == 0 || strcmp(row->kind, "attention") == 0;
        double wide = (rate->ci95_high - rate->ci95_low) / rate->value;
        if (windowless && row->unsteady[0] == '\0' && reading_is_present(rate) &&
            wide > READING_WIDE_FRACTION) {
            (void)snprintf(row->unsteady, sizeof row->unsteady,
                           "an interval of %.0f %% of the value", 100 * wide);
        }
    }
}

void probe_check_roofs(struct result_run *run, const struct machine *machine,
                       const struct probe_view *seen)
{
    check_order(run);
    check_physics(run);
    check_gemm(run);
    check_above(run);
    check_distance(run, machine, seen);
    check_sharing(run, machine, seen);
    check_kernels(run);
    check_steady(run, seen);
}

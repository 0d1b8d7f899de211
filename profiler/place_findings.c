#include "profiler/machine_rates.h"
#include "profiler/place.h"
#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Where a difference is one. Repeats of llama-bench on a quiet machine lie within a few per cent
// (2026-11, Zen 4 virtual machine); half of a roof lost is more than any layout costs.
#define SLOWDOWN_LEAST 1.10
#define EXPLAINED_TIMES 2.0
#define FORMAT_FALL 0.85
#define THREADS_FALL 0.95
#define NEAR_ROOF 0.75
#define LOW_DECODE 0.60
#define LOW_PREFILL 0.40
#define ABOVE_ROOF 1.02

static void __attribute__((format(printf, 5, 6)))
add(struct placement *out, const char *code, size_t point, const char *try_, const char *format,
    ...)
{
    for (size_t i = 0; i < out->finding_count; i++) {
        if (strcmp(out->findings[i].code, code) == 0) {
            return; // the first shows it
        }
    }
    if (out->finding_count == PLACE_FINDINGS_MAX) {
        return;
    }
    struct place_finding *finding = &out->findings[out->finding_count++];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
    finding->code = code;
    finding->point = point;
    finding->try_ = try_;
}

static bool has(const struct placement *placement, const char *code)
{
    for (size_t i = 0; i < placement->finding_count; i++) {
        if (strcmp(placement->findings[i].code, code) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_decode(const struct place_point *point)
{
    return point->test.prompt == 0;
}

static double per_step(const struct place_point *point)
{
    return point->test.seconds / (double)point->test.generated;
}

static double context_of(const struct place_point *point)
{
    return (double)point->test.depth + (double)(point->test.generated - 1) / 2;
}

enum { SAME_DTYPE = 1, SAME_THREADS = 2, SAME_BATCH = 4, SAME_CONTEXT = 8 };

// Decodes of one model that differ only in what is not asked to be the same.
static bool alike(const struct place_point *a, const struct place_point *b, unsigned same)
{
    const struct place_test *x = &a->test;
    const struct place_test *y = &b->test;
    bool model = strcmp(a->model_name, b->model_name) == 0 ||
                 (x->parameters > 0 && y->parameters > 0 &&
                  fabs(x->parameters - y->parameters) <= 1e-3 * y->parameters);
    bool dtype = a->dtype == b->dtype && (isnan(x->file_bytes) || isnan(y->file_bytes) ||
                                          fabs(x->file_bytes - y->file_bytes) <= 0);
    return is_decode(a) && is_decode(b) && model && ((same & SAME_DTYPE) == 0 || dtype) &&
           ((same & SAME_THREADS) == 0 || x->threads == y->threads) &&
           ((same & SAME_BATCH) == 0 || x->batch == y->batch) &&
           ((same & SAME_CONTEXT) == 0 || fabs(context_of(a) - context_of(b)) <= 0);
}

// A longer context costs what its cache costs to read, at the speed at which the weights are read.
static void find_attention(struct placement *out, size_t i, size_t j)
{
    const struct place_point *near = &out->points[i];
    const struct place_point *far = &out->points[j];
    if (!alike(near, far, SAME_DTYPE | SAME_THREADS | SAME_BATCH) ||
        context_of(near) >= context_of(far)) {
        return;
    }
    double slower = per_step(far) / per_step(near);
    double explained =
        (far->bytes / (double)far->test.generated) / (near->bytes / (double)near->test.generated);
    if (slower < SLOWDOWN_LEAST || slower - 1 < EXPLAINED_TIMES * (explained - 1)) {
        return;
    }
    add(out, "attention_kernel", j,
        far->test.flash_attention
            ? "another program or a build with other attention kernels (flash attention was on: "
              "compare -fa 0), a smaller cache type (-ctk q8_0)"
            : "flash attention (-fa 1), another attention kernel, fewer threads for short contexts",
        "from context %.0f to %.0f a token takes %.2f times as long; the bytes of its cache "
        "explain "
        "%.2f times: the attention kernel, not memory, limits at long contexts",
        context_of(near), context_of(far), slower, explained);
}

static double rate(const struct place_point *point)
{
    return point->bytes / point->test.seconds;
}

// Memory would serve a smaller format as fast, in bytes, as a larger one.
static void find_format(struct placement *out, size_t i, size_t j)
{
    const struct place_point *large = &out->points[i];
    const struct place_point *small = &out->points[j];
    if (!alike(large, small, SAME_THREADS | SAME_BATCH | SAME_CONTEXT) ||
        small->bytes / (double)small->test.generated >=
            0.9 * large->bytes / (double)large->test.generated ||
        rate(small) >= FORMAT_FALL * rate(large)) {
        return;
    }
    char slow[UNITS_TEXT];
    char fast[UNITS_TEXT];
    add(out, "dequantisation", j,
        "more threads, kernels for this CPU's integer dot products, another format",
        "%s moves %s where %s moves %s: the smaller format is limited by unpacking, not by memory",
        dtype_name(small->dtype), units_format_decimal(slow, rate(small), "B/s"),
        dtype_name(large->dtype), units_format_decimal(fast, rate(large), "B/s"));
}

static void find_threads(struct placement *out, size_t i, size_t j)
{
    const struct place_point *few = &out->points[i];
    const struct place_point *many = &out->points[j];
    if (!alike(few, many, SAME_DTYPE | SAME_BATCH | SAME_CONTEXT) || few->test.threads == 0 ||
        few->test.threads >= many->test.threads || per_step(few) >= THREADS_FALL * per_step(many)) {
        return;
    }
    add(out, "too_many_threads", j, "the smaller number of threads",
        "%u threads decode %.2f times as fast as %u: the others wait for each other or share cores",
        few->test.threads, per_step(many) / per_step(few), many->test.threads);
}

// Weights that are read once for all sequences would make a batch nearly free below the ridge.
static void find_batch(struct placement *out, size_t i, size_t j)
{
    const struct place_point *one = &out->points[i];
    const struct place_point *many = &out->points[j];
    if (!alike(one, many, SAME_DTYPE | SAME_THREADS | SAME_CONTEXT) ||
        one->test.batch >= many->test.batch || isnan(many->bound_seconds)) {
        return;
    }
    double slower = per_step(many) / per_step(one);
    double bound = (many->bound_seconds / (double)many->test.generated) /
                   (one->bound_seconds / (double)one->test.generated);
    if (slower < EXPLAINED_TIMES * bound || slower < SLOWDOWN_LEAST) {
        return;
    }
    add(out, "batch_not_shared", j, "kernels with tiles over sequences; a larger -ub",
        "a step of %" PRIu64 " sequences takes %.1f times as long as one of %" PRIu64
        ", where the roofs allow %.1f: arithmetic is far below its roof, or weights are read again "
        "for each sequence",
        many->test.batch, slower, one->test.batch, bound);
}

static void find_cores(struct placement *out, size_t index)
{
    const struct place_point *point = &out->points[index];
    const struct result_bandwidth *read =
        out->machine == NULL ? NULL : machine_read_roof(&out->machine->run.machine);
    const char *cores = out->machine == NULL ? NULL : machine_source_fact(out->machine, "cores");
    unsigned long most = cores == NULL ? 0 : strtoul(cores, NULL, 10);
    if (read == NULL || point->test.threads == 0) {
        return;
    }
    if (most > 0 && point->test.threads > most) {
        add(out, "threads_exceed_cores", index, "one thread a core (-t)",
            "%u threads on %lu cores: they share vector units, or wait for one another",
            point->test.threads, most);
    } else if (point->test.threads < read->threads && is_decode(point) &&
               point->roof_fraction < NEAR_ROOF) {
        add(out, "few_threads", index, "more threads (-t), one a core",
            "%u of %u threads: fewer cores have fewer reads in flight", point->test.threads,
            read->threads);
    }
}

static bool has_nodes(const struct machine_source *machine)
{
    const char *nodes = machine_source_fact(machine, "numa_nodes");
    const char *packages = machine_source_fact(machine, "packages");
    return (nodes != NULL && strtoul(nodes, NULL, 10) > 1) ||
           (packages != NULL && strtoul(packages, NULL, 10) > 1);
}

static bool on_accelerator(const struct place_point *point)
{
    static const char *const cpu[] = {"CPU", "BLAS", "AMX", "OpenBLAS", "ZenDNN"};
    if (point->test.backend[0] == '\0') {
        return false;
    }
    for (size_t i = 0; i < sizeof cpu / sizeof *cpu; i++) {
        if (strstr(point->test.backend, cpu[i]) != NULL) {
            return false;
        }
    }
    return true;
}

static void find_level(struct placement *out, size_t index)
{
    const struct place_point *point = &out->points[index];
    double fraction = point->roof_fraction;
    if (on_accelerator(point)) {
        add(out, "not_a_cpu", index, "-ngl 0, or a build without that backend",
            "the backend is %s: these roofs are of the CPU", point->test.backend);
    }
    if (fraction > ABOVE_ROOF) {
        add(out, "above_roof", index,
            "a new 'lmroof probe' on a quiet machine, the machine that it ran on (--machine), the "
            "model (-m), a model larger than the caches",
            "%.0f %% of the bound: no program exceeds it, so the profile was disturbed, machine or "
            "model are others, or the weights were served from a cache",
            100 * fraction);
    } else if (is_decode(point) && fraction >= NEAR_ROOF && !point->compute_bound) {
        add(out, "near_roof", index, "a smaller format, more memory channels, larger batches",
            "decode reaches %.0f %% of the bound of memory: no other program gains more than %.2f "
            "times",
            100 * fraction, 1 / fraction);
    } else if (point->test.generated == 0 && fraction < LOW_PREFILL && point->compute_bound) {
        add(out, "prefill_kernels", index,
            "a build for this CPU (-march=native: AMX, VNNI, BF16), a weight type with kernels",
            "prefill reaches %.0f %% of the arithmetic that this CPU has for %s: the kernels use "
            "slower instructions, or do not block for caches",
            100 * fraction, dtype_name(point->dtype));
    }
}

static void find_rest(struct placement *out, size_t index)
{
    const struct place_point *point = &out->points[index];
    static const char *const causes[] = {
        "attention_kernel", "dequantisation", "too_many_threads", "threads_exceed_cores",
        "few_threads",      "above_roof",     "batch_not_shared", "not_a_cpu"};
    if (!is_decode(point) || !(point->roof_fraction < LOW_DECODE) || out->machine == NULL) {
        return;
    }
    if (has_nodes(out->machine)) {
        add(out, "numa", index, "numactl --cpunodebind=0 --membind=0, or --numa distribute",
            "decode reaches %.0f %% of the bound on several memory nodes: half of the weights may "
            "come through the link",
            100 * point->roof_fraction);
        return;
    }
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (has(out, causes[i])) {
            return;
        }
    }
    if (context_of(point) >= 512 && point->test.batch == 1 && !point->test.flash_attention) {
        add(out, "attention_suspected", index,
            "the same test at depth 0 (-d 0) tells; flash attention (-fa 1)",
            "decode reaches %.0f %% of the bound with %.0f tokens cached: llama.cpp's default "
            "attention halved decode at 1024 on a Zen 4 machine though the cache was 1 %% of the "
            "bytes",
            100 * point->roof_fraction, context_of(point));
        return;
    }
    add(out, "unexplained", index,
        "tests over threads (-t 1,2,4), depths (-d 0,1024) and formats: they tell the causes apart",
        "decode reaches %.0f %% of the bound, and the file holds nothing that tells why",
        100 * point->roof_fraction);
}

static void find_pairs(struct placement *out, size_t i)
{
    enum { PAIRS_MAX = 2000 }; // a pair that shows something is among neighbours
    size_t end = out->point_count - i > PAIRS_MAX ? i + PAIRS_MAX : out->point_count;
    for (size_t j = i + 1; j < end; j++) {
        find_attention(out, i, j);
        find_attention(out, j, i);
        find_format(out, i, j);
        find_format(out, j, i);
        find_threads(out, i, j);
        find_threads(out, j, i);
        find_batch(out, i, j);
        find_batch(out, j, i);
    }
}

void place_find(struct placement *out)
{
    out->finding_count = 0;
    for (size_t i = 0; i < out->point_count; i++) {
        find_level(out, i);
        find_cores(out, i);
        find_pairs(out, i);
    }
    for (size_t i = 0; i < out->point_count; i++) {
        find_rest(out, i);
    }
}

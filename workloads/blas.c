#include "workloads/blas.h"

#include <cblas.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CORE_TEXT = 32, PATH_TEXT = 256 };

struct blas {
    void *handle;
    char path[PATH_TEXT];
    char own_core[CORE_TEXT];
    bool core_was_set;
    bool core_is_poor;
    void (*sgemm)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint, blasint,
                  blasint, float, const float *, blasint, const float *, blasint, float, float *,
                  blasint);
    void (*dgemm)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint, blasint,
                  blasint, double, const double *, blasint, const double *, blasint, double,
                  double *, blasint);
    void (*set_threads)(int);
    int (*get_parallel)(void);
    char *(*get_core)(void);
    char *(*get_config)(void);
};

// Width of the vectors that a core's kernels use; the names are those of OpenBLAS 0.3.
enum core_width { WIDTH_UNKNOWN, WIDTH_SSE, WIDTH_AVX, WIDTH_AVX2, WIDTH_AVX512 };

static const struct {
    const char *name;
    enum core_width width;
} cores[] = {
    {"Katmai", WIDTH_SSE},        {"Coppermine", WIDTH_SSE},
    {"Northwood", WIDTH_SSE},     {"Prescott", WIDTH_SSE},
    {"Banias", WIDTH_SSE},        {"Atom", WIDTH_SSE},
    {"Core2", WIDTH_SSE},         {"Penryn", WIDTH_SSE},
    {"Dunnington", WIDTH_SSE},    {"Nehalem", WIDTH_SSE},
    {"Athlon", WIDTH_SSE},        {"Opteron", WIDTH_SSE},
    {"Opteron_SSE3", WIDTH_SSE},  {"Barcelona", WIDTH_SSE},
    {"Bobcat", WIDTH_SSE},        {"Nano", WIDTH_SSE},
    {"Sandybridge", WIDTH_AVX},   {"Bulldozer", WIDTH_AVX},
    {"Piledriver", WIDTH_AVX},    {"Steamroller", WIDTH_AVX},
    {"Excavator", WIDTH_AVX2},    {"Haswell", WIDTH_AVX2},
    {"Zen", WIDTH_AVX2},          {"SkylakeX", WIDTH_AVX512},
    {"Cooperlake", WIDTH_AVX512}, {"SapphireRapids", WIDTH_AVX512},
};

static enum core_width width_of_core(const char *core)
{
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        if (strcasecmp(cores[i].name, core) == 0) {
            return cores[i].width;
        }
    }
    return WIDTH_UNKNOWN;
}

static enum core_width width_of_isa(struct isa_set isa)
{
    if (isa_has(isa, ISA_AVX512)) {
        return WIDTH_AVX512;
    }
    return isa_has(isa, ISA_AVX2) ? WIDTH_AVX2 : WIDTH_UNKNOWN;
}

bool blas_core_is_poor(const char *core, struct isa_set isa)
{
    enum core_width width = width_of_core(core);
    return width != WIDTH_UNKNOWN && width < width_of_isa(isa);
}

const char *blas_core_to_ask(const char *core, struct isa_set isa, bool amd)
{
    if (!blas_core_is_poor(core, isa)) {
        return NULL;
    }
    if (isa_has(isa, ISA_AVX512)) {
        // Cooperlake is SkylakeX with bf16 dots; both ran sgemm alike on Emerald Rapids
        // (324 and 322 GFLOP/s, n = 4096, 2 threads, 2026-11-29).
        return "SkylakeX";
    }
    return amd ? "Zen" : "Haswell";
}

// A function pointer from dlsym(), which ISO C cannot cast.
static void find_function(void *out, void *handle, const char *name)
{
    void *symbol = dlsym(handle, name);
    memcpy(out, &symbol, sizeof symbol);
}

static void *open_first(char *path, size_t bytes)
{
    static const char *const names[] = {LMROOF_OPENBLAS, "libopenblas.so.0", "libopenblas.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *handle = names[i][0] != '\0' ? dlopen(names[i], RTLD_NOW | RTLD_LOCAL) : NULL;
        if (handle != NULL) {
            (void)snprintf(path, bytes, "%s", names[i]);
            return handle;
        }
    }
    return NULL;
}

// A product of one element makes the library take its work buffers.
static void multiply_once(void *handle)
{
    void (*sgemm)(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, blasint, blasint,
                  blasint, float, const float *, blasint, const float *, blasint, float, float *,
                  blasint) = NULL;
    const float one = 1;
    float product = 0;
    find_function(&sgemm, handle, "cblas_sgemm");
    if (sgemm != NULL) {
        sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1, 1, &one, 1, &one, 1, 0, &product,
              1);
    }
}

static void write_own_core(int descriptor)
{
    char path[PATH_TEXT];
    char *(*get_core)(void) = NULL;
    void *handle = open_first(path, sizeof path);
    if (handle != NULL) {
        find_function(&get_core, handle, "openblas_get_corename");
        multiply_once(handle);
    }
    const char *core = get_core != NULL ? get_core() : "";
    ssize_t written = write(descriptor, core, strlen(core));
    _exit(written >= 0 ? 0 : 1);
}

// Where the address space is short OpenBLAS asks for its buffers in an endless loop: the child
// that tries it out has a bound on its processor time, and signals end it.
static void run_trial(int descriptor)
{
    enum { TRIAL_SECONDS = 5 }; // it takes some milliseconds
    const struct rlimit seconds = {TRIAL_SECONDS, TRIAL_SECONDS};
    const struct rlimit no_core = {0, 0};
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    bool bounded = setrlimit(RLIMIT_CPU, &seconds) == 0 && setrlimit(RLIMIT_CORE, &no_core) == 0;
    if (bounded) {
        write_own_core(descriptor);
    }
    _exit(1);
}

// False if a signal came before the child's end.
static bool read_answer(char *out, size_t bytes, int descriptor)
{
    size_t used = 0;
    ssize_t n = 0;
    while (used + 1 < bytes && (n = read(descriptor, out + used, bytes - 1 - used)) > 0) {
        used += (size_t)n;
    }
    out[used] = '\0';
    return n >= 0;
}

// A child loads the library and says which core it takes: loading it here would settle that.
// False if the child did not come through: nobody should load it then.
static bool learn_own_core(char *out, size_t bytes)
{
    int ends[2];
    int ended = 1;
    out[0] = '\0';
    if (pipe(ends) != 0) {
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        run_trial(ends[1]);
    }
    (void)close(ends[1]);
    if (child > 0) {
        if (!read_answer(out, bytes, ends[0])) {
            (void)kill(child, SIGKILL);
        }
        ended = waitpid(child, &ended, 0) == child ? ended : 1;
    }
    (void)close(ends[0]);
    return ended == 0;
}

static struct status bind_functions(struct blas *blas)
{
    find_function(&blas->sgemm, blas->handle, "cblas_sgemm");
    find_function(&blas->dgemm, blas->handle, "cblas_dgemm");
    find_function(&blas->set_threads, blas->handle, "openblas_set_num_threads");
    find_function(&blas->get_parallel, blas->handle, "openblas_get_parallel");
    find_function(&blas->get_core, blas->handle, "openblas_get_corename");
    find_function(&blas->get_config, blas->handle, "openblas_get_config");
    if (blas->sgemm == NULL || blas->dgemm == NULL) {
        return status_error(STATUS_UNAVAILABLE, "%s has no cblas_sgemm", blas->path);
    }
    return status_ok();
}

static struct status load(struct blas *blas, const struct blas_options *options)
{
    const char *ask = NULL;
    if (!learn_own_core(blas->own_core, sizeof blas->own_core)) {
        return status_error(STATUS_UNAVAILABLE,
                            "OpenBLAS does not come up in a trial process: too little memory or "
                            "address space (ulimit -v) for its buffers, or interrupted");
    }
    if (options->user_core_type == NULL) {
        ask = blas_core_to_ask(blas->own_core, options->isa, options->amd);
    }
    // The only way to tell OpenBLAS; it reads the variable once, while it loads.
    blas->core_was_set = ask != NULL && setenv("OPENBLAS_CORETYPE", ask, 0) == 0;
    blas->handle = open_first(blas->path, sizeof blas->path);
    if (blas->handle == NULL) {
        return status_error(STATUS_UNAVAILABLE,
                            "no OpenBLAS found (tried '%s' and libopenblas.so.0)", LMROOF_OPENBLAS);
    }
    TRY(bind_functions(blas));
    blas->core_is_poor =
        blas->get_core != NULL && blas_core_is_poor(blas->get_core(), options->isa);
    return status_ok();
}

struct status blas_open(struct blas **out, const struct blas_options *options)
{
    *out = NULL;
    struct blas *blas = calloc(1, sizeof *blas);
    if (blas == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the BLAS");
    }
    struct status status = load(blas, options);
    if (status.code != STATUS_OK) {
        blas_close(blas);
        return status;
    }
    *out = blas;
    return status;
}

void blas_close(struct blas *blas)
{
    free(blas);
}

struct blas_facts blas_facts(const struct blas *blas)
{
    return (struct blas_facts){
        .path = blas->path,
        .config = blas->get_config != NULL ? blas->get_config() : "",
        .core = blas->get_core != NULL ? blas->get_core() : "",
        .core_of_its_own = blas->own_core,
        .core_was_set = blas->core_was_set,
        .core_is_poor = blas->core_is_poor,
        .openmp = blas->get_parallel != NULL && blas->get_parallel() == 2,
    };
}

void blas_set_threads(struct blas *blas, unsigned threads)
{
    if (blas->set_threads != NULL) {
        blas->set_threads((int)threads);
    }
}

void blas_sgemm(struct blas *blas, size_t m, size_t n, size_t k, const float *a, const float *b,
                float *c)
{
    blas->sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1, a,
                (blasint)k, b, (blasint)n, 0, c, (blasint)n);
}

void blas_dgemm(struct blas *blas, size_t m, size_t n, size_t k, const double *a, const double *b,
                double *c)
{
    blas->dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)m, (blasint)n, (blasint)k, 1, a,
                (blasint)k, b, (blasint)n, 0, c, (blasint)n);
}

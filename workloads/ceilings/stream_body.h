/** The stream kernels, written once for any vector width. The including file defines
 *  VECTOR_BYTES, WIDTH (its bits, as a token), STREAM_ISA, STREAM_NAME(kernel) and the functions
 *  store_nontemporal(to, value) and drain_stores(). No include guard: one inclusion per file. */

#include "workloads/ceiling_kernel.h"

typedef double vector __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));

#define INLINE static inline __attribute__((always_inline))

enum {
    LANES = VECTOR_BYTES / 8,
    LOAD_SUMS = 8,
    STEP_VECTORS = 8, // vectors of one stream in one turn of a loop
    STEP_BYTES = STEP_VECTORS * VECTOR_BYTES,
    LINE_BYTES = 64
};

// The memory clobber makes each pass read again; the compiler knows nothing of the contents.
#define NEW_PASS() __asm__ volatile("" ::: "memory")

static void store_nontemporal(vector *to, vector value);
static void drain_stores(void);

INLINE void load_step(words *sums, const unsigned char *at, size_t prefetch_bytes)
{
    if (prefetch_bytes != 0) {
#pragma GCC unroll 8
        for (size_t i = 0; i < STEP_BYTES; i += LINE_BYTES) {
            __builtin_prefetch(at + prefetch_bytes + i, 0, 2);
        }
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < STEP_VECTORS; i++) {
        sums[i % LOAD_SUMS] ^= ((const words *)(const void *)at)[i];
    }
}

// Walks `streams` pieces of the slice side by side.
INLINE void load_body(struct stream_slice *slice, size_t streams, size_t prefetch_bytes)
{
    words sums[LOAD_SUMS] = {0};
    const unsigned char *base = (const unsigned char *)slice->to;
    size_t piece = slice->bytes / streams;
    for (size_t pass = 0; pass < slice->passes; pass++) {
        for (size_t at = 0; at < piece; at += STEP_BYTES) {
#pragma GCC unroll 4
            for (size_t s = 0; s < streams; s++) {
                load_step(sums, base + s * piece + at, prefetch_bytes);
            }
        }
        NEW_PASS();
    }
    uint64_t sink = 0;
    for (size_t i = 0; i < LOAD_SUMS; i++) {
        for (size_t lane = 0; lane < LANES; lane++) {
            sink ^= sums[i][lane];
        }
    }
    slice->sink = sink;
}

enum stream_operation { DO_STORE, DO_COPY, DO_SCALE, DO_ADD, DO_TRIAD };

INLINE vector operate(enum stream_operation operation, vector scalar, const vector *from,
                      const vector *plus, size_t i)
{
    switch (operation) {
    case DO_STORE:
        return scalar;
    case DO_COPY:
        return from[i];
    case DO_SCALE:
        return scalar * from[i];
    case DO_ADD:
        return from[i] + plus[i];
    case DO_TRIAD:
        break;
    }
    return from[i] + scalar * plus[i];
}

INLINE void write_body(struct stream_slice *slice, enum stream_operation operation,
                       bool nontemporal)
{
    vector *to = (vector *)(void *)slice->to;
    const vector *from = (const vector *)(const void *)slice->from;
    const vector *plus = (const vector *)(const void *)slice->plus;
    vector scalar = slice->scalar - (vector){0};
    size_t count = slice->bytes / VECTOR_BYTES;
    for (size_t pass = 0; pass < slice->passes; pass++) {
        for (size_t at = 0; at < count; at += STEP_VECTORS) {
#pragma GCC unroll 8
            for (size_t i = at; i < at + STEP_VECTORS; i++) {
                vector value = operate(operation, scalar, from, plus, i);
                if (nontemporal) {
                    store_nontemporal(&to[i], value);
                } else {
                    to[i] = value;
                }
            }
        }
        NEW_PASS();
    }
    if (nontemporal) {
        drain_stores(); // the last lines are in memory before the clock is read
    }
}

#define DEFINE_LOAD(s, pf)                                   \
    static void load_##s##s_##pf(struct stream_slice *slice) \
    {                                                        \
        load_body(slice, s, pf);                             \
    }
#define DEFINE_WRITE(name, operation, nontemporal)     \
    static void run_##name(struct stream_slice *slice) \
    {                                                  \
        write_body(slice, operation, nontemporal);     \
    }

DEFINE_LOAD(1, 0)
DEFINE_LOAD(2, 0)
DEFINE_LOAD(4, 0)
DEFINE_LOAD(1, 1024)
DEFINE_LOAD(2, 1024)
DEFINE_LOAD(4, 1024)
DEFINE_LOAD(1, 2048)
DEFINE_LOAD(2, 2048)
DEFINE_LOAD(4, 2048)
DEFINE_LOAD(1, 6144)
DEFINE_LOAD(2, 6144)
DEFINE_LOAD(4, 6144)
DEFINE_WRITE(store, DO_STORE, false)
DEFINE_WRITE(store_nt, DO_STORE, true)
DEFINE_WRITE(copy, DO_COPY, false)
DEFINE_WRITE(copy_nt, DO_COPY, true)
DEFINE_WRITE(scale, DO_SCALE, false)
DEFINE_WRITE(add, DO_ADD, false)
DEFINE_WRITE(triad, DO_TRIAD, false)
DEFINE_WRITE(triad_nt, DO_TRIAD, true)

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define LOAD_ROW(s, pf)                                                                            \
    {                                                                                              \
        .kernel = "load", .variant = #s "s-pf" #pf "-" TEXT(WIDTH), .isa = STREAM_ISA, .loads = 1, \
        .streams = s, .prefetch_bytes = pf, .width_bits = WIDTH, .run = load_##s##s_##pf           \
    }
#define WRITE_ROW(name, loads_, flop_, nontemporal_)                                           \
    {                                                                                          \
        .kernel = #name, .variant = "1s-pf0-" TEXT(WIDTH), .isa = STREAM_ISA, .loads = loads_, \
        .stores = 1, .flop = flop_, .streams = 1, .width_bits = WIDTH,                         \
        .nontemporal = nontemporal_, .run = run_##name                                         \
    }

static const struct stream_kernel stream_rows[] = {
    LOAD_ROW(1, 0),
    LOAD_ROW(2, 0),
    LOAD_ROW(4, 0),
    LOAD_ROW(1, 1024),
    LOAD_ROW(2, 1024),
    LOAD_ROW(4, 1024),
    LOAD_ROW(1, 2048),
    LOAD_ROW(2, 2048),
    LOAD_ROW(4, 2048),
    LOAD_ROW(1, 6144),
    LOAD_ROW(2, 6144),
    LOAD_ROW(4, 6144),
    WRITE_ROW(store, 0, 0, false),
    WRITE_ROW(store_nt, 0, 0, true),
    WRITE_ROW(copy, 1, 0, false),
    WRITE_ROW(copy_nt, 1, 0, true),
    WRITE_ROW(scale, 1, 1, false),
    WRITE_ROW(add, 2, 1, false),
    WRITE_ROW(triad, 2, 2, false),
    WRITE_ROW(triad_nt, 2, 2, true),
};

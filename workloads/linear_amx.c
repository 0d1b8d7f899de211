// Products by the tiles of AMX: sixteen stored lines are the right operand as they are, one row of
// it a line; sixteen columns of activations, each contiguous along k, the left one. Everything that
// is not a product is written over the vector layer of AVX-512.
#define SIMD_ROLLED // the columns are no literal here
#define BLOCKS_PART_ELSEWHERE
#define LINEAR_TOUCH v_line_load
#define LINEAR_SIMD "workloads/simd/simd_avx512.h"
#include "workloads/linear_kernel.h"
#include "workloads/simd/amx.h"
#include LINEAR_SIMD
#include "workloads/simd/blocks.h"
#include "workloads/simd/touch.h"

enum { AMX_ROWS = 16, AMX_ROW_BYTES = 64, AMX_TALL = 2, AMX_LEAST_BATCH = 2 };

// Tiles 0 to 3 hold sums, 4 and 5 activations, 6 and 7 weights.
static void configure(unsigned columns, unsigned lines)
{
    _Alignas(64) struct amx_config config = {.palette = 1};
    for (unsigned tile = 0; tile < 8; tile++) {
        config.rows[tile] = (uint8_t)(tile < 6 ? columns : lines);
        config.row_bytes[tile] =
            (uint16_t)(tile < 4 || tile >= 6 ? AMX_ROW_BYTES : lines * sizeof(uint32_t));
    }
    AMX_CONFIGURE(&config);
}

static void begin_bf16(unsigned columns)
{
    configure(columns, AMX_ROWS);
}

static void begin_blocks(unsigned columns)
{
    configure(columns, BLOCKS_STEPS);
}

static void release(void)
{
    AMX_RELEASE();
}

static void prefetch_lines(const unsigned char *at, size_t lines)
{
    for (size_t i = 0; i < lines; i++) {
        simd_prefetch(at + i * LINE_BYTES);
    }
}

/** A tile of bf16: fields as in linear_tile_fn. */
struct amx_product {
    float *out;
    const unsigned char *weights;
    size_t group_step;
    const unsigned char *x;
    size_t prefetch_bytes;
    unsigned columns;
    unsigned tall;
};

#define ADD_LINES(p, first, second, x_tile)                          \
    {                                                                \
        AMX_LOAD(x_tile, (p)->x, AMX_ROW_BYTES);                     \
        AMX_LOAD(6, (p)->weights, LINE_BYTES);                       \
        AMX_DOT_BF16(first, x_tile, 6);                              \
        if ((p)->tall == AMX_TALL) {                                 \
            AMX_LOAD(7, (p)->weights + (p)->group_step, LINE_BYTES); \
            AMX_DOT_BF16(second, x_tile, 7);                         \
        }                                                            \
    }

// Sixteen lines on.
static void move_on(struct amx_product *p)
{
    if (p->prefetch_bytes > 0) {
        for (unsigned j = 0; j < p->tall; j++) {
            prefetch_lines(p->weights + j * p->group_step + p->prefetch_bytes, AMX_ROWS);
        }
    }
    p->weights += AMX_ROWS * LINE_BYTES;
    p->x += (size_t)p->columns * AMX_ROW_BYTES;
}

// The last lines, fewer than sixteen, from copies that zeros complete.
static void add_rest(const struct amx_product *p, size_t lines)
{
    _Alignas(64) unsigned char x[AMX_ROWS * AMX_ROW_BYTES] = {0};
    _Alignas(64) unsigned char weights[AMX_TALL * AMX_ROWS * LINE_BYTES] = {0};
    struct amx_product rest = *p;
    for (unsigned b = 0; b < p->columns; b++) {
        memcpy(x + (size_t)b * AMX_ROW_BYTES, p->x + b * lines * sizeof(uint32_t),
               lines * sizeof(uint32_t));
    }
    for (unsigned j = 0; j < p->tall; j++) {
        memcpy(weights + (size_t)j * AMX_ROWS * LINE_BYTES, p->weights + j * p->group_step,
               lines * LINE_BYTES);
    }
    rest.x = x;
    rest.weights = weights;
    rest.group_step = AMX_ROWS * LINE_BYTES;
    ADD_LINES(&rest, 0, 1, 4)
}

static void add_sums(float *out, const float *sums, unsigned columns)
{
    for (unsigned b = 0; b < columns; b++) {
        float *to = out + (size_t)b * LINE_ROWS;
        v16_store(to, v16_add(v16_load(to), v16_load(sums + (size_t)b * LINE_ROWS)));
    }
}

static void store_sums(const struct amx_product *p)
{
    _Alignas(64) float sums[AMX_ROWS * LINE_ROWS];
    float *second = p->out + (size_t)p->columns * LINE_ROWS;
    AMX_STORE(0, sums, AMX_ROW_BYTES);
    add_sums(p->out, sums, p->columns);
    AMX_STORE(2, sums, AMX_ROW_BYTES);
    add_sums(p->out, sums, p->columns);
    if (p->tall == AMX_TALL) {
        AMX_STORE(1, sums, AMX_ROW_BYTES);
        add_sums(second, sums, p->columns);
        AMX_STORE(3, sums, AMX_ROW_BYTES);
        add_sums(second, sums, p->columns);
    }
}

// Even and odd runs of sixteen lines have sums of their own, so that four products are under way.
static void multiply_bf16(struct amx_product p, size_t lines)
{
    AMX_ZERO(0);
    AMX_ZERO(1);
    AMX_ZERO(2);
    AMX_ZERO(3);
    for (; lines >= 2 * AMX_ROWS; lines -= 2 * AMX_ROWS) {
        ADD_LINES(&p, 0, 1, 4)
        move_on(&p);
        ADD_LINES(&p, 2, 3, 5)
        move_on(&p);
    }
    if (lines >= AMX_ROWS) {
        ADD_LINES(&p, 2, 3, 5)
        move_on(&p);
        lines -= AMX_ROWS;
    }
    if (lines > 0) {
        add_rest(&p, lines);
    }
    store_sums(&p);
}

// The integers of a block as the rows of a tile: as they are stored if they are bytes, otherwise
// taken apart into `room`.
static const unsigned char *block_rows(unsigned char *room, const unsigned char *lines,
                                       size_t prefetch_bytes, const struct blocks_form f)
{
    v_line high = v_line_zero();
    if (blocks_bits(f.format) == 8) {
        prefetch_lines(lines + prefetch_bytes, BLOCKS_STEPS);
        return lines;
    }
    if (blocks_high_bits(f.format) > 0) {
        high = blocks_load(lines, prefetch_bytes, f);
        lines += LINE_BYTES;
    }
    for (int step = 0; step < BLOCKS_STEPS; step += 2) {
        const v_line line = blocks_load(lines, prefetch_bytes, f);
        v_line_store(room + step * LINE_BYTES, blocks_integers(line, high, step, f));
        v_line_store(room + (step + 1) * LINE_BYTES, blocks_integers(line, high, step + 1, f));
        lines += LINE_BYTES;
    }
    return room;
}

SIMD_INLINE size_t block_lines(const enum line_format format)
{
    return blocks_bits(format) == 8 ? BLOCKS_STEPS
                                    : BLOCKS_STEPS / 2 + (blocks_high_bits(format) > 0);
}

SIMD_INLINE const unsigned char *blocks_part(v16 *acc, const unsigned char *lines, v16 scales,
                                             const uint32_t *x, const float *x_scales,
                                             const int32_t *start, const int steps,
                                             size_t prefetch_bytes, const struct blocks_form f)
{
    _Alignas(64) unsigned char room[BLOCKS_STEPS * LINE_BYTES];
    _Alignas(64) int32_t sums[AMX_ROWS * LINE_ROWS];
    (void)steps; // all of a block: formats of half blocks have no kernel here
    AMX_ZERO(0);
    AMX_LOAD(4, x, BLOCKS_STEPS * sizeof *x);
    AMX_LOAD(6, block_rows(room, lines, prefetch_bytes, f), LINE_BYTES);
    AMX_DOT_S8_U8(0, 4, 6);
    AMX_STORE(0, sums, AMX_ROW_BYTES);
    for (int b = 0; b < f.columns; b++) {
        const __m512i products = _mm512_load_si512(sums + (size_t)b * LINE_ROWS);
        const __m512i sum = _mm512_add_epi32(products, _mm512_set1_epi32(start[b]));
        acc[b] = v16_fma(acc[b], _mm512_cvtepi32_ps(sum), v16_mul(scales, v16_set1(x_scales[b])));
    }
    return lines + block_lines(f.format) * LINE_BYTES;
}

#define BF16(name, tall, prefetching)                                                           \
    static void name(float *acc, const unsigned char *weights, size_t group_step, size_t lines, \
                     const void *x, size_t prefetch_bytes, unsigned columns)                    \
    {                                                                                           \
        multiply_bf16((struct amx_product){acc, weights, group_step, x,                         \
                                           (prefetching) ? prefetch_bytes : 0, columns, tall},  \
                      lines);                                                                   \
    }
#define BLOCKS(name, format)                                                                    \
    static void name(float *acc, const unsigned char *weights, size_t group_step, size_t units, \
                     const void *x, size_t prefetch_bytes, unsigned columns)                    \
    {                                                                                           \
        (void)group_step;                                                                       \
        blocks_tile(acc, weights, units, x, prefetch_bytes,                                     \
                    (struct blocks_form){format, (int)columns, 1});                             \
    }

BF16(plain_1, 1, 0)
BF16(plain_2, 2, 0)
BF16(ahead_1, 1, 1)
BF16(ahead_2, 2, 1)
BLOCKS(q8_0, LINE_Q8_0)
BLOCKS(q4_0, LINE_Q4_0)
BLOCKS(q4_1, LINE_Q4_1)
BLOCKS(q5_0, LINE_Q5_0)
BLOCKS(q5_1, LINE_Q5_1)
BLOCKS(q4_k, LINE_Q4_K)
BLOCKS(q5_k, LINE_Q5_K)
BLOCKS(int8, LINE_INT8)
BLOCKS(int4, LINE_INT4_G128)
BLOCKS(mxfp4, LINE_MXFP4)

// The tables hold a function for each number of columns.
#define TILE(name, columns)                                                                   \
    static void name##_##columns(float *acc, const unsigned char *weights, size_t group_step, \
                                 size_t units, const void *x, size_t prefetch_bytes)          \
    {                                                                                         \
        name(acc, weights, group_step, units, x, prefetch_bytes, columns);                    \
    }
#define TILES(name) \
    TILE(name, 1)   \
    TILE(name, 2)   \
    TILE(name, 3)   \
    TILE(name, 4)   \
    TILE(name, 5)   \
    TILE(name, 6)   \
    TILE(name, 7)   \
    TILE(name, 8)   \
    TILE(name, 9)   \
    TILE(name, 10)  \
    TILE(name, 11) TILE(name, 12) TILE(name, 13) TILE(name, 14) TILE(name, 15) TILE(name, 16)
#define LIST(name)                                                                                \
    {                                                                                             \
        name##_1, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7, name##_8, name##_9, \
            name##_10, name##_11, name##_12, name##_13, name##_14, name##_15, name##_16           \
    }

TILES(plain_1)
TILES(plain_2)
TILES(ahead_1)
TILES(ahead_2)
TILES(q8_0)
TILES(q4_0)
TILES(q4_1)
TILES(q5_0)
TILES(q5_1)
TILES(q4_k)
TILES(q5_k)
TILES(int8)
TILES(int4)
TILES(mxfp4)

static void touch_1(unsigned char *sink, const unsigned char *weights, size_t group_step,
                    size_t lines, size_t prefetch_bytes)
{
    touch(sink, weights, group_step, lines, prefetch_bytes, 1);
}

static void touch_2(unsigned char *sink, const unsigned char *weights, size_t group_step,
                    size_t lines, size_t prefetch_bytes)
{
    touch(sink, weights, group_step, lines, prefetch_bytes, 2);
}

enum { NEEDS_ALL = ISA_AVX512 | ISA_AVX512_VNNI | ISA_AMX_TILE };

#define COMMON(text)                                                                 \
    .class_ = LINEAR_DOT, .isa_name = "amx", .class_name = (text), .tile = AMX_ROWS, \
    .least_batch = AMX_LEAST_BATCH, .touch = {touch_1, touch_2}, .end = release
#define ROW(name, format_)                                                                         \
    {                                                                                              \
        .format = (format_), .needs = NEEDS_ALL | ISA_AMX_INT8, .tall = 1, .x_run = BLOCKS_STEPS,  \
        .tiles = {{LIST(name)}, {LIST(name)}}, .begin = begin_blocks, .quantise = blocks_quantise, \
        COMMON("amx_int8/tdpbsud/i32")                                                             \
    }

const struct linear_kernel linear_kernels_amx[] = {
    {.format = LINE_BF16,
     .needs = NEEDS_ALL | ISA_AMX_BF16,
     .tall = AMX_TALL,
     .x_run = AMX_ROWS,
     .tiles = {{LIST(plain_1), LIST(plain_2)}, {LIST(ahead_1), LIST(ahead_2)}},
     .begin = begin_bf16,
     COMMON("amx_bf16/tdpbf16ps/f32")},
    ROW(q8_0, LINE_Q8_0),
    ROW(q4_0, LINE_Q4_0),
    ROW(q4_1, LINE_Q4_1),
    ROW(q5_0, LINE_Q5_0),
    ROW(q5_1, LINE_Q5_1),
    ROW(q4_k, LINE_Q4_K),
    ROW(q5_k, LINE_Q5_K),
    ROW(int8, LINE_INT8),
    ROW(int4, LINE_INT4_G128),
    ROW(mxfp4, LINE_MXFP4),
    {.isa_name = NULL}};

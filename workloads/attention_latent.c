#include "workloads/attention_plan.h"

#include <string.h>

// Turning the keys of a latent page, [k][16 tokens], into values, [token][16 values], in squares
// of 8 x 8 elements of 16 bits: three rounds of interleaving. Vectors of 16 bytes are what every
// CPU of the supported architectures has.
enum { SQUARE = 8 };

typedef uint16_t row8 __attribute__((vector_size(16)));

static row8 low(row8 a, row8 b)
{
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

static row8 high(row8 a, row8 b)
{
    return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

static void transpose(row8 *rows)
{
    for (int round = 0; round < 3; round++) {
        row8 next[SQUARE];
        for (int i = 0; i < SQUARE / 2; i++) {
            next[2 * i] = low(rows[i], rows[i + SQUARE / 2]);
            next[2 * i + 1] = high(rows[i], rows[i + SQUARE / 2]);
        }
        memcpy(rows, next, sizeof next);
    }
}

// f16: a line is [2 k][16 tokens], and of values [2 tokens][16 values].
static void turn_f16(unsigned char *out, const unsigned char *in, unsigned token, unsigned value)
{
    row8 rows[SQUARE];
    for (unsigned i = 0; i < SQUARE; i++) {
        memcpy(&rows[i], in + ((value + i) * LINE_ROWS + token) * 2, sizeof rows[i]);
    }
    transpose(rows);
    for (unsigned i = 0; i < SQUARE; i++) {
        memcpy(out + ((token + i) * LINE_ROWS + value) * 2, &rows[i], sizeof rows[i]);
    }
}

// bf16: a line is [16 tokens][2 k], and of values [16 values][2 tokens].
static void turn_bf16(unsigned char *out, const unsigned char *in, unsigned token, unsigned value)
{
    row8 rows[SQUARE];
    for (unsigned i = 0; i < SQUARE; i += 2) {
        row8 pair[2];
        memcpy(pair, in + ((value + i) * LINE_ROWS + token * 2) * 2, sizeof pair);
        rows[i] = __builtin_shufflevector(pair[0], pair[1], 0, 2, 4, 6, 8, 10, 12, 14);
        rows[i + 1] = __builtin_shufflevector(pair[0], pair[1], 1, 3, 5, 7, 9, 11, 13, 15);
    }
    transpose(rows);
    for (unsigned i = 0; i < SQUARE; i += 2) {
        row8 pair[2] = {low(rows[i], rows[i + 1]), high(rows[i], rows[i + 1])};
        memcpy(out + ((token + i) * LINE_ROWS + value * 2) * 2, pair, sizeof pair);
    }
}

static void turn_f32(unsigned char *out, const unsigned char *in, unsigned token, unsigned value)
{
    for (unsigned i = 0; i < SQUARE; i++) {
        for (unsigned j = 0; j < SQUARE; j++) {
            memcpy(out + ((token + i) * LINE_ROWS + value + j) * 4,
                   in + ((value + j) * LINE_ROWS + token + i) * 4, 4);
        }
    }
}

// 16 tokens by 16 values.
static void turn_group(enum line_format format, unsigned char *out, const unsigned char *in)
{
    for (unsigned token = 0; token < LINE_ROWS; token += SQUARE) {
        for (unsigned value = 0; value < LINE_ROWS; value += SQUARE) {
            if (format == LINE_F16) {
                turn_f16(out, in, token, value);
            } else if (format == LINE_BF16) {
                turn_bf16(out, in, token, value);
            } else {
                turn_f32(out, in, token, value);
            }
        }
    }
}

// A last group's values beyond the keys are 0; those beyond v_dim are never read.
void attention_turn_page(const struct attention *a, unsigned char *out, const unsigned char *page)
{
    enum { GROUPS = ATTENTION_PAGE / LINE_ROWS, GROUP_MAX = LINE_ROWS * LINE_ROWS * 4 };
    size_t bytes = (size_t)LINE_ROWS * LINE_ROWS * (a->params.format == LINE_F32 ? 4 : 2);
    for (size_t group = 0; group < a->v_groups; group++) {
        size_t stored = a->k_lines * LINE_BYTES - group * bytes;
        for (size_t tokens = 0; tokens < GROUPS; tokens++) {
            const unsigned char *in = page + tokens * a->k_lines * LINE_BYTES + group * bytes;
            unsigned char padded[GROUP_MAX] = {0};
            if (stored < bytes) {
                memcpy(padded, in, stored);
                in = padded;
            }
            turn_group(a->params.format, out + (group * GROUPS + tokens) * bytes, in);
        }
    }
}

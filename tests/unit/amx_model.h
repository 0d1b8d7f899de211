#ifndef TESTS_UNIT_AMX_MODEL_H
#define TESTS_UNIT_AMX_MODEL_H

/** The tile instructions of AMX in C, after the pseudocode of Intel SDM vol. 2 (LDTILECFG,
 * TILELOADD, TILESTORED, TDPBF16PS, TDPBSUD), for workloads/simd/amx.h. What the CPU would fault on
 * ends the program. */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { AMX_MODEL_TILES = 8, AMX_MODEL_ROWS = 16, AMX_MODEL_BYTES = 64 };

struct amx_model {
    struct amx_config config;
    unsigned char tiles[AMX_MODEL_TILES][AMX_MODEL_ROWS][AMX_MODEL_BYTES];
    bool wrong; /**< products are off by one part: a CPU with a fault */
};

/** Of the calling thread. */
struct amx_model *amx_model(void);

static inline void amx_model_configure(const struct amx_config *config)
{
    assert(config->palette == 1 && config->start_row == 0 && (uintptr_t)config % 64 == 0);
    for (int t = 0; t < AMX_MODEL_TILES; t++) {
        assert(config->rows[t] >= 1 && config->rows[t] <= AMX_MODEL_ROWS);
        assert(config->row_bytes[t] >= 4 && config->row_bytes[t] <= AMX_MODEL_BYTES);
        assert(config->row_bytes[t] % 4 == 0);
    }
    amx_model()->config = *config;
    memset(amx_model()->tiles, 0, sizeof amx_model()->tiles);
}

static inline void amx_model_release(void)
{
    assert(amx_model()->config.palette == 1);
    amx_model()->config.palette = 0;
}

static inline void amx_model_zero(int tile)
{
    assert(amx_model()->config.palette == 1);
    memset(amx_model()->tiles[tile], 0, sizeof amx_model()->tiles[tile]);
}

static inline void amx_model_load(int tile, const void *from, size_t row_step)
{
    const struct amx_config *config = &amx_model()->config;
    amx_model_zero(tile);
    for (int row = 0; row < config->rows[tile]; row++) {
        memcpy(amx_model()->tiles[tile][row], (const unsigned char *)from + (size_t)row * row_step,
               config->row_bytes[tile]);
    }
}

static inline void amx_model_store(int tile, void *to, size_t row_step)
{
    const struct amx_config *config = &amx_model()->config;
    assert(config->palette == 1);
    for (int row = 0; row < config->rows[tile]; row++) {
        memcpy((unsigned char *)to + (size_t)row * row_step, amx_model()->tiles[tile][row],
               config->row_bytes[tile]);
    }
}

static inline void amx_model_match(int sum, int x, int w)
{
    const struct amx_config *config = &amx_model()->config;
    assert(config->palette == 1 && sum != x && sum != w && x != w);
    assert(config->rows[sum] == config->rows[x] && config->row_bytes[sum] == config->row_bytes[w]);
    assert(config->row_bytes[x] == 4 * config->rows[w]);
}

static inline float amx_model_bf16(const unsigned char *at)
{
    float value;
    const unsigned char bytes[] = {0, 0, at[0], at[1]};
    memcpy(&value, bytes, sizeof value);
    return value;
}

// Each product is added to what even and odd k have, those to the tile.
static inline void amx_model_dot_bf16(int sum, int x, int w)
{
    struct amx_model *a = amx_model();
    amx_model_match(sum, x, w);
    for (int m = 0; m < a->config.rows[sum]; m++) {
        for (int n = 0; n < a->config.row_bytes[sum] / 4; n++) {
            float parts[2] = {0, 0};
            for (int k = 0; k < a->config.rows[w]; k++) {
                for (int i = 0; i < 2; i++) {
                    parts[i] += amx_model_bf16(&a->tiles[x][m][4 * k + 2 * i]) *
                                amx_model_bf16(&a->tiles[w][k][4 * n + 2 * i]);
                }
            }
            float total;
            memcpy(&total, &a->tiles[sum][m][4 * n], sizeof total);
            total += parts[0] + (a->wrong ? 0 : parts[1]);
            memcpy(&a->tiles[sum][m][4 * n], &total, sizeof total);
        }
    }
}

static inline void amx_model_dot_s8_u8(int sum, int x, int w)
{
    struct amx_model *a = amx_model();
    amx_model_match(sum, x, w);
    for (int m = 0; m < a->config.rows[sum]; m++) {
        for (int n = 0; n < a->config.row_bytes[sum] / 4; n++) {
            int32_t total;
            memcpy(&total, &a->tiles[sum][m][4 * n], sizeof total);
            for (int k = 0; k < 4 * a->config.rows[w]; k++) {
                total += (signed char)a->tiles[x][m][k] * a->tiles[w][k / 4][4 * n + k % 4];
            }
            total -= a->wrong ? 1 << 12 : 0;
            memcpy(&a->tiles[sum][m][4 * n], &total, sizeof total);
        }
    }
}

#define AMX_CONFIGURE(config) amx_model_configure(config)
#define AMX_RELEASE() amx_model_release()
#define AMX_ZERO(tile) amx_model_zero(tile)
#define AMX_LOAD(tile, from, row_step) amx_model_load(tile, from, row_step)
#define AMX_STORE(tile, to, row_step) amx_model_store(tile, to, row_step)
#define AMX_DOT_BF16(sum, x, w) amx_model_dot_bf16(sum, x, w)
#define AMX_DOT_S8_U8(sum, x, w) amx_model_dot_s8_u8(sum, x, w)

#endif

#include "tests/gguf/writer.h"

#include <stdio.h>
#include <string.h>

static void put(struct writer *out, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        size_t place = out->big_endian ? width - 1 - i : i;
        out->bytes[out->size++] = (unsigned char)(value >> (8 * place));
    }
}

static void put_string(struct writer *out, const char *text)
{
    size_t length = strlen(text);
    put(out, length, 8);
    memcpy(out->bytes + out->size, text, length);
    out->size += length;
}

void put_text(struct writer *out, const char *key, const char *value)
{
    put_string(out, key);
    put(out, GGUF_STRING, 4);
    put_string(out, value);
}

void put_int(struct writer *out, const char *key, enum gguf_value_type type, uint64_t value)
{
    static const size_t widths[GGUF_VALUE_TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    put_string(out, key);
    put(out, type, 4);
    put(out, value, widths[type]);
}

static void put_u32(struct writer *out, const char *key, uint64_t value)
{
    put_int(out, key, GGUF_UINT32, value);
}

void put_tensor(struct writer *out, const char *name, uint64_t k, uint64_t n, enum dtype_id type)
{
    const struct dtype *dtype = dtype_get(type);
    put_string(out, name);
    put(out, n > 0 ? 2 : 1, 4);
    put(out, k, 8);
    if (n > 0) {
        put(out, n, 8);
    }
    put(out, (uint64_t)dtype->ggml_type, 4);
    put(out, out->data_end, 8);
    uint64_t bytes = k / dtype->block_elements * dtype->block_bytes * (n > 0 ? n : 1);
    out->data_end += (bytes + 31) / 32 * 32;
}

void put_header(struct writer *out, unsigned version, uint64_t tensors, uint64_t values)
{
    memcpy(out->bytes, "GGUF", 4);
    out->size = 4;
    put(out, version, 4);
    put(out, tensors, 8);
    put(out, values, 8);
}

void put_values(struct writer *out)
{
    put_text(out, "general.name", "by hand");
    put_u32(out, "llama.block_count", 2);
    put_u32(out, "llama.embedding_length", 64);
    put_u32(out, "llama.feed_forward_length", 96);
    put_u32(out, "llama.attention.head_count", 4);
    put_u32(out, "llama.attention.head_count_kv", 2);
    put_u32(out, "llama.context_length", 512);
    put_text(out, "general.architecture", "llama"); // after the keys that need it
}

void put_layer(struct writer *out, int layer, enum dtype_id v, enum dtype_id down)
{
    const struct {
        const char *name;
        uint64_t k;
        uint64_t n;
        enum dtype_id type;
    } rows[] = {
        {"attn_norm", 64, 0, DTYPE_F32},     {"attn_q", 64, 64, DTYPE_Q4_0},
        {"attn_k", 64, 32, DTYPE_Q4_0},      {"attn_v", 64, 32, v},
        {"attn_output", 64, 64, DTYPE_Q4_0}, {"ffn_norm", 64, 0, DTYPE_F32},
        {"ffn_gate", 64, 96, DTYPE_Q4_0},    {"ffn_up", 64, 96, DTYPE_Q4_0},
        {"ffn_down", 96, 64, down},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "blk.%d.%s.weight", layer, rows[i].name);
        put_tensor(out, name, rows[i].k, rows[i].n, rows[i].type);
    }
}

void put_tensors(struct writer *out)
{
    put_tensor(out, "token_embd.weight", 64, 40, DTYPE_Q8_0);
    put_layer(out, 0, DTYPE_Q8_0, DTYPE_Q5_0);
    put_layer(out, 1, DTYPE_F16, DTYPE_Q8_0);
    put_tensor(out, "rope_freqs.weight", 8, 0, DTYPE_F32);
    put_tensor(out, "output_norm.weight", 64, 0, DTYPE_F32);
    put_tensor(out, "output.weight", 64, 40, DTYPE_F16);
}

void write_small(struct writer *out, unsigned version, bool big_endian)
{
    memset(out, 0, sizeof *out);
    out->big_endian = big_endian;
    put_header(out, version, TENSORS, VALUES);
    put_values(out);
    put_tensors(out);
}

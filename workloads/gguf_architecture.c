#include "workloads/gguf_shape.h"

#include <string.h>

// Decoder-only transformers whose layers are attention and an MLP or experts. Which layers have a
// window, and what has no rotary embedding: ggml-org/llama.cpp src/llama-model.cpp and
// src/models/*.cpp (hparams of each architecture) at 00395eb2; where llama.cpp ignores a window
// that the model was trained with (phi3), the model's own definition in transformers holds.
static const struct gguf_architecture architectures[] = {
    {.name = "llama"},
    {.name = "llama4", .window_period = 4, .window = 8192, .chunked = true, .rope_period = 4},
    {.name = "deci", .linear_layers = true},
    {.name = "falcon"},
    {.name = "grok"},
    {.name = "gpt2", .no_rope = true},
    {.name = "gptj"},
    {.name = "gptneox"},
    {.name = "mpt", .no_rope = true},
    {.name = "baichuan"},
    {.name = "starcoder", .no_rope = true},
    {.name = "refact", .no_rope = true},
    {.name = "bloom", .no_rope = true},
    {.name = "stablelm"},
    {.name = "qwen", .ff_divisor = 2},
    {.name = "qwen2"},
    {.name = "qwen2moe"},
    {.name = "qwen2vl"},
    {.name = "qwen3"},
    {.name = "qwen3moe"},
    {.name = "qwen3vl"},
    {.name = "qwen3vlmoe"},
    {.name = "phi2"},
    {.name = "phi3"},
    {.name = "phimoe"},
    {.name = "codeshell"},
    {.name = "orion"},
    {.name = "internlm2"},
    {.name = "minicpm"},
    {.name = "minicpm3"},
    {.name = "gemma"},
    {.name = "gemma2", .window_period = 2, .window = 4096},
    {.name = "gemma3", .window_period = 6},
    {.name = "starcoder2"},
    {.name = "xverse"},
    {.name = "command-r"},
    {.name = "cohere2", .window_period = 4, .rope_period = 4},
    {.name = "dbrx"},
    {.name = "olmo", .norms_without_weights = true},
    {.name = "olmo2", .window_period = 4},
    {.name = "olmoe"},
    {.name = "openelm"},
    {.name = "deepseek"},
    {.name = "deepseek2"},
    {.name = "chatglm"},
    {.name = "glm4"},
    {.name = "glm4moe"},
    {.name = "bitnet"},
    {.name = "jais", .no_rope = true},
    {.name = "nemotron"},
    {.name = "exaone"},
    {.name = "exaone4", .window_period = 4},
    {.name = "granite"},
    {.name = "granitemoe"},
    {.name = "plm"},
    {.name = "bailingmoe"},
    {.name = "bailingmoe2"},
    {.name = "dots1"},
    {.name = "arcee"},
    {.name = "ernie4_5"},
    {.name = "ernie4_5-moe"},
    {.name = "hunyuan-moe"},
    {.name = "hunyuan-dense"},
    {.name = "smollm3", .rope_period = 4},
    {.name = "gpt-oss", .window_period = 2},
    {.name = "smallthinker", .window_period = 4, .window_global_first = true},
    {.name = "seed_oss"},
    {.name = "apertus"},
    {.name = "minimax-m2"},
    {.name = "mistral3"},
    {.name = "pangu-embedded"},
};

const struct gguf_architecture *gguf_architecture_find(const char *name)
{
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        if (strcmp(architectures[i].name, name) == 0) {
            return &architectures[i];
        }
    }
    return NULL;
}

#include "workloads/gguf.h"
#include "workloads/gguf_layer.h"
#include "workloads/gguf_split.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The tensors of one layer are neighbours, because tensors are sorted by name.
struct span {
    size_t first;
    size_t count;
};

// Which parts a kind of layer has. Layers differ in kind, not within one.
struct presence {
    uint32_t layer; // the first of its kind
    bool seen;
    uint64_t weights;
    uint64_t biases;
};

enum { KINDS = 8 };
_Static_assert(GGUF_PARTS <= 64, "a part is a bit of struct presence");

struct reader {
    struct model *model;
    struct gguf gguf;
    struct gguf_shape shape;
    struct gguf_layer layer;
    struct model_block block;
    struct span spans[MODEL_LAYERS_MAX];
    struct presence kinds[KINDS];
};

static struct status set_matrix(struct model_matrix *out, const struct gguf_tensor *tensor,
                                enum model_role role, uint64_t d)
{
    TRY(gguf_check_dims(tensor, d, tensor->dims[1], 1));
    out->role = role;
    out->count = 1;
    out->n = tensor->dims[1];
    out->k = d;
    out->dtype = tensor->dtype;
    out->stored_bytes = tensor->bytes;
    return status_ok();
}

static struct status set_head(struct model *model, const struct gguf_tensor *tensor)
{
    TRY(set_matrix(&model->head, tensor, MODEL_HEAD, model->d));
    if (model->head.n != model->vocab) {
        return status_error(STATUS_INVALID,
                            "tensor 'output.weight': found %" PRIu64 " rows, accepted the %" PRIu64
                            " of 'token_embd.weight'",
                            model->head.n, model->vocab);
    }
    model->tied = false;
    return status_ok();
}

static struct status set_head_bias(struct model *model, const struct gguf_tensor *tensor)
{
    TRY(gguf_check_dims(tensor, model->vocab, 1, 1));
    model->head.bias = tensor->elements;
    model->head.bias_bytes = tensor->bytes;
    return status_ok();
}

static struct status add_final_norm(struct model *model, const struct gguf_tensor *tensor,
                                    bool values)
{
    TRY(gguf_check_dims(tensor, model->d, 1, 1));
    model->final_norms.elements += tensor->elements;
    model->final_norms.stored_bytes += tensor->bytes;
    model->final_norm_values += values ? model->d : 0;
    return status_ok();
}

// Tensors outside the layers, other than token_embd.weight.
static struct status read_outer(struct reader *reader, const struct gguf_tensor *tensor)
{
    struct model *model = reader->model;
    const char *name = tensor->name;
    if (strcmp(name, "token_embd.weight") == 0) {
        return status_ok();
    }
    if (strcmp(name, "output.weight") == 0) {
        return set_head(model, tensor);
    }
    if (strcmp(name, "output.bias") == 0) {
        return set_head_bias(model, tensor);
    }
    if (strcmp(name, "position_embd.weight") == 0) {
        return set_matrix(&model->positions, tensor, MODEL_POSITIONS, model->d);
    }
    if (strcmp(name, "output_norm.weight") == 0 || strcmp(name, "token_embd_norm.weight") == 0) {
        return add_final_norm(model, tensor, true);
    }
    if (strcmp(name, "output_norm.bias") == 0 || strcmp(name, "token_embd_norm.bias") == 0) {
        return add_final_norm(model, tensor, false);
    }
    if (gguf_name_is_table(name)) {
        model->lookup_bytes += tensor->bytes;
        return status_ok();
    }
    return status_error(STATUS_INVALID,
                        "tensor '%s' is not one that architecture '%s' is known to "
                        "have",
                        name, reader->shape.architecture->name);
}

static struct status read_embedding(struct reader *reader)
{
    struct model *model = reader->model;
    const struct gguf_tensor *tensor = gguf_find_tensor(&reader->gguf, "token_embd.weight");
    if (tensor == NULL) {
        return status_error(STATUS_INVALID, "tensor 'token_embd.weight' is missing");
    }
    TRY(set_matrix(&model->embedding, tensor, MODEL_EMBEDDING, model->d));
    model->vocab = model->embedding.n;
    model->tied = true;
    model->head = model->embedding;
    model->head.role = MODEL_HEAD;
    if (reader->shape.architecture->norms_without_weights) {
        model->final_norm_values = model->d;
    } else if (gguf_find_tensor(&reader->gguf, "output_norm.weight") == NULL) {
        return status_error(STATUS_INVALID, "tensor 'output_norm.weight' is missing");
    }
    return status_ok();
}

// Adds a tensor of a layer to its span, or to the multi-token-prediction layers.
static struct status place(struct reader *reader, size_t index, uint32_t layer)
{
    const struct gguf_tensor *tensor = &reader->gguf.tensors[index];
    uint32_t layers = reader->shape.layers;
    if (layer >= layers + reader->shape.mtp_layers) {
        return status_error(STATUS_INVALID, "tensor '%s' is of a layer beyond block_count %" PRIu32,
                            tensor->name, layers + reader->shape.mtp_layers);
    }
    if (layer >= layers) {
        reader->model->mtp.elements += tensor->elements;
        reader->model->mtp.stored_bytes += tensor->bytes;
        return status_ok();
    }
    struct span *span = &reader->spans[layer];
    span->first = span->count == 0 ? index : span->first;
    span->count++;
    return status_ok();
}

static struct status place_tensors(struct reader *reader)
{
    uint64_t elements = 0;
    for (size_t i = 0; i < reader->gguf.tensor_count; i++) {
        const struct gguf_tensor *tensor = &reader->gguf.tensors[i];
        if (tensor->elements > MODEL_ELEMENTS_MAX - elements) {
            return status_error(STATUS_INVALID,
                                "tensor '%s' of %" PRIu64 " elements makes more "
                                "than the %" PRIu64 " in all that are accepted",
                                tensor->name, tensor->elements, MODEL_ELEMENTS_MAX);
        }
        elements += tensor->elements;
        reader->model->type_bytes[tensor->dtype] += tensor->bytes;
        uint32_t layer = 0;
        const char *rest = NULL;
        TRY(gguf_name_layer(&layer, &rest, tensor->name) ? place(reader, i, layer)
                                                         : read_outer(reader, tensor));
    }
    return status_ok();
}

static struct status missing_part(uint32_t layer, uint64_t parts, const char *suffix,
                                  uint32_t other)
{
    unsigned part = 0;
    while ((parts >> part & 1) == 0) {
        part++;
    }
    return status_error(STATUS_INVALID,
                        "tensor 'blk.%" PRIu32 ".%s.%s' is missing: layer %" PRIu32 " has it",
                        layer, gguf_part_get((enum gguf_part_id)part)->name, suffix, other);
}

// Layers of one kind have the same tensors: where they differ, one was lost.
static struct status check_presence(struct reader *reader)
{
    const struct gguf_layer *layer = &reader->layer;
    const struct model_block *block = &reader->block;
    unsigned kind = (block->attention.kind != MODEL_ATTENTION_NONE ? 1U : 0U) |
                    (block->mlp.width > 0 ? 2U : 0U) | (block->mlp.experts > 0 ? 4U : 0U);
    struct presence here = {.layer = layer->number, .seen = true};
    for (unsigned i = 0; i < GGUF_PARTS; i++) {
        here.weights |= (uint64_t)(layer->weights[i] != NULL) << i;
        here.biases |= (uint64_t)(layer->biases[i] != NULL) << i;
    }
    struct presence *first = &reader->kinds[kind];
    if (!first->seen) {
        *first = here;
        return status_ok();
    }
    if (here.weights != first->weights) {
        uint64_t lost = first->weights & ~here.weights;
        return lost != 0 ? missing_part(here.layer, lost, "weight", first->layer)
                         : missing_part(first->layer, here.weights & ~first->weights, "weight",
                                        here.layer);
    }
    if (here.biases != first->biases) {
        uint64_t lost = first->biases & ~here.biases;
        return lost != 0
                   ? missing_part(here.layer, lost, "bias", first->layer)
                   : missing_part(first->layer, here.biases & ~first->biases, "bias", here.layer);
    }
    return status_ok();
}

static struct status read_layer(struct reader *reader, uint32_t number)
{
    struct gguf_layer *layer = &reader->layer;
    memset(layer, 0, sizeof *layer);
    layer->shape = &reader->shape;
    layer->number = number;
    layer->tensor_count = reader->spans[number].count;
    if (layer->tensor_count > 0) {
        layer->tensors = &reader->gguf.tensors[reader->spans[number].first];
    }
    TRY(gguf_layer_collect(layer));
    TRY(gguf_layer_block(&reader->block, layer));
    TRY(check_presence(reader));
    reader->model->lookup_bytes += layer->table_bytes;
    return model_add_layers(reader->model, &reader->block);
}

// The one type of all matrices, or DTYPE_STORED.
static enum dtype_id common_dtype(const struct model *model)
{
    enum dtype_id dtype = model->embedding.dtype;
    bool same = model->head.dtype == dtype;
    for (uint32_t i = 0; i < model->block_count; i++) {
        const struct model_block *block = &model->blocks[i];
        for (uint32_t j = 0; j < block->matrix_count; j++) {
            same = same && block->matrices[j].dtype == dtype;
        }
    }
    return same ? dtype : DTYPE_STORED;
}

// The file's name without .gguf: unlike general.name, it tells one quantisation from another.
static struct status set_name(struct reader *reader, const char *path)
{
    static const char suffix[] = ".gguf";
    const struct gguf_value *name = gguf_find_value(&reader->gguf, "general.name");
    char unused[GGUF_SHOWN];
    if (name != NULL) {
        TRY(gguf_value_text(unused, sizeof unused, &reader->gguf, name));
    }
    const char *slash = strrchr(path, '/');
    const char *file = slash == NULL ? path : slash + 1;
    size_t length = strlen(file);
    if (length >= sizeof suffix && strcmp(file + length - sizeof suffix + 1, suffix) == 0) {
        length -= sizeof suffix - 1;
    }
    (void)gguf_printable(reader->model->name, sizeof reader->model->name, file, length);
    return status_ok();
}

// A file without tensors (a vocabulary): the metadata's shape, and no weights.
static struct status add_shapes(struct reader *reader)
{
    struct model *model = reader->model;
    model->shape_only = true;
    model->dtype = DTYPE_NONE;
    model->vocab = reader->shape.vocab;
    for (uint32_t i = 0; i < reader->shape.layers; i++) {
        reader->layer = (struct gguf_layer){.shape = &reader->shape, .number = i};
        gguf_layer_shape(&reader->block, &reader->layer);
        TRY(model_add_layers(model, &reader->block));
    }
    return status_ok();
}

static bool has_experts(const struct model *model)
{
    for (uint32_t i = 0; i < model->block_count; i++) {
        if (model->blocks[i].mlp.experts > 0) {
            return true;
        }
    }
    return false;
}

static struct status add_tensors(struct reader *reader)
{
    TRY(read_embedding(reader));
    TRY(place_tensors(reader));
    for (uint32_t i = 0; i < reader->shape.layers; i++) {
        TRY(read_layer(reader, i));
    }
    if (reader->shape.experts > 0 && !has_experts(reader->model)) {
        return status_error(STATUS_INVALID,
                            "key '%s.expert_count': found %" PRIu64
                            ", accepted 0 or absent: no layer has tensors of experts",
                            reader->model->family, reader->shape.experts);
    }
    reader->model->dtype = common_dtype(reader->model);
    return status_ok();
}

static struct status fill_model(struct reader *reader, const char *path)
{
    struct model *model = reader->model;
    TRY(gguf_join_shards(&reader->gguf, path));
    TRY(gguf_read_shape(&reader->shape, &reader->gguf));
    TRY(set_name(reader, path));
    model->origin = MODEL_FROM_GGUF;
    (void)snprintf(model->family, sizeof model->family, "%s", reader->shape.architecture->name);
    model->d = reader->shape.d;
    model->trained_context = reader->shape.trained_context;
    model->layer_norm = reader->shape.layer_norm;
    model->mtp_layers = reader->shape.mtp_layers;
    TRY(reader->gguf.tensor_count == 0 ? add_shapes(reader) : add_tensors(reader));
    return model_check(model);
}

// Reads what reader->gguf has opened; closes it.
static struct status read_opened(struct model *out, struct reader *reader, const char *path)
{
    reader->model = out;
    struct status status = fill_model(reader, path);
    if (status.code != STATUS_OK) {
        memset(out, 0, sizeof *out);
    }
    gguf_close(&reader->gguf);
    return status;
}

static struct reader *new_reader(void)
{
    return calloc(1, sizeof(struct reader));
}

struct status gguf_read_model(struct model *out, const char *path)
{
    memset(out, 0, sizeof *out);
    struct reader *reader = new_reader();
    if (reader == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu bytes", sizeof *reader);
    }
    struct status status = gguf_open(&reader->gguf, path);
    if (status.code == STATUS_OK) {
        status = read_opened(out, reader, path);
    }
    free(reader);
    char shown[GGUF_SHOWN];
    return status_prefix(status, "'%s'", gguf_printable(shown, sizeof shown, path, strlen(path)));
}

struct status gguf_read_model_memory(struct model *out, const unsigned char *data, size_t bytes,
                                     const char *label)
{
    memset(out, 0, sizeof *out);
    struct reader *reader = new_reader();
    if (reader == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu bytes", sizeof *reader);
    }
    struct status status = gguf_open_memory(&reader->gguf, data, bytes);
    if (status.code == STATUS_OK) {
        status = read_opened(out, reader, label);
    }
    free(reader);
    return status_prefix(status, "'%s'", label);
}

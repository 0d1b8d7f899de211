#include "tests/test.h"
#include "workloads/attention_plan.h"
#include "workloads/forward_plan.h"
#include "workloads/linear_plan.h"
#include "workloads/model_file.h"

#include <omp.h>

#include <stdlib.h>
#include <unistd.h>

enum { THREADS_MOST = 3 };

/** A step beside its naive reference in double precision, which reads the step's own weights and
 *  the cache as it was before. Vectors are [rows][...]. */
struct fixture {
    struct model model;
    struct forward *forward;
    unsigned char *memory[THREADS_MOST];
    unsigned char *before[THREADS_MOST]; // of the step
};

static void load(struct model *out, const char *config)
{
    char path[] = "/tmp/lmroof-forward-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, config, strlen(config)), (ssize_t)strlen(config));
    (void)close(fd);
    struct status status = model_load(out, path);
    (void)unlink(path);
    ASSERT_OK(status);
}

static struct forward_params params_of(const struct model *model, enum dtype_id dtype,
                                       enum line_format kv, unsigned threads)
{
    struct forward_params params = {
        .model = model, .dtype = dtype, .kv_format = kv, .batch = 1, .threads = threads};
    for (int op = 0; op < MODEL_OPERATORS; op++) {
        params.ways[op] = (struct forward_way){.isa = isa_detect(), .prefetch_bytes = 1024};
    }
    return params;
}

static void setup(struct fixture *f, const struct forward_params *params)
{
    ASSERT_OK(forward_create(&f->forward, params));
    size_t bytes = forward_thread_bytes(f->forward);
    for (unsigned t = 0; t < params->threads; t++) {
        f->memory[t] = aligned_alloc(64, bytes);
        f->before[t] = aligned_alloc(64, bytes);
        assert_non_null(f->memory[t]);
        assert_non_null(f->before[t]);
        forward_fill(f->forward, t, f->memory[t]);
        memcpy(f->before[t], f->memory[t], bytes);
    }
}

static void teardown(struct fixture *f)
{
    for (unsigned t = 0; t < f->forward->params.threads; t++) {
        free(f->memory[t]);
        free(f->before[t]);
    }
    forward_destroy(f->forward);
}

static void run(struct fixture *f, const struct forward_probe *probe)
{
#pragma omp parallel num_threads((int)f->forward->params.threads)
    forward_run(f->forward, (unsigned)omp_get_thread_num(), f->memory, probe);
}

static double *doubles(size_t n)
{
    double *out = calloc(n, sizeof *out);
    assert_non_null(out);
    return out;
}

// x as the kernel multiplies it.
static void round_input(double *out, const double *x, const struct linear *l)
{
    for (uint64_t k = 0; k < l->params.k; k++) {
        out[k] = l->params.class_ == LINEAR_DOT ? (double)line_round(LINE_BF16, (float)x[k]) : x[k];
    }
    for (uint64_t from = 0; line_is_blocks(l->params.format) && from < l->params.k; from += 32) {
        double largest = 0;
        for (uint64_t k = from; k < from + 32; k++) {
            largest = fmax(largest, fabs(x[k]));
        }
        for (uint64_t k = from; k < from + 32; k++) {
            out[k] = largest > 0 ? nearbyint(x[k] * 127 / largest) * largest / 127 : 0;
        }
    }
}

// y[rows][n] = x[rows][k] W + bias.
static void product(double *y, const struct fixture *f, const struct forward_linear *linear,
                    size_t offset, const double *x, uint64_t rows, const float *bias)
{
    const struct linear *l = linear->chunk;
    const unsigned char *at[THREADS_MOST];
    double *w = doubles(linear->n * linear->k);
    double *rounded = doubles(linear->k);
    for (unsigned t = 0; t < l->params.threads; t++) {
        at[t] = f->before[t] + offset;
    }
    for (uint64_t n = 0; n < linear->n; n++) {
        for (uint64_t k = 0; k < linear->k; k++) {
            w[n * linear->k + k] = linear_weight(l, at, n, k);
        }
    }
    for (uint64_t row = 0; row < rows; row++) {
        round_input(rounded, x + row * linear->k, l);
        for (uint64_t n = 0; n < linear->n; n++) {
            double sum = bias != NULL ? (double)bias[n] : 0;
            for (uint64_t k = 0; k < linear->k; k++) {
                sum += w[n * linear->k + k] * rounded[k];
            }
            y[row * linear->n + n] = sum;
        }
    }
    free(w);
    free(rounded);
}

static void norm(double *out, const double *x, size_t n, bool layer_norm, const float *weight,
                 const float *bias)
{
    double mean = 0;
    double square = 0;
    for (size_t i = 0; i < n && layer_norm; i++) {
        mean += x[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        out[i] = (x[i] - mean) / sqrt(square + 1e-5) * (double)weight[i] +
                 (layer_norm ? (double)bias[i] : 0);
    }
}

static void norm_rows(double *out, const struct fixture *f, const double *x, uint64_t rows,
                      const float *weight, const float *bias)
{
    uint64_t d = f->forward->d;
    for (uint64_t row = 0; row < rows; row++) {
        norm(out + row * d, x + row * d, d, f->forward->layer_norm, weight, bias);
    }
}

static void rotate(double *x, uint64_t position, uint64_t rope_dim)
{
    for (uint64_t i = 0; i < rope_dim / 2; i++) {
        double angle = (double)position * pow(10000, -2.0 * (double)i / (double)rope_dim);
        double a = x[i];
        double b = x[rope_dim / 2 + i];
        x[i] = a * cos(angle) - b * sin(angle);
        x[rope_dim / 2 + i] = a * sin(angle) + b * cos(angle);
    }
}

// Element d of the key (or value) of a cached token, from the documented layout of pages.
static double cached(const struct fixture *f, const struct attention *a, size_t offset,
                     uint64_t unit, uint64_t token, unsigned d, bool value)
{
    uint64_t page = unit * a->pages + token / ATTENTION_PAGE;
    unsigned in_page = token % ATTENTION_PAGE;
    unsigned thread = 0;
    while (page >= attention_first_page(a, thread + 1)) {
        thread++;
    }
    const unsigned char *at =
        f->before[thread] + offset + (page - attention_first_page(a, thread)) * a->page_bytes;
    enum line_format format = a->params.format;
    if (value) {
        at += a->k_bytes + d / LINE_ROWS * line_count(format, ATTENTION_PAGE) * LINE_BYTES;
        return line_get(format, at, d % LINE_ROWS, in_page);
    }
    at += in_page / LINE_ROWS * line_count(format, a->params.k_dim) * LINE_BYTES;
    return line_get(format, at, in_page % LINE_ROWS, d);
}

/** Keys and values that the tokens of one unit see: cached ones, then the new ones. */
struct history {
    double *keys;
    double *values;
    uint64_t cached, k_dim, v_dim;
};

static void attend(double *out, const double *q, const struct history *h, uint64_t visible)
{
    double *weight = doubles(visible);
    double largest = -HUGE_VAL;
    double sum = 0;
    for (uint64_t token = 0; token < visible; token++) {
        for (uint64_t d = 0; d < h->k_dim; d++) {
            weight[token] += q[d] * h->keys[token * h->k_dim + d] / sqrt((double)h->k_dim);
        }
        largest = fmax(largest, weight[token]);
    }
    for (uint64_t token = 0; token < visible; token++) {
        weight[token] = exp(weight[token] - largest);
        sum += weight[token];
    }
    memset(out, 0, h->v_dim * sizeof *out);
    for (uint64_t token = 0; token < visible; token++) {
        for (uint64_t d = 0; d < h->v_dim; d++) {
            out[d] += weight[token] / sum * h->values[token * h->v_dim + d];
        }
    }
    free(weight);
}

static void load_history(struct history *h, const struct fixture *f, const struct forward_block *b,
                         size_t offset, uint64_t unit)
{
    for (uint64_t token = 0; token < h->cached; token++) {
        for (unsigned d = 0; d < h->k_dim; d++) {
            h->keys[token * h->k_dim + d] = cached(f, b->attention, offset, unit, token, d, false);
        }
        for (unsigned d = 0; d < h->v_dim; d++) {
            h->values[token * h->v_dim + d] = cached(f, b->attention, offset, unit, token, d, true);
        }
    }
}

static void prepare_head(double *head, const struct forward *f, const struct forward_block *b,
                         const float *vectors, int which, uint64_t position)
{
    if (f->form->head_norm) {
        norm(head, head, b->shape.k_dim, false, vectors + b->at.head_weight[which], NULL);
    }
    rotate(head, position, f->rope_dim);
}

// out[rows][heads v_dim] of one sequence and KV head from qkv[rows][n].
static void attend_unit(double *out, const struct fixture *f, const struct forward_block *b,
                        const float *vectors, size_t offset, double *qkv, uint64_t sequence,
                        uint64_t kv_head)
{
    const struct forward *w = f->forward;
    const struct model_attention *a = &b->shape;
    uint64_t n = b->products[FORWARD_QKV].n;
    uint64_t group = a->heads / a->kv_heads;
    uint64_t seen = b->attention->params.context;
    struct history h = {doubles((seen + w->tokens) * a->k_dim),
                        doubles((seen + w->tokens) * a->v_dim), seen, a->k_dim, a->v_dim};
    load_history(&h, f, b, offset, sequence * a->kv_heads + kv_head);
    for (uint64_t token = 0; token < w->tokens; token++) {
        uint64_t row = sequence * w->tokens + token;
        double *key = qkv + row * n + (a->heads + kv_head) * a->k_dim;
        const double *value =
            qkv + row * n + (a->heads + a->kv_heads) * a->k_dim + kv_head * a->v_dim;
        prepare_head(key, w, b, vectors, 1, w->first_position + token);
        for (uint64_t d = 0; d < a->k_dim; d++) {
            h.keys[(seen + token) * a->k_dim + d] =
                (double)line_round(w->params.kv_format, (float)key[d]);
        }
        for (uint64_t d = 0; d < a->v_dim; d++) {
            h.values[(seen + token) * a->v_dim + d] =
                (double)line_round(w->params.kv_format, (float)value[d]);
        }
        for (uint64_t i = 0; i < group; i++) {
            uint64_t head = kv_head * group + i;
            double *query = qkv + row * n + head * a->k_dim;
            prepare_head(query, w, b, vectors, 0, w->first_position + token);
            attend(out + (row * a->heads + head) * a->v_dim, query, &h, seen + token + 1);
        }
    }
    free(h.keys);
    free(h.values);
}

static double activate(enum elementwise_activation which, double x)
{
    if (which == ELEMENTWISE_RELU) {
        return fmax(x, 0);
    }
    double z = which == ELEMENTWISE_SILU ? x : 1.5957691216057308 * (x + 0.044715 * x * x * x);
    return x / (1 + exp(-z));
}

static void add(double *x, const double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        x[i] += y[i];
    }
}

/** Buffers of a layer. */
struct layer {
    const struct fixture *f;
    const struct forward_block *block;
    const float *vectors;
    size_t offset;
    double *x, *qkv, *attended, *out, *up, *act, *down;
};

static void multiply(double *y, const struct layer *l, enum forward_product which, const double *x)
{
    const struct forward_linear *linear = &l->block->products[which];
    product(y, l->f, linear, l->offset + linear->offset, x, l->f->forward->rows,
            linear->biased ? l->vectors + l->block->at.bias[which] : NULL);
}

static void run_layer(const struct layer *l, double *h)
{
    const struct forward *w = l->f->forward;
    const struct forward_block *b = l->block;
    const struct forward_vectors *at = &b->at;
    uint64_t width = b->width;
    uint64_t up_n = b->products[FORWARD_GATE_UP].n;
    norm_rows(l->x, l->f, h, w->rows, l->vectors + at->norm_weight[0],
              l->vectors + at->norm_bias[0]);
    multiply(l->qkv, l, FORWARD_QKV, l->x);
    for (uint64_t s = 0; s < w->params.batch; s++) {
        for (uint64_t g = 0; g < b->shape.kv_heads; g++) {
            attend_unit(l->attended, l->f, b, l->vectors, l->offset + b->cache_offset, l->qkv, s,
                        g);
        }
    }
    multiply(l->out, l, FORWARD_OUT, l->attended);
    if (!w->form->parallel) {
        add(h, l->out, w->rows * w->d);
    }
    if (!w->form->one_norm) {
        norm_rows(l->x, l->f, h, w->rows, l->vectors + at->norm_weight[1],
                  l->vectors + at->norm_bias[1]);
    }
    multiply(l->up, l, FORWARD_GATE_UP, l->x);
    for (uint64_t i = 0; i < w->rows * width; i++) {
        const double *gate = l->up + i / width * up_n + i % width;
        l->act[i] = activate(w->form->activation, *gate) * (b->gated ? gate[width] : 1);
    }
    multiply(l->down, l, FORWARD_DOWN, l->act);
    add(h, l->down, w->rows * w->d);
    if (w->form->parallel) {
        add(h, l->out, w->rows * w->d);
    }
}

static void run_block(const struct fixture *f, const struct forward_block *b, double *h)
{
    uint64_t rows = f->forward->rows;
    struct layer l = {.f = f, .block = b};
    l.x = doubles(rows * f->forward->d);
    l.qkv = doubles(rows * b->products[FORWARD_QKV].n);
    l.attended = doubles(rows * b->products[FORWARD_OUT].k);
    l.out = doubles(rows * f->forward->d);
    l.up = doubles(rows * b->products[FORWARD_GATE_UP].n);
    l.act = doubles(rows * b->width);
    l.down = doubles(rows * f->forward->d);
    for (unsigned i = 0; i < b->layers; i++) {
        l.vectors = b->vectors + i * b->at.floats;
        l.offset = b->first_offset + i * b->layer_bytes;
        run_layer(&l, h);
    }
    free(l.x);
    free(l.qkv);
    free(l.attended);
    free(l.out);
    free(l.up);
    free(l.act);
    free(l.down);
}

static void embed(double *h, const struct fixture *f)
{
    const struct forward *w = f->forward;
    float *row = malloc(w->d * sizeof *row);
    assert_non_null(row);
    for (uint64_t r = 0; r < w->rows; r++) {
        forward_look_up(w, &w->embedding, row, (unsigned char *const *)f->before, w->ids[r]);
        for (uint64_t i = 0; i < w->d; i++) {
            h[r * w->d + i] = (double)row[i];
        }
        if (w->positions.n > 0) {
            forward_look_up(w, &w->positions, row, (unsigned char *const *)f->before,
                            w->first_position + r % w->tokens);
            for (uint64_t i = 0; i < w->d; i++) {
                h[r * w->d + i] += (double)row[i];
            }
        }
    }
    free(row);
}

// The reference's logits; the caller frees.
static double *reference(const struct fixture *f)
{
    const struct forward *w = f->forward;
    double *h = doubles(w->rows * w->d);
    double *last = doubles(w->params.batch * w->d);
    double *logits = doubles(w->params.batch * w->head.n);
    embed(h, f);
    for (unsigned b = 0; b < w->block_count; b++) {
        run_block(f, &w->blocks[b], h);
    }
    for (unsigned s = 0; s < w->params.batch; s++) {
        const double *from = h + ((s + 1) * w->tokens - 1) * w->d;
        if (w->final_norm != NULL) {
            norm(last + s * w->d, from, w->d, w->layer_norm, w->final_norm, w->final_norm + w->d);
        } else {
            memcpy(last + s * w->d, from, w->d * sizeof *from);
        }
    }
    product(logits, f, &w->head, w->head.offset, last, w->params.batch, w->head_bias);
    free(h);
    free(last);
    return logits;
}

// The largest difference of a logit over their mean magnitude.
static double difference(const struct fixture *f)
{
    const struct forward *w = f->forward;
    const struct linear *l = w->head.chunk;
    double *want = reference(f);
    double worst = 0;
    double size = 0;
    for (unsigned s = 0; s < w->params.batch; s++) {
        for (uint64_t n = 0; n < w->head.n; n++) {
            double error = fabs((double)l->y[s * l->ldy + n] - want[s * w->head.n + n]);
            worst = error > worst || isnan(error) ? error : worst;
            size += fabs(want[s * w->head.n + n]) / (double)(w->params.batch * w->head.n);
        }
    }
    free(want);
    return isnan(worst) ? HUGE_VAL : worst / size;
}

static void check(const struct forward_params *params, const char *name, double tolerance)
{
    struct fixture *f = calloc(1, sizeof *f);
    const struct forward_probe none = {NULL, NULL, false};
    setup(f, params);
    run(f, &none);
    run(f, &none); // the cache row of the first run is written again
    double error = difference(f);
    if (!(error <= tolerance)) {
        fail_msg("%s: threads %u batch %u context %d prompt %d: error %g, tolerance %g", name,
                 params->threads, params->batch, (int)params->context, (int)params->prompt, error,
                 tolerance);
    }
    teardown(f);
    free(f);
}

#define COMMON(type)                                                                \
    "{\"model_type\": \"" type "\", \"num_hidden_layers\": 2, \"vocab_size\": 50, " \
    "\"hidden_size\": 64, \"num_attention_heads\": 4, \"max_position_embeddings\": 700,"

static const struct {
    const char *name;
    const char *config;
} families[] = {
    {"llama, GQA", COMMON("llama") "\"num_key_value_heads\": 2, \"intermediate_size\": 96, "
                                   "\"tie_word_embeddings\": false}"},
    {"llama, MHA, tied", COMMON("llama") "\"intermediate_size\": 160, "
                                         "\"tie_word_embeddings\": true, \"head_dim\": 24}"},
    {"qwen2, biases of qkv", COMMON("qwen2") "\"num_key_value_heads\": 1, "
                                             "\"intermediate_size\": 96}"},
    {"qwen3, norms of heads", COMMON("qwen3") "\"num_key_value_heads\": 2, "
                                              "\"intermediate_size\": 96, \"head_dim\": 32}"},
    {"gemma", COMMON("gemma") "\"num_key_value_heads\": 1, \"intermediate_size\": 96, "
                              "\"head_dim\": 32}"},
    {"gpt2", "{\"model_type\": \"gpt2\", \"n_embd\": 64, \"n_layer\": 2, \"n_head\": 4, "
             "\"vocab_size\": 50, \"n_positions\": 700}"},
    {"opt", COMMON("opt") "\"ffn_dim\": 128, \"word_embed_proj_dim\": 64}"},
    {"gpt_neox, parallel", COMMON("gpt_neox") "\"intermediate_size\": 128}"},
    {"phi, parallel, one norm", COMMON("phi") "\"intermediate_size\": 128}"},
};

// f32 throughout: the structure of every family, in decode and prefill, at 1 to 3 threads.
static void families_agree(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        struct model *model = calloc(1, sizeof *model);
        load(model, families[i].config);
        for (unsigned threads = 1; threads <= THREADS_MOST; threads++) {
            struct forward_params params = params_of(model, DTYPE_F32, LINE_F32, threads);
            params.context = 70;
            check(&params, families[i].name, 2e-4);
            params.batch = 3;
            params.context = 0;
            check(&params, families[i].name, 2e-4);
            params.batch = 2;
            params.prefill = true;
            params.prompt = 66;
            check(&params, families[i].name, 2e-4);
        }
        free(model);
    }
}

// Other formats of weights and cache. What is quantised in between may fall to either side.
static void formats_agree(void **state)
{
    (void)state;
    static const struct {
        enum dtype_id dtype;
        enum line_format kv;
        enum linear_class class_;
        double tolerance;
    } cases[] = {
        {DTYPE_F16, LINE_F16, LINEAR_FMA, 0.02}, {DTYPE_BF16, LINE_BF16, LINEAR_FMA, 0.1},
        {DTYPE_BF16, LINE_F32, LINEAR_DOT, 0.1}, {DTYPE_Q8_0, LINE_F16, LINEAR_DOT, 0.1},
        {DTYPE_Q4_0, LINE_F32, LINEAR_DOT, 0.1},
    };
    struct model *model = calloc(1, sizeof *model);
    load(model, families[0].config);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (unsigned threads = 1; threads <= THREADS_MOST; threads++) {
            struct forward_params params = params_of(model, cases[i].dtype, cases[i].kv, threads);
            for (int op = 0; op < MODEL_OPERATORS; op++) {
                params.ways[op].class_ = cases[i].class_;
            }
            params.context = 31;
            check(&params, dtype_name(cases[i].dtype), cases[i].tolerance);
            params.batch = 2;
            params.prefill = true;
            params.prompt = 33;
            check(&params, dtype_name(cases[i].dtype), cases[i].tolerance);
        }
    }
    free(model);
}

// More rows than a chunk of products takes: the last one is shorter.
static void chunks_join(void **state)
{
    (void)state;
    struct model *model = calloc(1, sizeof *model);
    load(model, families[0].config);
    struct forward_params params = params_of(model, DTYPE_F32, LINE_F32, 3);
    params.prefill = true;
    params.batch = 2;
    params.prompt = 301;
    check(&params, "two chunks", 2e-4);
    params.batch = 513;
    params.prefill = false;
    params.context = 3;
    struct forward *none = NULL;
    assert_int_equal(forward_create(&none, &params).code, STATUS_INVALID);
    free(model);
}

struct seen {
    unsigned marks[MODEL_OPERATORS];
};

static void count(void *context, const struct forward_mark *mark)
{
    struct seen *seen = context;
    seen->marks[mark->op]++;
}

static void marks_follow_every_operator(void **state)
{
    (void)state;
    struct fixture *f = calloc(1, sizeof *f);
    struct seen seen = {{0}};
    const struct forward_probe probe = {count, &seen, false};
    load(&f->model, families[0].config);
    struct forward_params params = params_of(&f->model, DTYPE_Q8_0, LINE_F16, 2);
    params.layers = 1;
    params.context = 5;
    setup(f, &params);
    assert_int_equal(forward_layers(f->forward), 1);
    run(f, &probe);
    assert_int_equal(seen.marks[MODEL_OP_NORMS], 3);
    assert_int_equal(seen.marks[MODEL_OP_QKV], 1);
    assert_int_equal(seen.marks[MODEL_OP_ROPE], 1);
    assert_int_equal(seen.marks[MODEL_OP_ATTENTION], 1);
    assert_int_equal(seen.marks[MODEL_OP_ATTN_OUT], 1);
    assert_int_equal(seen.marks[MODEL_OP_GATE_UP], 2);
    assert_int_equal(seen.marks[MODEL_OP_DOWN], 1);
    assert_int_equal(seen.marks[MODEL_OP_HEAD], 1);
    assert_int_equal(seen.marks[MODEL_OP_ACT_QUANT], 5);
    teardown(f);
    free(f);
}

// The check at run time finds the products right, and a spoiled weight wrong.
static void checks_find_errors(void **state)
{
    (void)state;
    struct fixture *f = calloc(1, sizeof *f);
    load(&f->model, families[0].config);
    struct forward_params params = params_of(&f->model, DTYPE_F32, LINE_F16, 2);
    params.context = 100;
    setup(f, &params);
    struct forward_check good = {.forward = f->forward, .memory = f->memory};
    run(f, &(struct forward_probe){forward_check_mark, &good, true});
    assert_true(good.tolerance > 0);
    assert_true(good.max_relative_error <= good.tolerance);
    struct forward_check bad = {.forward = f->forward, .memory = f->before};
    memset(f->before[0] + f->forward->head.offset, 0, 64);
    run(f, &(struct forward_probe){forward_check_mark, &bad, true});
    assert_true(bad.max_relative_error > bad.tolerance);
    teardown(f);
    free(f);
}

static void refuses_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        const char *words;
    } cases[] = {
        {"mixtral-8x7b", "family 'mixtral'"},
        {"deepseek-v3", "family 'deepseek_v3'"},
        {"gpt-oss-20b", "family 'gpt_oss'"},
    };
    struct model *model = calloc(1, sizeof *model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ASSERT_OK(model_load(model, cases[i].model));
        struct status status = forward_supported(model, false, 0);
        assert_int_equal(status.code, STATUS_INVALID);
        assert_non_null(strstr(status.detail, cases[i].words));
        assert_non_null(strstr(status.detail, "accepted llama"));
    }
    ASSERT_OK(model_load(model, "mistral-7b-v0.1"));
    ASSERT_OK(forward_supported(model, true, 4096));
    struct status status = forward_supported(model, true, 4097);
    assert_int_equal(status.code, STATUS_INVALID);
    assert_non_null(strstr(status.detail, "window"));
    free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(families_agree),     cmocka_unit_test(formats_agree),
        cmocka_unit_test(chunks_join),        cmocka_unit_test(marks_follow_every_operator),
        cmocka_unit_test(checks_find_errors), cmocka_unit_test(refuses_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

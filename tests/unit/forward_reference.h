#ifndef TESTS_FORWARD_REFERENCE_H
#define TESTS_FORWARD_REFERENCE_H

/** A step beside its naive reference in double precision, which reads the step's own weights and
 *  the cache as it was before. Vectors are [rows][...]. Latent attention is not absorbed here:
 * every head's keys and values are made from the latent rows. */

#include "tests/test.h"
#include "workloads/attention_plan.h"
#include "workloads/forward_plan.h"
#include "workloads/linear_plan.h"

enum { THREADS_MOST = 3 };

struct fixture {
    struct model model;
    struct forward *forward;
    unsigned char *memory[THREADS_MOST];
    unsigned char *before[THREADS_MOST]; // of the step
};

/** The model of a config.json with that text. */
void fixture_load(struct model *out, const char *config);

/** A decode of one sequence, every operator in f32 products of this CPU. */
struct forward_params fixture_params_of(const struct model *model, enum dtype_id dtype,
                                        enum line_format kv, unsigned threads);

void fixture_setup(struct fixture *f, const struct forward_params *params);
void fixture_teardown(struct fixture *f);

/** One step. */
void fixture_run(struct fixture *f, const struct forward_probe *probe);

/** Buffers of a layer. */
struct layer {
    const struct fixture *f;
    const struct forward_block *block;
    const float *vectors;
    size_t offset;
    unsigned number;
    double *x, *qkv, *attended, *out, *up, *act, *down;
};

/** The reference's logits of the last step that was run; the caller frees. */
double *reference_logits(const struct fixture *f);

/** Zeroed. */
double *reference_doubles(size_t n);

/** y[rows][n] = x[rows][k] W + bias. */
void reference_product(double *y, const struct fixture *f, const struct linear *l, size_t offset,
                       const double *x, uint64_t rows, const float *bias);

/** The same of all parts of a product. */
void reference_parts(double *y, const struct fixture *f, const struct forward_linear *l,
                     size_t offset, const double *x, uint64_t rows, const float *bias);

/** The product of a layer. */
void reference_multiply(double *y, const struct layer *l, enum forward_product which,
                        const double *x);

void reference_norm(double *out, const double *x, size_t n, bool layer_norm, const float *weight,
                    const float *bias);

/** attended[rows][heads v_dim] of the layer from its qkv. */
void reference_attention(const struct layer *l);

/** Adds what the experts, routed and shared, make of x[rows][d]. */
void reference_experts(double *h, const struct layer *l);

/** The MLP: down[rows][d] of x. */
void reference_mlp(const struct layer *l);

/** Runs a step twice and fails the test, naming it, where a logit differs from the reference's by
 * more than tolerance of their mean magnitude. */
void reference_check(const struct forward_params *params, const char *name, double tolerance);

#endif

#include "workloads/forward_plan.h"
#include "workloads/linear_plan.h"

#include <string.h>

// The product that a role's matrix is a part of; FORWARD_PRODUCTS if it is in none.
static enum forward_product product_of(enum model_role role)
{
    switch (model_role_operator(role)) {
    case MODEL_OP_QKV:
        return role == MODEL_Q_B                                              ? FORWARD_Q_B
               : role == MODEL_KV_B || role == MODEL_K_B || role == MODEL_V_B ? FORWARD_KV_B
                                                                              : FORWARD_QKV;
    case MODEL_OP_ATTN_OUT:
        return FORWARD_OUT;
    case MODEL_OP_ROUTER:
        return FORWARD_ROUTER;
    case MODEL_OP_GATE_UP:
        return FORWARD_GATE_UP;
    case MODEL_OP_DOWN:
        return FORWARD_DOWN;
    case MODEL_OP_NORMS:
    case MODEL_OP_ROPE:
    case MODEL_OP_ATTENTION:
    case MODEL_OP_EXPERTS:
    case MODEL_OP_ACT_QUANT:
    case MODEL_OP_HEAD:
    case MODEL_OPERATORS:
        break;
    }
    return FORWARD_PRODUCTS;
}

// Adds rows of a type, to the last part if that has the same. False if there are too many.
static bool add_part(struct forward_linear *out, uint64_t n, enum dtype_id dtype)
{
    struct forward_part *last = &out->parts[out->part_count > 0 ? out->part_count - 1 : 0];
    if (out->part_count > 0 && last->dtype == dtype) {
        last->n += n;
        return true;
    }
    if (out->part_count == FORWARD_PARTS_MAX) {
        return false;
    }
    out->parts[out->part_count++] = (struct forward_part){.n = n, .dtype = dtype};
    return true;
}

enum dtype_id forward_type_of(const struct model_block *shape, enum model_role role,
                              enum model_role other, enum dtype_id dtype)
{
    enum dtype_id found = dtype;
    for (uint32_t i = 0; i < shape->matrix_count && dtype == DTYPE_STORED; i++) {
        const struct model_matrix *m = &shape->matrices[i];
        if (m->role == role || (m->role == other && found == DTYPE_STORED)) {
            found = m->dtype;
        }
    }
    return found;
}

// In the order of the roles, which is that of the outputs.
struct status forward_find_parts(struct forward_linear *out, const struct model_block *shape,
                                 enum forward_product product, enum dtype_id dtype)
{
    uint64_t n = 0;
    out->part_count = 0;
    if (dtype != DTYPE_STORED || product == FORWARD_KV_B) {
        dtype = forward_type_of(shape, MODEL_KV_B, MODEL_K_B, dtype);
        (void)add_part(out, out->n, dtype);
        return status_ok();
    }
    for (int role = 0; role < MODEL_ROLES; role++) {
        for (uint32_t i = 0; i < shape->matrix_count; i++) {
            const struct model_matrix *m = &shape->matrices[i];
            if (m->role != (enum model_role)role || product_of(m->role) != product) {
                continue;
            }
            n += m->n * m->count;
            if (!add_part(out, m->n * m->count, m->dtype)) {
                return status_error(STATUS_INVALID,
                                    "--step: more than %d types in one product; try --dtype",
                                    FORWARD_PARTS_MAX);
            }
        }
    }
    return n == out->n ? status_ok()
                       : status_error(STATUS_INVALID,
                                      "--step: a product of %llu outputs is stored as %llu; try "
                                      "--dtype",
                                      (unsigned long long)out->n, (unsigned long long)n);
}

static struct linear_params params_of_part(const struct forward_linear *linear,
                                           const struct forward_part *part, const struct forward *f,
                                           enum model_operator op)
{
    struct linear_params params = forward_linear_params(f, op, part->dtype, part->n, linear->k);
    for (unsigned i = 0; i < linear->part_count && linear->part_count > 1; i++) {
        enum line_format format = forward_format(linear->parts[i].dtype, linear->k);
        size_t ldx = line_units(format, linear->k) * line_layout(format)->unit_ks;
        params.least_ldx = ldx > params.least_ldx ? ldx : params.least_ldx;
    }
    // A part's outputs may begin anywhere; its last group is whole.
    params.least_ldy = linear->part_count > 1 ? linear->n + LINE_ROWS : 0;
    return params;
}

static struct status create_one(struct linear **out, struct forward *f,
                                const struct linear_params *params, uint64_t rows)
{
    struct linear_params p = *params;
    p.batch = (unsigned)rows;
    TRY(linear_create(out, &p));
    memset((*out)->x, 0, sizeof(float) * p.batch * (*out)->ldx);
    f->activation_bytes += sizeof(float) * p.batch * (2 * (*out)->ldx + (*out)->ldy);
    return status_ok();
}

static struct status create_part(struct forward_part *part, struct forward *f,
                                 const struct linear_params *params, uint64_t rows)
{
    uint64_t full = rows < LINEAR_BATCH_MAX ? rows : LINEAR_BATCH_MAX;
    TRY(create_one(&part->chunk, f, params, full));
    return rows % full == 0 ? status_ok() : create_one(&part->rest, f, params, rows % full);
}

struct status forward_create_linear(struct forward_linear *out, struct forward *f,
                                    enum model_operator op, uint64_t rows)
{
    size_t column = 0;
    for (unsigned i = 0; i < out->part_count; i++) {
        struct forward_part *part = &out->parts[i];
        const struct linear_params params = params_of_part(out, part, f, op);
        TRY(create_part(part, f, &params, rows));
        if (i > 0) {
            linear_join(part->chunk, out->parts[0].chunk, column);
        }
        if (i > 0 && part->rest != NULL) {
            linear_join(part->rest, out->parts[0].rest, column);
        }
        column += part->n;
    }
    return status_ok();
}

void forward_destroy_linear(struct forward_linear *linear)
{
    for (unsigned i = linear->part_count; i-- > 0;) {
        linear_destroy(linear->parts[i].chunk);
        linear_destroy(linear->parts[i].rest);
    }
}

struct linear *forward_part_of(const struct forward_part *part, uint64_t rows)
{
    return part->rest != NULL && rows != part->chunk->params.batch ? part->rest : part->chunk;
}

struct linear *forward_linear_of(const struct forward_linear *linear, uint64_t rows)
{
    return forward_part_of(&linear->parts[0], rows);
}

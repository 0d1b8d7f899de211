#include "workloads/experts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct status check_params(const struct experts_params *p)
{
    enum { EXPERTS_MAX = 1 << 16 };
    if (p->experts == 0 || p->experts > EXPERTS_MAX || p->used == 0 || p->used > p->experts ||
        p->rows == 0 || p->rows > LINEAR_BATCH_MAX) {
        return status_error(STATUS_INVALID,
                            "%u of %u experts for %u rows: accepted are 1 to 65536 experts and 1 "
                            "to %d rows",
                            p->used, p->experts, p->rows, LINEAR_BATCH_MAX);
    }
    return status_ok();
}

static struct status create(struct experts *e)
{
    const struct experts_params *p = &e->params;
    size_t slots = (size_t)p->rows * p->used;
    const struct bank_params up = {.linear = p->up, .count = p->experts, .slots = slots};
    const struct bank_params down = {.linear = p->down, .count = p->experts, .slots = slots};
    TRY(bank_create(&e->up, &up));
    TRY(bank_create(&e->down, &down));
    e->down_offset = bank_thread_bytes(&e->up);
    e->ids = calloc(slots, sizeof *e->ids);
    e->weights = calloc(slots, sizeof *e->weights);
    e->slots = calloc(slots, sizeof *e->slots);
    e->row_of = calloc(slots, sizeof *e->row_of);
    e->first = calloc((size_t)p->experts + 1, sizeof *e->first);
    e->chosen = calloc(p->experts, sizeof *e->chosen);
    if (e->ids == NULL || e->weights == NULL || e->slots == NULL || e->row_of == NULL ||
        e->first == NULL || e->chosen == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the routes of %u experts", p->experts);
    }
    return status_ok();
}

struct status experts_create(struct experts **out, const struct experts_params *params)
{
    *out = NULL;
    TRY(check_params(params));
    struct experts *e = calloc(1, sizeof *e);
    if (e == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for experts");
    }
    e->params = *params;
    e->elementwise = elementwise_find(params->up.isa);
    struct status status = create(e);
    if (status.code != STATUS_OK) {
        experts_destroy(e);
        return status;
    }
    *out = e;
    return status;
}

void experts_destroy(struct experts *experts)
{
    if (experts == NULL) {
        return;
    }
    bank_destroy(&experts->up);
    bank_destroy(&experts->down);
    free(experts->ids);
    free(experts->weights);
    free(experts->slots);
    free(experts->row_of);
    free(experts->first);
    free(experts->chosen);
    free(experts);
}

size_t experts_thread_bytes(const struct experts *experts)
{
    return experts->down_offset + bank_thread_bytes(&experts->down);
}

size_t experts_activation_bytes(const struct experts *experts)
{
    return bank_slot_bytes(&experts->up) + bank_slot_bytes(&experts->down);
}

uint64_t experts_stored_bytes(const struct experts *experts)
{
    return bank_matrix_bytes(&experts->up) + bank_matrix_bytes(&experts->down);
}

void experts_fill(const struct experts *experts, unsigned thread, unsigned char *memory,
                  uint64_t seed)
{
    bank_fill(&experts->up, thread, memory, seed);
    bank_fill(&experts->down, thread, memory + experts->down_offset, ~seed);
}

void experts_route(struct experts *experts, unsigned rows)
{
    struct experts *e = experts;
    size_t count = (size_t)rows * e->params.used;
    e->rows = rows;
    memset(e->first, 0, ((size_t)e->params.experts + 1) * sizeof *e->first);
    for (size_t i = 0; i < count; i++) {
        e->first[e->ids[i] + 1]++;
    }
    e->distinct = 0;
    for (uint32_t i = 0; i < e->params.experts; i++) {
        if (e->first[i + 1] > 0) {
            e->chosen[e->distinct++] = i;
        }
        e->first[i + 1] += e->first[i];
    }
    for (size_t i = 0; i < count; i++) { // first[] moves to each expert's end
        uint32_t slot = e->first[e->ids[i]]++;
        e->slots[i] = slot;
        e->row_of[slot] = (uint32_t)(i / e->params.used);
    }
    memmove(e->first + 1, e->first, e->params.experts * sizeof *e->first);
    e->first[0] = 0;
}

static bool is_among(const uint32_t *ids, unsigned count, uint32_t id)
{
    for (unsigned i = 0; i < count; i++) {
        if (ids[i] == id) {
            return true;
        }
    }
    return false;
}

void experts_route_randomly(struct experts *experts, unsigned rows, uint64_t *state)
{
    struct experts *e = experts;
    unsigned used = e->params.used;
    unsigned last = e->params.experts - 1;
    for (size_t i = 0; i < (size_t)rows * used;) {
        uint32_t *row = e->ids + i / used * used;
        double at = ((double)line_random(state) + 1) / 2;
        uint32_t id = (uint32_t)fmin(at * e->params.experts, last);
        if (!is_among(row, (unsigned)(i % used), id)) {
            e->ids[i] = id;
            e->weights[i] = 1.0F / (float)used;
            i++;
        }
    }
    experts_route(e, rows);
}

static void view(struct linear *out, size_t *offset, const struct experts *e,
                 const struct bank *bank, unsigned i)
{
    uint32_t expert = e->chosen[i];
    bank_view(out, bank, e->first[expert], e->first[expert + 1] - e->first[expert]);
    *offset = bank_offset(bank, expert);
}

void experts_up_view(struct linear *out, size_t *offset, const struct experts *experts, unsigned i)
{
    view(out, offset, experts, &experts->up, i);
}

void experts_down_view(struct linear *out, size_t *offset, const struct experts *experts,
                       unsigned i)
{
    view(out, offset, experts, &experts->down, i);
    *offset += experts->down_offset;
}

// The columns of x that a thread packs.
static size_t first_column(const struct linear *l, unsigned thread)
{
    size_t column = l->units * thread / l->params.threads * l->layout->unit_ks;
    return column < l->params.k ? column : l->params.k;
}

void experts_gather(const struct experts *experts, unsigned thread, const float *x, size_t ldx)
{
    for (unsigned i = 0; i < experts->distinct; i++) {
        struct linear up;
        size_t offset = 0;
        experts_up_view(&up, &offset, experts, i);
        const uint32_t *rows = experts->row_of + experts->first[experts->chosen[i]];
        size_t begin = first_column(&up, thread);
        size_t count = first_column(&up, thread + 1) - begin;
        for (unsigned b = 0; b < up.params.batch; b++) {
            memcpy(up.x + b * up.ldx + begin, x + rows[b] * ldx + begin, count * sizeof *x);
        }
        linear_pack(&up, thread);
    }
}

// The compute-only twin multiplies by the first matrix whatever expert is asked for.
void experts_up(const struct experts *experts, unsigned thread, const unsigned char *memory,
                enum linear_mode mode)
{
    for (unsigned i = 0; i < experts->distinct; i++) {
        struct linear up;
        size_t offset = 0;
        experts_up_view(&up, &offset, experts, i);
        offset = mode == LINEAR_COMPUTE_ONLY ? 0 : offset;
        linear_multiply_mode(&up, thread, memory + offset, mode);
    }
}

void experts_down(const struct experts *experts, unsigned thread, const unsigned char *memory,
                  enum linear_mode mode)
{
    for (unsigned i = 0; i < experts->distinct; i++) {
        struct linear down;
        size_t offset = 0;
        experts_down_view(&down, &offset, experts, i);
        offset = mode == LINEAR_COMPUTE_ONLY ? experts->down_offset : offset;
        linear_multiply_mode(&down, thread, memory + offset, mode);
    }
}

// One row's columns begin .. begin + count - 1; bias is the expert's, of up.
static void activate_row(const struct experts *e, float *out, float *gate, const float *bias,
                         size_t count)
{
    const struct elementwise *ew = e->elementwise;
    bool gated = e->params.gated;
    size_t width = e->params.down.k;
    if (bias != NULL) {
        ew->add(gate, bias, count);
        if (gated) {
            ew->add(gate + width, bias + width, count);
        }
    }
    ew->activate[e->params.activation][gated](out, gate, gated ? gate + width : gate, count);
}

void experts_activate(const struct experts *experts, unsigned thread,
                      const struct experts_biases *biases)
{
    for (unsigned i = 0; i < experts->distinct; i++) {
        struct linear up;
        struct linear down;
        size_t offset = 0;
        experts_up_view(&up, &offset, experts, i);
        experts_down_view(&down, &offset, experts, i);
        size_t begin = first_column(&down, thread);
        size_t count = first_column(&down, thread + 1) - begin;
        const float *bias =
            biases->up == NULL ? NULL : biases->up + experts->chosen[i] * up.params.n + begin;
        for (unsigned b = 0; b < up.params.batch; b++) {
            activate_row(experts, down.x + b * down.ldx + begin, up.y + b * up.ldy + begin, bias,
                         count);
        }
        linear_pack(&down, thread);
    }
}

static void add_weighted(float *out, const float *y, float weight, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        out[i] += weight * y[i];
    }
}

void experts_combine(const struct experts *experts, float *out, unsigned row,
                     const struct experts_biases *biases)
{
    const struct experts *e = experts;
    size_t d = e->params.down.n;
    for (unsigned j = 0; j < e->params.used; j++) {
        size_t i = (size_t)row * e->params.used + j;
        add_weighted(out, e->down.y + e->slots[i] * e->down.form->ldy, e->weights[i], d);
        if (biases->down != NULL) {
            add_weighted(out, biases->down + e->ids[i] * d, e->weights[i], d);
        }
    }
}

static double check_view(const struct linear *l, size_t offset, unsigned char *const *memory,
                         uint64_t rows)
{
    const unsigned char **at = calloc(l->params.threads, sizeof *at);
    if (at == NULL) {
        return HUGE_VAL;
    }
    for (unsigned t = 0; t < l->params.threads; t++) {
        at[t] = memory[t] + offset;
    }
    double error = linear_check(l, at, rows);
    free(at);
    return error;
}

double experts_check(const struct experts *experts, unsigned char *const *memory, uint64_t rows,
                     unsigned most)
{
    unsigned count = experts->distinct < most ? experts->distinct : most;
    double worst = 0;
    for (unsigned i = 0; i < count; i++) {
        struct linear l;
        size_t offset = 0;
        unsigned at = count == 1 ? 0 : i * (experts->distinct - 1) / (count - 1);
        experts_up_view(&l, &offset, experts, at);
        worst = fmax(worst, check_view(&l, offset, memory, rows));
        experts_down_view(&l, &offset, experts, at);
        worst = fmax(worst, check_view(&l, offset, memory, rows));
    }
    return worst;
}

double experts_tolerance(const struct experts *experts)
{
    return fmax(linear_tolerance(experts->up.form), linear_tolerance(experts->down.form));
}

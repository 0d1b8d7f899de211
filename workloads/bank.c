#include "workloads/bank.h"

#include "workloads/line_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *zeroed(uint64_t rows, size_t row_bytes)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(rows, row_bytes, &bytes) || bytes > SIZE_MAX - LINE_BYTES) {
        return NULL;
    }
    bytes = (bytes + LINE_BYTES) / LINE_BYTES * LINE_BYTES;
    void *p = aligned_alloc(LINE_BYTES, bytes);
    if (p != NULL) {
        memset(p, 0, bytes);
    }
    return p;
}

struct status bank_create(struct bank *out, const struct bank_params *params)
{
    struct linear_params linear = params->linear;
    linear.batch = 1;
    linear.threads = params->whole ? 1 : params->linear.threads;
    *out = (struct bank){.count = params->count,
                         .threads = params->linear.threads,
                         .whole = params->whole,
                         .slots = params->slots};
    TRY(linear_create(&out->form, &linear));
    out->stride = linear_thread_bytes(out->form, 0);
    out->x = zeroed(out->slots, out->form->ldx * sizeof *out->x);
    out->packed = zeroed(out->slots, out->form->ldx * sizeof *out->x);
    out->y = zeroed(out->slots, out->form->ldy * sizeof *out->y);
    if (out->x == NULL || out->packed == NULL || out->y == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for the activations of %u matrices",
                            out->count);
    }
    return status_ok();
}

void bank_destroy(struct bank *bank)
{
    linear_destroy(bank->form);
    free(bank->x);
    free(bank->packed);
    free(bank->y);
    memset(bank, 0, sizeof *bank);
}

size_t bank_thread_bytes(const struct bank *bank)
{
    size_t threads = bank->threads;
    size_t held = bank->whole ? (bank->count + threads - 1) / threads : bank->count;
    return held * bank->stride;
}

size_t bank_slot_bytes(const struct bank *bank)
{
    return bank->slots * (2 * bank->form->ldx + bank->form->ldy) * sizeof(float);
}

uint64_t bank_matrix_bytes(const struct bank *bank)
{
    return linear_stored_bytes(bank->form);
}

unsigned bank_first(const struct bank *bank, unsigned thread)
{
    return (unsigned)((uint64_t)bank->count * thread / bank->threads);
}

// Where matrices are whole, their owner's first is at 0.
size_t bank_offset(const struct bank *bank, unsigned matrix)
{
    unsigned thread = 0;
    while (bank->whole && matrix >= bank_first(bank, thread + 1)) {
        thread++;
    }
    return (matrix - (bank->whole ? bank_first(bank, thread) : 0)) * bank->stride;
}

void bank_view(struct linear *out, const struct bank *bank, uint64_t first, unsigned rows)
{
    const struct linear *form = bank->form;
    linear_view(out, form, rows, bank->x + first * form->ldx,
                bank->packed + first * form->ldx * sizeof *bank->x, bank->y + first * form->ldy);
}

void bank_fill(const struct bank *bank, unsigned thread, unsigned char *memory, uint64_t seed)
{
    const struct linear *form = bank->form;
    float amplitude = (float)sqrt(3.0 / (double)form->params.k);
    unsigned held = bank->count;
    if (bank->whole) {
        held = bank_first(bank, thread + 1) - bank_first(bank, thread);
    }
    size_t bytes = linear_thread_bytes(form, bank->whole ? 0 : thread);
    size_t step = form->layout->head_lines > 0 ? form->group_bytes : bytes;
    for (unsigned i = 0; i < held; i++) {
        unsigned char *at = memory + i * bank->stride;
        for (size_t done = 0; done < bytes; done += step) {
            line_fill_weights(form->params.format, at + done, step, amplitude,
                              seed + (uint64_t)i * bank->stride + done);
        }
    }
}

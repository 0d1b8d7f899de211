#include "workloads/ceiling_check.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t type_bytes(enum compute_type type)
{
    switch (type) {
    case COMPUTE_F64:
        return 8;
    case COMPUTE_F32:
    case COMPUTE_I32:
        return 4;
    case COMPUTE_F16:
    case COMPUTE_BF16:
        return 2;
    case COMPUTE_S8:
    case COMPUTE_U8:
        break;
    }
    return 1;
}

// Upper half of an f32: exact for the few-bit values used here.
static uint16_t bf16_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

// IEEE binary16 of zero or a normal value with at most 11 significant bits.
static uint16_t f16_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t exponent = bits >> 23 & 0xffu;
    return exponent == 0 ? (uint16_t)sign
                         : (uint16_t)(sign | (exponent - 112) << 10 | (bits >> 13 & 0x3ffu));
}

static double f16_value(uint16_t bits)
{
    int exponent = bits >> 10 & 0x1f;
    double mantissa = bits & 0x3ff;
    double value = exponent == 0 ? ldexp(mantissa, -24) : ldexp(mantissa + 1024, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

static void store_value(unsigned char *vector, size_t i, enum compute_type type, double value)
{
    float single = (float)value;
    uint16_t half = type == COMPUTE_F16 ? f16_of(single) : bf16_of(single);
    int8_t byte = (int8_t)value;
    switch (type) {
    case COMPUTE_F64:
        memcpy(vector + 8 * i, &value, 8);
        return;
    case COMPUTE_F32:
        memcpy(vector + 4 * i, &single, 4);
        return;
    case COMPUTE_F16:
    case COMPUTE_BF16:
        memcpy(vector + 2 * i, &half, 2);
        return;
    case COMPUTE_S8:
    case COMPUTE_U8:
        memcpy(vector + i, &byte, 1); // u8 values stay below 128
        return;
    case COMPUTE_I32:
        break;
    }
    assert(type != COMPUTE_I32); // no operand has it
}

static double load_value(const unsigned char *vector, size_t i, enum compute_type type)
{
    double value = 0;
    float single = 0;
    int32_t word = 0;
    uint16_t half = 0;
    switch (type) {
    case COMPUTE_F64:
        memcpy(&value, vector + 8 * i, 8);
        return value;
    case COMPUTE_F32:
        memcpy(&single, vector + 4 * i, 4);
        return (double)single;
    case COMPUTE_I32:
        memcpy(&word, vector + 4 * i, 4);
        return word;
    case COMPUTE_F16:
        memcpy(&half, vector + 2 * i, 2);
        return f16_value(half);
    case COMPUTE_BF16:
        memcpy(&half, vector + 2 * i, 2);
        word = (int32_t)((uint32_t)half << 16);
        memcpy(&single, &word, 4);
        return (double)single;
    case COMPUTE_S8:
        return (int8_t)vector[i];
    case COMPUTE_U8:
        break;
    }
    return vector[i];
}

// Multiples of 1/8 and 1/4 (integers for bytes): products are multiples of 1/32 below 1/2, exact
// in every accumulator for about a hundred additions. x of a recurrence is 1 or -1.
static double value_x(const struct compute_kernel *kernel, size_t i)
{
    if (kernel->meaning == COMPUTE_RECURRENCE) {
        return i % 3 == 0 ? -1 : 1;
    }
    double value = (double)(i % 7 + 1);
    return kernel->integer_operations ? value : value / 8;
}

static double value_y(const struct compute_kernel *kernel, size_t i)
{
    double value = (double)(i % 5) - 2;
    value = value < 0.5 && value > -0.5 ? 1 : value;
    return kernel->integer_operations ? value : value / 4;
}

void compute_state_fill(struct compute_state *state, const struct compute_kernel *kernel,
                        size_t vector_bytes)
{
    assert(vector_bytes <= COMPUTE_VECTOR_BYTES);
    assert(vector_bytes * kernel->chains <= COMPUTE_SUMS_BYTES);
    memset(state, 0, sizeof *state);
    state->clock_word = 3;
    for (size_t i = 0; i < vector_bytes / type_bytes(kernel->operand_x); i++) {
        store_value(state->x, i, kernel->operand_x, value_x(kernel, i));
    }
    for (size_t i = 0; i < vector_bytes / type_bytes(kernel->operand_y); i++) {
        store_value(state->y, i, kernel->operand_y, value_y(kernel, i));
    }
}

// Sum over count products of x[from_x + j] y[from_y + j].
static double dot(const struct compute_state *state, const struct compute_kernel *kernel,
                  size_t from_x, size_t from_y, size_t count)
{
    double sum = 0;
    for (size_t j = 0; j < count; j++) {
        sum += load_value(state->x, from_x + j, kernel->operand_x) *
               load_value(state->y, from_y + j, kernel->operand_y);
    }
    return sum;
}

static double tile_dot(const struct compute_state *state, const struct compute_kernel *kernel,
                       size_t lane, size_t per_lane)
{
    enum { TILE = 16 };
    size_t row = lane / TILE;
    size_t column = lane % TILE;
    double sum = 0;
    for (size_t k = 0; k < TILE; k++) {
        sum += dot(state, kernel, (row * TILE + k) * per_lane, (k * TILE + column) * per_lane,
                   per_lane);
    }
    return sum;
}

// What one instruction adds to a lane of its accumulator (for a recurrence: makes of `sum`).
static double reference_step(const struct compute_state *state, const struct compute_kernel *kernel,
                             size_t lane, double sum)
{
    size_t per_lane = type_bytes(kernel->sum) / type_bytes(kernel->operand_x);
    size_t row = 8 / type_bytes(kernel->operand_x);
    size_t block = lane / 4 * 2 * row; // operands of a 128-bit block: two rows of 8 bytes
    switch (kernel->meaning) {
    case COMPUTE_RECURRENCE:
        return sum * load_value(state->x, lane, kernel->operand_x) +
               load_value(state->y, lane, kernel->operand_y);
    case COMPUTE_FMA:
    case COMPUTE_DOT:
        return sum + dot(state, kernel, lane * per_lane, lane * per_lane, per_lane);
    case COMPUTE_MMLA:
        return sum + dot(state, kernel, block + lane % 4 / 2 * row, block + lane % 2 * row, row);
    case COMPUTE_TILE:
        break;
    }
    return sum + tile_dot(state, kernel, lane, per_lane);
}

static struct status compare_sums(const struct compute_state *state,
                                  const struct compute_kernel *kernel, size_t vector_bytes)
{
    size_t lanes = vector_bytes / type_bytes(kernel->sum);
    unsigned steps = COMPUTE_CHECK_ITERATIONS * kernel->instructions / kernel->chains;
    for (size_t lane = 0; lane < lanes; lane++) {
        double want = 0;
        for (unsigned s = 0; s < steps; s++) {
            want = reference_step(state, kernel, lane, want);
        }
        for (unsigned chain = 0; chain < kernel->chains; chain++) {
            double got = load_value(state->sums, chain * lanes + lane, kernel->sum);
            if (!(fabs(got - want) <= 0)) {
                return status_error(STATUS_MISMATCH,
                                    "%s with %u chains: lane %zu of sum %u is %.9g, want %.9g",
                                    kernel->class_, kernel->chains, lane, chain, got, want);
            }
        }
    }
    return status_ok();
}

struct status compute_kernel_check(const struct compute_kernel *kernel, uint32_t sve_bytes)
{
    struct compute_state state;
    size_t vector_bytes = kernel->vector_bytes != 0 ? kernel->vector_bytes : sve_bytes;
    if (kernel->prepare != NULL && !kernel->prepare()) {
        return status_error(STATUS_UNAVAILABLE, "%s: the kernel does not grant its registers",
                            kernel->class_);
    }
    compute_state_fill(&state, kernel, vector_bytes);
    kernel->run(&state, COMPUTE_CHECK_ITERATIONS);
    TRY(compare_sums(&state, kernel, vector_bytes));
    for (size_t i = 0; i < COMPUTE_CLOCKS; i++) {
        if (kernel->clocked[i] != NULL) {
            compute_state_fill(&state, kernel, vector_bytes);
            kernel->clocked[i](&state, COMPUTE_CHECK_ITERATIONS);
            TRY(compare_sums(&state, kernel, vector_bytes));
        }
    }
    return status_ok();
}

enum { CHECK_BYTES = 4 * STREAM_BLOCK, CHECK_PASSES = 3, CHECK_COUNT = CHECK_BYTES / 8 };

static double expected_element(const struct stream_kernel *kernel, const double *from,
                               const double *plus, double scalar, size_t i)
{
    const char *name = kernel->kernel;
    if (strncmp(name, "store", 5) == 0) {
        return scalar;
    }
    if (strncmp(name, "copy", 4) == 0) {
        return from[i];
    }
    if (strcmp(name, "scale") == 0) {
        return scalar * from[i];
    }
    return strcmp(name, "add") == 0 ? from[i] + plus[i] : from[i] + scalar * plus[i];
}

static struct status compare_stream(const struct stream_kernel *kernel,
                                    const struct stream_slice *slice)
{
    uint64_t sink = 0;
    for (size_t i = 0; i < CHECK_COUNT; i++) {
        uint64_t word = 0;
        memcpy(&word, &slice->to[i], sizeof word);
        sink ^= word; // an odd number of passes leaves the XOR of one
        double want = expected_element(kernel, slice->from, slice->plus, slice->scalar, i);
        if (strcmp(kernel->kernel, "load") != 0 && !(fabs(slice->to[i] - want) <= 0)) {
            return status_error(STATUS_MISMATCH, "%s %s: element %zu is %.17g, want %.17g",
                                kernel->kernel, kernel->variant, i, slice->to[i], want);
        }
    }
    if (strcmp(kernel->kernel, "load") == 0 && slice->sink != sink) {
        return status_error(STATUS_MISMATCH, "load %s: words XOR to %#llx, want %#llx",
                            kernel->variant, (unsigned long long)slice->sink,
                            (unsigned long long)sink);
    }
    return status_ok();
}

struct status stream_kernel_check(const struct stream_kernel *kernel)
{
    double *memory = aligned_alloc(64, (size_t)3 * CHECK_BYTES);
    if (memory == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to check %s", kernel->kernel);
    }
    // Small integers: products and sums are exact, fused or not.
    for (size_t i = 0; i < (size_t)3 * CHECK_COUNT; i++) {
        memory[i] = (double)((i * 7919 + i / 512) % 1000) + 1;
    }
    struct stream_slice slice = {.to = memory,
                                 .from = memory + CHECK_COUNT,
                                 .plus = memory + (size_t)2 * CHECK_COUNT,
                                 .bytes = CHECK_BYTES,
                                 .passes = CHECK_PASSES,
                                 .scalar = 3};
    kernel->run(&slice);
    struct status status = compare_stream(kernel, &slice);
    free(memory);
    return status;
}

enum verdict { VERDICT_NOT_RUN, VERDICT_RUNNING, VERDICT_PASSED, VERDICT_FAILED };

static void check_from(unsigned char *verdicts, const struct compute_kernel *const *kernels,
                       size_t count, uint32_t sve_bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (verdicts[i] == VERDICT_NOT_RUN) {
            verdicts[i] = VERDICT_RUNNING;
            bool passed = status_is_ok(compute_kernel_check(kernels[i], sve_bytes));
            verdicts[i] = passed ? VERDICT_PASSED : VERDICT_FAILED;
        }
    }
}

// A child that dies leaves the kernel it ran marked; the next child goes on after it.
static struct status check_in_children(unsigned char *verdicts,
                                       const struct compute_kernel *const *kernels, size_t count,
                                       uint32_t sve_bytes)
{
    for (size_t tries = 0; tries <= count; tries++) {
        pid_t child = fork();
        if (child < 0) {
            return status_error(STATUS_SYSTEM, "cannot start a process to check kernels in: %s",
                                strerror(errno));
        }
        if (child == 0) {
            (void)signal(SIGILL, SIG_DFL); // a caller's handler would go on where it must end
            (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
            check_from(verdicts, kernels, count, sve_bytes);
            _exit(0);
        }
        int ended = 0;
        while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
        }
        if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) {
            break;
        }
    }
    return status_ok();
}

struct status compute_kernels_verify(bool *passed, const struct compute_kernel *const *kernels,
                                     size_t count, uint32_t sve_bytes)
{
    memset(passed, 0, count * sizeof *passed);
    if (count == 0) {
        return status_ok();
    }
    unsigned char *verdicts =
        mmap(NULL, count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (verdicts == MAP_FAILED) {
        return status_error(STATUS_SYSTEM, "no memory to check kernels: %s", strerror(errno));
    }
    struct status status = check_in_children(verdicts, kernels, count, sve_bytes);
    for (size_t i = 0; i < count; i++) {
        passed[i] = verdicts[i] == VERDICT_PASSED;
    }
    (void)munmap(verdicts, count);
    return status;
}

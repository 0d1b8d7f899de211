#ifndef WORKLOADS_EXPERTS_H
#define WORKLOADS_EXPERTS_H

/** The routed experts of a layer: for every expert that some row was sent to, gate and up as one
 *  product on its rows, the activation, down; then each row's weighted sum. Only the distinct
 *  experts' weights are read, each once. Every matrix is spread over all threads.
 *
 *  A pass: experts_route() by one thread; then, each ended by a team barrier of the caller's,
 *  experts_gather(), experts_up(), experts_activate(), experts_down(), experts_combine(). */

#include "workloads/bank.h"
#include "workloads/elementwise.h"

struct experts_params {
    struct linear_params up;   /**< n = width, twice if gated (gates first); k = d */
    struct linear_params down; /**< n = d, k = width */
    unsigned experts;
    unsigned used;
    unsigned rows; /**< at most, up to LINEAR_BATCH_MAX */
    bool gated;
    enum elementwise_activation activation;
};

/** Biases of all experts, [experts][n of up] and [experts][d]; NULL: none. */
struct experts_biases {
    const float *up;
    const float *down;
};

struct experts {
    struct experts_params params;
    const struct elementwise *elementwise;
    struct bank up, down;
    size_t down_offset; /**< of the downs in each thread's memory */
    unsigned rows;      /**< of the pass at hand */
    uint32_t *ids;      /**< [rows][used]: where each row is sent; filled before experts_route() */
    float *weights;     /**< [rows][used], likewise */
    uint32_t *slots;    /**< [rows][used] */
    uint32_t *row_of;   /**< [slots] */
    uint32_t *first;    /**< [experts + 1]: first slot of each */
    uint32_t *chosen;   /**< [distinct]: experts with rows, rising */
    uint32_t distinct;
};

/** Errors: as linear_create(); INVALID for counts out of range. The caller destroys it. */
CHECKED struct status experts_create(struct experts **out, const struct experts_params *params);
void experts_destroy(struct experts *experts);

size_t experts_thread_bytes(const struct experts *experts);
size_t experts_activation_bytes(const struct experts *experts);

/** Bytes of one expert as stored, over all threads. */
uint64_t experts_stored_bytes(const struct experts *experts);

void experts_fill(const struct experts *experts, unsigned thread, unsigned char *memory,
                  uint64_t seed);

/** Gives every chosen (row, expert) of ids its slot; by one thread, the others waiting. */
void experts_route(struct experts *experts, unsigned rows);

/** Draws `used` distinct experts for each of `rows` rows, equal weights, and routes them. */
void experts_route_randomly(struct experts *experts, unsigned rows, uint64_t *state);

/** The thread's columns of x[rows][ldx] into the slots, packed. */
void experts_gather(const struct experts *experts, unsigned thread, const float *x, size_t ldx);

/** memory is the thread's share; a twin's mode does what it does in linear_run(). */
void experts_up(const struct experts *experts, unsigned thread, const unsigned char *memory,
                enum linear_mode mode);
void experts_activate(const struct experts *experts, unsigned thread,
                      const struct experts_biases *biases);
void experts_down(const struct experts *experts, unsigned thread, const unsigned char *memory,
                  enum linear_mode mode);

/** out[d] += the weighted sum of a row. */
void experts_combine(const struct experts *experts, float *out, unsigned row,
                     const struct experts_biases *biases);

/** The product of the i-th chosen expert, and where its matrix starts in each thread's memory. */
void experts_up_view(struct linear *out, size_t *offset, const struct experts *experts, unsigned i);
void experts_down_view(struct linear *out, size_t *offset, const struct experts *experts,
                       unsigned i);

/** The largest error of the products of at most `most` chosen experts, as linear_check(), and its
 *  bound. memory[t] is thread t's share. */
double experts_check(const struct experts *experts, unsigned char *const *memory, uint64_t rows,
                     unsigned most);
double experts_tolerance(const struct experts *experts);

#endif

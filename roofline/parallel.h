#ifndef ROOFLINE_PARALLEL_H
#define ROOFLINE_PARALLEL_H

/** Tensor parallelism: a model's decode split over ranks that each hold a part of every matrix
 *  (Shoeybi et al., Megatron-LM, arXiv:1909.08053, section 3): Q, K, V, gate and up by outputs,
 *  the attention's and the MLP's last matrix by inputs, so that two all-reduces of the batch's
 *  hidden vectors are needed a layer; the head by rows of the vocabulary, padded to a whole
 *  number. Norms and look-ups are done by every rank. Pure arithmetic. */

#include "roofline/model.h"
#include "roofline/status.h"

#include <stddef.h>
#include <stdint.h>

/** The model that each of `ranks` ranks computes, a checked one. Errors: INVALID, with the rank
 *  counts that are accepted, if heads, key-value heads or the MLP's width do not divide, or a
 *  rank's rows would be no whole blocks of their type; UNAVAILABLE for experts and latent
 *  attention, whose split is another. */
CHECKED struct status parallel_shard(struct model *out, const struct model *model, unsigned ranks);

/** All-reduces of a decode step of that many layers, and the bytes of each: hidden vectors of the
 *  batch in f32. */
uint64_t parallel_reduces(uint64_t layers);
uint64_t parallel_reduce_bytes(const struct model *model, uint64_t batch);

enum parallel_bound { PARALLEL_MEMORY, PARALLEL_COMPUTE, PARALLEL_NETWORK, PARALLEL_IMBALANCE };

/** Where the time of a measured step went. The last rank to arrive at an all-reduce waits for
 *  nobody: the network's time is the least of all ranks', and what the slowest rank works longer
 *  than the mean is imbalance. */
struct parallel_shares {
    double work_seconds;      /**< sum over segments of the ranks' mean */
    double imbalance_seconds; /**< sum over segments of slowest less mean */
    double network_seconds;   /**< sum over segments of the shortest all-reduce */
    double seconds;           /**< all three */
};

/** times[ranks][2][segments]: each rank's seconds of work before each all-reduce, then of the
 *  all-reduces. */
void parallel_split(struct parallel_shares *out, const double *times, size_t ranks,
                    size_t segments);

/** The largest part; of work, what the roofs say takes longer. */
enum parallel_bound parallel_verdict(const struct parallel_shares *shares, double memory_seconds,
                                     double compute_seconds);

/** "memory", "compute", "network", "imbalance". Static text. */
const char *parallel_bound_name(enum parallel_bound bound);

#endif

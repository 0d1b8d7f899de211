#ifndef WORKLOADS_CHASE_H
#define WORKLOADS_CHASE_H

/** Latency by following pointers: each load gives the address of the next, so that nothing can
 *  overlap or be fetched ahead. One pointer a cache line, in an order of no pattern. */

#include <stddef.h>
#include <stdint.h>

enum { CHASE_LINE_BYTES = 64 };

/** Writes a path through `lines` different lines of the bytes at base (64-byte aligned, at least
 *  two lines) and closes it to a cycle; lines above what fits are cut. Nothing else of the memory
 *  is written. Returns the start; *placed (may be NULL) is the number of lines on the path. */
void *chase_build(size_t *placed, unsigned char *base, size_t bytes, size_t lines);

/** Follows steps pointers from start; returns where it ends, which the caller must use. */
void *chase_follow(void *start, uint64_t steps);

/** Place of the i-th line in an order of no pattern: a bijection of 0 .. 2^bits - 1. */
uint64_t chase_scatter(uint64_t i, unsigned bits);

#endif

#ifndef LMROOF_H
#define LMROOF_H

/** Marks regions of your own program for `lmroof exec --markers -- PROGRAM`, which places each on
 *  the roofline. Link with -llmroof (and -pthread). Where the program runs without lmroof, a mark
 *  is one load and one branch; compiled with LMROOF_OFF it is nothing.
 *
 *      lmroof_begin("gemv");                    // in every thread that works
 *      gemv(y, a, x, m, n);
 *      lmroof_work("gemv", 2.0 * m * n, 4.0 * m * n);  // once, or each thread its share
 *      lmroof_end("gemv");
 *
 *  A region's name is text that lives as long as the program, of 1 to 47 bytes without blanks or
 *  control characters; at most 64 regions. Regions may nest; a thread ends what it began, last
 *  first. Its seconds are those in which at least one thread was inside. */

#ifdef __cplusplus
extern "C" {
#endif

/** Nonzero under `lmroof exec --markers`. Not for programs to change. */
extern int lmroof_markers_on;

void lmroof_marker_begin(const char *region);
void lmroof_marker_end(const char *region);
void lmroof_marker_work(const char *region, double flop, double bytes);

/** This thread enters the region. */
static inline void lmroof_begin(const char *region)
{
#ifndef LMROOF_OFF
    if (lmroof_markers_on) {
        lmroof_marker_begin(region);
    }
#else
    (void)region;
#endif
}

/** This thread leaves the region. */
static inline void lmroof_end(const char *region)
{
#ifndef LMROOF_OFF
    if (lmroof_markers_on) {
        lmroof_marker_end(region);
    }
#else
    (void)region;
#endif
}

/** Work that was done in the region, beyond what was told before: operations, a multiply-add
 *  counting two, and bytes that had to come from or go to memory. */
static inline void lmroof_work(const char *region, double flop, double bytes)
{
#ifndef LMROOF_OFF
    if (lmroof_markers_on) {
        lmroof_marker_work(region, flop, bytes);
    }
#else
    (void)region;
    (void)flop;
    (void)bytes;
#endif
}

#ifdef __cplusplus
}
#endif

#endif

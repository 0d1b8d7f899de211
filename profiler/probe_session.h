#ifndef PROFILER_PROBE_SESSION_H
#define PROFILER_PROBE_SESSION_H

/** The inside of a probe, shared by the probe_*.c files alone. */

#include "profiler/ceiling.h"
#include "profiler/probe.h"
#include "profiler/probe_plan.h"
#include "profiler/probe_samples.h"
#include "profiler/witness.h"
#include "workloads/line.h"

/** All of one probe. */
struct probe {
    const struct probe_options *options;
    const struct probe_host *host;
    struct result_run *run;
    struct probe_extras *extras;
    struct ceiling_kernels kernels;
    struct probe_plan plan;
    struct arena arena;
    /** The machine with the levels of a sweep where it tells no sane sizes; host->machine then is
     *  this one. */
    struct machine swept;
    char why_sweep[128];    // what is missing or absurd; "": nothing
    bool dram;              // the arena is large enough for it
    bool filled;            // the arena was touched
    double deadline;        // CLOCK_MONOTONIC seconds
    struct limit limit;     // the signal and the deadline
    bool over_budget;       // something was left out
    char left_out[160];     // what, as far as it fits
    bool left_out_more;     // than fits
    bool latency_done;      // one thread chases, whatever the team: once is enough
    struct probe_view seen; // by all sessions
};

/** Samples that a roof's figure has, each the best of the windows of a seventh of the rounds; and
 *  how many rounds there are if the time allows. */
enum { PROBE_LEAST = 7, PROBE_ROUNDS = 12 * PROBE_LEAST };

/** A team at work in the arena. */
struct probe_session {
    struct team *team;
    struct ceilings *ceilings;
    struct witness *witness;
    struct witness_look last; /**< after the latest sample */
    struct probe_pace best;   /**< of the witness, so far */
    struct probe_view view;   /**< of its roofs */
    unsigned cpus[MACHINE_CPUS_MAX];
    unsigned threads;
};

/** Starts a session of these threads; the arena is filled by the first one, and again for each
 *  team on a machine of several nodes (first touch places the pages). */
CHECKED struct status probe_session_open(struct probe_session *out, struct probe *probe,
                                         const unsigned *cpus, unsigned threads);
void probe_session_close(struct probe_session *session);

/** Waits, at most a millisecond, while a neighbour is seen on the threads' cores. */
void probe_session_await(struct probe_session *session);

/** Keeps a sample that was just taken, with a look at the threads after it. */
void probe_session_keep(struct probe_session *session, struct probe_samples *samples, double per_s,
                        double core_hz, const struct interference_signs *signs);

/** INTERRUPTED once a signal was seen. */
CHECKED struct status probe_interrupted(const struct probe *probe);

/** Remembers what is missing because the time was up: "L2 store". */
void probe_leave_out(struct probe *probe, const char *first, const char *second);

/** False once the deadline is past: then that is missing, and remembered. */
bool probe_has_time_for(struct probe *probe, const char *first, const char *second);

/** The status that measuring something ended with; OK, and the thing remembered as missing, if that
 *  was for want of time. */
CHECKED struct status probe_in_time(struct probe *probe, struct status status, const char *first,
                                    const char *second);

void probe_progress(const struct probe *probe, const char *what);

/** Samples that a ceiling gets. */
unsigned probe_repeats(const struct probe *probe);

/** Bandwidth, compute and GEMM roofs of one team and, once, the caches' latency: chosen one after
 *  the other, then sampled in rounds, so that a disturbance hits all of them a little instead of
 *  one of them fully. brief: only DRAM
 *  load and the widest arithmetic. */
CHECKED struct status probe_roofs(struct probe *probe, struct probe_session *session, bool brief);

/** True if --dtype has it, or was not given. */
bool probe_dtype_asked(const struct probe_options *options, const char *dtype);

/** True if products of that format's weights are asked for: block formats by their operands, int8.
 */
bool probe_format_asked(const struct probe *probe, enum line_format format);

CHECKED struct status probe_kernels(struct probe *probe, struct probe_session *session);
/** The parts of steps (step_parts.h). Once, of the first team; the arena holds doubles again
 *  afterwards. */
CHECKED struct status probe_reads(struct probe *probe, struct probe_session *session);
CHECKED struct status probe_attention(struct probe *probe, struct probe_session *session);
CHECKED struct status probe_scaling(struct probe *probe);
CHECKED struct status probe_latency(struct probe *probe, struct probe_session *session);
CHECKED struct status probe_numa(struct probe *probe);
CHECKED struct status probe_sweep(struct probe *probe, struct probe_session *session);

/** Before all else, where the machine tells no sane sizes: the sweep decides what the levels are.
 */
CHECKED struct status probe_sweep_first(struct probe *probe, struct probe_session *session);

/** Warnings about the roofs that were measured: order of the levels, physics, GEMM far below the
 *  FMA peak, cpus further apart than the topology tells, and one about all unsteady figures. */
void probe_check_roofs(struct result_run *run, const struct machine *machine,
                       const struct probe_view *seen);

#endif

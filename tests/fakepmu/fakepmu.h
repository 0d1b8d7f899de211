#ifndef TESTS_FAKEPMU_FAKEPMU_H
#define TESTS_FAKEPMU_FAKEPMU_H

/** A PMU that counts what a script says, for machines without one: preloaded under the real PAPI,
 *  libpfm4 and program, it answers perf_event_open(2) and what goes with it, the files below /sys
 *  and /proc that decide about counters, and CPUID while PAPI looks for its PMU.
 *
 *  FAKEPMU_SCRIPT  file of lines, '#' starts a comment:
 *    WHO TYPE CONFIG CONFIG1 RULE VALUE    numbers in any base, '*' stands for any
 *      WHO   '*', a thread's name (known-work kernels name their thread), or @N for the N-th
 *            thread that opened an event (the first one is 0)
 *      RULE  step N      N more each time the event is enabled and disabled again
 *            work N      N more for every thread's set that ran while the event was enabled
 *            rate R      R more per nanosecond enabled
 *            of a foreign process (and of the system once there is one): rate R, and work N for
 *            every millisecond since it began
 *            back N      N fewer each time: a count that goes backwards
 *            from N      the count begins at N
 *            wrap B      the count wraps after B bits
 *            running F   it holds a counter for the fraction F of the time
 *            errno N     opening fails with errno N
 *            eof 0       reads give no bytes
 *            short 0     reads give half of the bytes
 *      For each kind the first rule that matches holds. An event without any is not there (ENOENT).
 *    counters N              a set may hold N events besides the fixed ones, else EINVAL
 *    stolen N                N of these are taken: what exceeds the rest is never scheduled
 *    fixed TYPE CONFIG       the event needs no general counter
 *    files N                 at most N events are open at once, else EMFILE
 *    cpuid EAX VENDOR        what CPUID leaf 1 and 0 tell to libpfm4 (x86)
 *    idle NAME               a set that runs while its thread has that name does no work
 *    hide PATH               the file or directory is not there
 *  FAKEPMU_ROOT    directory: files of /sys and /proc that exist below it are taken from there
 *  FAKEPMU_LOG     file: one line a call, for people */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fake_kind {
    FAKE_STEP,
    FAKE_WORK,
    FAKE_RATE,
    FAKE_BACK,
    FAKE_FROM,
    FAKE_WRAP,
    FAKE_RUNNING,
    FAKE_ERRNO,
    FAKE_EOF,
    FAKE_SHORT,
    FAKE_KINDS
};

/** What a script line asks about: an event as it was opened, and who works now. */
struct fake_question {
    uint32_t type;
    uint64_t config;
    uint64_t config1;
    char thread_name[16];
    int thread_index;
};

struct fake_script;

/** Reads a script; on a malformed line says so on stderr and ends the program: a test must not
 *  run with half a script. */
struct fake_script *fake_script_read(const char *path);

/** The value of the first rule of a kind that matches. */
bool fake_script_find(double *value, const struct fake_script *script, enum fake_kind kind,
                      const struct fake_question *question);

/** True if any rule that can count matches. */
bool fake_script_knows(const struct fake_script *script, const struct fake_question *question);

bool fake_script_is_fixed(const struct fake_script *script, uint32_t type, uint64_t config);
bool fake_script_is_idle(const struct fake_script *script, const char *thread_name);
bool fake_script_hides(const struct fake_script *script, const char *path);

struct fake_limits {
    unsigned counters; /**< 0: no limit */
    unsigned stolen;
    unsigned files;     /**< 0: no limit */
    unsigned cpuid_eax; /**< 0: CPUID is left alone */
    char vendor[13];
};
const struct fake_limits *fake_script_limits(const struct fake_script *script);

/** Answers CPUID for libpfm4 from now on until fake_cpuid_end(); nothing if eax is 0. */
void fake_cpuid_begin(const struct fake_limits *limits);
void fake_cpuid_end(void);

#endif

#ifndef PROFILER_PROCESS_FACTS_H
#define PROFILER_PROCESS_FACTS_H

/** What the kernel tells of a process from outside: its files below /proc (proc(5)). Untrusted
 *  text: a process names itself. */

#include <stdbool.h>
#include <stdint.h>

enum process_io { PROCESS_IO_KNOWN, PROCESS_IO_NOT_PERMITTED, PROCESS_IO_UNSUPPORTED };

/** Times, faults and storage bytes are of the process and of the children it has waited for, as
 *  the kernel adds them up; they only grow. */
struct process_facts {
    int pid;
    int parent;
    char name[32];        /**< of the program, cut to 15 bytes by the kernel */
    char state;           /**< R S D Z T ... */
    uint64_t start_ticks; /**< since boot: tells two processes of the same number apart */
    double user_seconds;  /**< in steps of the kernel's tick, 10 ms */
    double system_seconds;
    uint64_t minor_faults;
    uint64_t major_faults;
    unsigned threads;
    uint64_t rss_bytes;          /**< shared pages included */
    uint64_t voluntary_switches; /**< of the threads that exist now */
    uint64_t involuntary_switches;
    enum process_io io;
    uint64_t read_bytes; /**< from storage; 0 unless io is known */
    uint64_t write_bytes;
};

/** True for a process that has ended and waits for its parent to notice. */
bool process_is_zombie(const struct process_facts *facts);

/** Parent, state and start of a process: cheap. False if it is not there. root as in rootfs.h. */
bool process_identify(struct process_facts *out, const char *root, int pid);

/** Why its storage bytes are not known. Static text. */
const char *process_io_why(enum process_io io);

/** Everything. False if it is not there. */
bool process_read(struct process_facts *out, const char *root, int pid);

#endif

#include "profiler/watch.h"

#include "profiler/clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/** A watch in progress. */
struct watching {
    struct watch *out;
    const struct watch_options *options;
    double began;
    double next_seconds; // of the next sample
    int signal_fd;
    int process_fd; // readable when the foreign process has ended; -1: found out by samples
    sigset_t mask;  // as it was
};

static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

static double elapsed(const struct watching *w)
{
    return clock_seconds() - w->began;
}

// Every other sample goes: the sums grow, so that nothing but resolution is lost.
static void thin_out(struct watch *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i += 2) {
        out->samples[kept++] = out->samples[i];
    }
    out->count = kept;
    out->interval_seconds *= 2;
}

static struct status take_sample(struct watching *w)
{
    struct watch *out = w->out;
    struct watch_sample sample = {.seconds = elapsed(w)};
    TRY(process_tree_sample(&sample.totals, w->options->tree));
    process_counters_read(sample.counts, w->options->counters);
    if (out->count == WATCH_SAMPLES_MAX) {
        thin_out(out);
    }
    out->samples[out->count++] = sample;
    if (sample.totals.rss_bytes > out->rss_peak_bytes) {
        out->rss_peak_bytes = sample.totals.rss_bytes;
    }
    w->next_seconds = sample.seconds + out->interval_seconds;
    return status_ok();
}

// Children that have ended are looked at before they are waited for: their sums go with them.
static struct status reap(struct watching *w)
{
    siginfo_t info = {.si_pid = 0};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
        struct tree_totals totals;
        if (info.si_pid == w->options->pid) {
            TRY(take_sample(w)); // the last one
        } else {
            TRY(process_tree_sample(&totals, w->options->tree));
        }
        int status = 0;
        (void)waitpid(info.si_pid, &status, 0);
        if (info.si_pid == w->options->pid) {
            w->out->ended = true;
            w->out->wait_status = status;
            return status_ok();
        }
        info.si_pid = 0;
    }
    return status_ok();
}

// From the terminal a signal reaches the whole foreground group; one that was sent to this process
// alone is meant for the command.
static void handle_signal(struct watching *w, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;
    if (number == SIGCHLD) {
        return;
    }
    if (w->options->launch == NULL) {
        w->out->signal = number;
    } else if (info->ssi_code <= 0) { // SI_USER, SI_QUEUE, SI_TKILL
        (void)kill(w->options->pid, number);
    }
}

static void read_signals(struct watching *w)
{
    struct signalfd_siginfo info;
    while (read(w->signal_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        handle_signal(w, &info);
    }
}

static int timeout_ms(const struct watching *w)
{
    double left = w->next_seconds - elapsed(w);
    double limit = w->options->seconds_max;
    if (limit > 0) {
        left = fmin(left, limit - elapsed(w));
    }
    return left <= 0 ? 0 : (int)fmin(ceil(left * 1e3), 3600e3);
}

static struct status wait_and_look(struct watching *w)
{
    struct pollfd files[2] = {{.fd = w->signal_fd, .events = POLLIN},
                              {.fd = w->process_fd, .events = POLLIN}};
    int ready = poll(files, 2, timeout_ms(w));
    if (ready < 0 && errno != EINTR) {
        return status_error(STATUS_SYSTEM, "cannot wait for a process: %s", strerror(errno));
    }
    if (ready > 0 && files[0].revents != 0) {
        read_signals(w);
    }
    if (w->options->launch != NULL) {
        TRY(reap(w));
    }
    if (w->out->ended) {
        return status_ok();
    }
    if ((ready > 0 && files[1].revents != 0) || elapsed(w) >= w->next_seconds) {
        TRY(take_sample(w));
    }
    if (w->options->launch == NULL && !process_tree_alive(w->options->tree)) {
        w->out->ended = true;
    }
    return status_ok();
}

static bool goes_on(const struct watching *w)
{
    double limit = w->options->seconds_max;
    return !w->out->ended && w->out->signal == 0 && !(limit > 0 && elapsed(w) >= limit);
}

static struct status open_files(struct watching *w)
{
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) {
        (void)sigaddset(&set, passed_on[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &set, &w->mask);
    w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (w->signal_fd < 0) {
        return status_error(STATUS_SYSTEM, "cannot wait for signals: %s", strerror(errno));
    }
    if (w->options->launch == NULL) {
        w->process_fd = (int)syscall(SYS_pidfd_open, w->options->pid, 0);
    }
    return status_ok();
}

static void close_files(struct watching *w)
{
    if (w->signal_fd >= 0) {
        (void)close(w->signal_fd);
    }
    if (w->process_fd >= 0) {
        (void)close(w->process_fd);
    }
    (void)sigprocmask(SIG_SETMASK, &w->mask, NULL);
}

static struct status look(struct watching *w)
{
    TRY(open_files(w));
    TRY(take_sample(w));
    if (w->options->launch != NULL) {
        w->out->exec_error = launch_go(w->options->launch);
    }
    while (goes_on(w)) {
        TRY(wait_and_look(w));
    }
    return w->out->ended ? status_ok() : take_sample(w);
}

static double cpu_seconds(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

struct status watch_run(struct watch *out, const struct watch_options *options)
{
    *out = (struct watch){.interval_seconds = options->interval_seconds};
    out->samples = calloc(WATCH_SAMPLES_MAX, sizeof *out->samples);
    if (out->samples == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a time series");
    }
    struct watching w = {.out = out,
                         .options = options,
                         .began = clock_seconds(),
                         .signal_fd = -1,
                         .process_fd = -1};
    double before = cpu_seconds();
    struct status status = look(&w);
    close_files(&w);
    out->own_cpu_seconds = cpu_seconds() - before;
    out->processes_seen = process_tree_seen(options->tree);
    if (out->count > 0) {
        out->left_running = out->samples[out->count - 1].totals.processes;
    }
    return status;
}

void watch_free(struct watch *watch)
{
    free(watch->samples);
    *watch = (struct watch){.count = 0};
}

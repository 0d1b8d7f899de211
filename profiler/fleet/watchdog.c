#include "profiler/fleet/watchdog.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Looks, not seconds, are counted: after a pause of the whole node nobody is late.
enum { LOOKS_PER_S = 4 };

struct watchdog {
    pthread_t thread;
    unsigned rank;
    unsigned long looks;
    const volatile sig_atomic_t *signal;
    atomic_bool stopped;
    atomic_ulong fed;
    _Atomic(const char *) what;
};

static void look_at_signal(const struct watchdog *w, unsigned *since)
{
    *since = *w->signal != 0 ? *since + 1 : 0;
    if (*since > LOOKS_PER_S) {
        _Exit(128 + (int)*w->signal);
    }
}

static void *watch(void *context)
{
    struct watchdog *w = context;
    unsigned since_signal = 0;
    unsigned long hungry = 0;
    unsigned long fed = atomic_load(&w->fed);
    while (!atomic_load(&w->stopped)) {
        const struct timespec pause = {.tv_nsec = 1000000000L / LOOKS_PER_S};
        (void)nanosleep(&pause, NULL);
        look_at_signal(w, &since_signal);
        unsigned long now = atomic_load(&w->fed);
        hungry = now == fed ? hungry + 1 : 0;
        fed = now;
        if (hungry > w->looks) {
            (void)fprintf(stderr,
                          "lmroof-fleet: rank %u: no progress for %lu s (--timeout) in %s: a rank "
                          "is gone, hangs, or cannot be reached\n",
                          w->rank, w->looks / LOOKS_PER_S, atomic_load(&w->what));
            _Exit(1);
        }
    }
    return NULL;
}

struct status watchdog_start(struct watchdog **out, unsigned rank, double seconds,
                             const volatile sig_atomic_t *signal)
{
    struct watchdog *w = calloc(1, sizeof *w);
    *out = NULL;
    if (w == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a watchdog");
    }
    w->rank = rank;
    w->looks = (unsigned long)(seconds * LOOKS_PER_S);
    w->signal = signal;
    atomic_store(&w->what, "the start");
    int error = pthread_create(&w->thread, NULL, watch, w);
    if (error != 0) {
        free(w);
        return status_error(STATUS_SYSTEM, "cannot start a thread: %s", strerror(error));
    }
    *out = w;
    return status_ok();
}

void watchdog_feed(struct watchdog *watchdog, const char *what)
{
    atomic_store(&watchdog->what, what);
    (void)atomic_fetch_add(&watchdog->fed, 1);
}

void watchdog_stop(struct watchdog *watchdog)
{
    if (watchdog != NULL) {
        atomic_store(&watchdog->stopped, true);
        (void)pthread_join(watchdog->thread, NULL);
        free(watchdog);
    }
}

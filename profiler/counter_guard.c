#include "profiler/counter_interval.h"
#include "profiler/counter_session.h"

#include <math.h>
#include <pthread.h>

enum { GUARD_ROUNDS = 20000 };

// Guards of the same loop differ by what starting and stopping costs, no more.
static const double guard_tolerance_fraction = 0.01;
static const double guard_tolerance = 3000;

static void guard_loop(void *context, unsigned thread, unsigned threads)
{
    (void)threads;
    char name[16] = "";
    (void)pthread_getname_np(pthread_self(), name, sizeof name);
    (void)pthread_setname_np(pthread_self(), known_work_name(KNOWN_LOOP));
    counter_session_start(context, thread);
    known_work_run(KNOWN_LOOP, GUARD_ROUNDS, NULL);
    counter_session_stop(context, thread);
    (void)pthread_setname_np(pthread_self(), name);
}

static double guard_count(const struct counter_session *session, unsigned thread)
{
    const struct session_thread *its = &session->scratch[thread];
    struct counter_interval interval;
    counter_interval_of(&interval, counter_session_set(session)->events, 1, &its->before,
                        &its->after);
    return its->fault == FAULT_NONE && interval.fault[0] == FAULT_NONE ? interval.count[0]
                                                                       : (double)NAN;
}

// A thread whose set failed has its own fault already; the others must agree with each other.
static enum counter_fault compare_guards(const struct counter_session *session)
{
    double first = (double)NAN;
    for (unsigned t = 0; t < session->threads; t++) {
        double count = guard_count(session, t);
        if (isnan(first)) {
            first = count;
        } else if (fabs(count - first) > guard_tolerance + guard_tolerance_fraction * first) {
            return FAULT_GUARDS;
        }
    }
    return first > 0 || isnan(first) ? FAULT_NONE : FAULT_GUARDS;
}

void counter_session_check_guards(struct counter_session *session)
{
    for (session->set = 0; session->set < session->plan.thread_count; session->set++) {
        if (!counter_session_set(session)->guarded) {
            continue;
        }
        session->counting = true;
        team_run(session->team, (struct team_body){counter_session_arm, session});
        team_run(session->team, (struct team_body){guard_loop, session});
        team_run(session->team, (struct team_body){counter_session_collect, session});
        session->set_faults[session->set] = compare_guards(session);
    }
    session->set = 0;
}

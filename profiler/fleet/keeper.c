#include "profiler/fleet/keeper.h"

#include "profiler/clock.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// All intervals are counted in looks of this process, not taken from the clock alone: after a
// pause of the whole node (suspended, stopped) nobody is late.
static const double look_seconds = 0.05;
static const double beat_seconds = 1;
enum { BEATS_MISSED = 15 }; // then a rank counts as lost
enum { KEEPERS = 8 };       // ranks that stay until the index is whole, to keep it if need be
static const double grace_seconds = 2;      // from SIGTERM to SIGKILL for a worker that is late
static const double farewell_seconds = 0.7; // launchers kill a second after SIGTERM

struct watch {
    unsigned long beat;
    unsigned missed;
};

struct state {
    struct keeper *keeper;
    struct fleet_row *row; // of this rank
    const struct worker_task *task;
    struct watch *watches; // of the other ranks
    unsigned answers;
    struct worker_answer answer; // the last
    bool given;
    bool keeps; // the index
    bool index_stale;
    double running_seconds; // of the repeat at hand
    double since_beat;
    double stopping_seconds; // since the worker was told to end; NaN: it was not
};

static void note_own(struct state *s, enum fleet_state state, enum status_code code,
                     const char *problem)
{
    struct fleet_note *note = &s->row->note;
    note->state = state;
    note->code = code;
    (void)snprintf(note->problem, sizeof note->problem, "%s", problem);
    // A note that cannot be written makes this rank look lost, which it then is to the others.
    status_ignore(fleet_note_write(s->keeper->index->folder, s->row->rank, note));
    s->index_stale = true;
}

// Follows another rank's note, once a beat. It becomes LOST when its beat stands still.
static void follow(struct state *s, unsigned rank)
{
    struct fleet_row *row = &s->keeper->index->rows[rank];
    struct watch *watch = &s->watches[rank];
    struct fleet_note note;
    bool read = fleet_note_read(&note, s->keeper->index->folder, rank);
    if (read && note.beat != watch->beat) {
        watch->beat = note.beat;
        watch->missed = 0;
    } else {
        watch->missed++;
    }
    if (read && note.state != row->note.state) {
        row->note = note;
        s->index_stale = true;
    }
    if (!fleet_state_is_final(row->note.state) && watch->missed >= BEATS_MISSED) {
        row->note.state = FLEET_LOST;
        row->note.code = STATUS_UNAVAILABLE;
        (void)snprintf(row->note.problem, sizeof row->note.problem,
                       "no sign of life for %d s: the process or its node is gone", BEATS_MISSED);
        s->index_stale = true;
    }
}

// One after the other: the nearest lower rank that is not lost must have ended.
static bool is_turn(struct state *s)
{
    for (unsigned k = s->row->rank; s->keeper->index->solo && k > 0; k--) {
        if (s->row->rank >= KEEPERS) {
            follow(s, k - 1); // the others have done so in look_around()
        }
        enum fleet_state state = s->keeper->index->rows[k - 1].note.state;
        if (state != FLEET_LOST) {
            return fleet_state_is_final(state);
        }
    }
    return true;
}

static void start_turn(struct state *s)
{
    struct status status = worker_give(&s->keeper->worker, s->task);
    s->given = true;
    if (status.code == STATUS_OK) {
        note_own(s, FLEET_RUNNING, STATUS_OK, "");
    } else {
        note_own(s, FLEET_FAILED, status.code, status.detail);
    }
}

static void stop_worker(struct state *s, int number)
{
    worker_signal(&s->keeper->worker, number);
    s->stopping_seconds = isnan(s->stopping_seconds) ? 0 : s->stopping_seconds;
}

static void conclude(struct state *s, const char *killed)
{
    char text[FLEET_PROBLEM];
    if (!isnan(s->stopping_seconds)) {
        (void)snprintf(text, sizeof text, "took more than %.0f s (--timeout)",
                       s->keeper->timeout_seconds);
        note_own(s, FLEET_TIMED_OUT, STATUS_UNAVAILABLE, text);
    } else if (killed[0] != '\0') {
        note_own(s, FLEET_FAILED, STATUS_UNAVAILABLE, killed);
    } else if (s->answers > 0 && s->answer.status.code != STATUS_OK) {
        note_own(s, FLEET_FAILED, s->answer.status.code, s->answer.status.detail);
    } else if (s->answers < s->task->repeat) {
        note_own(s, FLEET_FAILED, STATUS_UNAVAILABLE, "the measuring process ended early");
    } else {
        note_own(s, FLEET_DONE, STATUS_OK, "");
    }
}

static void watch_worker(struct state *s, double elapsed)
{
    char killed[FLEET_PROBLEM];
    bool ended = worker_ended(&s->keeper->worker, killed, sizeof killed);
    while (worker_hear(&s->answer, &s->keeper->worker)) {
        s->answers++;
        s->running_seconds = 0;
        s->index_stale = true;
    }
    if (ended) {
        conclude(s, killed);
        return;
    }
    s->running_seconds += elapsed;
    s->stopping_seconds += elapsed;
    if (isnan(s->stopping_seconds) && s->running_seconds > s->keeper->timeout_seconds) {
        stop_worker(s, SIGTERM);
        worker_signal(&s->keeper->worker, SIGCONT); // a stopped one could not end
    }
    if (s->stopping_seconds > grace_seconds) {
        worker_signal(&s->keeper->worker, SIGKILL);
    }
}

// Once a beat. The rank that keeps the index follows everyone; the next ones those below them.
static void look_around(struct state *s)
{
    const struct fleet_index *index = s->keeper->index;
    unsigned rank = s->row->rank;
    bool alone = true;
    fleet_note_beat(index->folder, rank, &s->row->note);
    for (unsigned k = 0; k < rank && rank < KEEPERS; k++) {
        follow(s, k);
        alone = alone && s->watches[k].missed >= BEATS_MISSED;
    }
    s->keeps = rank < KEEPERS && alone;
    for (unsigned k = rank + 1; k < index->row_count && s->keeps; k++) {
        if (!fleet_state_is_final(index->rows[k].note.state)) {
            follow(s, k);
        }
    }
}

static bool all_final(const struct fleet_index *index)
{
    for (size_t i = 0; i < index->row_count; i++) {
        if (!fleet_state_is_final(index->rows[i].note.state)) {
            return false;
        }
    }
    return true;
}

static bool all_done(const struct fleet_index *index)
{
    for (size_t i = 0; i < index->row_count; i++) {
        if (index->rows[i].note.state != FLEET_DONE) {
            return false;
        }
    }
    return true;
}

static struct status write_index(struct state *s)
{
    struct fleet_index *index = s->keeper->index;
    index->complete = all_done(index);
    s->index_stale = false;
    return fleet_index_write(index, s->keeper->context, false);
}

// The last word: the notes go.
static struct status close_index(struct state *s)
{
    struct status status = write_index(s);
    fleet_notes_close(s->keeper->index->folder, (unsigned)s->keeper->index->row_count);
    return status;
}

static bool is_finished(struct state *s)
{
    const struct fleet_index *index = s->keeper->index;
    if (!fleet_state_is_final(s->row->note.state)) {
        return false;
    }
    if (s->keeps) {
        return all_final(index);
    }
    return s->row->rank >= KEEPERS || !fleet_notes_are_open(index->folder);
}

static double look(double before)
{
    const struct timespec pause = {.tv_nsec = (long)(look_seconds * 1e9)};
    (void)nanosleep(&pause, NULL);
    return fmin(clock_seconds() - before, 10 * look_seconds);
}

static struct status watch(struct state *s)
{
    double before = clock_seconds();
    while (!is_finished(s)) {
        double elapsed = look(before);
        before = clock_seconds();
        if (*s->keeper->context->signal != 0) {
            return status_error(STATUS_INTERRUPTED, "interrupted");
        }
        s->since_beat += elapsed;
        bool beat = s->since_beat >= beat_seconds;
        if (beat) {
            look_around(s);
            s->since_beat = 0;
        }
        if (!s->given && (beat || !s->keeper->index->solo) && is_turn(s)) {
            start_turn(s);
        } else if (s->given && !fleet_state_is_final(s->row->note.state)) {
            watch_worker(s, elapsed);
        }
        if (s->keeps && beat && s->index_stale) {
            TRY(write_index(s));
        }
    }
    return s->keeps ? close_index(s) : status_ok();
}

// A launcher that ends the job gives a second: first the worker, then the last word of the index.
static void read_last_notes(struct state *s)
{
    const struct fleet_index *index = s->keeper->index;
    for (unsigned k = 0; k < index->row_count; k++) {
        struct fleet_note note;
        if (k != s->row->rank && !fleet_state_is_final(index->rows[k].note.state) &&
            fleet_note_read(&note, index->folder, k)) {
            index->rows[k].note = note;
        }
    }
}

static void give_up_the_silent(struct state *s)
{
    const struct fleet_index *index = s->keeper->index;
    for (unsigned k = 0; k < index->row_count; k++) {
        struct fleet_note *note = &index->rows[k].note;
        if (!fleet_state_is_final(note->state)) {
            note->state = FLEET_LOST;
            note->code = STATUS_UNAVAILABLE;
            (void)snprintf(note->problem, sizeof note->problem,
                           "ended without a word: killed, or its node is gone");
        }
    }
}

static bool lower_are_silent(const struct state *s)
{
    for (unsigned k = 0; k < s->row->rank; k++) {
        if (fleet_state_is_final(s->keeper->index->rows[k].note.state)) {
            return false;
        }
    }
    return s->row->rank < KEEPERS;
}

static struct status say_farewell(struct state *s)
{
    double end = clock_seconds() + farewell_seconds;
    bool was_final = fleet_state_is_final(s->row->note.state);
    char killed[FLEET_PROBLEM];
    worker_signal(&s->keeper->worker, SIGTERM);
    if (!was_final) {
        note_own(s, FLEET_INTERRUPTED, STATUS_INTERRUPTED, "ended by a signal");
    }
    if (s->keeps) {
        TRY(write_index(s));
    }
    bool waits = true;
    while (waits && clock_seconds() < end) {
        (void)look(clock_seconds());
        read_last_notes(s);
        bool worker =
            s->given && !was_final && !worker_ended(&s->keeper->worker, killed, sizeof killed);
        waits = worker || !all_final(s->keeper->index);
    }
    if (!s->keeps && !lower_are_silent(s)) {
        return status_ok();
    }
    give_up_the_silent(s);
    return close_index(s);
}

struct status keeper_run(struct keeper *keeper, const struct worker_task *task)
{
    assert(keeper->rank < keeper->index->row_count);
    struct state state = {.keeper = keeper,
                          .row = &keeper->index->rows[keeper->rank],
                          .task = task,
                          // A guardian takes the place of a rank whose result is lost already.
                          .given =
                              fleet_state_is_final(keeper->index->rows[keeper->rank].note.state),
                          .keeps = keeper->rank == 0,
                          .stopping_seconds = (double)NAN};
    state.watches = calloc(keeper->index->row_count, sizeof *state.watches);
    if (state.watches == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to watch the other ranks");
    }
    struct status status = watch(&state);
    if (status.code == STATUS_INTERRUPTED) {
        struct status last = say_farewell(&state);
        status = last.code == STATUS_OK ? status : last;
    }
    free(state.watches);
    return status;
}

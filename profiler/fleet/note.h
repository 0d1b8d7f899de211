#ifndef FLEET_NOTE_H
#define FLEET_NOTE_H

/** What a rank tells the others while it measures, in a small file of the folder that they share:
 *  a file survives its writer, and nobody hangs in a collective call because someone died. */

#include "roofline/status.h"

#include <stdbool.h>

enum fleet_state {
    FLEET_WAITING, /**< for its turn */
    FLEET_RUNNING,
    FLEET_DONE,
    FLEET_FAILED,
    FLEET_TIMED_OUT,
    FLEET_INTERRUPTED, /**< by a signal */
    FLEET_LOST,        /**< said nothing any more: others write it down */
    FLEET_STATES
};

enum { FLEET_PROBLEM = 256 };

struct fleet_note {
    enum fleet_state state;
    unsigned long beat;          /**< grows while the rank lives */
    enum status_code code;       /**< of what failed */
    char problem[FLEET_PROBLEM]; /**< "" if there is none */
};

/** "waiting", ... as in the index. Static text. */
const char *fleet_state_name(enum fleet_state state);

/** True if nothing more is to come from a rank in that state. */
bool fleet_state_is_final(enum fleet_state state);

/** Makes the folder of the notes below `folder`, removing what an earlier run has left there.
 *  Errors: SYSTEM. */
CHECKED struct status fleet_notes_open(const char *folder);

/** Removes the notes of ranks 0..size-1 and their folder. */
void fleet_notes_close(const char *folder, unsigned size);

/** True while the folder of the notes is there. */
bool fleet_notes_are_open(const char *folder);

/** Writes a rank's note, synced. Errors: as output_replace(). */
CHECKED struct status fleet_note_write(const char *folder, unsigned rank,
                                       const struct fleet_note *note);

/** Counts beat up, in the file too. That it cannot is for the others to notice. */
void fleet_note_beat(const char *folder, unsigned rank, struct fleet_note *note);

/** Reads a rank's note; false if there is none or it makes no sense. */
bool fleet_note_read(struct fleet_note *out, const char *folder, unsigned rank);

#endif

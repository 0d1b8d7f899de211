#include "profiler/fleet/note.h"

#include "profiler/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// "running              42 0 text": state and beat have a fixed width, so that a beat is one write
// of the file's head.
#define HEAD_FORMAT "%-11s %12lu"
enum { HEAD_BYTES = 24, NOTE_BYTES = HEAD_BYTES + FLEET_PROBLEM + 16 };

static const char *const names[FLEET_STATES] = {"waiting",   "running",     "done", "failed",
                                                "timed_out", "interrupted", "lost"};

const char *fleet_state_name(enum fleet_state state)
{
    return names[state];
}

bool fleet_state_is_final(enum fleet_state state)
{
    return state != FLEET_WAITING && state != FLEET_RUNNING;
}

static void notes_path(char out[PATH_MAX], const char *folder)
{
    (void)snprintf(out, PATH_MAX, "%s/.ranks", folder);
}

static void note_path(char out[PATH_MAX], const char *folder, unsigned rank)
{
    (void)snprintf(out, PATH_MAX, "%s/.ranks/%u", folder, rank);
}

struct status fleet_notes_open(const char *folder)
{
    char path[PATH_MAX];
    notes_path(path, folder);
    if (fleet_notes_are_open(folder)) {
        unsigned rank = 0;
        char note[PATH_MAX];
        note_path(note, folder, rank);
        while (unlink(note) == 0) {
            note_path(note, folder, ++rank);
        }
    }
    if (mkdir(path, 0777) != 0 && errno != EEXIST) {
        return status_error(STATUS_SYSTEM, "%s: cannot make this folder: %s", path,
                            strerror(errno));
    }
    return status_ok();
}

void fleet_notes_close(const char *folder, unsigned size)
{
    char path[PATH_MAX];
    for (unsigned rank = 0; rank < size; rank++) {
        note_path(path, folder, rank);
        (void)unlink(path);
    }
    notes_path(path, folder);
    (void)rmdir(path);
}

bool fleet_notes_are_open(const char *folder)
{
    char path[PATH_MAX];
    struct stat info;
    notes_path(path, folder);
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

struct status fleet_note_write(const char *folder, unsigned rank, const struct fleet_note *note)
{
    char path[PATH_MAX];
    char text[NOTE_BYTES];
    note_path(path, folder, rank);
    int size = snprintf(text, sizeof text, HEAD_FORMAT " %d %s\n", names[note->state], note->beat,
                        (int)note->code, note->problem);
    size_t bytes = size < (int)sizeof text ? (size_t)size : sizeof text - 1;
    return output_replace(path, text, bytes);
}

void fleet_note_beat(const char *folder, unsigned rank, struct fleet_note *note)
{
    char path[PATH_MAX];
    char head[HEAD_BYTES + 1];
    note->beat++;
    note_path(path, folder, rank);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)snprintf(head, sizeof head, HEAD_FORMAT, names[note->state], note->beat);
        ssize_t written = pwrite(fd, head, HEAD_BYTES, 0);
        (void)written;
        (void)close(fd);
    }
}

static bool parse_note(struct fleet_note *out, const char *text)
{
    char word[12];
    int code = 0;
    int used = 0;
    if (sscanf(text, "%11s %lu %d %n", word, &out->beat, &code, &used) < 3 || used == 0 ||
        code < STATUS_OK || code > STATUS_INTERRUPTED) {
        return false;
    }
    out->code = (enum status_code)code;
    (void)snprintf(out->problem, sizeof out->problem, "%s", text + used);
    out->problem[strcspn(out->problem, "\n")] = '\0';
    for (unsigned i = 0; i < FLEET_STATES; i++) {
        if (strcmp(names[i], word) == 0) {
            out->state = (enum fleet_state)i;
            return true;
        }
    }
    return false;
}

bool fleet_note_read(struct fleet_note *out, const char *folder, unsigned rank)
{
    char path[PATH_MAX];
    char text[NOTE_BYTES];
    note_path(path, folder, rank);
    int fd = open(path, O_RDONLY | O_CLOEXEC); // opening makes a network file system look again
    if (fd < 0) {
        return false;
    }
    ssize_t got = read(fd, text, sizeof text - 1);
    (void)close(fd);
    if (got <= 0) {
        return false;
    }
    text[got] = '\0';
    return parse_note(out, text);
}

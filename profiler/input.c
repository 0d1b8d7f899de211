#include "profiler/input.h"

#include "profiler/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1 << 16 };

// Room for one byte more than is accepted tells that there is more.
static struct status grow(char **text, size_t *room, size_t most, const char *name)
{
    size_t wanted = *room == 0 ? (size_t)FIRST_ROOM : 2 * *room;
    *room = wanted <= most ? wanted : most + 1;
    char *grown = realloc(*text, *room + 1);
    if (grown == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to read %s", name);
    }
    *text = grown;
    return status_ok();
}

struct status input_read_stream(char **text, size_t *size, FILE *file, size_t most,
                                const char *name)
{
    size_t room = 0;
    *text = NULL;
    *size = 0;
    while (*size == room) {
        if (*size > most) {
            return status_error(STATUS_INVALID, "%s: found more than %zu MiB, accepted less", name,
                                most >> 20);
        }
        TRY(grow(text, &room, most, name));
        *size += fread(*text + *size, 1, room - *size, file);
        (*text)[*size] = '\0';
        if (ferror(file) != 0) {
            return errno == EINTR
                       ? status_error(STATUS_INTERRUPTED, "interrupted")
                       : status_error(STATUS_INVALID, "%s: cannot read: %s", name, strerror(errno));
        }
    }
    return status_ok();
}

struct status input_read(char **text, size_t *size, const char *path, size_t most)
{
    *text = NULL;
    *size = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return input_unopened(path, errno);
    }
    struct status status = input_read_stream(text, size, file, most, path);
    (void)fclose(file);
    return status;
}

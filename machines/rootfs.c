#include "machines/rootfs.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static __attribute__((format(printf, 3, 0))) bool path_of(char *out, const char *root,
                                                          const char *format, va_list args)
{
    int used = snprintf(out, ROOTFS_PATH, "%s", root);
    if (used < 0 || used >= ROOTFS_PATH) {
        return false;
    }
    size_t left = ROOTFS_PATH - (size_t)used;
    int more = vsnprintf(out + used, left, format, args);
    return more >= 0 && (size_t)more < left;
}

// Kernel files may come in pieces: read until the end or until full.
static size_t read_fully(int fd, char *out, size_t size)
{
    size_t used = 0;
    while (used < size) {
        ssize_t n = read(fd, out + used, size - used);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n < 0 && used == 0 ? SIZE_MAX : used;
        }
        used += (size_t)n;
    }
    return used;
}

static void trim_end(char *text, size_t length)
{
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        length--;
    }
    text[length] = '\0';
}

static bool read_path(char *out, size_t size, const char *path)
{
    out[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    size_t used = read_fully(fd, out, size - 1);
    (void)close(fd);
    if (used == SIZE_MAX) {
        out[0] = '\0';
        return false;
    }
    trim_end(out, used);
    return true;
}

bool rootfs_read(char *out, size_t size, const char *root, const char *format, ...)
{
    char path[ROOTFS_PATH];
    va_list args;
    va_start(args, format);
    bool fits = path_of(path, root, format, args);
    va_end(args);
    out[0] = '\0';
    return fits && read_path(out, size, path);
}

bool rootfs_read_u64(uint64_t *out, const char *root, const char *format, ...)
{
    char path[ROOTFS_PATH];
    char text[64];
    va_list args;
    va_start(args, format);
    bool fits = path_of(path, root, format, args);
    va_end(args);
    return fits && read_path(text, sizeof text, path) && rootfs_parse_u64(out, text);
}

char *rootfs_read_all(const char *root, const char *path)
{
    char full[ROOTFS_PATH];
    int length = snprintf(full, sizeof full, "%s%s", root, path);
    if (length < 0 || (size_t)length >= sizeof full) {
        return NULL;
    }
    char *text = NULL;
    for (size_t size = (size_t)64 << 10; size <= ROOTFS_FILE_MAX; size *= 4) {
        char *grown = realloc(text, size);
        if (grown == NULL) {
            break;
        }
        text = grown;
        if (!read_path(text, size, full)) {
            free(text);
            return NULL;
        }
        if (strlen(text) < size - 1) {
            break;
        }
    }
    return text;
}

bool rootfs_exists(const char *root, const char *format, ...)
{
    char path[ROOTFS_PATH];
    va_list args;
    va_start(args, format);
    bool fits = path_of(path, root, format, args);
    va_end(args);
    return fits && access(path, F_OK) == 0;
}

static size_t copy_trimmed(char *out, size_t size, const char *from, size_t length)
{
    size_t n = length < size - 1 ? length : size - 1;
    memcpy(out, from, n);
    trim_end(out, n);
    return n;
}

bool rootfs_line_value(char *out, size_t size, const char *text, const char *key)
{
    static const char separators[] = " \t:=";
    size_t key_length = strlen(key);
    out[0] = '\0';
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (length > key_length && memcmp(line, key, key_length) == 0 &&
            strchr(separators, line[key_length]) != NULL) {
            size_t skip = key_length + strspn(line + key_length, separators);
            skip = skip < length ? skip : length;
            (void)copy_trimmed(out, size, line + skip, length - skip);
            return true;
        }
        line += length + (line[length] == '\n');
    }
    return false;
}

bool rootfs_parse_u64(uint64_t *out, const char *text)
{
    while (isspace((unsigned char)*text)) {
        text++;
    }
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, base);
    while (isspace((unsigned char)*end)) {
        end++;
    }
    if (errno != 0 || *end != '\0') {
        return false;
    }
    *out = value;
    return true;
}

bool rootfs_list_has(const char *list, unsigned index)
{
    for (const char *at = list; isdigit((unsigned char)*at);) {
        char *end = NULL;
        unsigned long first = strtoul(at, &end, 10);
        unsigned long last = first;
        if (*end == '-' && isdigit((unsigned char)end[1])) {
            last = strtoul(end + 1, &end, 10);
        }
        if (index >= first && index <= last) {
            return true;
        }
        at = *end == ',' ? end + 1 : end;
    }
    return false;
}

#ifndef MACHINES_ROOTFS_H
#define MACHINES_ROOTFS_H

/** The one door through which facts about a machine enter as files. root is "" for the running
 *  system or the directory of a saved one (with sys/, proc/ and so on below it); paths start with
 *  '/'. What is read is untrusted text. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROOTFS_PATH = 4096, ROOTFS_FILE_MAX = 16 << 20 };

/** The text of a file, at most size - 1 bytes of it, without trailing white space. The path is
 *  formatted as by printf. False (and "") if it cannot be read. */
bool rootfs_read(char *out, size_t size, const char *root, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** The same file as a number: decimal, or hexadecimal after 0x, and nothing after it. */
bool rootfs_read_u64(uint64_t *out, const char *root, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The whole text of a file, at most ROOTFS_FILE_MAX bytes of it; NULL if it cannot be read.
 *  The caller frees it. */
char *rootfs_read_all(const char *root, const char *path);

/** True if the path (formatted as by printf) exists. */
bool rootfs_exists(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The value of the first line "key<separators>value" of text, where separators are any of
 *  ':', '=', blanks; copied without surrounding blanks, cut to size. False (and "") if there is
 *  no such line. */
bool rootfs_line_value(char *out, size_t size, const char *text, const char *key);

/** Parses all of text (blanks around it allowed) as a number; false if it is anything else or
 *  does not fit. */
bool rootfs_parse_u64(uint64_t *out, const char *text);

/** True if a kernel list such as "0-3,8" holds index. A damaged list holds what can be read up to
 *  the damage. */
bool rootfs_list_has(const char *list, unsigned index);

#endif

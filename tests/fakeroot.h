#ifndef TESTS_FAKEROOT_H
#define TESTS_FAKEROOT_H

/** A saved root built by a test: a temporary directory with the files of a machine that this one
 *  is not. Includes cmocka through tests/test.h. */

#include "tests/test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct fakeroot {
    char dir[256];
};

/** Makes an empty root; fakeroot_remove() deletes it. */
static inline void fakeroot_make(struct fakeroot *root)
{
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL) { // thousands of small files are slow on a disk
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    }
    (void)snprintf(root->dir, sizeof root->dir, "%s/lmroof-root-XXXXXX", tmp);
    assert_non_null(mkdtemp(root->dir));
}

/** Writes text to path (starting with '/') in place, making its folders. */
static inline void fakeroot_write(const struct fakeroot *root, const char *path, const char *text)
{
    char full[1024];
    (void)snprintf(full, sizeof full, "%s%s", root->dir, path);
    for (char *at = full + strlen(root->dir) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(full, 0700);
        *at = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/** Deletes one file of the root. */
static inline void fakeroot_delete(const struct fakeroot *root, const char *path)
{
    char full[1024];
    (void)snprintf(full, sizeof full, "%s%s", root->dir, path);
    assert_int_equal(unlink(full), 0);
}

/** Deletes the root and all below it. */
static inline void fakeroot_remove(const struct fakeroot *root)
{
    char command[512];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", root->dir);
    assert_int_equal(system(command), 0);
}

#endif

#include "profiler/fleet/profile_files.h"

#include "profiler/result_build.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct status add(struct profile_entries *entries, const char *host, const char *cpus,
                         const char *path, const char *problem)
{
    struct profile_entry *entry = result_append(&entries->list, &entries->count, sizeof *entry);
    if (entry == NULL || (path != NULL && (entry->path = strdup(path)) == NULL)) {
        return status_error(STATUS_SYSTEM, "no memory for a list of profiles");
    }
    (void)snprintf(entry->host, sizeof entry->host, "%s", host);
    (void)snprintf(entry->cpus, sizeof entry->cpus, "%s", cpus);
    (void)snprintf(entry->problem, sizeof entry->problem, "%s", problem);
    return status_ok();
}

// "out/node7.r2.json" is a repeat of node7.
static struct status add_file(struct profile_entries *entries, const char *path)
{
    char name[FLEET_HOST];
    const char *slash = strrchr(path, '/');
    (void)snprintf(name, sizeof name, "%s", slash == NULL ? path : slash + 1);
    char *dot = strrchr(name, '.');
    if (dot != NULL && dot != name && strcmp(dot, ".json") == 0) {
        *dot = '\0';
    }
    dot = strrchr(name, '.');
    if (dot != NULL && dot != name && dot[1] == 'r' && dot[2] != '\0' &&
        strspn(dot + 2, "0123456789") == strlen(dot + 2)) {
        *dot = '\0';
    }
    return add(entries, name, "", path, "");
}

static struct status add_rows(struct profile_entries *entries, const struct fleet_index *index,
                              const struct fleet_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct fleet_row *row = &index->rows[files->list[i].row];
        TRY(add(entries, row->host, row->cpus, files->list[i].path, row->note.problem));
    }
    for (size_t i = 0; i < index->row_count; i++) {
        const struct fleet_row *row = &index->rows[i];
        if (row->note.state != FLEET_DONE) {
            char problem[sizeof row->note.problem];
            (void)snprintf(problem, sizeof problem, "%s%s%s", fleet_state_name(row->note.state),
                           row->note.problem[0] == '\0' ? "" : ": ", row->note.problem);
            TRY(add(entries, row->host, row->cpus, NULL, problem));
        }
    }
    return status_ok();
}

static struct status add_index(struct profile_entries *entries, const char *folder)
{
    struct fleet_index index = {.rows = NULL};
    struct fleet_files files = {.list = NULL};
    struct status status = fleet_index_read(&index, &files, folder);
    if (status.code == STATUS_OK) {
        status = add_rows(entries, &index, &files);
    }
    fleet_files_free(&files);
    free(index.rows);
    return status;
}

static struct status add_all_files(struct profile_entries *entries, const char *folder, DIR *dir)
{
    size_t before = entries->count;
    for (struct dirent *file = readdir(dir); file != NULL; file = readdir(dir)) {
        char path[PATH_MAX];
        const char *dot = strrchr(file->d_name, '.');
        if (file->d_name[0] == '.' || dot == NULL || strcmp(dot, ".json") != 0 ||
            snprintf(path, sizeof path, "%s/%s", folder, file->d_name) >= (int)sizeof path) {
            continue;
        }
        TRY(add_file(entries, path));
    }
    return entries->count > before ? status_ok()
                                   : status_error(STATUS_INVALID,
                                                  "%s: found no profile, accepted a folder with "
                                                  "index.json or profiles (*.json)",
                                                  folder);
}

static struct status add_folder(struct profile_entries *entries, const char *folder)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/index.json", folder) >= (int)sizeof path) {
        return status_error(STATUS_INVALID, "a folder's name is too long");
    }
    if (access(path, F_OK) == 0) {
        return add_index(entries, folder);
    }
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return status_error(STATUS_INVALID, "%s: cannot open: %s", folder, strerror(errno));
    }
    struct status status = add_all_files(entries, folder, dir);
    (void)closedir(dir);
    return status;
}

static int compare_entries(const void *a, const void *b)
{
    const struct profile_entry *x = a;
    const struct profile_entry *y = b;
    // Hosts as people count them: node9 before node10.
    int order = strverscmp(x->host, y->host);
    order = order != 0 ? order : strverscmp(x->cpus, y->cpus);
    if (order != 0 || x->path == NULL || y->path == NULL) {
        return order != 0 ? order : (x->path == NULL) - (y->path == NULL);
    }
    return strcmp(x->path, y->path);
}

struct status profile_entries_find(struct profile_entries *out, char *const *paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct stat info;
        if (stat(paths[i], &info) != 0) {
            return status_error(STATUS_INVALID, "%s: cannot open: %s", paths[i], strerror(errno));
        }
        TRY(S_ISDIR(info.st_mode) ? add_folder(out, paths[i]) : add_file(out, paths[i]));
    }
    if (out->count > 0) {
        qsort(out->list, out->count, sizeof *out->list, compare_entries);
    }
    return status_ok();
}

void profile_entries_free(struct profile_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        free(entries->list[i].path);
    }
    free(entries->list);
    *entries = (struct profile_entries){.list = NULL};
}

bool profile_entries_match(const struct profile_entry *a, const struct profile_entry *b)
{
    return strcmp(a->host, b->host) == 0 && strcmp(a->cpus, b->cpus) == 0;
}

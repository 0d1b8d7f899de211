#include "machines/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// True if the comma-separated list of the given length holds word.
static bool list_has(const char *list, size_t length, const char *word)
{
    size_t word_length = strlen(word);
    for (size_t at = 0; at < length;) {
        size_t n = 0;
        while (at + n < length && list[at + n] != ',') {
            n++;
        }
        if (n == word_length && memcmp(list + at, word, n) == 0) {
            return true;
        }
        at += n + 1;
    }
    return false;
}

// The path field of the matching line "id:controllers:path" of /proc/self/cgroup.
static bool own_path(char *out, size_t size, const char *text, unsigned version,
                     const char *controller)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        const char *list = memchr(line, ':', length);
        const char *path =
            list == NULL ? NULL : memchr(list + 1, ':', length - (size_t)(list + 1 - line));
        if (path != NULL) {
            size_t list_length = (size_t)(path - list - 1);
            bool match = version == 2 ? list_length == 0 && line[0] == '0'
                                      : list_has(list + 1, list_length, controller);
            if (match) {
                (void)snprintf(out, size, "%.*s", (int)(length - (size_t)(path + 1 - line)),
                               path + 1);
                return true;
            }
        }
        line += length + (line[length] == '\n');
    }
    return false;
}

// mountinfo writes blank, tab, newline and backslash as \ooo (proc(5)).
static void unescape(char *text)
{
    char *out = text;
    for (const char *in = text; *in != '\0';) {
        if (in[0] == '\\' && strspn(in + 1, "01234567") >= 3) {
            *out++ = (char)((in[1] - '0') * 64 + (in[2] - '0') * 8 + (in[3] - '0'));
            in += 4;
        } else {
            *out++ = *in++;
        }
    }
    *out = '\0';
}

struct mount_line {
    char root[ROOTFS_PATH / 4];
    char point[ROOTFS_PATH / 4];
    char type[32];
    char options[512];
};

// "36 35 98:0 /root /point rw,noatime [optional]... - type source super-options"
static bool parse_mount(struct mount_line *out, const char *line, size_t length)
{
    char copy[ROOTFS_PATH];
    if (length >= sizeof copy) {
        return false;
    }
    memcpy(copy, line, length);
    copy[length] = '\0';
    char *rest = strstr(copy, " - ");
    if (rest == NULL || sscanf(copy, "%*s %*s %*s %1023s %1023s", out->root, out->point) != 2 ||
        sscanf(rest, " - %31s %*s %511s", out->type, out->options) != 2) {
        return false;
    }
    unescape(out->root);
    unescape(out->point);
    return true;
}

static bool mount_matches(const struct mount_line *mount, unsigned version, const char *controller)
{
    if (version == 2) {
        return strcmp(mount->type, "cgroup2") == 0;
    }
    return strcmp(mount->type, "cgroup") == 0 &&
           list_has(mount->options, strlen(mount->options), controller);
}

// The mount may show only a part of the hierarchy (containers): what lies above its root is
// invisible, and an own path outside of it (also "/.." in a cgroup namespace) is its top.
static void place_below(struct cgroup_place *out, const struct mount_line *mount, const char *path)
{
    size_t root_length = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
    bool inside = strncmp(path, mount->root, root_length) == 0 &&
                  (path[root_length] == '/' || path[root_length] == '\0');
    (void)snprintf(out->mount, sizeof out->mount, "%s", mount->point);
    out->path[0] = '\0';
    if (inside && strstr(path, "/..") == NULL && strcmp(path + root_length, "/") != 0) {
        (void)snprintf(out->path, sizeof out->path, "%s", path + root_length);
    }
}

static bool find_mount(struct mount_line *out, const char *root, unsigned version,
                       const char *controller)
{
    char *text = rootfs_read_all(root, "/proc/self/mountinfo");
    if (text == NULL) {
        return false;
    }
    bool found = false;
    for (const char *line = text; *line != '\0' && !found;) {
        size_t length = strcspn(line, "\n");
        found = parse_mount(out, line, length) && mount_matches(out, version, controller);
        line += length + (line[length] == '\n');
    }
    free(text);
    return found;
}

// True if the process is in a group below the top whose files no mount shows.
static bool is_hidden(const char *root, unsigned version, const char *controller)
{
    char groups[4 * ROOTFS_PATH];
    char path[ROOTFS_PATH / 4];
    char files[ROOTFS_PATH];
    struct cgroup_place place;
    if (!rootfs_read(groups, sizeof groups, root, "/proc/self/cgroup") ||
        !own_path(path, sizeof path, groups, version, controller) || strcmp(path, "/") == 0) {
        return false;
    }
    return !cgroup_find(&place, root, version, controller) ||
           !rootfs_read(files, sizeof files, root, "%s%s/cgroup.procs", place.mount, place.path);
}

bool cgroup_find(struct cgroup_place *out, const char *root, unsigned version,
                 const char *controller)
{
    char groups[4 * ROOTFS_PATH];
    char path[ROOTFS_PATH / 4];
    struct mount_line mount;
    if (!rootfs_read(groups, sizeof groups, root, "/proc/self/cgroup") ||
        !own_path(path, sizeof path, groups, version, controller) ||
        !find_mount(&mount, root, version, controller)) {
        return false;
    }
    out->version = version;
    place_below(out, &mount, path);
    return true;
}

bool cgroup_up(struct cgroup_place *place)
{
    char *slash = strrchr(place->path, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return true;
}

static bool read_value(char *out, size_t size, const char *root, const struct cgroup_place *place,
                       const char *file)
{
    return rootfs_read(out, size, root, "%s%s/%s", place->mount, place->path, file);
}

static bool read_number(uint64_t *out, const char *root, const struct cgroup_place *place,
                        const char *file)
{
    char text[64];
    return read_value(text, sizeof text, root, place, file) && rootfs_parse_u64(out, text);
}

// 0 = no quota here. Version 1 writes -1, version 2 "max", for none.
static double group_quota_cores(const char *root, const struct cgroup_place *place)
{
    uint64_t quota_us = 0;
    uint64_t period_us = 0;
    if (place->version == 2) {
        char text[64];
        char quota[32];
        char period[32];
        if (!read_value(text, sizeof text, root, place, "cpu.max") ||
            sscanf(text, "%31s %31s", quota, period) != 2 || !rootfs_parse_u64(&quota_us, quota) ||
            !rootfs_parse_u64(&period_us, period)) {
            return 0;
        }
    } else if (!read_number(&quota_us, root, place, "cpu.cfs_quota_us") ||
               !read_number(&period_us, root, place, "cpu.cfs_period_us")) {
        return 0;
    }
    return period_us > 0 ? (double)quota_us / (double)period_us : 0;
}

static void add_quota(struct cgroup_limits *out, const char *root, unsigned version)
{
    struct cgroup_place place;
    if (!cgroup_find(&place, root, version, "cpu")) {
        return;
    }
    do {
        double cores = group_quota_cores(root, &place);
        if (cores > 0 && (out->cpu_quota_cores <= 0 || cores < out->cpu_quota_cores)) {
            out->cpu_quota_cores = cores;
        }
    } while (cgroup_up(&place));
}

// UINT64_MAX = no limit here. Version 1 writes the largest page-aligned long for none.
static uint64_t group_memory_limit(const char *root, const struct cgroup_place *place)
{
    static const char *const files_v1[] = {"memory.limit_in_bytes", NULL};
    static const char *const files_v2[] = {"memory.max", "memory.high", NULL};
    uint64_t limit = UINT64_MAX;
    for (const char *const *file = place->version == 2 ? files_v2 : files_v1; *file; file++) {
        uint64_t bytes = 0;
        if (read_number(&bytes, root, place, *file) && bytes < UINT64_MAX / 4 && bytes < limit) {
            limit = bytes;
        }
    }
    return limit;
}

static uint64_t group_memory_used(const char *root, const struct cgroup_place *place)
{
    uint64_t used = 0;
    uint64_t cache = 0;
    char stat[ROOTFS_PATH];
    char text[32];
    bool v2 = place->version == 2;
    if (!read_number(&used, root, place, v2 ? "memory.current" : "memory.usage_in_bytes")) {
        return 0;
    }
    if (read_value(stat, sizeof stat, root, place, "memory.stat") &&
        rootfs_line_value(text, sizeof text, stat, v2 ? "inactive_file" : "total_inactive_file") &&
        rootfs_parse_u64(&cache, text)) {
        used -= cache < used ? cache : used;
    }
    return used;
}

static void add_memory(struct cgroup_limits *out, const char *root, unsigned version)
{
    struct cgroup_place place;
    if (!cgroup_find(&place, root, version, "memory")) {
        return;
    }
    do {
        uint64_t limit = group_memory_limit(root, &place);
        if (limit == UINT64_MAX) {
            continue;
        }
        uint64_t used = group_memory_used(root, &place);
        uint64_t left = limit > used ? limit - used : 0;
        if (out->memory_limit_bytes == 0 || limit < out->memory_limit_bytes) {
            out->memory_limit_bytes = limit;
        }
        if (left < out->memory_left_bytes) {
            out->memory_left_bytes = left;
        }
    } while (cgroup_up(&place));
}

void cgroup_read_limits(struct cgroup_limits *out, const char *root)
{
    *out = (struct cgroup_limits){.memory_left_bytes = UINT64_MAX};
    for (unsigned version = 1; version <= 2; version++) {
        add_quota(out, root, version);
        add_memory(out, root, version);
        out->hidden =
            out->hidden || is_hidden(root, version, "cpu") || is_hidden(root, version, "memory");
    }
}

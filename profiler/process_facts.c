#include "profiler/process_facts.h"

#include "machines/rootfs.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAT_TEXT = 1024, STATUS_TEXT = 4096 };

// Fields of /proc/PID/stat after the name in brackets, by proc(5)'s numbers.
enum {
    FIELD_PARENT = 4,
    FIELD_MINOR = 10,
    FIELD_MINOR_CHILDREN = 11,
    FIELD_MAJOR = 12,
    FIELD_MAJOR_CHILDREN = 13,
    FIELD_USER = 14,
    FIELD_SYSTEM = 15,
    FIELD_USER_CHILDREN = 16,
    FIELD_SYSTEM_CHILDREN = 17,
    FIELD_THREADS = 20,
    FIELD_START = 22,
    FIELD_RSS = 24,
    FIELDS = 25
};

bool process_is_zombie(const struct process_facts *facts)
{
    return facts->state == 'Z' || facts->state == 'X' || facts->state == 'x';
}

static void copy_name(char out[32], const char *from, const char *to)
{
    size_t length = (size_t)(to - from);
    length = length < 31 ? length : 31;
    for (size_t i = 0; i < length; i++) {
        out[i] = isprint((unsigned char)from[i]) ? from[i] : '?';
    }
    out[length] = '\0';
}

// "PID (NAME) S PPID ...": the name may hold anything, the last ')' ends it.
static bool split_stat(struct process_facts *out, uint64_t fields[FIELDS], const char *text)
{
    const char *open = strchr(text, '(');
    const char *close = strrchr(text, ')');
    if (open == NULL || close == NULL || close < open || close[1] != ' ' || close[2] == '\0') {
        return false;
    }
    copy_name(out->name, open + 1, close);
    out->state = close[2];
    const char *at = close + 3;
    for (int i = FIELD_PARENT; i < FIELDS; i++) {
        char *end = NULL;
        fields[i] = strtoull(at, &end, 10);
        if (end == at) {
            return false;
        }
        at = end;
    }
    return true;
}

static bool read_stat(struct process_facts *out, uint64_t fields[FIELDS], const char *root, int pid)
{
    char text[STAT_TEXT];
    *out = (struct process_facts){.pid = pid};
    if (!rootfs_read(text, sizeof text, root, "/proc/%d/stat", pid) ||
        !split_stat(out, fields, text)) {
        return false;
    }
    out->parent = fields[FIELD_PARENT] <= INT32_MAX ? (int)fields[FIELD_PARENT] : 0;
    out->start_ticks = fields[FIELD_START];
    return true;
}

bool process_identify(struct process_facts *out, const char *root, int pid)
{
    uint64_t fields[FIELDS] = {0};
    return read_stat(out, fields, root, pid);
}

static uint64_t number_of(const char *text, const char *key)
{
    char value[64];
    uint64_t number = 0;
    (void)(rootfs_line_value(value, sizeof value, text, key) && rootfs_parse_u64(&number, value));
    return number;
}

static void add_switches(struct process_facts *out, const char *root, const char *thread)
{
    char text[STATUS_TEXT];
    if (rootfs_read(text, sizeof text, root, "/proc/%d/task/%s/status", out->pid, thread)) {
        out->voluntary_switches += number_of(text, "voluntary_ctxt_switches");
        out->involuntary_switches += number_of(text, "nonvoluntary_ctxt_switches");
    }
}

static void read_switches(struct process_facts *out, const char *root)
{
    char path[ROOTFS_PATH];
    (void)snprintf(path, sizeof path, "%s/proc/%d/task", root, out->pid);
    DIR *directory = opendir(path);
    if (directory == NULL) {
        return;
    }
    const struct dirent *entry = NULL;
    while ((entry = readdir(directory)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            add_switches(out, root, entry->d_name);
        }
    }
    (void)closedir(directory);
}

static void read_io(struct process_facts *out, const char *root)
{
    char text[STAT_TEXT];
    char value[64];
    if (rootfs_read(text, sizeof text, root, "/proc/%d/io", out->pid) &&
        rootfs_line_value(value, sizeof value, text, "read_bytes")) {
        out->io = PROCESS_IO_KNOWN;
        out->read_bytes = number_of(text, "read_bytes");
        out->write_bytes = number_of(text, "write_bytes");
        return;
    }
    // The file of a stranger exists and may not be read; without task accounting there is none.
    out->io = rootfs_exists(root, "/proc/%d/io", out->pid) ? PROCESS_IO_NOT_PERMITTED
                                                           : PROCESS_IO_UNSUPPORTED;
}

const char *process_io_why(enum process_io io)
{
    return io == PROCESS_IO_NOT_PERMITTED ? "/proc/PID/io of another user's process is not readable"
                                          : "this kernel has no /proc/PID/io";
}

bool process_read(struct process_facts *out, const char *root, int pid)
{
    uint64_t fields[FIELDS] = {0};
    if (!read_stat(out, fields, root, pid)) {
        return false;
    }
    double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    out->user_seconds = (double)(fields[FIELD_USER] + fields[FIELD_USER_CHILDREN]) * tick;
    out->system_seconds = (double)(fields[FIELD_SYSTEM] + fields[FIELD_SYSTEM_CHILDREN]) * tick;
    out->minor_faults = fields[FIELD_MINOR] + fields[FIELD_MINOR_CHILDREN];
    out->major_faults = fields[FIELD_MAJOR] + fields[FIELD_MAJOR_CHILDREN];
    out->threads = (unsigned)fields[FIELD_THREADS];
    out->rss_bytes = fields[FIELD_RSS] * (uint64_t)sysconf(_SC_PAGESIZE);
    read_switches(out, root);
    read_io(out, root);
    return true;
}

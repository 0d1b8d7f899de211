#include "machines/cpuinfo_topology.h"

#include "machines/rootfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct processor {
    unsigned os_index;
    unsigned package; // physical id; UINT32_MAX not told
    unsigned core_id; // within its package; UINT32_MAX not told
    unsigned package_index;
    unsigned core_index;
};

// The number of a line "key<blanks>: number"; false for other lines.
static bool line_number(unsigned *out, const char *line, const char *key)
{
    char text[32];
    uint64_t value = 0;
    if (!rootfs_line_value(text, sizeof text, line, key) || !rootfs_parse_u64(&value, text) ||
        value >= UINT32_MAX) {
        return false;
    }
    *out = (unsigned)value;
    return true;
}

// Takes one line of a processor's block; "processor" begins the next block.
static void read_line(struct processor *processors, size_t *count, const char *line)
{
    unsigned value = 0;
    if (line_number(&value, line, "processor")) {
        if (*count < MACHINE_CPUS_MAX && value < MACHINE_CPUS_MAX) {
            processors[(*count)++] =
                (struct processor){.os_index = value, .package = UINT32_MAX, .core_id = UINT32_MAX};
        }
    } else if (*count > 0 && line_number(&value, line, "physical id")) {
        processors[*count - 1].package = value;
    } else if (*count > 0 && line_number(&value, line, "core id")) {
        processors[*count - 1].core_id = value;
    }
}

static size_t read_processors(struct processor *processors, const char *cpuinfo)
{
    size_t count = 0;
    for (const char *line = cpuinfo; *line != '\0';) {
        char copy[128]; // long lines are flags
        size_t length = strcspn(line, "\n");
        (void)snprintf(copy, sizeof copy, "%.*s", (int)(length < 127 ? length : 127), line);
        read_line(processors, &count, copy);
        line += length + (line[length] == '\n');
    }
    return count;
}

static bool same_core(const struct processor *a, const struct processor *b)
{
    return a->core_id != UINT32_MAX && a->core_id == b->core_id && a->package == b->package;
}

// Index of the first earlier processor of the same package (or core), or i itself if none.
static size_t first_of_package(const struct processor *processors, size_t i)
{
    size_t j = 0;
    while (j < i && processors[j].package != processors[i].package) {
        j++;
    }
    return j;
}

static size_t first_of_core(const struct processor *processors, size_t i)
{
    size_t j = 0;
    while (j < i && !same_core(&processors[j], &processors[i])) {
        j++;
    }
    return j;
}

// Gives packages and cores their indices in order of appearance.
static void number_objects(struct machine *out, struct processor *processors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct processor *p = &processors[i];
        size_t package = first_of_package(processors, i);
        size_t core = first_of_core(processors, i);
        if (p->package != UINT32_MAX) {
            p->package_index = package < i ? processors[package].package_index : out->packages++;
        }
        p->core_index = core < i ? processors[core].core_index : out->cores++;
        out->smt = out->smt || core < i;
    }
    out->pus = (unsigned)count;
}

static int by_core(const void *a, const void *b)
{
    const struct processor *x = a;
    const struct processor *y = b;
    if (x->core_index != y->core_index) {
        return x->core_index < y->core_index ? -1 : 1;
    }
    return (x->os_index > y->os_index) - (x->os_index < y->os_index);
}

static struct status choose_usable(struct machine *out, const struct processor *processors,
                                   size_t count, const char *root)
{
    char status_text[ROOTFS_PATH];
    char allowed[ROOTFS_PATH / 2];
    (void)rootfs_read(status_text, sizeof status_text, root, "/proc/self/status");
    bool told = rootfs_line_value(allowed, sizeof allowed, status_text, "Cpus_allowed_list");
    out->usable = calloc(count, sizeof *out->usable);
    if (out->usable == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for %zu cpus", count);
    }
    for (size_t i = 0; i < count; i++) {
        const struct processor *p = &processors[i];
        if (told && !rootfs_list_has(allowed, p->os_index)) {
            continue;
        }
        const struct machine_cpu *last =
            out->usable_count > 0 ? &out->usable[out->usable_count - 1] : NULL;
        bool sibling = last != NULL && last->core == p->core_index;
        out->usable[out->usable_count++] =
            (struct machine_cpu){.os_index = p->os_index,
                                 .core = p->core_index,
                                 .smt_index = sibling ? last->smt_index + 1 : 0,
                                 .package = p->package_index};
        out->usable_cores += !sibling;
    }
    return status_ok();
}

static struct status fill(struct machine *out, struct processor *processors, const char *cpuinfo,
                          const char *root)
{
    size_t count = read_processors(processors, cpuinfo);
    if (count == 0) {
        return status_error(STATUS_INVALID,
                            "%s: neither sys/devices/system/cpu nor a processor in proc/cpuinfo "
                            "below it; accepted: a saved root of a Linux machine",
                            root);
    }
    number_objects(out, processors, count);
    qsort(processors, count, sizeof *processors, by_core);
    out->numa_nodes = 1;
    out->node_count = 1;
    out->nodes[0] = (struct machine_node){.pus = out->pus};
    TRY(choose_usable(out, processors, count, root));
    if (out->usable_count == 0) {
        return status_error(STATUS_INVALID, "%s: Cpus_allowed_list permits none of %zu cpus", root,
                            count);
    }
    return status_ok();
}

struct status cpuinfo_topology_read(struct machine *out, const char *root)
{
    char *cpuinfo = rootfs_read_all(root, "/proc/cpuinfo");
    struct processor *processors = calloc(MACHINE_CPUS_MAX, sizeof *processors);
    struct status status =
        processors == NULL ? status_error(STATUS_SYSTEM, "no memory for %d cpus", MACHINE_CPUS_MAX)
                           : fill(out, processors, cpuinfo == NULL ? "" : cpuinfo, root);
    free(processors);
    free(cpuinfo);
    return status;
}

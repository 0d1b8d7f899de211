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

// One "key<tab>: number" line of a processor's block, and the line that begins the next block.
static void read_line(struct processor **at, struct processor *processors, size_t *count,
                      const char *line)
{
    unsigned value = 0;
    if (sscanf(line, "processor : %u", &value) == 1) {
        if (*count < MACHINE_CPUS_MAX && value < MACHINE_CPUS_MAX) {
            *at = &processors[(*count)++];
            **at =
                (struct processor){.os_index = value, .package = UINT32_MAX, .core_id = UINT32_MAX};
        } else {
            *at = NULL;
        }
    } else if (*at != NULL && sscanf(line, "physical id : %u", &value) == 1) {
        (*at)->package = value;
    } else if (*at != NULL && sscanf(line, "core id : %u", &value) == 1) {
        (*at)->core_id = value;
    }
}

static size_t read_processors(struct processor *processors, const char *cpuinfo)
{
    size_t count = 0;
    struct processor *at = NULL;
    for (const char *line = cpuinfo; *line != '\0';) {
        read_line(&at, processors, &count, line);
        size_t length = strcspn(line, "\n");
        line += length + (line[length] == '\n');
    }
    return count;
}

static bool same_core(const struct processor *a, const struct processor *b)
{
    return a->core_id != UINT32_MAX && a->core_id == b->core_id && a->package == b->package;
}

// Gives packages and cores their indices in order of appearance.
static void number_objects(struct machine *out, struct processor *processors, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct processor *p = &processors[i];
        bool new_package = p->package != UINT32_MAX;
        bool new_core = true;
        for (size_t j = 0; j < i && (new_package || new_core); j++) {
            if (new_package && processors[j].package == p->package) {
                new_package = false;
                p->package_index = processors[j].package_index;
            }
            if (new_core && same_core(&processors[j], p)) {
                new_core = false;
                p->core_index = processors[j].core_index;
                out->smt = true;
            }
        }
        if (new_package) {
            p->package_index = out->packages++;
        }
        if (new_core) {
            p->core_index = out->cores++;
        }
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

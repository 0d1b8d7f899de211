#include "workloads/arena.h"

#include "roofline/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

// The kernel says no more than "Cannot allocate memory", whichever of its limits was reached.
static struct status unmapped(size_t bytes, int error)
{
    char wanted[UNITS_TEXT];
    char most[UNITS_TEXT];
    struct rlimit limit;
    units_format_binary(wanted, bytes);
    if (error == ENOMEM && getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        return status_error(STATUS_SYSTEM,
                            "cannot map %s of memory: the address space of a process is limited to "
                            "%s (RLIMIT_AS); try ulimit -v unlimited, or less: a smaller model, "
                            "context or batch",
                            wanted, units_format_binary(most, limit.rlim_cur));
    }
    return status_error(STATUS_SYSTEM, "cannot map %s of memory: %s", wanted, strerror(error));
}

struct status arena_map(struct arena *out, size_t bytes, bool huge)
{
    return arena_map_copies(out, bytes, 1, huge);
}

struct status arena_map_copies(struct arena *out, size_t bytes, unsigned copies, bool huge)
{
    memset(out, 0, sizeof *out);
    if (bytes == 0 || copies == 0 ||
        bytes > (SIZE_MAX - ARENA_ALIGN) / copies - (size_t)ARENA_ALIGN) {
        return status_error(STATUS_INVALID, "arena of %u x %zu bytes", copies, bytes);
    }
    size_t rounded = (bytes + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    size_t mapping_bytes = copies * rounded + ARENA_ALIGN;
    void *mapping = mmap(NULL, mapping_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        return unmapped(mapping_bytes, errno);
    }
    // Advice only: a kernel without huge pages refuses it, and what really backs the arena is
    // read back by arena_page_bytes().
    (void)madvise(mapping, mapping_bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    uintptr_t start = ((uintptr_t)mapping + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    out->base = (unsigned char *)mapping + (start - (uintptr_t)mapping);
    out->bytes = rounded;
    out->mapping = mapping;
    out->mapping_bytes = mapping_bytes;
    out->huge_asked = huge;
    out->copies = copies;
    return status_ok();
}

unsigned char *arena_share_in(const struct arena *arena, unsigned copy, unsigned thread,
                              size_t share_bytes)
{
    return arena->base + copy * arena->bytes + thread * share_bytes;
}

unsigned char *arena_share(const struct arena *arena, unsigned thread, size_t share_bytes)
{
    return arena_share_in(arena, arena->copy_of == NULL ? 0 : arena->copy_of[thread], thread,
                          share_bytes);
}

const char *arena_placement(const struct arena *arena)
{
    return arena->placement == NULL ? "local" : arena->placement;
}

void arena_unmap(struct arena *arena)
{
    if (arena->mapping != NULL) {
        (void)munmap(arena->mapping, arena->mapping_bytes);
    }
    memset(arena, 0, sizeof *arena);
}

struct smaps_totals {
    uint64_t rss_kib;
    uint64_t anon_huge_kib;
    uint64_t kernel_page_kib;
};

// Sums the fields of all mappings that lie in [low, high).
// "7f12a0000000-7f12a4000000 rw-p ...": the line that opens a mapping.
static bool mapping_line(uint64_t *start, uint64_t *end, const char *line)
{
    char *at = NULL;
    *start = strtoull(line, &at, 16);
    if (at == line || *at != '-') {
        return false;
    }
    const char *second = at + 1;
    *end = strtoull(second, &at, 16);
    return at != second && *at == ' ';
}

// "Rss:    1234 kB"
static bool smaps_kib(uint64_t *kib, const char *line, const char *key)
{
    size_t length = strlen(key);
    char *end = NULL;
    if (strncmp(line, key, length) != 0) {
        return false;
    }
    *kib = strtoull(line + length, &end, 10);
    return end != line + length;
}

static void sum_smaps(struct smaps_totals *totals, FILE *file, uintptr_t low, uintptr_t high)
{
    char line[512];
    bool inside = false;
    while (fgets(line, sizeof line, file) != NULL) {
        uint64_t start = 0;
        uint64_t end = 0;
        uint64_t kib = 0;
        if (mapping_line(&start, &end, line)) {
            inside = start < high && end > low;
        } else if (inside && smaps_kib(&kib, line, "Rss:")) {
            totals->rss_kib += kib;
        } else if (inside && smaps_kib(&kib, line, "AnonHugePages:")) {
            totals->anon_huge_kib += kib;
        } else if (inside && smaps_kib(&kib, line, "KernelPageSize:")) {
            totals->kernel_page_kib = kib;
        }
    }
}

uint64_t arena_page_bytes(const struct arena *arena)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    if (file == NULL || arena->base == NULL) {
        if (file != NULL) {
            (void)fclose(file);
        }
        return 0;
    }
    struct smaps_totals totals = {0};
    sum_smaps(&totals, file, (uintptr_t)arena->base, (uintptr_t)arena->base + arena->bytes);
    (void)fclose(file);
    uint64_t kernel_bytes = totals.kernel_page_kib << 10;
    return 2 * totals.anon_huge_kib >= totals.rss_kib && totals.rss_kib > 0 ? (uint64_t)ARENA_ALIGN
                                                                            : kernel_bytes;
}

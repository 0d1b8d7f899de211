#include "profiler/run_kernels.h"

#include "profiler/result_build.h"

#include <stdio.h>
#include <string.h>

// The entry of a format and class, a new one if there is room; NULL else.
static struct result_compute *entry_of(struct run_kernels *kernels, const char *format,
                                       const char *class_)
{
    for (size_t i = 0; i < kernels->count; i++) {
        struct result_compute *entry = &kernels->list[i];
        if (strcmp(entry->dtype, format) == 0 && strcmp(entry->class_, class_) == 0) {
            return entry;
        }
    }
    return kernels->count < RUN_KERNELS_MAX ? &kernels->list[kernels->count++] : NULL;
}

void run_kernels_note(struct run_kernels *kernels, const struct result_point *point,
                      const char *format, const char *class_)
{
    if (!reading_is_present(&point->compute_only_seconds)) {
        return;
    }
    struct reading rate = reading_rate(point->flop, &point->compute_only_seconds);
    struct result_compute *entry = entry_of(kernels, format, class_);
    if (entry == NULL || (entry->threads > 0 && entry->flop_per_s.value >= rate.value)) {
        return;
    }
    memset(entry, 0, sizeof *entry);
    (void)snprintf(entry->dtype, sizeof entry->dtype, "%s", format);
    (void)snprintf(entry->kind, sizeof entry->kind, "kernel");
    (void)snprintf(entry->class_, sizeof entry->class_, "%s", class_);
    (void)snprintf(entry->backend, sizeof entry->backend, "lmroof");
    (void)snprintf(entry->shape, sizeof entry->shape, "%llu x %llu x %llu",
                   (unsigned long long)point->m, (unsigned long long)point->n,
                   (unsigned long long)point->k);
    entry->threads = point->threads;
    entry->integer_operations = point->integer_operations;
    entry->verified = point->verified;
    entry->flop_per_s = rate;
    entry->core_hz = reading_absent(ABSENT_UNSUPPORTED, "not measured in this kernel", NULL);
    entry->theoretical_flop_per_s =
        reading_absent(ABSENT_UNSUPPORTED, "no sourced table for this microarchitecture", NULL);
}

struct status run_kernels_report(struct result_machine *machine, const struct run_kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; i++) {
        struct result_compute *to =
            result_append(&machine->compute, &machine->compute_count, sizeof *to);
        if (to == NULL) {
            return status_error(STATUS_SYSTEM, "no memory for the kernels' ceilings");
        }
        *to = kernels->list[i];
    }
    return status_ok();
}

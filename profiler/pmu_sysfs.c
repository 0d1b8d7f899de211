#include "profiler/pmu_sysfs.h"

#include "machines/rootfs.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/bus/event_source/devices"

enum { TEXT = 512 };

// The number after the prefix, or false if there is anything else.
static bool suffix_number(unsigned *out, const char *name, size_t prefix)
{
    const char *digits = name + prefix;
    size_t length = strspn(digits, "0123456789");
    if (length == 0 || length > 9 || digits[length] != '\0') {
        return false;
    }
    *out = (unsigned)strtoul(digits, NULL, 10);
    return true;
}

static bool name_matches(unsigned *number, const char *name, const char *pattern)
{
    size_t length = strlen(pattern);
    *number = 0;
    if (length == 0 || pattern[length - 1] != '*') {
        return strcmp(name, pattern) == 0;
    }
    return strncmp(name, pattern, length - 1) == 0 && suffix_number(number, name, length - 1);
}

// The first CPU of every part of a list such as "0,28" or "0-3,32-35", as cpumask files hold it.
static void parse_cpus(struct pmu_box *box, const char *text)
{
    while (box->cpu_count < PMU_CPUS_MAX && isdigit((unsigned char)*text)) {
        char *end = NULL;
        long first = strtol(text, &end, 10);
        long last = first;
        if (*end == '-') {
            last = strtol(end + 1, &end, 10);
        }
        for (long cpu = first; cpu <= last && cpu < 65536 && box->cpu_count < PMU_CPUS_MAX; cpu++) {
            box->cpus[box->cpu_count++] = (int)cpu;
        }
        text = *end == ',' ? end + 1 : end;
    }
}

static bool read_box(struct pmu_box *out, const char *root, const char *name, unsigned number)
{
    *out = (struct pmu_box){.number = number};
    int length = snprintf(out->name, sizeof out->name, "%s", name);
    uint64_t type = 0;
    if (length < 0 || (size_t)length >= sizeof out->name ||
        !rootfs_read_u64(&type, root, DEVICES "/%s/type", name) || type > UINT32_MAX) {
        return false;
    }
    out->type = (uint32_t)type;
    char text[TEXT];
    if (rootfs_read(text, sizeof text, root, DEVICES "/%s/cpumask", name)) {
        parse_cpus(out, text);
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    const struct pmu_box *x = a;
    const struct pmu_box *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static DIR *open_devices(const char *root)
{
    char path[ROOTFS_PATH];
    (void)snprintf(path, sizeof path, "%s" DEVICES, root);
    return opendir(path);
}

size_t pmu_boxes(struct pmu_box *out, size_t max, const char *root, const char *pattern)
{
    DIR *directory = open_devices(root);
    if (directory == NULL) {
        return 0;
    }
    size_t count = 0;
    const struct dirent *entry = NULL;
    while (count < max && (entry = readdir(directory)) != NULL) {
        unsigned number = 0;
        if (name_matches(&number, entry->d_name, pattern) &&
            read_box(&out[count], root, entry->d_name, number)) {
            count++;
        }
    }
    (void)closedir(directory);
    qsort(out, count, sizeof *out, by_number);
    return count;
}

bool pmu_core_exists(const char *root)
{
    DIR *directory = open_devices(root);
    if (directory == NULL) {
        return false;
    }
    bool found = false;
    const struct dirent *entry = NULL;
    while (!found && (entry = readdir(directory)) != NULL) {
        found = strcmp(entry->d_name, "cpu") == 0 || strcmp(entry->d_name, "cpu_core") == 0 ||
                strncmp(entry->d_name, "armv8_", 6) == 0;
    }
    (void)closedir(directory);
    return found;
}

// Spreads value over the bits of a format such as "config:0-7,32-35".
static bool place_value(uint64_t *config, uint64_t *config1, const char *format, uint64_t value)
{
    const char *bits = strchr(format, ':');
    if (bits == NULL) {
        return false;
    }
    size_t word = (size_t)(bits - format);
    uint64_t *target = word == 6 && memcmp(format, "config", 6) == 0    ? config
                       : word == 7 && memcmp(format, "config1", 7) == 0 ? config1
                                                                        : NULL;
    unsigned from = 0;
    while (target != NULL && isdigit((unsigned char)bits[1])) {
        char *end = NULL;
        unsigned long low = strtoul(bits + 1, &end, 10);
        unsigned long high = *end == '-' ? strtoul(end + 1, &end, 10) : low;
        for (unsigned long bit = low; bit <= high && bit < 64 && from < 64; bit++, from++) {
            *target |= (value >> from & 1) << bit;
        }
        bits = end;
        if (*bits != ',') {
            break;
        }
    }
    return target != NULL && from > 0 && (from >= 64 || value >> from == 0);
}

static bool place_term(uint64_t *config, uint64_t *config1, const char *root, const char *pmu,
                       char *term)
{
    char *equals = strchr(term, '=');
    uint64_t value = 1; // a term without a value is a flag
    if (equals != NULL) {
        *equals = '\0';
        if (!rootfs_parse_u64(&value, equals + 1)) {
            return false;
        }
    }
    char format[TEXT];
    return strchr(term, '/') == NULL &&
           rootfs_read(format, sizeof format, root, DEVICES "/%s/format/%s", pmu, term) &&
           place_value(config, config1, format, value);
}

static double alias_scale(const char *root, const char *pmu, const char *alias)
{
    char scale[TEXT];
    char unit[TEXT];
    if (!rootfs_read(scale, sizeof scale, root, DEVICES "/%s/events/%s.scale", pmu, alias) ||
        !rootfs_read(unit, sizeof unit, root, DEVICES "/%s/events/%s.unit", pmu, alias)) {
        return (double)NAN;
    }
    char *end = NULL;
    double value = strtod(scale, &end);
    if (end == scale || !(value > 0)) {
        return (double)NAN;
    }
    if (strcmp(unit, "MiB") == 0) {
        return value * 0x1p20;
    }
    return strcmp(unit, "Joules") == 0 ? value : (double)NAN;
}

bool pmu_terms(uint64_t *config, uint64_t *config1, double *scale, const char *root,
               const char *pmu, const char *terms)
{
    char text[TEXT];
    *config = 0;
    *config1 = 0;
    *scale = (double)NAN;
    bool alias = strchr(terms, '=') == NULL;
    if (!alias) {
        (void)snprintf(text, sizeof text, "%s", terms);
    } else if (rootfs_read(text, sizeof text, root, DEVICES "/%s/events/%s", pmu, terms)) {
        *scale = alias_scale(root, pmu, terms);
    } else {
        return false;
    }
    char *save = NULL;
    bool placed = false;
    for (char *term = strtok_r(text, ",\n", &save); term != NULL;
         term = strtok_r(NULL, ",\n", &save)) {
        if (!place_term(config, config1, root, pmu, term)) {
            return false;
        }
        placed = true;
    }
    return placed;
}

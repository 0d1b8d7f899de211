#include "profiler/energy.h"

#include "machines/rootfs.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POWERCAP "/sys/class/powercap"

enum { ZONES_MAX = 64, ZONE_NAME = 48, ZONES_TEXT = 192 };

// energy_uj counts microjoules.
static const double joules_per_count = 1e-6;

struct zone {
    char name[ZONE_NAME]; // of its folder
    enum energy_domain domain;
    uint64_t range; // after which it begins again; 0 unknown
    uint64_t last;
    double joules;
    bool permitted;
    bool failed;
};

struct energy_meter {
    char *root;
    struct zone zones[ZONES_MAX];
    size_t count;
    char names[ENERGY_DOMAINS][ZONES_TEXT];
};

static bool read_energy(uint64_t *out, const struct energy_meter *meter, const struct zone *zone)
{
    return rootfs_read_u64(out, meter->root, POWERCAP "/%s/energy_uj", zone->name);
}

// "package-0", "dram"; cores, graphics and the whole board (psys) are parts or sums of others.
static bool domain_of(enum energy_domain *out, const char *root, const char *folder)
{
    char name[ZONE_NAME];
    if (!rootfs_read(name, sizeof name, root, POWERCAP "/%s/name", folder)) {
        return false;
    }
    bool package = strncmp(name, "package-", 8) == 0;
    *out = package ? ENERGY_PACKAGE : ENERGY_DRAM;
    return package || strcmp(name, "dram") == 0;
}

static void add_zone(struct energy_meter *meter, const char *folder)
{
    struct zone *zone = &meter->zones[meter->count];
    // One and the same package can also be there through the firmware's interface.
    if (strncmp(folder, "intel-rapl:", 11) != 0 && strncmp(folder, "amd-rapl:", 9) != 0) {
        return;
    }
    int length = snprintf(zone->name, sizeof zone->name, "%s", folder);
    if (length < 0 || (size_t)length >= sizeof zone->name ||
        !domain_of(&zone->domain, meter->root, folder)) {
        return;
    }
    zone->permitted = read_energy(&zone->last, meter, zone);
    if (!rootfs_read_u64(&zone->range, meter->root, POWERCAP "/%s/max_energy_range_uj", folder)) {
        zone->range = 0;
    }
    meter->count++;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct zone *)a)->name, ((const struct zone *)b)->name);
}

static void name_zones(struct energy_meter *meter)
{
    for (size_t i = 0; i < meter->count; i++) {
        char *names = meter->names[meter->zones[i].domain];
        size_t used = strlen(names);
        (void)snprintf(names + used, ZONES_TEXT - used, "%s%s", used > 0 ? " " : "",
                       meter->zones[i].name);
    }
}

struct status energy_open(struct energy_meter **out, const char *root)
{
    struct energy_meter *meter = calloc(1, sizeof *meter);
    *out = NULL;
    if (meter == NULL || (meter->root = strdup(root)) == NULL) {
        free(meter);
        return status_error(STATUS_SYSTEM, "no memory to read energy");
    }
    char path[ROOTFS_PATH];
    (void)snprintf(path, sizeof path, "%s" POWERCAP, root);
    DIR *directory = opendir(path);
    const struct dirent *entry = NULL;
    while (directory != NULL && meter->count < ZONES_MAX && (entry = readdir(directory)) != NULL) {
        add_zone(meter, entry->d_name);
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    qsort(meter->zones, meter->count, sizeof *meter->zones, by_name);
    name_zones(meter);
    *out = meter;
    return status_ok();
}

void energy_close(struct energy_meter *meter)
{
    if (meter != NULL) {
        free(meter->root);
        free(meter);
    }
}

static void update_zone(struct zone *zone, uint64_t now)
{
    if (now >= zone->last) {
        zone->joules += (double)(now - zone->last) * joules_per_count;
    } else if (zone->range > 0 && zone->last <= zone->range) {
        zone->joules += (double)(zone->range - zone->last + now) * joules_per_count;
    } else {
        zone->failed = true; // it went back, and nothing says where it wraps
    }
    zone->last = now;
}

void energy_update(struct energy_meter *meter)
{
    for (size_t i = 0; i < meter->count; i++) {
        struct zone *zone = &meter->zones[i];
        uint64_t now = 0;
        if (!zone->permitted) {
            continue;
        }
        if (read_energy(&now, meter, zone)) {
            update_zone(zone, now);
        } else {
            zone->failed = true;
        }
    }
}

struct reading energy_joules(const struct energy_meter *meter, enum energy_domain domain)
{
    double joules = 0;
    bool any = false;
    for (size_t i = 0; i < meter->count; i++) {
        const struct zone *zone = &meter->zones[i];
        if (zone->domain != domain) {
            continue;
        }
        if (!zone->permitted) {
            return reading_absent(ABSENT_NOT_PERMITTED,
                                  "energy_uj below /sys/class/powercap may not be read",
                                  "run as root, or chmod a+r /sys/class/powercap/*/energy_uj");
        }
        if (zone->failed) {
            return reading_absent(
                ABSENT_FAILED, "an energy counter went back or could not be read any more", NULL);
        }
        joules += zone->joules;
        any = true;
    }
    return any ? reading_plain(joules, ORIGIN_COUNTED)
               : reading_absent(ABSENT_UNSUPPORTED,
                                "neither perf (PMU power) nor /sys/class/powercap has this energy "
                                "counter",
                                "virtual machines show no energy: use a bare-metal host");
}

const char *energy_zones(const struct energy_meter *meter, enum energy_domain domain)
{
    return meter->names[domain];
}

#include "profiler/fleet/join.h"

#include "machines/detect.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct status fleet_place_detect(struct fleet_place *out)
{
    memset(out, 0, sizeof *out);
    if (gethostname(out->host, sizeof out->host) != 0) {
        (void)snprintf(out->host, sizeof out->host, "unknown");
    }
    out->host[sizeof out->host - 1] = '\0';
    return machine_detect(&out->machine);
}

void fleet_place_free(struct fleet_place *place)
{
    machine_free(&place->machine);
    free(place->cpus);
    place->cpus = NULL;
}

// "node7-cpu0-23"; of a long list only the ends and the number: units of a host do not overlap.
static void name_stem(struct fleet_row *row, const struct fleet_place *place)
{
    enum { LONG = 40 };
    char host[FLEET_HOST];
    size_t i = 0;
    for (; place->host[i] != '\0'; i++) {
        bool plain = isalnum((unsigned char)place->host[i]) != 0 ||
                     (i > 0 && strchr("._-", place->host[i]) != NULL);
        host[i] = plain ? place->host[i] : '_';
    }
    host[i] = '\0';
    if (strlen(row->cpus) <= LONG) {
        (void)snprintf(row->stem, sizeof row->stem, "%s-cpu%s", host, row->cpus);
    } else {
        (void)snprintf(row->stem, sizeof row->stem, "%s-cpu%u-%u-%zu", host, place->cpus[0],
                       place->cpus[place->cpu_count - 1], place->cpu_count);
    }
}

static struct status take_cpus(struct fleet_place *place, enum fleet_unit unit, unsigned index)
{
    place->cpus = calloc(place->machine.usable_count + 1, sizeof *place->cpus);
    if (place->cpus == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a list of cpus");
    }
    place->cpu_count = fleet_unit_cpus(place->cpus, &place->machine, unit, index);
    return status_ok();
}

// Which ranks of a host get which unit is the same sum in every rank.
static struct status take_unit(struct fleet_place *place, const struct fleet_offer *offers,
                               size_t size, size_t rank, enum fleet_unit unit)
{
    unsigned index = fleet_offer_take(offers, size, rank);
    if (index == FLEET_NO_UNIT) {
        size_t here = 0;
        for (size_t r = 0; r < size; r++) {
            here += strcmp(offers[r].host, place->host) == 0 ? 1 : 0;
        }
        return status_error(STATUS_INVALID,
                            "--per %s: host %s has %zu ranks and no %s left for this one within "
                            "its affinity mask; accepted one rank for each (fewer ranks, a "
                            "smaller --per, or a looser binding: mpirun --bind-to none)",
                            fleet_unit_name(unit), place->host, here, fleet_unit_name(unit));
    }
    return take_cpus(place, unit, index);
}

static void fill_row(struct fleet_row *out, const struct fleet_place *place, unsigned rank)
{
    memset(out, 0, sizeof *out);
    out->rank = rank;
    out->cpu_count = (unsigned)place->cpu_count;
    (void)snprintf(out->host, sizeof out->host, "%s", place->host);
    (void)fleet_cpu_list(out->cpus, sizeof out->cpus, place->cpus, place->cpu_count);
    name_stem(out, place);
}

struct status fleet_join(struct fleet_index *index, struct fleet_place *place, struct world *world,
                         struct status detected)
{
    unsigned size = world_size(world);
    unsigned rank = world_rank(world);
    struct fleet_offer *mine = calloc(1, sizeof *mine);
    struct fleet_offer *offers = calloc(size, sizeof *offers);
    index->rows = calloc(size, sizeof *index->rows);
    index->row_count = size;
    (void)snprintf(index->library, sizeof index->library, "%s", world_library(world));
    struct status status = detected;
    if (status.code == STATUS_OK && (mine == NULL || offers == NULL || index->rows == NULL)) {
        status = status_error(STATUS_SYSTEM, "no memory for a list of %u ranks", size);
    }
    status = world_agree(world, status);
    if (status.code == STATUS_OK) {
        fleet_offer_make(mine, place->host, &place->machine, index->unit);
        world_gather(world, offers, mine, sizeof *mine);
        status = world_agree(world, take_unit(place, offers, size, rank, index->unit));
    }
    if (status.code == STATUS_OK) {
        struct fleet_row row;
        fill_row(&row, place, rank);
        world_gather(world, index->rows, &row, sizeof row);
    }
    free(mine);
    free(offers);
    return status;
}

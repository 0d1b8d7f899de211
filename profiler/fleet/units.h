#ifndef FLEET_UNITS_H
#define FLEET_UNITS_H

/** Which cpus a rank measures. Ranks of one host share its units (the node itself, sockets, NUMA
 *  nodes or cores): each takes the lowest that its launcher lets it run on and that no lower rank
 *  has taken. Pure. */

#include "machines/machine.h"
#include "roofline/status.h"

enum fleet_unit { FLEET_NODE, FLEET_SOCKET, FLEET_NUMA, FLEET_CORE, FLEET_UNITS };

enum { FLEET_HOST = 64, FLEET_NO_UNIT = MACHINE_CPUS_MAX };

/** What a rank may take: unit u if bit u % 8 of units[u / 8] is set. */
struct fleet_offer {
    char host[FLEET_HOST];
    unsigned char units[MACHINE_CPUS_MAX / 8];
};

/** "node", "socket", "numa", "core". Static text. */
const char *fleet_unit_name(enum fleet_unit unit);

/** The unit of that name. Errors: INVALID, naming --per, the word and what is accepted. */
CHECKED struct status fleet_unit_parse(enum fleet_unit *out, const char *name);

/** The units that the machine's usable cpus lie in. */
void fleet_offer_make(struct fleet_offer *out, const char *host, const struct machine *machine,
                      enum fleet_unit unit);

/** The unit of a rank, by everyone's offers; FLEET_NO_UNIT if none is left for it. */
unsigned fleet_offer_take(const struct fleet_offer *offers, size_t count, size_t rank);

/** OS indices, ascending, of the machine's usable cpus in that unit; cpus has room for
 *  machine->usable_count. Returns how many. */
size_t fleet_unit_cpus(unsigned *cpus, const struct machine *machine, enum fleet_unit unit,
                       unsigned index);

/** "0-1,4" from ascending cpus, cut to the field. Returns out. */
char *fleet_cpu_list(char *out, size_t bytes, const unsigned *cpus, size_t count);

#endif

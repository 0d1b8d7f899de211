#ifndef PROFILER_PROBE_ITEMS_H
#define PROFILER_PROBE_ITEMS_H

/** The roofs of one team while they are measured, shared by probe_choose.c, probe_products.c,
 *  probe_chases.c and probe_roofs.c alone. */

#include "profiler/latency.h"
#include "profiler/probe_samples.h"
#include "profiler/probe_session.h"

enum item_role { ROLE_STREAM, ROLE_PLATEAU, ROLE_CHAIN, ROLE_PRODUCT, ROLE_CHASE };

struct product;

struct probe_item {
    enum item_role role;
    unsigned every; // rounds between its windows
    struct ceiling ceiling;
    struct product *product;     // of ROLE_PRODUCT; owned
    struct latency_chase *chase; // of ROLE_CHASE; owned
    enum memory_level level;     // of ROLE_CHASE
    size_t bytes;                // that the path is scattered over
    struct probe_samples samples;
    struct reading per_s;
    struct reading core_hz;
    char unsteady[RESULT_UNSTEADY];
};

struct item_list {
    struct probe_item *items;
    size_t count;
    // Shares of the time that is left: choosing streams, all preparation, the least samples, all
    // samples; then the rest.
    double choose_by;
    double prepare_by;
    double sample_by;
    double enough_by;
    struct arena chased; // the paths of ROLE_CHASE
};

/** Appends an item whose windows are taken in every round; NULL without memory. */
struct probe_item *probe_add_item(struct item_list *list, enum item_role role,
                                  const struct ceiling *ceiling);

/** Appends the fastest kernel of each name at each level asked for, calibrated. brief: only loads
 *  from memory. Errors: INTERRUPTED; those of the ceilings. */
CHECKED struct status probe_choose_streams(struct item_list *list, struct probe *probe,
                                           struct probe_session *session, bool brief);

/** Appends the fastest instruction class of each type asked for and, unless quick, the others.
 *  brief: only the first type. */
CHECKED struct status probe_choose_chains(struct item_list *list, struct probe *probe,
                                          struct probe_session *session, bool brief);

/** Appends a library's square matrix products: BLAS in f32 and f64, oneDNN in bf16 and int8. */
CHECKED struct status probe_add_products(struct item_list *list, struct probe *probe,
                                         struct probe_session *session);
double probe_product_sample(struct team_sample *timing, struct product *product);
void probe_product_describe(struct result_compute *out, const struct product *product);
const char *probe_product_dtype(const struct product *product);
void probe_product_close(struct product *product);

/** Appends paths of dependent loads through L1, L2 and L3, as far as asked for and told, in huge
 *  pages. Latency of memory needs the whole arena and is not among them. */
CHECKED struct status probe_add_chases(struct item_list *list, struct probe *probe,
                                       struct probe_session *session);

#endif

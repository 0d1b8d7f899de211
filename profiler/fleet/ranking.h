#ifndef FLEET_RANKING_H
#define FLEET_RANKING_H

/** A fleet judged by itself: each unit's ceilings against those of like units, worst first, and
 *  against an earlier run. The statistics are roofline/outlier.h's. */

#include "profiler/fleet/profile_set.h"

/** One ceiling of one unit: the middle of its repeats. */
struct ranking_cell {
    uint32_t unit;
    uint32_t ceiling;
    size_t column;
    double value;
    double low; /**< of the repeats; of the profile if there is one */
    double high;
    unsigned repeats;
    double deviation_fraction; /**< value / center - 1, in the sign of the value */
    double z;                  /**< negative: worse than its like; NaN: too few like units */
    bool outlier;
};

/** One ceiling of a group of like units. */
struct ranking_column {
    size_t group;
    uint32_t ceiling;
    size_t units;
    double center;
    double spread_fraction; /**< robust sigma between units; NaN: too few */
    double limit;           /**< of |z|; NaN */
};

/** A unit's place. */
struct ranking_place {
    size_t unit;
    size_t first; /**< its cells: cells[by_unit[first..first + count)] */
    size_t count;
    size_t worst; /**< index into cells; SIZE_MAX: none was judged */
    double worst_z;
    unsigned outliers;
    char cause[96]; /**< a guess as a question; "" if nothing is wrong */
};

struct ranking_drift {
    size_t unit; /**< of the set at hand */
    uint32_t ceiling;
    double before;
    double now;
    double z; /**< of the ratio's logarithm against the spread of all; NaN */
    bool drifted;
};

struct ranking {
    const struct profile_set *set;
    double least_fraction;      /**< smaller deviations are no outliers and no drift */
    struct ranking_cell *cells; /**< by ceiling, then unit */
    size_t cell_count;
    size_t *by_unit; /**< indices of cells by unit */
    struct ranking_column *columns;
    size_t column_count;
    struct ranking_place *places; /**< worst first; units without a profile are in none */
    size_t place_count;
    size_t outlier_units;
    struct ranking_drift *drifts; /**< those that have drifted, the largest first */
    size_t drift_count;
    size_t drift_compared; /**< ceilings of units that both runs have */
};

/** Ranks. The set outlives the ranking. Freed by the caller in either case. Errors: SYSTEM. */
CHECKED struct status ranking_compute(struct ranking *out, const struct profile_set *set,
                                      double least_fraction);

/** Compares with an earlier set: same unit, same ceiling. Drifted: the intervals of the repeats
 *  are apart, the change is more than least_fraction, and beyond the limit of the changes of all
 *  where there are enough. Errors: INVALID if there is nothing in common; SYSTEM. */
CHECKED struct status ranking_compare(struct ranking *ranking, const struct profile_set *before);

void ranking_free(struct ranking *ranking);

/** A fact in which a unit differs from most of its group, as "governor powersave, others
 *  performance"; "" if there is none. Returns out. */
char *ranking_odd_fact(char *out, size_t bytes, const struct profile_set *set, size_t unit);

#endif

#include "profiler/stored_weights.h"

#include <math.h>

static void scale(struct step_cost *cost, double factor)
{
    double more = cost->bytes.weights * (factor - 1);
    cost->bytes.weights += more;
    cost->bytes.dram_lower_bound += more;
    cost->bytes.requested += more;
    cost->flop_per_byte =
        cost->bytes.dram_lower_bound > 0 ? cost->flop / cost->bytes.dram_lower_bound : (double)NAN;
}

void stored_weights_scale(struct step *step, double factor)
{
    scale(&step->sum, factor);
    for (size_t i = 0; i < step->operator_count; i++) {
        scale(&step->operators[i], factor);
    }
    step->memory_bytes += step->weight_bytes * (factor - 1);
    step->weight_bytes *= factor;
}

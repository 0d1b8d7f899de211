#ifndef PROFILER_STORED_WEIGHTS_H
#define PROFILER_STORED_WEIGHTS_H

/** Weights of a step as a file of known size stores them, where only the model's shape and the name
 *  of a mixture of types ("Q4_K_M") are known. */

#include "roofline/step.h"

/** Multiplies the bytes of weights of every operator and of the sum by factor (file size over the
 *  size that the step's single type gives), and what follows from them: an approximation, as the
 *  mixture is taken for even. */
void stored_weights_scale(struct step *step, double factor);

#endif

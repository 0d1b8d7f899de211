#ifndef PROFILER_PLACE_AGREE_H
#define PROFILER_PLACE_AGREE_H

/** Whether what the user tells of another tool's measurement (model, type, threads) is what its
 *  output tells: figures of two models are not mixed. */

#include "profiler/place.h"

/** What the output does not tell is not judged. Errors: INVALID naming both figures if parameters
 *  or stored size are more than 3 % apart, or type or threads are others. */
CHECKED struct status place_agree(const struct place_test *test,
                                  const struct place_request *request);

#endif

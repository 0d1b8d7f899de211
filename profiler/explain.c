#include "profiler/model_request.h"

void model_explain(FILE *out, const struct model_answer *answer)
{
    model_print(out, answer);
}

#include "workloads/gguf.h"

struct status gguf_read_model(struct model *out, const char *path)
{
    (void)out;
    return status_error(STATUS_UNAVAILABLE, "'%s': this build has no GGUF reader", path);
}

#include "profiler/limit.h"

#include "profiler/clock.h"

#include <stddef.h>

static bool is_signalled(const struct limit *limit)
{
    return limit->signal != NULL && *limit->signal != 0;
}

static bool is_late(const struct limit *limit)
{
    return limit->until_seconds > 0 && clock_seconds() > limit->until_seconds;
}

bool limit_reached(const struct limit *limit)
{
    return is_signalled(limit) || is_late(limit);
}

struct status limit_heed(const struct limit *limit)
{
    if (is_signalled(limit)) {
        return status_error(STATUS_INTERRUPTED, "interrupted");
    }
    return is_late(limit) ? status_error(STATUS_UNAVAILABLE, "the time is up") : status_ok();
}

bool limit_is_why(const struct limit *limit, struct status status)
{
    return status.code == STATUS_UNAVAILABLE && is_late(limit);
}

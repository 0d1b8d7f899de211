#include "roofline/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void replace_controls(char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) {
            *text = '?';
        }
    }
}

struct status status_ok(void)
{
    struct status status = {.code = STATUS_OK};
    return status;
}

struct status status_error(enum status_code code, const char *format, ...)
{
    struct status status = {.code = code};
    va_list args;
    va_start(args, format);
    (void)vsnprintf(status.detail, sizeof status.detail, format, args);
    va_end(args);
    replace_controls(status.detail);
    return status;
}

struct status status_prefix(struct status status, const char *format, ...)
{
    if (status.code == STATUS_OK) {
        return status;
    }
    char prefix[sizeof status.detail];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
    replace_controls(prefix);

    struct status out = {.code = status.code};
    size_t used = strnlen(prefix, sizeof out.detail / 2);
    memcpy(out.detail, prefix, used);
    (void)snprintf(out.detail + used, sizeof out.detail - used, ": %s", status.detail);
    return out;
}

bool status_is_ok(struct status status)
{
    return status.code == STATUS_OK;
}

void status_ignore(struct status status)
{
    (void)status.code;
}

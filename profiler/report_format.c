#include "profiler/report_format.h"

#include "profiler/output.h"
#include "profiler/prompt_end.h"

#include <stdlib.h>
#include <string.h>

#define X(name) extern const struct report_format report_##name;
#include "report_format_registry.inc"
#undef X

const struct report_format *const *report_formats(void)
{
    static const struct report_format *const formats[] = {
#define X(name) &report_##name,
#include "report_format_registry.inc"
#undef X
        NULL};
    return formats;
}

struct status report_find(const struct report_format **out, const char *path, const char *others)
{
    const struct report_format *const *formats = report_formats();
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(name, '.');
    char known[128] = "";
    for (size_t i = 0; formats[i] != NULL; i++) {
        if (dot != NULL && strcmp(formats[i]->name, dot + 1) == 0) {
            *out = formats[i];
            return status_ok();
        }
        size_t used = strlen(known);
        (void)snprintf(known + used, sizeof known - used, " .%s", formats[i]->name);
    }
    return status_error(STATUS_INVALID, "%s: found %s%s%s, accepted extensions:%s%s", path,
                        dot == NULL ? "no extension" : "extension '", dot == NULL ? "" : dot,
                        dot == NULL ? "" : "'", others, known);
}

struct status report_save(const char *path, const struct report_input *input)
{
    const struct report_format *format = NULL;
    struct status status = report_find(&format, path, "");
    if (format == NULL) {
        return status;
    }
    TRY(output_check(path));
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to write %s", path);
    }
    struct prompt_end before;
    if (input->ends_at_once) {
        prompt_end_begin(&before);
    }
    status = format->write(memory, input);
    bool whole = !ferror(memory);
    whole = fclose(memory) == 0 && whole;
    if (status.code == STATUS_OK && !whole) {
        status = status_error(STATUS_SYSTEM, "no memory to write %s", path);
    }
    if (input->ends_at_once) {
        prompt_end_finish(&before); // a temporary file is no longer to be left
    }
    if (status.code == STATUS_OK) {
        status = output_replace(path, text, size);
    }
    free(text);
    return status;
}

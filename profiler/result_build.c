#include "profiler/result_build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *result_append(void *list_pointer, size_t *count, size_t element_bytes)
{
    void *list = NULL;
    memcpy(&list, list_pointer, sizeof list); // any struct pointer has this representation
    void *grown = realloc(list, (*count + 1) * element_bytes);
    if (grown == NULL) {
        return NULL;
    }
    memcpy(list_pointer, &grown, sizeof grown);
    void *element = (char *)grown + *count * element_bytes;
    memset(element, 0, element_bytes);
    (*count)++;
    return element;
}

static bool has_warning(const struct result_run *run, const char *code, const char *text)
{
    for (size_t i = 0; i < run->warning_count; i++) {
        if (strcmp(run->warnings[i].code, code) == 0 && strcmp(run->warnings[i].text, text) == 0) {
            return true;
        }
    }
    return false;
}

void result_warn(struct result_run *run, const char *code, const char *try_, const char *format,
                 ...)
{
    struct result_warning made = {.code = ""};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(made.text, sizeof made.text, format, arguments);
    va_end(arguments);
    (void)snprintf(made.code, sizeof made.code, "%s", code);
    (void)snprintf(made.try_, sizeof made.try_, "%s", try_ != NULL ? try_ : "");
    if (has_warning(run, made.code, made.text)) {
        return;
    }
    struct result_warning *warning =
        result_append(&run->warnings, &run->warning_count, sizeof *warning);
    if (warning != NULL) {
        *warning = made;
    }
}

void result_fact(struct result_fact **list, size_t *count, const char *name, const char *format,
                 ...)
{
    struct result_fact made = {.name = ""};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(made.text, sizeof made.text, format, arguments);
    va_end(arguments);
    (void)snprintf(made.name, sizeof made.name, "%s", name);
    if (made.text[0] == '\0') {
        return;
    }
    struct result_fact *fact = result_append(list, count, sizeof *fact);
    if (fact != NULL) {
        *fact = made;
    }
}

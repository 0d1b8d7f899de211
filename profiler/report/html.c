#include "profiler/report_data_json.h"
#include "profiler/report_format.h"
#include "roofline/embedded.h"

#include <stdlib.h>
#include <string.h>

// Compiled in by lmroof_embed(): the style, our scripts, and Chart.js where the build found it.
extern const struct embedded_file report_page[];

// The page's parts in the order in which they stand in it.
static const char *const scripts[] = {"chart.min",   "page_format", "page_chart",
                                      "page_sweeps", "page_table",  "page_main"};

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<title>lmroof report</title>\n";

static const struct embedded_file *find(const char *name)
{
    for (const struct embedded_file *file = report_page; file->name != NULL; file++) {
        if (strcmp(file->name, name) == 0) {
            return file;
        }
    }
    return NULL;
}

static void write_part(FILE *out, const char *name, const char *tag)
{
    const struct embedded_file *file = find(name);
    (void)fprintf(out, "<%s>\n", tag);
    if (file != NULL) { // check_parts() has seen to it
        (void)fwrite(file->bytes, 1, file->size, out);
    }
    (void)fprintf(out, "\n</%s>\n", tag);
}

static struct status check_parts(void)
{
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        if (find(scripts[i]) == NULL) {
            return status_error(
                STATUS_UNAVAILABLE,
                "this lmroof was built without Chart.js and writes no html; install "
                "the package libjs-chart.js and build again");
        }
    }
    return status_ok();
}

static struct status write_html(FILE *out, const struct report_input *input)
{
    TRY(check_parts());
    (void)fputs(head, out);
    write_part(out, "page_style", "style");
    (void)fputs("</head>\n<body>\n<noscript>This report needs JavaScript; the data is in its "
                "source.</noscript>\n<script type=\"application/json\" id=\"data\">",
                out);
    TRY(report_data_write(out, input));
    (void)fputs("</script>\n", out);
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        write_part(out, scripts[i], "script");
    }
    (void)fputs("</body>\n</html>\n", out);
    return status_ok();
}

const struct report_format report_html = {.name = "html",
                                          .summary = "one interactive, self-contained page",
                                          .carries_documents = true,
                                          .write = write_html};

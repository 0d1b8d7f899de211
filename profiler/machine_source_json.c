#include "profiler/input.h"
#include "profiler/json_text.h"
#include "profiler/machine_source.h"
#include "profiler/results_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PROFILE_BYTES_MAX ((size_t)256 << 20)

static void set_label(struct machine_source *out, const char *name)
{
    (void)snprintf(out->label, sizeof out->label, "%s", name);
    for (char *c = out->label; *c != '\0'; c++) {
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    }
}

static void take_label(struct machine_source *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    set_label(out, slash == NULL || slash[1] == '\0' ? path : slash + 1);
}

static bool is_shared(const struct machine_source *sources, const char *const *words, size_t count,
                      size_t index)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(sources[i].label, sources[index].label) == 0 &&
            strcmp(words[i], words[index]) != 0) {
            return true;
        }
    }
    return false;
}

void machine_sources_tell_apart(struct machine_source *sources, const char *const *words,
                                size_t count)
{
    bool *shared = calloc(count + 1, sizeof *shared);
    for (size_t i = 0; shared != NULL && i < count; i++) {
        shared[i] = is_shared(sources, words, count, i);
    }
    for (size_t i = 0; shared != NULL && i < count; i++) {
        size_t length = strlen(words[i]);
        size_t most = sizeof sources[i].label - 1;
        if (shared[i]) {
            set_label(&sources[i], words[i] + (length > most ? length - most : 0));
        }
    }
    free(shared);
}

static struct status use_sheet(struct machine_source *out)
{
    out->is_datasheet = true;
    return datasheet_profile(&out->run, &out->sheet);
}

// The schema's word decides; what is no JSON at all is reported by the reader of profiles. Samples
// are not needed here, and dropping them halves the work on a profile.
static struct status parse(struct machine_source *out, char *text, size_t size, const char *path)
{
    char *copy = malloc(size + 1);
    if (copy == NULL) {
        return status_error(STATUS_SYSTEM, "no memory to read %s", path);
    }
    size_t compact = json_text_compact(copy, text, size, true);
    struct status status;
    static const char sheet[] = "\"schema\":\"lmroof.datasheet/1\"";
    if (memmem(copy, compact, sheet, sizeof sheet - 1) != NULL) {
        status = datasheet_parse(&out->sheet, text, size, path);
        status = status_is_ok(status) ? use_sheet(out) : status;
    } else {
        status = run_parse(&out->run, copy, compact, path);
        if (status.code == STATUS_INVALID) { // lines and columns are to be those of the file
            result_run_free(&out->run);
            status = run_parse(&out->run, text, size, path);
        }
    }
    free(copy);
    return status;
}

struct status machine_source_load(struct machine_source *out, const char *word)
{
    struct stat info;
    if (word[0] == '\0' || stat(word, &info) != 0) {
        TRY(datasheet_find(&out->sheet, word));
        (void)snprintf(out->label, sizeof out->label, "%s", out->sheet.name);
        return use_sheet(out);
    }
    char *text = NULL;
    size_t size = 0;
    take_label(out, word);
    struct status status = input_read(&text, &size, word, PROFILE_BYTES_MAX);
    if (status_is_ok(status)) {
        status = parse(out, text, size, word);
    }
    free(text);
    return status;
}

struct status machine_source_check(const struct machine_source *source)
{
    const struct result_machine *roofs = &source->run.machine;
    bool any = false;
    for (size_t i = 0; i < roofs->bandwidth_count; i++) {
        any = any || reading_is_present(&roofs->bandwidth[i].bytes_per_s);
    }
    for (size_t i = 0; i < roofs->compute_count; i++) {
        any = any || reading_is_present(&roofs->compute[i].flop_per_s);
    }
    return any ? status_ok()
               : status_error(STATUS_INVALID,
                              "%s: found no ceiling in it, accepted a profile of 'lmroof probe'",
                              source->label);
}

// What makes figures wrong comes before what makes them unsteady or fewer.
static size_t worst_warning(const struct result_run *run)
{
    static const char *const codes[] = {"implausible", "above_roof", "level_order", "cores_shared",
                                        "cpus_apart",  "unsteady",   "no_plateau",  "budget"};
    for (size_t c = 0; c < sizeof codes / sizeof *codes; c++) {
        for (size_t i = 0; i < run->warning_count; i++) {
            if (strcmp(run->warnings[i].code, codes[c]) == 0) {
                return i;
            }
        }
    }
    return 0;
}

void machine_source_warn(FILE *err, const struct machine_source *source, bool verbose)
{
    const struct result_run *run = &source->run;
    if (source->is_datasheet || run->warning_count == 0) {
        return; // that a sheet is one is said at its figures
    }
    size_t worst = worst_warning(run);
    for (size_t i = 0; i < run->warning_count; i++) {
        if (verbose || i == worst) {
            (void)fprintf(err, "lmroof: warning: %s: %s: %s\n", source->label,
                          run->warnings[i].code, run->warnings[i].text);
        }
    }
    if (!verbose && run->warning_count > 1) {
        (void)fprintf(err,
                      "lmroof: warning: %s: and %zu more from when it was measured; try: "
                      "--verbose\n",
                      source->label, run->warning_count - 1);
    }
}

void machine_source_free(struct machine_source *source)
{
    result_run_free(&source->run);
}

static const char *find_fact(const struct result_fact *facts, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(facts[i].name, name) == 0) {
            return facts[i].text;
        }
    }
    return NULL;
}

const char *machine_source_fact(const struct machine_source *source, const char *name)
{
    const char *text = find_fact(source->run.conditions, source->run.condition_count, name);
    return text != NULL ? text : find_fact(source->run.host, source->run.host_count, name);
}

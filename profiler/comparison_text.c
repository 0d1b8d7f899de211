#include "profiler/comparison_text.h"

#include "roofline/dtype.h"
#include "roofline/units.h"

#include <math.h>
#include <string.h>

static const char *mark_meaning(enum comparison_mark mark)
{
    switch (mark) {
    case COMPARISON_CLASS:
        return "another instruction class than the first machine's: each machine's best";
    case COMPARISON_THREADS:
        return "one thread a core here, more there";
    case COMPARISON_PAGES:
        return "pages of another size behind the memory";
    case COMPARISON_PLACEMENT:
        return "memory placed otherwise over the nodes";
    case COMPARISON_ORIGIN:
        return "a data sheet's peak beside a measurement";
    case COMPARISON_UNSTEADY:
        return "a profile warns of its samples, or an interval is wide: measure again";
    }
    return "";
}

static void print_marks(FILE *out, unsigned marks)
{
    for (unsigned mark = 1; mark <= COMPARISON_UNSTEADY; mark <<= 1) {
        if ((marks & mark) != 0) {
            (void)fprintf(out, " !%s", comparison_mark_name((enum comparison_mark)mark));
        }
    }
}

// "int8 fma", "q8_0 kernel": operations on integers.
static const char *unit_of(const struct comparison_row *row)
{
    char word[16];
    (void)snprintf(word, sizeof word, "%.*s", (int)strcspn(row->name, " "), row->name);
    enum dtype_id dtype = dtype_find(word);
    bool integers = row->unit == COMPARISON_FLOP_PER_S && dtype < DTYPE_COUNT &&
                    dtype_get(dtype)->kind == DTYPE_INT;
    return integers ? "OP/s" : comparison_unit_name(row->unit);
}

static void print_entry(FILE *out, const struct comparison *comparison,
                        const struct comparison_row *row, size_t index)
{
    const struct comparison_entry *entry = &row->entries[index];
    const struct machine_source *source = &comparison->machines[index];
    if (entry->reading == NULL) {
        (void)fprintf(out, "  %-25.25s %12s\n", source->label, "-");
        return;
    }
    char value[UNITS_TEXT];
    char low[UNITS_TEXT] = "";
    char high[UNITS_TEXT] = "";
    const char *unit = unit_of(row);
    units_format_decimal(value, entry->reading->value, unit);
    units_format_short(low, entry->reading->ci95_low, "");
    units_format_short(high, entry->reading->ci95_high, "");
    (void)fprintf(out, "  %-24.24s%c %12s", source->label, source->is_datasheet ? '*' : ' ', value);
    if (isfinite(entry->reading->ci95_low) && row->unit != COMPARISON_SECONDS) {
        (void)fprintf(out, "  %8s ..%8s", low, high);
    } else {
        (void)fprintf(out, "  %18s", "");
    }
    if (isfinite(entry->ratio)) {
        (void)fprintf(out, " %7.3gx", entry->ratio);
    } else {
        (void)fprintf(out, " %8s", "-");
    }
    static const char *const outcomes[] = {[COMPARISON_NO_INTERVAL] = "",
                                           [COMPARISON_DIFFERS] = "  differs",
                                           [COMPARISON_SAME] = "  the same",
                                           [COMPARISON_CANNOT_TELL] = "  cannot tell"};
    (void)fprintf(out, "%s", index > 0 ? outcomes[entry->outcome] : "");
    print_marks(out, entry->marks);
    (void)fprintf(out, "\n");
}

static void print_machines(FILE *out, const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->machine_count; i++) {
        const struct machine_source *source = &comparison->machines[i];
        const struct comparison_conditions *at = &comparison->conditions[i];
        const char *title = machine_source_fact(source, "name");
        char pages[UNITS_TEXT] = "";
        if (at->page_bytes > 0) {
            units_format_binary(pages, at->page_bytes);
        }
        (void)fprintf(out, "  %-24.24s%c %s, %u threads%s%s%s\n", source->label,
                      source->is_datasheet ? '*' : ' ', title == NULL ? "" : title, at->threads,
                      pages[0] == '\0' ? "" : ", pages of ", pages,
                      at->unsteady ? ", unsteady" : "");
    }
}

// The marks that stand in the tables.
static void print_legend(FILE *out, const struct comparison *comparison)
{
    unsigned used = 0;
    for (size_t r = 0; r < comparison->row_count; r++) {
        for (size_t i = 0; i < comparison->machine_count; i++) {
            used |= comparison->rows[r].entries[i].marks;
        }
    }
    for (unsigned mark = 1; mark <= COMPARISON_UNSTEADY; mark <<= 1) {
        if ((used & mark) != 0) {
            (void)fprintf(out, "!%s: %s\n", comparison_mark_name((enum comparison_mark)mark),
                          mark_meaning((enum comparison_mark)mark));
        }
    }
}

void comparison_print(FILE *out, const struct comparison *comparison)
{
    (void)fprintf(out, "machines\n");
    print_machines(out, comparison);
    for (size_t r = 0; r < comparison->row_count; r++) {
        const struct comparison_row *row = &comparison->rows[r];
        (void)fprintf(out, "\n%s, %s%s\n", row->name, unit_of(row),
                      row->unit == COMPARISON_SECONDS ? "" : " (.. 95 % interval, same unit)");
        for (size_t i = 0; i < comparison->machine_count; i++) {
            print_entry(out, comparison, &comparison->rows[r], i);
        }
    }
    (void)fprintf(out,
                  "\nratios are to the first machine; differs: the 95 %% intervals lie apart; "
                  "the same: they allow ratios of %.2f to %.2f only; cannot tell: they "
                  "overlap and are too wide to tell; * data sheet\n",
                  1 / COMPARISON_MARGIN, COMPARISON_MARGIN);
    print_legend(out, comparison);
    for (size_t i = 0; i < comparison->unlike_count; i++) {
        (void)fprintf(out, "unlike: %s\n", comparison->unlike[i].text);
    }
}

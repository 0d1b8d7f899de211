#include "profiler/event_table.h"
#include "tests/test.h"

#include <perfmon/pfmlib_perf_event.h>

#include <stdbool.h>
#include <stdlib.h>

// Forms that every row must have.
static void check_row(const struct event_table *table, size_t i)
{
    const struct event_row *row = &table->rows[i];
    bool system = row->pmu != NULL;
    bool fine = row->metric < METRIC_COUNT && row->rank < EVENT_RANKS_MAX &&
                fabs(row->weight) > 0 && (row->event != NULL || row->terms != NULL || system) &&
                (row->type == EVENT_TYPE_SYSFS) == system && (row->papi_pmu == NULL || system) &&
                (row->terms == NULL || system);
    if (!fine) {
        fail_msg("%s: row %zu (%s) is malformed", table->name, i,
                 row->event == NULL ? row->terms : row->event);
    }
}

static bool has_rows(const struct event_table *table, enum metric metric, unsigned rank)
{
    for (size_t i = 0; i < table->row_count; i++) {
        if (table->rows[i].metric == metric && table->rows[i].rank == rank) {
            return true;
        }
    }
    return false;
}

static void every_table_is_complete(void **state)
{
    (void)state;
    size_t count = 0;
    for (const struct event_table *const *t = event_tables(); *t != NULL; t++, count++) {
        for (size_t i = 0; i < (*t)->row_count; i++) {
            check_row(*t, i);
        }
        for (unsigned m = 0; m < METRIC_COUNT; m++) {
            bool counted = has_rows(*t, (enum metric)m, 0);
            if (counted == ((*t)->absent[m] != NULL)) {
                fail_msg("%s: %s must have either rows of rank 0 or a reason for absence",
                         (*t)->name, metric_row((enum metric)m)->name);
            }
            for (unsigned r = 1; r < EVENT_RANKS_MAX; r++) {
                if (has_rows(*t, (enum metric)m, r) && !has_rows(*t, (enum metric)m, r - 1)) {
                    fail_msg("%s: %s has a gap below rank %u", (*t)->name,
                             metric_row((enum metric)m)->name, r);
                }
            }
        }
        assert_true((*t)->source[0] != '\0' && (*t)->family[0] != '\0');
    }
    assert_int_equal(count, 14);
}

static void parts_find_their_table(void **state)
{
    (void)state;
    const struct {
        const char *vendor;
        unsigned family, model, stepping;
        const char *want;
    } cases[] = {
        {"GenuineIntel", 6, 85, 4, "skylake_sp"},
        {"GenuineIntel", 6, 85, 7, "skylake_sp"},
        {"GenuineIntel", 6, 106, 6, "ice_lake_sp"},
        {"GenuineIntel", 6, 143, 8, "sapphire_rapids"},
        {"GenuineIntel", 6, 207, 2, "sapphire_rapids"},
        {"GenuineIntel", 6, 173, 1, "granite_rapids"},
        {"GenuineIntel", 6, 151, 2, "alder_lake"},
        {"GenuineIntel", 6, 79, 1, "generic"},
        {"AuthenticAMD", 23, 0x31, 0, "zen2"},
        {"AuthenticAMD", 23, 1, 0, "generic"},
        {"AuthenticAMD", 25, 1, 1, "zen3"},
        {"AuthenticAMD", 25, 0x21, 0, "zen3"},
        {"AuthenticAMD", 25, 0x11, 1, "zen4"},
        {"AuthenticAMD", 25, 0xa0, 2, "zen4"},
        {"AuthenticAMD", 26, 2, 1, "zen5"},
        {"AuthenticAMD", 26, 0x50, 1, "generic"},
        {"0x41", 0, 0xd0c, 0x31, "neoverse_n1"},
        {"0x41", 0, 0xd49, 0, "neoverse_n2"},
        {"0x6d", 0, 0xd49, 0xff, "neoverse_n2"},
        {"0x41", 0, 0xd40, 1, "neoverse_v1"},
        {"0x41", 0, 0xd4f, 1, "neoverse_v2"},
        {"0x41", 0, 0xd08, 3, "generic"},
        {"", 0, 0, 0, "generic"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct machine machine = {
            .family = cases[i].family, .model = cases[i].model, .stepping = cases[i].stepping};
        (void)snprintf(machine.vendor, sizeof machine.vendor, "%s", cases[i].vendor);
        const struct event_table *table = event_table_find(&machine);
        if (strcmp(table->name, cases[i].want) != 0) {
            fail_msg("%s %u/%u: got %s, want %s", cases[i].vendor, cases[i].family, cases[i].model,
                     table->name, cases[i].want);
        }
        assert_int_equal(event_table_is_generic(table), strcmp(cases[i].want, "generic") == 0);
    }
}

// Encodes NAME with libpfm4, which needs no such CPU for it. False if libpfm4 does not know it.
static bool encode(const char *name, struct perf_event_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    pfm_perf_encode_arg_t arg = {.attr = attr, .size = sizeof arg};
    return pfm_get_os_event_encoding(name, PFM_PLM3, PFM_OS_PERF_EVENT, &arg) == PFM_SUCCESS;
}

static size_t check_encoding(const struct event_table *table, const struct event_row *row)
{
    if (row->event == NULL || strncmp(row->event, "PAPI_", 5) == 0) {
        return 0;
    }
    char pmus[128];
    (void)snprintf(pmus, sizeof pmus, "%s",
                   row->pmu == NULL        ? table->pmus
                   : row->papi_pmu == NULL ? ""
                                           : row->papi_pmu);
    char *save = NULL;
    for (char *pmu = strtok_r(pmus, " ", &save); pmu != NULL; pmu = strtok_r(NULL, " ", &save)) {
        if (pmu[strlen(pmu) - 1] == '*') {
            pmu[strlen(pmu) - 1] = '0';
        }
        char name[256];
        (void)snprintf(name, sizeof name, "%s::%s%s", pmu, row->event,
                       row->pmu == NULL ? "" : ":cpu=0");
        struct perf_event_attr attr;
        if (!encode(name, &attr)) {
            continue;
        }
        if (attr.config != row->config || attr.config1 != row->config1) {
            fail_msg("%s: libpfm4 encodes 0x%llx,0x%llx; the table has 0x%llx,0x%llx", name,
                     (unsigned long long)attr.config, (unsigned long long)attr.config1,
                     (unsigned long long)row->config, (unsigned long long)row->config1);
        }
        return 1;
    }
    return 0;
}

// How many rows libpfm4 4.13.0 of Debian 12 can check; a newer one may know more, never fewer.
static void encodings_agree_with_libpfm4(void **state)
{
    (void)state;
    const struct {
        const char *table;
        size_t at_least;
    } known[] = {{"skylake_sp", 19}, {"ice_lake_sp", 20}, {"sapphire_rapids", 24},
                 {"zen2", 11},       {"zen3", 8},         {"zen4", 10}};
    assert_int_equal(setenv("LIBPFM_ENCODE_INACTIVE", "1", 1), 0);
    assert_int_equal(pfm_initialize(), PFM_SUCCESS);
    for (const struct event_table *const *t = event_tables(); *t != NULL; t++) {
        size_t checked = 0;
        for (size_t i = 0; i < (*t)->row_count; i++) {
            checked += check_encoding(*t, &(*t)->rows[i]);
        }
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
            if (strcmp(known[k].table, (*t)->name) == 0 && checked < known[k].at_least) {
                fail_msg("%s: libpfm4 knew only %zu rows, want at least %zu", (*t)->name, checked,
                         known[k].at_least);
            }
        }
        print_message("%s: %zu of %zu rows checked\n", (*t)->name, checked, (*t)->row_count);
    }
    pfm_terminate();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_is_complete),
        cmocka_unit_test(parts_find_their_table),
        cmocka_unit_test(encodings_agree_with_libpfm4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "profiler/session_memory.h"

#include "machines/bind.h"
#include "profiler/result_build.h"
#include "roofline/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {[SESSION_LOCAL] = "local",
                                    [SESSION_INTERLEAVE] = "interleave",
                                    [SESSION_REPLICATE] = "replicate"};

bool session_numa_find(enum session_numa *out, const char *word)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], word) == 0) {
            *out = (enum session_numa)i;
            return true;
        }
    }
    return false;
}

const char *session_numa_name(enum session_numa numa)
{
    return names[numa];
}

struct nodes {
    unsigned list[MACHINE_NODES_MAX];
    unsigned count;
};

static unsigned index_of(struct nodes *nodes, unsigned node)
{
    for (unsigned i = 0; i < nodes->count; i++) {
        if (nodes->list[i] == node) {
            return i;
        }
    }
    if (nodes->count < MACHINE_NODES_MAX) {
        nodes->list[nodes->count++] = node;
    }
    return nodes->count - 1;
}

static unsigned node_of(const struct session *s, unsigned thread)
{
    for (size_t i = 0; i < s->machine.usable_count; i++) {
        if (s->machine.usable[i].os_index == s->cpus[thread]) {
            return s->machine.usable[i].node;
        }
    }
    return s->machine.usable[0].node;
}

// Of the threads.
static struct nodes nodes_of_team(const struct session *s)
{
    struct nodes nodes = {.count = 0};
    for (unsigned t = 0; t < s->threads; t++) {
        (void)index_of(&nodes, node_of(s, t));
    }
    return nodes;
}

// Of all usable cpus: the memory of nodes without threads serves too.
static struct nodes nodes_of_machine(const struct session *s)
{
    struct nodes nodes = {.count = 0};
    for (size_t i = 0; i < s->machine.usable_count; i++) {
        (void)index_of(&nodes, s->machine.usable[i].node);
    }
    return nodes;
}

unsigned session_memory_copies(const struct session *session)
{
    return session->options.numa == SESSION_REPLICATE ? nodes_of_team(session).count : 1;
}

void session_memory_note(struct result_run *run, const struct session *session)
{
    const struct session_options *options = &session->options;
    unsigned machine = nodes_of_machine(session).count;
    unsigned team = nodes_of_team(session).count;
    bool replicate = options->numa == SESSION_REPLICATE;
    if (options->numa != SESSION_LOCAL && (replicate ? team : machine) == 1) {
        result_warn(run, "one_node", NULL,
                    "%s one NUMA node: --numa %s makes no difference to local here",
                    machine == 1 ? "the usable cpus are of" : "the threads are on",
                    session_numa_name(options->numa));
    }
    if (options->smt && session->machine.usable_count == session->machine.usable_cores) {
        result_warn(run, "no_smt", NULL,
                    "no usable core has a second thread: --smt on makes no difference here");
    }
}

static struct status check_memory(const struct session *s, uint64_t bytes, unsigned copies)
{
    uint64_t available = s->machine.memory_available_bytes;
    // A tenth is left to everyone else.
    if (available > 0 && bytes > available / 10 * 9 / copies) {
        char need[UNITS_TEXT];
        char have[MACHINE_AVAILABLE_TEXT];
        char each[48] = "";
        if (copies > 1) {
            (void)snprintf(each, sizeof each, " on each of %u nodes", copies);
        }
        return status_error(STATUS_UNAVAILABLE,
                            "measuring needs %s of memory%s (4x the last-level caches, or the "
                            "largest matrix), %s are available; free some, or use fewer caches "
                            "(taskset) or a smaller model",
                            units_format_binary(need, bytes), each,
                            machine_format_available(have, &s->machine, available));
    }
    return status_ok();
}

static struct status place_copies(struct session *s, const struct binder *binder)
{
    struct nodes nodes = nodes_of_team(s);
    s->copy_of = calloc(s->threads, sizeof *s->copy_of);
    if (s->copy_of == NULL) {
        return status_error(STATUS_SYSTEM, "no memory for a list of threads");
    }
    for (unsigned t = 0; t < s->threads; t++) {
        s->copy_of[t] = index_of(&nodes, node_of(s, t));
    }
    s->arena.copy_of = s->copy_of;
    for (unsigned i = 0; i < nodes.count; i++) {
        TRY(bind_memory(binder, arena_share_in(&s->arena, i, 0, 0), s->arena.bytes, BIND_ON_NODES,
                        &nodes.list[i], 1));
    }
    return status_ok();
}

static struct status place(struct session *s, const struct binder *binder)
{
    if (s->options.numa == SESSION_REPLICATE) {
        return place_copies(s, binder);
    }
    const struct nodes nodes = nodes_of_machine(s);
    return bind_memory(binder, s->arena.base, s->arena.bytes, BIND_INTERLEAVE, nodes.list,
                       nodes.count);
}

struct status session_memory_map(struct session *session, uint64_t bytes)
{
    struct session *s = session;
    unsigned copies = session_memory_copies(s);
    TRY(check_memory(s, bytes, copies));
    TRY(arena_map_copies(&s->arena, bytes, copies, s->options.huge_pages));
    s->arena.placement = session_numa_name(s->options.numa);
    if (s->options.numa == SESSION_LOCAL) {
        return status_ok();
    }
    struct binder *binder = NULL;
    TRY(binder_create(&binder));
    struct status status = place(s, binder);
    binder_destroy(binder);
    return status_prefix(status, "--numa %s", session_numa_name(s->options.numa));
}

// Whether a piece lies on the wanted nodes, and on all of them.
static struct status check_piece(const struct binder *binder, const unsigned char *at, size_t bytes,
                                 const unsigned *wanted, size_t wanted_count)
{
    unsigned found[MACHINE_NODES_MAX];
    size_t count = 0;
    struct status status = bind_nodes_of(found, &count, MACHINE_NODES_MAX, binder, at, bytes);
    if (status.code != STATUS_OK || count == 0) {
        return status_ok(); // not told
    }
    size_t alike = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t w = 0; w < wanted_count; w++) {
            alike += found[i] == wanted[w] ? 1 : 0;
        }
    }
    if (alike == count && count == wanted_count) {
        return status_ok();
    }
    return status_error(STATUS_UNAVAILABLE,
                        "the kernel placed memory on %zu nodes (first: %u) where %zu were asked "
                        "for (first: %u): too little is free there",
                        count, found[0], wanted_count, wanted[0]);
}

static struct status check_all(const struct session *s, const struct binder *binder)
{
    enum { PIECE = 64 << 20 }; // 32 huge pages: interleaved ones take turns within it
    size_t bytes = s->arena.bytes < PIECE ? s->arena.bytes : PIECE;
    if (s->options.numa == SESSION_INTERLEAVE) {
        const struct nodes nodes = nodes_of_machine(s);
        return check_piece(binder, s->arena.base, bytes, nodes.list, nodes.count);
    }
    const struct nodes nodes = nodes_of_team(s);
    for (unsigned i = 0; i < nodes.count; i++) {
        TRY(check_piece(binder, arena_share_in(&s->arena, i, 0, 0), bytes, &nodes.list[i], 1));
    }
    return status_ok();
}

struct status session_memory_check(const struct session *session)
{
    struct binder *binder = NULL;
    if (session->options.numa == SESSION_LOCAL) {
        return status_ok();
    }
    TRY(binder_create(&binder));
    struct status status = check_all(session, binder);
    binder_destroy(binder);
    return status_prefix(status, "--numa %s", session_numa_name(session->options.numa));
}

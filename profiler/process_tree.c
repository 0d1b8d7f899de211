#include "profiler/process_tree.h"

#include "machines/rootfs.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A list of pids in ascending order. */
struct pids {
    int *list;
    size_t count;
    size_t room;
};

struct process_tree {
    char *root;
    int first;
    int guardian;
    uint64_t first_start;
    struct process_facts *members; // of the last sample, ended ones included until reaped
    size_t member_count;
    size_t member_room;
    struct pids strangers; // that were looked at and do not belong to the tree
    struct pids listed;    // in /proc now
    struct tree_totals retired;
    struct tree_totals last;
    size_t seen;
};

static bool pids_add(struct pids *pids, int pid)
{
    if (pids->count == pids->room) {
        size_t room = pids->room == 0 ? 256 : pids->room * 2;
        int *list = realloc(pids->list, room * sizeof *list);
        if (list == NULL) {
            return false;
        }
        pids->list = list;
        pids->room = room;
    }
    pids->list[pids->count++] = pid;
    return true;
}

static int compare_pids(const void *a, const void *b)
{
    int x = *(const int *)a;
    int y = *(const int *)b;
    return (x > y) - (x < y);
}

static void pids_sort(struct pids *pids)
{
    if (pids->count > 0) {
        qsort(pids->list, pids->count, sizeof *pids->list, compare_pids);
    }
}

static bool pids_have(const struct pids *pids, int pid)
{
    return pids->count > 0 &&
           bsearch(&pid, pids->list, pids->count, sizeof *pids->list, compare_pids) != NULL;
}

static struct status list_processes(struct process_tree *tree)
{
    char path[ROOTFS_PATH];
    (void)snprintf(path, sizeof path, "%s/proc", tree->root);
    DIR *directory = opendir(path);
    tree->listed.count = 0;
    if (directory == NULL) {
        return status_error(STATUS_SYSTEM, "%s cannot be read: no process can be watched", path);
    }
    bool room = true;
    const struct dirent *entry = NULL;
    while (room && (entry = readdir(directory)) != NULL) {
        if (isdigit((unsigned char)entry->d_name[0])) {
            room = pids_add(&tree->listed, atoi(entry->d_name));
        }
    }
    (void)closedir(directory);
    pids_sort(&tree->listed);
    return room ? status_ok() : status_error(STATUS_SYSTEM, "no memory for a list of processes");
}

static struct process_facts *find_member(const struct process_tree *tree, int pid)
{
    for (size_t i = 0; i < tree->member_count; i++) {
        if (tree->members[i].pid == pid) {
            return &tree->members[i];
        }
    }
    return NULL;
}

static struct status add_member(struct process_tree *tree, const struct process_facts *facts)
{
    if (tree->member_count == tree->member_room) {
        size_t room = tree->member_room == 0 ? 32 : tree->member_room * 2;
        struct process_facts *members = realloc(tree->members, room * sizeof *members);
        if (members == NULL) {
            return status_error(STATUS_SYSTEM, "no memory for %zu processes", room);
        }
        tree->members = members;
        tree->member_room = room;
    }
    tree->members[tree->member_count++] = *facts;
    tree->seen++;
    return status_ok();
}

// The sums of a process that is gone and that no process of the tree has waited for.
static void retire(struct process_tree *tree, const struct process_facts *facts)
{
    struct tree_totals *to = &tree->retired;
    bool waited_for = find_member(tree, facts->parent) != NULL;
    to->voluntary_switches += facts->voluntary_switches;
    to->involuntary_switches += facts->involuntary_switches;
    if (waited_for) {
        return; // its parent's own sums hold it now
    }
    to->user_seconds += facts->user_seconds;
    to->system_seconds += facts->system_seconds;
    to->minor_faults += facts->minor_faults;
    to->major_faults += facts->major_faults;
    to->read_bytes += facts->read_bytes;
    to->write_bytes += facts->write_bytes;
}

// Reads the members again, parents before children: a child that is reaped in between is missing
// for once, never counted twice.
static void refresh_members(struct process_tree *tree)
{
    size_t kept = 0;
    for (size_t i = 0; i < tree->member_count; i++) {
        const struct process_facts before = tree->members[i];
        struct process_facts now;
        if (process_read(&now, tree->root, before.pid) && now.start_ticks == before.start_ticks) {
            if (process_is_zombie(&now) && now.voluntary_switches < before.voluntary_switches) {
                now.voluntary_switches = before.voluntary_switches;
                now.involuntary_switches = before.involuntary_switches;
            }
            tree->members[kept++] = now;
        } else {
            retire(tree, &before);
        }
    }
    tree->member_count = kept;
}

static bool belongs(const struct process_tree *tree, const struct process_facts *facts)
{
    return facts->pid == tree->first || (tree->guardian != 0 && facts->parent == tree->guardian) ||
           find_member(tree, facts->parent) != NULL;
}

// One pass over what is new in /proc. *added tells whether another may find more: a child's
// number can be below its parent's once the numbers have wrapped.
static struct status find_new(struct process_tree *tree, bool *added)
{
    *added = false;
    for (size_t i = 0; i < tree->listed.count; i++) {
        int pid = tree->listed.list[i];
        struct process_facts facts;
        if (pids_have(&tree->strangers, pid) || find_member(tree, pid) != NULL ||
            !process_identify(&facts, tree->root, pid) || !belongs(tree, &facts) ||
            !process_read(&facts, tree->root, pid)) {
            continue;
        }
        TRY(add_member(tree, &facts));
        *added = true;
    }
    return status_ok();
}

// Who is in /proc now and not in the tree never will be: its parent is known.
static struct status remember_strangers(struct process_tree *tree)
{
    tree->strangers.count = 0;
    for (size_t i = 0; i < tree->listed.count; i++) {
        int pid = tree->listed.list[i];
        if (find_member(tree, pid) == NULL && !pids_add(&tree->strangers, pid)) {
            return status_error(STATUS_SYSTEM, "no memory for a list of processes");
        }
    }
    return status_ok();
}

static void add_up(struct tree_totals *out, const struct process_tree *tree)
{
    *out = tree->retired;
    for (size_t i = 0; i < tree->member_count; i++) {
        const struct process_facts *facts = &tree->members[i];
        bool there = !process_is_zombie(facts);
        out->processes += there ? 1 : 0;
        out->threads += there ? facts->threads : 0;
        out->rss_bytes += there ? facts->rss_bytes : 0;
        out->user_seconds += facts->user_seconds;
        out->system_seconds += facts->system_seconds;
        out->minor_faults += facts->minor_faults;
        out->major_faults += facts->major_faults;
        out->voluntary_switches += facts->voluntary_switches;
        out->involuntary_switches += facts->involuntary_switches;
        out->read_bytes += facts->read_bytes;
        out->write_bytes += facts->write_bytes;
        out->io = facts->io > out->io && there ? facts->io : out->io;
    }
}

#define KEEP_GROWING(field) out->field = out->field > last->field ? out->field : last->field

// What a child used moves into its parent's sums when it is waited for; a parent that ignores
// SIGCHLD gets nothing. A sum that was seen is not taken back.
static void keep_growing(struct tree_totals *out, const struct tree_totals *last)
{
    KEEP_GROWING(user_seconds);
    KEEP_GROWING(system_seconds);
    KEEP_GROWING(minor_faults);
    KEEP_GROWING(major_faults);
    KEEP_GROWING(voluntary_switches);
    KEEP_GROWING(involuntary_switches);
    KEEP_GROWING(read_bytes);
    KEEP_GROWING(write_bytes);
    KEEP_GROWING(io);
}

struct status process_tree_sample(struct tree_totals *out, struct process_tree *tree)
{
    TRY(list_processes(tree));
    refresh_members(tree);
    bool added = true;
    while (added) {
        TRY(find_new(tree, &added));
    }
    TRY(remember_strangers(tree));
    add_up(out, tree);
    keep_growing(out, &tree->last);
    tree->last = *out;
    return status_ok();
}

struct status process_tree_create(struct process_tree **out, const char *root, int pid,
                                  int guardian)
{
    struct process_facts facts;
    *out = NULL;
    if (!process_identify(&facts, root, pid)) {
        return status_error(STATUS_INVALID, "there is no process %d", pid);
    }
    struct process_tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL || (tree->root = strdup(root)) == NULL) {
        free(tree);
        return status_error(STATUS_SYSTEM, "no memory to watch a process");
    }
    tree->first = pid;
    tree->guardian = guardian;
    tree->first_start = facts.start_ticks;
    *out = tree;
    return status_ok();
}

void process_tree_destroy(struct process_tree *tree)
{
    if (tree == NULL) {
        return;
    }
    free(tree->root);
    free(tree->members);
    free(tree->strangers.list);
    free(tree->listed.list);
    free(tree);
}

bool process_tree_alive(const struct process_tree *tree)
{
    const struct process_facts *first = find_member(tree, tree->first);
    return first != NULL && first->start_ticks == tree->first_start && !process_is_zombie(first);
}

const struct process_facts *process_tree_members(size_t *count, const struct process_tree *tree)
{
    *count = tree->member_count;
    return tree->members;
}

size_t process_tree_seen(const struct process_tree *tree)
{
    return tree->seen;
}

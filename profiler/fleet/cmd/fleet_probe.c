#include "profiler/fleet/guardian.h"
#include "profiler/fleet/join.h"
#include "profiler/fleet/keeper.h"
#include "profiler/option_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    KEY_PER = 0x100,
    KEY_SOLO,
    KEY_REPEAT,
    KEY_TIMEOUT,
    KEY_QUICK,
    KEY_LEVELS,
    KEY_DTYPE,
    KEY_JSON
};

struct input {
    struct command_input common; // first: command_parse() writes it
    enum fleet_unit unit;
    bool solo;
    uint64_t repeat;
    double timeout_seconds; // 0: by --quick
    bool quick;
    const char *levels;
    const char *dtype;
    const char *folder;
    bool json;
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0,
     "folder for the profiles and index.json, the same on all nodes; made if it is not there", 0},
    {"per", KEY_PER, "UNIT", 0, "what a rank measures: node, socket, numa or core (node)", 0},
    {"solo", KEY_SOLO, NULL, 0, "one rank after the other (all at once)", 0},
    {"repeat", KEY_REPEAT, "N", 0, "profiles of each rank, 1 to 64 (1)", 0},
    {"timeout", KEY_TIMEOUT, "SECONDS", 0,
     "for one profile; a rank that takes longer loses it (60 with --quick, else 300)", 0},
    {"quick", KEY_QUICK, NULL, 0, "as of lmroof probe: 10 seconds a profile", 0},
    {"levels", KEY_LEVELS, "LIST", 0, "as of lmroof probe: of L1,L2,L3,DRAM (all)", 0},
    {"dtype", KEY_DTYPE, "LIST", 0,
     "as of lmroof probe: of f64,f32,f16,bf16,int8 (what the CPU has)", 0},
    {"json", KEY_JSON, NULL, 0, "the index, one JSON document (lmroof.fleet/1), on standard output",
     0},
    {0}};

static error_t parse_value(int key, char *text, struct argp_state *state)
{
    struct input *input = state->input;
    struct status status = status_ok();
    if (key == KEY_REPEAT) {
        status = option_count(&input->repeat, "--repeat", text, 1, 64);
    } else if (key == KEY_TIMEOUT) {
        status = option_positive(&input->timeout_seconds, "--timeout", text);
    } else {
        status = fleet_unit_parse(&input->unit, text);
    }
    return status.code == STATUS_OK ? 0 : command_option_error(state, status);
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct input *input = state->input;
    switch (key) {
    case KEY_REPEAT:
    case KEY_TIMEOUT:
    case KEY_PER:
        return parse_value(key, text, state);
    case KEY_SOLO:
        input->solo = true;
        return 0;
    case KEY_QUICK:
        input->quick = true;
        return 0;
    case KEY_LEVELS:
        input->levels = text;
        return 0;
    case KEY_DTYPE:
        input->dtype = text;
        return 0;
    case 'o':
        input->folder = text;
        return 0;
    case KEY_JSON:
        input->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    options,
    parse_option,
    NULL,
    "Measures the ceilings of every rank's node, socket, NUMA node or core, as lmroof probe does, "
    "into one profile each and an index.\v"
    "A rank that dies or hangs loses its own profile alone; the index names it and the exit status "
    "is 1. Bind ranks loosely (mpirun --bind-to none, srun --cpu-bind=none), or to the unit that "
    "they are to measure. Examples:\n"
    "  mpirun -n 2 lmroof-fleet probe --per core -o out\n"
    "  srun --mpi=pmix --ntasks-per-node=1 --cpu-bind=none lmroof-fleet probe --repeat 5 -o out\n",
    NULL,
    NULL,
    NULL};

static struct status check_folder(const char *folder)
{
    struct stat info;
    char parent[PATH_MAX];
    if (folder == NULL || folder[0] == '\0' || strlen(folder) + FLEET_STEM + 32 > PATH_MAX) {
        return status_error(STATUS_INVALID, "-o: found %s, accepted the name of a folder",
                            folder == NULL ? "nothing" : "an empty or too long name");
    }
    if (stat(folder, &info) == 0) {
        return S_ISDIR(info.st_mode)
                   ? status_ok()
                   : status_error(STATUS_INVALID, "-o %s: is no folder; a folder is needed",
                                  folder);
    }
    (void)snprintf(parent, sizeof parent, "%s", folder);
    for (size_t n = strlen(parent); n > 1 && parent[n - 1] == '/'; n--) {
        parent[n - 1] = '\0';
    }
    char *slash = strrchr(parent, '/');
    if (slash != NULL && slash != parent) {
        *slash = '\0';
        if (stat(parent, &info) != 0 || !S_ISDIR(info.st_mode)) {
            return status_error(STATUS_INVALID, "-o %s: folder '%s' does not exist", folder,
                                parent);
        }
    }
    return status_ok();
}

static void set_arguments(struct worker_options *out, const struct input *input)
{
    size_t count = 0;
    if (input->quick) {
        out->arguments[count++] = strdup("--quick");
    }
    if (input->levels != NULL) {
        out->arguments[count++] = strdup("--levels");
        out->arguments[count++] = strdup(input->levels);
    }
    if (input->dtype != NULL) {
        out->arguments[count++] = strdup("--dtype");
        out->arguments[count++] = strdup(input->dtype);
    }
}

static void free_arguments(struct worker_options *given)
{
    for (size_t i = 0; i < WORKER_ARGUMENTS; i++) {
        free(given->arguments[i]);
    }
}

static struct status make_folder(const struct fleet_index *index,
                                 const struct command_context *context)
{
    if (mkdir(index->folder, 0777) != 0 && errno != EEXIST) {
        return status_error(STATUS_SYSTEM, "%s: cannot make this folder: %s", index->folder,
                            strerror(errno));
    }
    TRY(fleet_notes_open(index->folder));
    return fleet_index_write(index, context, false);
}

// What an earlier run has left under the names of this one would pass for its results.
static void remove_old_profiles(const struct fleet_index *index, const char *stem)
{
    for (unsigned r = 0; r < index->repeat; r++) {
        char path[PATH_MAX];
        (void)unlink(worker_file(path, stem, r, index->repeat));
    }
}

static struct status write_first_note(const struct fleet_index *index, unsigned rank,
                                      const char *host)
{
    if (!fleet_notes_are_open(index->folder)) {
        return status_error(STATUS_INVALID,
                            "-o %s: host %s does not see what rank 0 has written there; accepted "
                            "a folder that all nodes share",
                            index->folder, host);
    }
    return fleet_note_write(index->folder, rank, &index->rows[rank].note);
}

// All that needs MPI: who is where, who takes what, and a folder that everyone sees.
static struct status join(struct fleet_index *index, struct worker_task *task, unsigned *rank,
                          const struct input *input, const struct command_context *context)
{
    struct fleet_place place;
    struct world *world = NULL;
    struct status detected = fleet_place_detect(&place);
    TRY(world_open(&world));
    *rank = world_rank(world);
    struct status status = fleet_join(index, &place, world, detected);
    if (status.code == STATUS_OK) {
        status = world_agree(world, *rank == 0 ? make_folder(index, context) : status_ok());
    }
    if (status.code == STATUS_OK) {
        status = world_agree(world, write_first_note(index, *rank, place.host));
    }
    if (status.code == STATUS_OK) {
        (void)snprintf(task->stem, sizeof task->stem, "%s/%s", index->folder,
                       index->rows[*rank].stem);
        remove_old_profiles(index, task->stem);
        task->repeat = (unsigned)input->repeat;
        task->cpu_count = place.cpu_count;
        memcpy(task->cpus, place.cpus, place.cpu_count * sizeof *place.cpus);
    }
    world_close(world);
    fleet_place_free(&place);
    return status;
}

static void print_index(FILE *out, const struct fleet_index *index)
{
    (void)fprintf(out, "%6s  %-24s %-16s %s\n", "rank", "host", "cpus", "state");
    for (size_t i = 0; i < index->row_count; i++) {
        const struct fleet_row *row = &index->rows[i];
        (void)fprintf(out, "%6u  %-24s %-16s %s%s%s\n", row->rank, row->host, row->cpus,
                      fleet_state_name(row->note.state), row->note.problem[0] == '\0' ? "" : ": ",
                      row->note.problem);
    }
    (void)fprintf(out, "%s/index.json lists the profiles; 'lmroof-fleet rank %s' compares them\n",
                  index->folder, index->folder);
}

// One line for the first rank without a result; bad usage if it is that in all of them.
static struct status judge(const struct fleet_index *index)
{
    const struct fleet_row *first = NULL;
    size_t failed = 0;
    size_t invalid = 0;
    size_t interrupted = 0;
    for (size_t i = 0; i < index->row_count; i++) {
        const struct fleet_row *row = &index->rows[i];
        bool ended = row->note.state == FLEET_INTERRUPTED;
        interrupted += ended ? 1 : 0;
        failed += !ended && row->note.state != FLEET_DONE ? 1 : 0;
        invalid += row->note.code == STATUS_INVALID ? 1 : 0;
        first = !ended && first == NULL && row->note.state != FLEET_DONE ? row : first;
    }
    if (first == NULL) {
        return interrupted > 0 ? status_error(STATUS_INTERRUPTED,
                                              "interrupted; %s/index.json "
                                              "says which ranks are done",
                                              index->folder)
                               : status_ok();
    }
    if (invalid == index->row_count) {
        return status_error(STATUS_INVALID, "%s", first->note.problem);
    }
    return status_error(STATUS_UNAVAILABLE,
                        "rank %u (host %s, cpus %s) has no whole result: %.160s (%zu of %zu ranks "
                        "failed; see %s/index.json)",
                        first->rank, first->host, first->cpus, first->note.problem, failed,
                        index->row_count, index->folder);
}

static struct status finish(struct fleet_index *index, const struct input *input,
                            const struct command_context *context)
{
    struct status status = judge(index);
    if (input->json) {
        TRY(fleet_index_write(index, context, true));
    } else if (status.code != STATUS_INVALID) {
        print_index(context->out, index);
    }
    return status;
}

static struct status keep(struct keeper *keeper, const struct worker_task *task,
                          const struct input *input)
{
    struct status status = keeper_run(keeper, task);
    if (status.code == STATUS_OK || status.code == STATUS_INTERRUPTED) {
        // Another rank's failure is rank 0's to report: a launcher ends the whole job at the first
        // one that does.
        struct status last =
            keeper->rank == 0 ? finish(keeper->index, input, keeper->context) : status;
        status = last.code == STATUS_OK ? status : last;
    }
    return status;
}

// Before it has joined, the others would wait for a dead rank: the launcher must end them, which
// it does where it sees the signal.
static struct status die_alike(int number)
{
    (void)signal(number, SIG_DFL);
    (void)raise(number);
    return status_error(STATUS_UNAVAILABLE, "the rank was killed by signal %d (%s)", number,
                        strsignal(number));
}

// The guardian of a rank that was killed says so and keeps what the rank has kept.
static struct status take_over(struct keeper *keeper, const struct guardian *guardian, int number,
                               const struct input *input)
{
    struct fleet_index *index = keeper->index;
    const struct worker_task task = {.repeat = (unsigned)input->repeat};
    if (!guardian_read_will(index, &keeper->rank, guardian)) {
        return die_alike(number);
    }
    struct fleet_note *note = &index->rows[keeper->rank].note;
    struct fleet_note last;
    note->beat = fleet_note_read(&last, index->folder, keeper->rank) ? last.beat + 1 : 1;
    note->state = FLEET_FAILED;
    note->code = STATUS_UNAVAILABLE;
    (void)snprintf(note->problem, sizeof note->problem, "killed by signal %d (%s)", number,
                   strsignal(number));
    if (!fleet_notes_are_open(index->folder)) { // the index is whole already, and closed
        return keeper->rank == 0 ? judge(index) : status_ok();
    }
    TRY(fleet_note_write(index->folder, keeper->rank, note));
    return keep(keeper, &task, input);
}

// The rank's own process.
static struct status measure(struct keeper *keeper, const struct guardian *guardian,
                             const struct input *input)
{
    struct worker_options worker_options = {.context = keeper->context};
    struct worker_task *task = calloc(1, sizeof *task);
    set_arguments(&worker_options, input);
    struct status status = task == NULL ? status_error(STATUS_SYSTEM, "no memory for a task")
                                        : worker_start(&keeper->worker, &worker_options);
    if (status.code == STATUS_OK) {
        status = join(keeper->index, task, &keeper->rank, input, keeper->context);
        if (status.code == STATUS_OK) {
            status = guardian_write_will(guardian, keeper->index, keeper->rank);
        }
        if (status.code == STATUS_OK) {
            // What a user sees and ends by name is the process that measures.
            (void)prctl(PR_SET_NAME, "fleet-keeper");
            status = keep(keeper, task, input);
        }
        worker_close(&keeper->worker);
    }
    free_arguments(&worker_options);
    free(task);
    return status;
}

static struct status guard(int *exit_code, struct keeper *keeper, const struct guardian *guardian,
                           const struct input *input)
{
    int number = guardian_wait(exit_code, guardian, keeper->context->signal);
    if (number == 0) {
        return status_ok();
    }
    *exit_code = 0; // as of a rank that lives: what failed is rank 0's to report
    return take_over(keeper, guardian, number, input);
}

static struct status run(int *exit_code, const struct command_context *context, int argc,
                         char **argv)
{
    struct input input = {.repeat = 1};
    bool done = false;
    TRY(command_parse(&done, context, &parser, argc, argv, &input));
    if (done) {
        return status_ok();
    }
    TRY(check_folder(input.folder));
    if (!(input.timeout_seconds > 0)) {
        input.timeout_seconds = input.quick ? 60 : 300;
    }
    struct fleet_index index = {.folder = input.folder,
                                .unit = input.unit,
                                .solo = input.solo,
                                .repeat = (unsigned)input.repeat};
    struct keeper keeper = {
        .context = context, .index = &index, .timeout_seconds = input.timeout_seconds};
    struct guardian guardian;
    TRY(guardian_start(&guardian));
    struct status status = guardian.rank == 0 ? measure(&keeper, &guardian, &input)
                                              : guard(exit_code, &keeper, &guardian, &input);
    guardian_close(&guardian);
    free(index.rows);
    return status;
}

const struct command command_fleet_probe = {
    .name = "probe",
    .summary = "measure the ceilings of every rank's unit, into profiles and an index",
    .run = run};

#include "profiler/program.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define X(name) extern const struct command command_##name;
#include "command_registry.inc"
#undef X

static const struct command *const commands[] = {
#define X(name) &command_##name,
#include "command_registry.inc"
#undef X
    NULL};

// The one mutable global: what the signal handler saw.
static volatile sig_atomic_t signal_seen;

static void on_signal(int number)
{
    signal_seen = number;
}

static const char help_head[] =
    "Usage: mpirun -n N lmroof-fleet COMMAND [OPTION...]\n"
    "lmroof on many nodes, sockets or cores at once, started by mpirun or srun.\n\nCommands:\n";

static const char help_tail[] =
    "\n  --help, --version (--version --verbose: kernels, and where they have been executed)\n\n"
    "'lmroof-fleet COMMAND --help' explains each, with an example. Exit status: 0 done, 1 a rank\n"
    "or the machine could not, 2 bad usage or input, 5 a check failed, 130 and 143 ended by\n"
    "Ctrl-C and SIGTERM.\n"
    "Example: mpirun -n 2 lmroof-fleet probe --per core -o out && lmroof-fleet rank out\n";

// What launchers tell before MPI is up: Open MPI, PMIx (Slurm), PMI (MPICH), Slurm.
static bool is_first_rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                            "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL) {
            return strcmp(value, "0") == 0;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct command_signals before;
    program_catch_signals(&before, on_signal);
    const struct program program = {.name = "lmroof-fleet",
                                    .help_head = help_head,
                                    .help_tail = help_tail,
                                    .commands = commands,
                                    .signal = &signal_seen,
                                    .inherited = &before,
                                    .silent = !is_first_rank()};
    int code = program_run(&program, argc, argv);
    if (program.silent && code > 0 && code < 128) {
        // Launchers end the job at the first failure: rank 0 must have said why by then.
        const struct timespec pause = {.tv_sec = 1};
        (void)nanosleep(&pause, NULL);
    }
    return code;
}

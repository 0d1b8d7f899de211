#include "profiler/program.h"

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
    "Usage: lmroof [COMMAND] [OPTION...]\n"
    "Roofline profiler for language-model inference on CPUs.\n\n"
    "Without a command: measures this machine and the operators of llama-3.2-1b (decode at\n"
    "batches 1 to 64, prefill, f32 and bf16) within 90 seconds, shows where they stand under\n"
    "the roofline, and writes lmroof-report.html into the current folder.\n\nCommands:\n";

static const char help_tail[] =
    "\n  --help, --version (--version --verbose: kernels, and where they have been executed)\n\n"
    "'lmroof COMMAND --help' explains each, with an example. Exit status: 0 done, 1 the machine\n"
    "could not, 2 bad usage or input, 3 refuted, 4 cannot tell, 5 a check failed, 130 and 143\n"
    "ended by Ctrl-C and SIGTERM.\n"
    "Example: lmroof validate -m llama-3.2-1b --dtype bf16\n";

int main(int argc, char **argv)
{
    struct command_signals before;
    program_catch_signals(&before, on_signal);
    const struct program program = {.name = "lmroof",
                                    .help_head = help_head,
                                    .help_tail = help_tail,
                                    .default_command = "default",
                                    .commands = commands,
                                    .signal = &signal_seen,
                                    .inherited = &before};
    return program_run(&program, argc, argv);
}

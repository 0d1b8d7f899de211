#include "profiler/prompt_end.h"

#include <unistd.h>

static void end_now(int number)
{
    _exit(128 + number);
}

void prompt_end_begin(struct prompt_end *out)
{
    struct sigaction action = {.sa_handler = end_now};
    (void)sigaction(SIGINT, &action, &out->interrupt);
    (void)sigaction(SIGTERM, &action, &out->terminate);
}

void prompt_end_finish(const struct prompt_end *before)
{
    (void)sigaction(SIGINT, &before->interrupt, NULL);
    (void)sigaction(SIGTERM, &before->terminate, NULL);
}

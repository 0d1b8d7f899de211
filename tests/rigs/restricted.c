// restricted seccomp COMMAND...: runs it where a filter refuses perf_event_open with EPERM, as
// container engines do by default. restricted capabilities COMMAND...: with none of root's.
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refuse_perf(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// What leaves the bounding set, root does not get back when it executes a program.
static int drop_capabilities(void)
{
    int kept = 0;
    for (int capability = 0; capability <= CAP_LAST_CAP; capability++) {
        kept += prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0 && errno != EINVAL;
    }
    return kept == 0;
}

int main(int argc, char **argv)
{
    int done = argc > 2 && strcmp(argv[1], "seccomp") == 0        ? refuse_perf()
               : argc > 2 && strcmp(argv[1], "capabilities") == 0 ? drop_capabilities()
                                                                  : 0;
    if (!done) {
        perror("restricted");
        return 125;
    }
    execvp(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}

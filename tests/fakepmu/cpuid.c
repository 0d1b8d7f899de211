// CPUID as another CPU answers it: the instruction cannot be caught on every machine (CPUID
// faulting is an Intel feature that VMs rarely pass on), so the few of them in libpfm4's code are
// replaced by ud2, which is as long, and the SIGILL is answered.
#include "fakepmu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static struct fake_limits answers;
static struct sigaction before;
static bool active;

static void answer(int number, siginfo_t *info, void *context)
{
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *code = (const unsigned char *)registers[REG_RIP];
    if (code[0] != 0x0f || code[1] != 0x0b) {
        (void)signal(number, SIG_DFL); // a real illegal instruction
        return;
    }
    unsigned leaf = (unsigned)registers[REG_RAX];
    unsigned a, b, c, d;
    __cpuid_count(leaf, (unsigned)registers[REG_RCX], a, b, c, d);
    bool intel = strcmp(answers.vendor, "GenuineIntel") == 0;
    if (leaf == 0) {
        a = a < 0xa ? 0xa : a;
        memcpy(&b, answers.vendor, 4);
        memcpy(&d, answers.vendor + 4, 4);
        memcpy(&c, answers.vendor + 8, 4);
    } else if (leaf == 1) {
        a = answers.cpuid_eax;
        c &= ~(1U << 31); // no hypervisor
    } else if (leaf == 0xa) {
        // Architectural perfmon 5: 8 general counters of 48 bits, 4 fixed ones (Intel SDM
        // 3B, 18.2).
        a = intel ? 0x07300805 : 0;
        b = 0;
        c = intel ? 0xf : 0;
        d = intel ? 0x8604 : 0;
    }
    registers[REG_RAX] = a;
    registers[REG_RBX] = b;
    registers[REG_RCX] = c;
    registers[REG_RDX] = d;
    registers[REG_RIP] += 2;
}

static void patch(unsigned char *code, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (code[i] == 0x0f && code[i + 1] == 0xa2) {
            code[i + 1] = 0x0b;
        }
    }
}

static int patch_library(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (strstr(info->dlpi_name, "libpfm.so") == NULL) {
        return 0;
    }
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0) {
            continue;
        }
        uintptr_t start = (info->dlpi_addr + segment->p_vaddr) & ~page;
        size_t length = info->dlpi_addr + segment->p_vaddr + segment->p_memsz - start;
        if (mprotect((void *)start, length, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
            perror("fakepmu: cannot write to libpfm4's code");
            abort();
        }
        patch((unsigned char *)start, length);
        (void)mprotect((void *)start, length, PROT_READ | PROT_EXEC);
    }
    return 1;
}

void fake_cpuid_begin(const struct fake_limits *limits)
{
    if (limits->cpuid_eax == 0 || active) {
        return;
    }
    answers = *limits;
    const struct sigaction action = {.sa_sigaction = answer, .sa_flags = SA_SIGINFO};
    (void)dl_iterate_phdr(patch_library, NULL);
    (void)sigaction(SIGILL, &action, &before);
    active = true;
}

void fake_cpuid_end(void)
{
    if (active) {
        (void)sigaction(SIGILL, &before, NULL);
        active = false;
    }
}
#else
// Arm CPUs are told by /proc/cpuinfo.
void fake_cpuid_begin(const struct fake_limits *limits)
{
    (void)limits;
}

void fake_cpuid_end(void)
{
}
#endif

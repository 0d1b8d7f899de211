#include "machines/cpu_facts.h"

#include "machines/rootfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/prctl.h>
#endif

// Words of the flags (x86) and Features (Arm) lines that decide which kernels may run, as the
// kernel spells them (arch/x86/include/asm/cpufeatures.h, arch/arm64/kernel/cpuinfo.c).
static const char *const isa_words[] = {
    "sse4_2",   "avx",      "f16c",     "fma",         "avx2",        "avx_vnni",    "avx512f",
    "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
    "amx_int8", "amx_bf16", "neon",     "asimd",       "asimdhp",     "asimddp",     "asimdfhm",
    "i8mm",     "bf16",     "sve",      "sve2",        "svei8mm",     "svebf16",     "sme"};

static bool line_has_word(const char *line, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = line; (at = strstr(at, word)) != NULL; at += length) {
        bool begins = at == line || at[-1] == ' ';
        bool ends = at[length] == ' ' || at[length] == '\0';
        if (begins && ends) {
            return true;
        }
    }
    return false;
}

static void read_isa(struct machine *out, const char *cpuinfo)
{
    char flags[ROOTFS_PATH];
    size_t used = 0;
    if (!rootfs_line_value(flags, sizeof flags, cpuinfo, "flags") &&
        !rootfs_line_value(flags, sizeof flags, cpuinfo, "Features")) {
        return;
    }
    for (size_t i = 0; i < sizeof isa_words / sizeof *isa_words; i++) {
        size_t left = sizeof out->isa - used;
        if (line_has_word(flags, isa_words[i]) && strlen(isa_words[i]) + 2 < left) {
            used +=
                (size_t)snprintf(out->isa + used, left, "%s%s", used > 0 ? " " : "", isa_words[i]);
        }
    }
}

// "cpu family" and the like: the key with blanks, then a number.
static bool read_number(unsigned *out, const char *cpuinfo, const char *key)
{
    char text[64];
    uint64_t value = 0;
    if (!rootfs_line_value(text, sizeof text, cpuinfo, key) || !rootfs_parse_u64(&value, text) ||
        value > UINT32_MAX) {
        return false;
    }
    *out = (unsigned)value;
    return true;
}

static void read_x86(struct machine *out, const char *cpuinfo)
{
    char vendor[32];
    if (!rootfs_line_value(vendor, sizeof vendor, cpuinfo, "vendor_id")) {
        return;
    }
    (void)snprintf(out->vendor, sizeof out->vendor, "%s", vendor);
    (void)read_number(&out->family, cpuinfo, "cpu family");
    // "model name" begins like "model": the value of a bare "model" is a number.
    const char *line = strstr(cpuinfo, "\nmodel\t");
    (void)read_number(&out->model, line == NULL ? "" : line + 1, "model");
    (void)read_number(&out->stepping, cpuinfo, "stepping");
    (void)rootfs_line_value(out->microcode, sizeof out->microcode, cpuinfo, "microcode");
}

// MIDR_EL1: implementer 31:24, variant 23:20, part 15:4, revision 3:0 (Arm ARM, D19.2).
static void read_arm(struct machine *out, const char *root, const char *cpuinfo, unsigned cpu)
{
    uint64_t midr = 0;
    char implementer[32];
    unsigned variant = 0;
    unsigned revision = 0;
    if (rootfs_read_u64(&midr, root, "/sys/devices/system/cpu/cpu%u/regs/identification/midr_el1",
                        cpu)) {
        (void)snprintf(out->vendor, sizeof out->vendor, "0x%02x", (unsigned)(midr >> 24 & 0xff));
        out->model = (unsigned)(midr >> 4 & 0xfff);
        variant = (unsigned)(midr >> 20 & 0xf);
        revision = (unsigned)(midr & 0xf);
    } else if (rootfs_line_value(implementer, sizeof implementer, cpuinfo, "CPU implementer")) {
        (void)snprintf(out->vendor, sizeof out->vendor, "%s", implementer);
        (void)read_number(&out->model, cpuinfo, "CPU part");
        (void)read_number(&variant, cpuinfo, "CPU variant");
        (void)read_number(&revision, cpuinfo, "CPU revision");
    } else {
        return;
    }
    out->stepping = variant << 4 | revision;
}

static void read_architecture(struct machine *out, const char *cpuinfo)
{
    char text[ROOTFS_PATH];
    unsigned version = 0;
    if (out->architecture[0] != '\0') {
        return;
    }
    const char *name = "";
    if (rootfs_line_value(text, sizeof text, cpuinfo, "flags")) {
        name = line_has_word(text, "lm") ? "x86_64" : "i686";
    } else if (read_number(&version, cpuinfo, "CPU architecture")) {
        name = version >= 8 ? "aarch64" : "arm";
    }
    (void)snprintf(out->architecture, sizeof out->architecture, "%s", name);
}

static unsigned read_sve_bytes(const struct machine *machine, const char *root)
{
    uint64_t bytes = 0;
    if (!machine_has_isa(machine, "sve")) {
        return 0;
    }
#if defined(__aarch64__) && defined(PR_SVE_GET_VL)
    int length = root[0] == '\0' ? prctl(PR_SVE_GET_VL) : -1;
    if (length > 0) {
        return (unsigned)(length & PR_SVE_VL_LEN_MASK);
    }
#endif
    bool told = rootfs_read_u64(&bytes, root, "/proc/sys/abi/sve_default_vector_length");
    return told && bytes <= 256 ? (unsigned)bytes : 0; // SVE ends at 2048 bits
}

static double read_clock_hz(const char *root, const char *cpuinfo, unsigned cpu)
{
    uint64_t khz = 0;
    char text[64];
    if (rootfs_read_u64(&khz, root, "/sys/devices/system/cpu/cpu%u/cpufreq/base_frequency", cpu)) {
        return 1e3 * (double)khz;
    }
    // Without frequency scaling "cpu MHz" is constant; with it, it is the moment's.
    if (!rootfs_exists(root, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu) &&
        rootfs_line_value(text, sizeof text, cpuinfo, "cpu MHz")) {
        double mhz = strtod(text, NULL);
        return mhz > 0 && mhz < 1e5 ? 1e6 * mhz : 0;
    }
    return 0;
}

void cpu_facts_read(struct machine *out, const char *root, unsigned cpu)
{
    enum { HEAD_BYTES = 64 << 10 }; // the first cpus are enough; some kernels say more at the end
    char *cpuinfo = calloc(1, HEAD_BYTES);
    if (cpuinfo == NULL) {
        return;
    }
    if (rootfs_read(cpuinfo, HEAD_BYTES, root, "/proc/cpuinfo")) {
        char name[MACHINE_TEXT];
        if (rootfs_line_value(name, sizeof name, cpuinfo, "model name") ||
            rootfs_line_value(name, sizeof name, cpuinfo, "Processor")) {
            (void)snprintf(out->name, sizeof out->name, "%s", name);
        }
        read_architecture(out, cpuinfo);
        read_x86(out, cpuinfo);
        read_isa(out, cpuinfo);
    }
    read_arm(out, root, cpuinfo, cpu);
    out->sve_vector_bytes = read_sve_bytes(out, root);
    out->clock_hz_nominal = read_clock_hz(root, cpuinfo, cpu);
    free(cpuinfo);
}

#if defined(__x86_64__)

static void copy_registers(char *out, const unsigned *registers, size_t count)
{
    memcpy(out, registers, count * sizeof *registers);
    out[count * sizeof *registers] = '\0';
}

void cpu_facts_of_cpuid(struct machine *out)
{
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    if (out->vendor[0] == '\0' && __get_cpuid(0, &a, &b, &c, &d) != 0) {
        copy_registers(out->vendor, (const unsigned[]){b, d, c}, 3);
    }
    if (out->family == 0 && __get_cpuid(1, &a, &b, &c, &d) != 0) {
        // Display family and model: Intel SDM vol. 2A, CPUID, figure 3-6.
        unsigned family = a >> 8 & 0xf;
        out->family = family == 0xf ? family + (a >> 20 & 0xff) : family;
        out->model = (a >> 4 & 0xf) | (family >= 6 ? a >> 12 & 0xf0 : 0);
        out->stepping = a & 0xf;
    }
}

void cpu_facts_hypervisor(char *out, size_t size)
{
    static const struct {
        const char *signature;
        const char *name;
    } known[] = {{"KVMKVMKVM", "kvm"},           {"VMwareVMware", "vmware"},
                 {"Microsoft Hv", "microsoft"},  {"XenVMMXenVMM", "xen"},
                 {"TCGTCGTCGTCG", "qemu"},       {"bhyve bhyve ", "bhyve"},
                 {"VBoxVBoxVBox", "virtualbox"}, {"ACRNACRNACRN", "acrn"}};
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    char signature[13];
    const char *name = "vm";
    if (__get_cpuid(1, &a, &b, &c, &d) == 0) {
        out[0] = '\0';
        return;
    }
    if ((c >> 31 & 1) == 0) {
        (void)snprintf(out, size, "none");
        return;
    }
    __cpuid(0x40000000, a, b, c, d);
    copy_registers(signature, (const unsigned[]){b, c, d}, 3);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        name = strcmp(signature, known[i].signature) == 0 ? known[i].name : name;
    }
    (void)snprintf(out, size, "%s", name);
}

#else

void cpu_facts_of_cpuid(struct machine *out)
{
    (void)out;
}

void cpu_facts_hypervisor(char *out, size_t size)
{
    if (size > 0) {
        out[0] = '\0';
    }
}

#endif

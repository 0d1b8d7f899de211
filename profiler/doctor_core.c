#include "profiler/doctor_rules.h"
#include "profiler/result_build.h"
#include "roofline/units.h"

#include <limits.h>
#include <string.h>

// Drivers whose "powersave" follows the load up to the highest clock; elsewhere it is the lowest
// clock (Linux admin-guide/pm/intel_pstate.rst, amd-pstate.rst: "active mode").
static bool is_active_driver(const char *driver)
{
    return strcmp(driver, "intel_pstate") == 0 || strcmp(driver, "amd-pstate-epp") == 0 ||
           strcmp(driver, "amd_pstate_epp") == 0;
}

static void examine_governor(struct result_run *run, const struct doctor_facts *facts)
{
    const struct doctor_clock *clock = &facts->clock;
    bool powersave = strcmp(facts->machine->governor, "powersave") == 0;
    bool active = is_active_driver(clock->driver);
    if (powersave && !active) {
        result_warn(
            run, "governor", "cpupower frequency-set -g performance (as root)",
            "the frequency governor is powersave%s%s: cores stay at their lowest clock, and "
            "FLOP/s and what one core reads with it",
            clock->driver[0] != '\0' ? ", driver " : "", clock->driver);
    }
    bool saves =
        strcmp(clock->preference, "power") == 0 || strcmp(clock->preference, "balance_power") == 0;
    if (saves && active && strcmp(facts->machine->governor, "performance") != 0) {
        result_warn(run, "energy_preference",
                    "echo performance > /sys/devices/system/cpu/cpu*/cpufreq/"
                    "energy_performance_preference (as root), or governor performance",
                    "the processor is told to prefer saving energy (%s): it raises clocks late and "
                    "less, FLOP/s and short samples suffer",
                    clock->preference);
    }
}

static void examine_clock(struct result_run *run, const struct doctor_facts *facts)
{
    const struct doctor_clock *clock = &facts->clock;
    char limit[UNITS_TEXT];
    char most[UNITS_TEXT];
    if (clock->turbo_off) {
        bool told = facts->machine->clock_hz_nominal > 0;
        result_warn(run, "turbo_off",
                    "echo 0 > /sys/devices/system/cpu/intel_pstate/no_turbo or echo 1 > "
                    "/sys/devices/system/cpu/cpufreq/boost (as root)",
                    "clocks above the nominal one%s%s are switched off: FLOP/s end there though "
                    "the processor could go higher",
                    told ? " of " : "",
                    told ? units_format_decimal(limit, facts->machine->clock_hz_nominal, "Hz")
                         : "");
    } else if (clock->limit_hz > 0 && clock->limit_hz < 0.98 * clock->max_hz) {
        result_warn(run, "clock_capped",
                    "cpupower frequency-set -u with the highest clock (as root); a power profile "
                    "may have set it",
                    "the clock is capped at %s of %s: FLOP/s end at %.0f %% of what the processor "
                    "can do",
                    units_format_decimal(limit, clock->limit_hz, "Hz"),
                    units_format_decimal(most, clock->max_hz, "Hz"),
                    100 * clock->limit_hz / clock->max_hz);
    }
}

// What processors have whatever their product: Linux, arch/x86/include/asm/intel-family.h names the
// model numbers; AVX-512 and AMX by Intel's Architecture Instruction Set Extensions reference
// (319433), table 1-2, and AMD 57647 and 58455; SVE by Arm's product pages of the Neoverse cores.
// Recalled, none of these was opened.
static const struct {
    const char *vendor;
    unsigned family;
    unsigned model_low;
    unsigned model_high;
    const char *word;
    const char *name;
    const char *loss;
} sets[] = {
    {"GenuineIntel", 6, 0x55, 0x55, "avx512f", "AVX-512", "vectors are half as wide"},
    {"GenuineIntel", 6, 0x6a, 0x6c, "avx512f", "AVX-512", "vectors are half as wide"},
    {"GenuineIntel", 6, 0x8f, 0x8f, "amx_tile", "AMX", "bf16 and int8 products reach a fraction"},
    {"GenuineIntel", 6, 0xcf, 0xcf, "amx_tile", "AMX", "bf16 and int8 products reach a fraction"},
    {"GenuineIntel", 6, 0xad, 0xae, "amx_tile", "AMX", "bf16 and int8 products reach a fraction"},
    {"AuthenticAMD", 0x19, 0x10, 0x1f, "avx512f", "AVX-512", "bf16 and int8 dot products are gone"},
    {"AuthenticAMD", 0x19, 0x60, 0x7f, "avx512f", "AVX-512", "bf16 and int8 dot products are gone"},
    {"AuthenticAMD", 0x19, 0xa0, 0xaf, "avx512f", "AVX-512", "bf16 and int8 dot products are gone"},
    {"AuthenticAMD", 0x1a, 0x00, 0xff, "avx512f", "AVX-512", "vectors are half as wide"},
    {"0x41", 0, 0xd40, 0xd40, "sve", "SVE", "vectors are half as wide"},
    {"0x41", 0, 0xd49, 0xd49, "sve", "SVE", "kernels of that set are left out"},
    {"0x41", 0, 0xd4f, 0xd4f, "sve", "SVE", "kernels of that set are left out"},
};

static const char host_type[] =
    "the processor type 'host' (qemu -cpu host, libvirt host-passthrough); otherwise a newer "
    "kernel, the firmware's settings, no clearcpuid= for the kernel";

// Processor types of hypervisors that name no product: what their host has is hidden.
static bool is_generic(const char *name)
{
    return strstr(name, "QEMU Virtual CPU") != NULL ||
           strstr(name, "Common KVM processor") != NULL ||
           strstr(name, "Common 32-bit KVM processor") != NULL;
}

static void examine_isa(struct result_run *run, const struct doctor_facts *facts)
{
    const struct machine *machine = facts->machine;
    if (machine->isa[0] == '\0') { // not told: nothing is known to be missing
        return;
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        if (strcmp(machine->vendor, sets[i].vendor) == 0 && machine->family == sets[i].family &&
            machine->model >= sets[i].model_low && machine->model <= sets[i].model_high &&
            !machine_has_isa(machine, sets[i].word)) {
            result_warn(run, "isa_hidden", host_type,
                        "%s has %s, but this system (virtualized: %s) does not show it: %s, which "
                        "costs FLOP/s",
                        machine->name[0] != '\0' ? machine->name : "this processor", sets[i].name,
                        machine->virtualized[0] != '\0' ? machine->virtualized : "unknown",
                        sets[i].loss);
            return;
        }
    }
    if (is_generic(machine->name) && !machine_has_isa(machine, "avx2")) {
        result_warn(run, "isa_hidden", host_type,
                    "the hypervisor shows the processor type '%s' without AVX2, which its host has "
                    "in all likelihood: vectors a half or a quarter as wide cost FLOP/s",
                    machine->name);
    }
}

// EC2 user guide, "Burstable performance instances": T2, T3, T3a, T4g.
static void examine_instance(struct result_run *run, const struct doctor_facts *facts)
{
    static const char *const families[] = {"t2.", "t3.", "t3a.", "t4g."};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        if (strncmp(facts->instance, families[i], strlen(families[i])) == 0) {
            result_warn(run, "burstable", "an instance type without credits (m, c, r); watch steal",
                        "%s pays for CPU time above its baseline with credits: without them its "
                        "threads are slowed, and FLOP/s and bandwidth of a long run fall",
                        facts->instance);
        }
    }
}

static void examine_sight(struct result_run *run, const struct doctor_facts *facts)
{
    const struct machine *machine = facts->machine;
    if (machine->cache_count == 0 || machine->llc_total_bytes == 0) {
        result_warn(run, "caches_hidden", "lmroof probe --sweep; mount /sys in the container",
                    "the system does not tell the cache sizes: working sets cannot be chosen by "
                    "level, so a bandwidth may be of another level than it says");
    }
    if (facts->may_count) {
        return;
    }
    if (facts->perf_event_paranoid != INT_MIN && facts->perf_event_paranoid > 2) {
        result_warn(run, "counters_blocked",
                    "sysctl kernel.perf_event_paranoid=1 (as root); lmroof counters tells more",
                    "hardware counters are closed to this user (perf_event_paranoid is %d): bytes "
                    "and FLOPs are modelled, not counted",
                    facts->perf_event_paranoid);
    } else if (facts->has_filter) {
        result_warn(run, "counters_filtered",
                    "--cap-add PERFMON or a seccomp profile with perf_event_open; lmroof counters "
                    "tells whether it is refused",
                    "system calls pass a seccomp filter, and those of Docker and Kubernetes refuse "
                    "perf_event_open: bytes and FLOPs are then modelled, not counted");
    }
}

void doctor_examine_core(struct result_run *run, const struct doctor_facts *facts)
{
    examine_governor(run, facts);
    examine_clock(run, facts);
    examine_isa(run, facts);
    examine_instance(run, facts);
    examine_sight(run, facts);
}

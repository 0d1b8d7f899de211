#ifndef MACHINES_MACHINE_H
#define MACHINES_MACHINE_H

/** What a machine is, as plain data: topology, what this process may use of it, and its settings.
 *  Knows nothing of how fast it is (that is measured) nor of models. A fact that could not be had
 *  is 0 or "" where the field says so. Filled by detect.h from the running system, an hwloc XML
 *  or a saved root. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MACHINE_CPUS_MAX = 4096,
    MACHINE_NODES_MAX = 256,
    MACHINE_CACHES_MAX = 16,
    MACHINE_KINDS_MAX = 64,
    MACHINE_TEXT = 96
};

enum machine_cache_type { MACHINE_CACHE_DATA, MACHINE_CACHE_INSTRUCTION, MACHINE_CACHE_UNIFIED };

/** Where a description comes from: what its source cannot tell differs. */
enum machine_origin {
    MACHINE_RUNNING, /**< this system, as this process may use it */
    MACHINE_ROOT,    /**< a saved root: sys/, proc/ and the process's cgroups in files */
    MACHINE_XML      /**< hwloc XML: topology only */
};

/** All caches of one level, type and size. */
struct machine_cache {
    unsigned level; /**< 1, 2, 3 */
    enum machine_cache_type type;
    uint64_t bytes;            /**< of one instance; 0 = not told */
    unsigned instances;        /**< in the machine */
    unsigned usable_instances; /**< that the usable cpus reach */
    unsigned shared_by_pus;    /**< by one instance; the most where they differ */
};

struct machine_node {
    unsigned os_index;
    uint64_t bytes; /**< as the kernel tells it; may grow lazily in a VM */
    char kind[16];  /**< DRAM, HBM, CXL, ... as hwloc's subtype; "" = not told */
    /** PUs of this node as the kernel lists them, 0: a memory-only node. From XML, where only
     *  locality is told, a memory-only node has the PUs that are nearest. */
    unsigned pus;
};

/** Cores of one kind (P, E, ...) in hwloc's order: the most efficient kind first. */
struct machine_core_kind {
    char name[MACHINE_TEXT]; /**< "" = not told */
    unsigned cores;
    unsigned pus;
};

/** A processing unit that this process may run on. */
struct machine_cpu {
    unsigned os_index;
    unsigned core;      /**< logical index of its core */
    unsigned smt_index; /**< 0 for the first PU of its core that is usable, 1 for the next, ... */
    unsigned package;   /**< logical index */
    unsigned node;      /**< os_index of its nearest node with memory */
    unsigned kind;      /**< index into core_kinds */
};

struct machine {
    enum machine_origin origin;
    char name[MACHINE_TEXT]; /**< CPU model name as the kernel prints it; "" unknown */
    char architecture[16];   /**< x86_64, aarch64 */
    char vendor[32];         /**< x86: CPUID vendor; Arm: implementer, e.g. "0x41" */
    unsigned family;         /**< x86 display family; Arm: 0 */
    unsigned model;          /**< x86 display model; Arm: MIDR part number */
    unsigned stepping;
    char microcode[24]; /**< "" unknown */
    char isa[256];      /**< space-separated: sse4_2 avx2 avx512f avx512_bf16 ... asimd sve */
    unsigned sve_vector_bytes; /**< length of an SVE vector; 0 = no SVE or unknown */

    unsigned packages;
    unsigned numa_nodes;
    unsigned cores;
    unsigned pus;
    bool smt; /**< some core has more than one PU */

    struct machine_cpu *usable; /**< usable_count of them, by core then smt_index; owned */
    size_t usable_count;        /**< in the affinity mask, cpuset and online */
    unsigned usable_cores;      /**< distinct cores among them */
    double cpu_quota_cores;     /**< CFS quota, tightest ancestor; 0 = none */

    struct machine_cache caches[MACHINE_CACHES_MAX];
    size_t cache_count;
    struct machine_node nodes[MACHINE_NODES_MAX];
    size_t node_count;
    struct machine_core_kind core_kinds[MACHINE_KINDS_MAX];
    size_t core_kind_count;

    /** Least of MemAvailable, what the cgroups leave and what RLIMIT_AS leaves; 0 unknown. */
    uint64_t memory_available_bytes;
    uint64_t address_space_bytes; /**< RLIMIT_AS, if nothing leaves less than it; 0 else */
    uint64_t memory_limit_bytes; /**< cgroup limit; 0 = none */
    bool limits_hidden;          /**< in a cgroup whose files cannot be read: more may apply */
    uint64_t llc_total_bytes;    /**< sum over the last-level caches that the usable cpus reach;
                                    0 = unknown */

    char thp[16];       /**< always madvise never; "" unknown */
    uint64_t thp_bytes; /**< size of a transparent huge page; 0 unknown */
    uint64_t base_page_bytes;
    uint64_t huge_pages_free; /**< explicit huge pages of the default size */
    uint64_t huge_page_bytes; /**< default explicit huge page size; 0 none */
    char governor[24];        /**< cpufreq governor of the first usable cpu; "" = no cpufreq */
    int numa_balancing;       /**< 0, 1, 2; -1 unknown */
    /** "none" = bare metal, as far as CPUID tells; kvm, vmware, microsoft, xen, ..., "vm" if the
     *  hypervisor does not say which; followed by " container:docker", ... inside a container;
     *  "" unknown. */
    char virtualized[64];
    char kernel[MACHINE_TEXT];
    /** Of the hwloc that read the topology or wrote the XML; "" unknown. */
    char hwloc_version[16];
    double clock_hz_nominal; /**< as told by the kernel; 0 unknown; never used as a roof */
};

/** Threads that may run at once: usable physical cores, at most the floor of the CFS quota
 *  (at least 1); with smt, usable PUs instead of cores. */
unsigned machine_default_threads(const struct machine *machine, bool smt);

enum { MACHINE_AVAILABLE_TEXT = 128 };

/** Bytes of the available memory as text, with the limit of address space where that is what leaves
 *  so little: free memory, as users know it, then tells something else. Returns out. */
char *machine_format_available(char out[MACHINE_AVAILABLE_TEXT], const struct machine *machine,
                               uint64_t bytes);

/** Bytes of one instance of the data or unified cache of a level (1..3); 0 if there is none or
 *  its size is not told. Where sizes differ between core kinds, the smallest. */
uint64_t machine_cache_bytes(const struct machine *machine, unsigned level);

/** Usable instances of that cache. */
unsigned machine_cache_instances(const struct machine *machine, unsigned level);

/** True if the isa list holds the word. */
bool machine_has_isa(const struct machine *machine, const char *word);

/** Releases what machine owns and zeroes it. */
void machine_free(struct machine *machine);

#endif

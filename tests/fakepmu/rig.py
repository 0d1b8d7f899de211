"""Machines for the scripted PMU: what each would be, where its events are, and how a script says
that they count right. Written from the makers' documents, not from the program's tables: a wrong
row there is a failure here."""

import os
import subprocess
import sys
import tempfile

RAW, IMC = 4, 14  # perf types: core codes, and the one given to the memory controllers
POWER = 24
UMC = 40

SHORT = (20000, 4 << 20)    # rounds and bytes of the certificate in every run
FULL = (2000000, 64 << 20)  # of `counters --certify`
# name: (instructions per round, once, operations per round): 8 FMAs, count, branch.
KERNELS = {"loop": (10, 0, 0), "chain": (10, 0, 0)}
for _p, _bytes in (("f64", 8), ("f32", 4), ("f16", 2)):
    KERNELS[_p + "-scalar"] = (10, 0, 16)
    for _w in (128, 256, 512):
        KERNELS["%s-%d" % (_p, _w)] = (10, 1 if _w > 128 else 0, 8 * 2 * (_w // 8 // _bytes))
for _p, _bytes in (("f64", 8), ("f32", 4)):
    KERNELS[_p + "-sve"] = (10, 0, 8 * 2 * (16 // _bytes))  # vectors of 128 bits
for _w in (128, 256, 512):
    KERNELS["bf16-%d" % _w] = (10, 1 if _w > 128 else 0, 8 * 4 * (_w // 32))


class Event:
    """One code: where it is, what it counts of the known work (a round of a kernel and once, or a
    line of the memory kernels), what it counts of the body."""

    def __init__(self, config, step, known=None, kind=RAW, config1=0, rule="step"):
        self.kind, self.config, self.config1 = kind, config, config1
        self.step, self.known, self.rule = step, known or {}, rule

    def lines(self, work):
        where = "%d 0x%x 0x%x" % (self.kind, self.config, self.config1)
        rounds, size = work
        for kernel in list(KERNELS) + ["read", "write"]:
            each, once = self.known.get(kernel, (0, 0))
            times = rounds if kernel in KERNELS else size // 64
            yield "%s %s step %d" % (kernel, where, each * times + once)
        yield "* %s %s %d" % (where, self.rule, self.step)


INSTRUCTIONS = {k: (per, once) for k, (per, once, _) in KERNELS.items()}


def flop_event(config, step, kernels, weight, **more):
    known = {k: (KERNELS[k][2] // weight, 0) for k in kernels}
    return Event(config, step, known, **more)


def lines_event(config, step, memory="read", **more):
    return Event(config, step, {memory: (1, 0)}, **more)


CHAIN = {"chain": (8 * 3, 0)}


def intel(l2_in, l2_out, stalls, walks_load, walks_store, walk_cycles, f16):
    """Core events that Intel's families share; names only in the comments of the makers' lists."""
    events = {
        "cycles": [(Event(0x3c, 3000, CHAIN), 1)],
        "ref_cycles": [(Event(0x300, 2500), 1)],
        "instructions": [(Event(0xc0, 1000003, INSTRUCTIONS), 1)],
        "flop_f64": [(flop_event(0x1c7, 5, ["f64-scalar"], 1), 1),
                     (flop_event(0x4c7, 7, ["f64-128"], 2), 2),
                     (flop_event(0x10c7, 11, ["f64-256"], 4), 4),
                     (flop_event(0x40c7, 13, ["f64-512"], 8), 8)],
        "flop_f32": [(flop_event(0x2c7, 17, ["f32-scalar"], 1), 1),
                     (flop_event(0x8c7, 19, ["f32-128"], 4), 4),
                     (flop_event(0x20c7, 23, ["f32-256"], 8), 8),
                     (flop_event(0x80c7, 1000, ["f32-512"], 16), 16)],
        "l1_l2_bytes": [(lines_event(0x151, 2001), 64)],
        "l2_l3_bytes": [(lines_event(l2_in, 1501), 64), (Event(l2_out, 301), 64)],
        "memory_stall_cycles": [(Event(stalls, 901), 1)],
        "tlb_miss": [(Event(walks_load, 31), 1), (Event(walks_store, 37), 1)],
        "page_walk_cycles": [(Event(walk_cycles, 41), 1)],
    }
    if f16:
        events["flop_f16"] = [(flop_event(0x1cf, 3, ["f16-scalar"], 1), 1),
                              (flop_event(0x4cf, 2, ["f16-128"], 8), 8),
                              (flop_event(0x8cf, 1, ["f16-256"], 16), 16),
                              (flop_event(0x10cf, 4, ["f16-512"], 32), 32)]
    return events


def controllers(boxes, read, write, kind=IMC):
    """Memory controllers: each box sees its share of every thread's traffic."""
    reads, writes = [], []
    for box in range(boxes):
        reads.append((Event(read, 100, {"read": (1 / boxes, 0)}, kind + box, rule="work"), 64))
        writes.append((Event(write, 10, {"write": (1 / boxes, 0)}, kind + box, rule="work"), 64))
    return reads, writes


def energy(package, dram):
    events = {}
    if package:
        events["package_joules"] = [(Event(0x2, package, kind=POWER, rule="work"), 2.0**-32)]
    if dram:
        events["dram_joules"] = [(Event(0x3, dram, kind=POWER, rule="work"), 2.0**-32)]
    return events


AMD_FLOP = ["f32-scalar", "f32-128", "f32-256", "f32-512",
            "f64-scalar", "f64-128", "f64-256", "f64-512"]


def amd_base():
    return {
        "cycles": [(Event(0x76, 3000, CHAIN), 1)],
        "instructions": [(Event(0xc0, 1000003, INSTRUCTIONS), 1)],
        "tlb_miss": [(Event(0xd045, 43), 1)],
    }


class Machine:
    def __init__(self, name, vendor, family, model, stepping, eax, events, boxes, source,
                 uncore_source, table):
        self.name, self.vendor, self.family = name, vendor, family
        self.model, self.stepping, self.eax = model, stepping, eax
        self.events, self.boxes, self.source = events, boxes, source
        self.uncore_source, self.table = uncore_source, table

    def script(self, extra=(), limits=(), work=SHORT):
        lines = list(limits) + list(extra)
        if self.eax:
            lines.append("cpuid 0x%x %s" % (self.eax, self.vendor))
        # PAPI asks for the kernel's generic instructions first, to see whether rdpmc works.
        lines.append("* 0 1 * step 1000")
        lines.append("idle arm")  # the program tries a set before its work
        for rows in self.events.values():
            for event, _ in rows:
                lines.extend(event.lines(work))
        return "\n".join(lines) + "\n"

    def expected(self, metric, threads, fraction=1):
        """The sum over the rows; system events see the traffic of every thread. With a fraction,
        what is left of the counts after a set ran only so long, scaled up again."""
        rows = self.events.get(metric)
        if rows is None:
            return None
        return sum(round(int(event.step * fraction) / fraction) * weight * threads
                   for event, weight in rows)


def skylake(stepping, eax, name):
    reads, writes = controllers(2, 0x304, 0xc04)
    events = intel(0x1ff1, 0x2f2, 0x140014a3, 0xe08, 0xe49, 0x1001008, False)
    events.update({"dram_read_bytes": reads, "dram_write_bytes": writes})
    events.update(energy(1 << 33, 1 << 31))
    return Machine(name, "GenuineIntel", 6, 85, stepping, eax, events, ("imc", 2), "papi", "papi",
                   "skylake_sp")


def ice_lake():
    reads, writes = controllers(4, 0xf04, 0x3004)
    events = intel(0x1ff1, 0x2f2, 0x140014a3, 0xe08, 0xe49, 0x1001008, False)
    events.update({"dram_read_bytes": reads, "dram_write_bytes": writes})
    events.update(energy(1 << 33, 1 << 31))
    return Machine("icx", "GenuineIntel", 6, 106, 6, 0x606a6, events, ("imc", 4), "papi", "perf",
                   "ice_lake_sp")


def rapids(name, model, stepping, eax, source):
    reads, writes = controllers(8, 0xcf05, 0xf005)
    events = intel(0x1f25, 0x226, 0x50021a6, 0xe12, 0xe13, 0x1001012, True)
    events.update({"dram_read_bytes": reads, "dram_write_bytes": writes})
    events.update(energy(1 << 33, 1 << 31))
    return Machine(name, "GenuineIntel", 6, model, stepping, eax, events, ("imc", 8), source,
                   "perf", "sapphire_rapids")


def zen2():
    events = amd_base()
    events.update({
        "flop_f32": [(flop_event(0xf03, 5000, AMD_FLOP, 1), 1)],
        "l1_l2_bytes": [(lines_event(0xc860, 2001), 64)],
        "l2_l3_bytes": [(Event(0x864, 1501), 64), (Event(0x1f71, 301), 64),
                        (Event(0x1f72, 101), 64)],
        # No data fabric in this kernel: the core's own fills stand in.
        "dram_read_bytes": [(Event(0x843, 90, {"read": (0.5, 0)}), 64),
                            (Event(0x85a, 60, {"read": (0.5, 0)}), 64)],
        "memory_stall_cycles": [(Event(0x2ae, 901), 1)],
    })
    events.update(energy(1 << 33, 0))
    return Machine("zen2", "AuthenticAMD", 23, 0x31, 0, 0x830f10, events, None, "papi", "papi",
                   "zen2")


def zen3():
    events = amd_base()
    events.update({
        "flop_f32": [(flop_event(0xf03, 5000, AMD_FLOP, 1), 1)],
        "l1_l2_bytes": [(Event(0x144, 2001), 64)],
        "l2_l3_bytes": [(Event(0x864, 1501), 64)],
        "dram_read_bytes": [(lines_event(0x4844, 150), 64)],
        "memory_stall_cycles": [(Event(0x2ae, 901), 1)],
    })
    events.update(energy(1 << 33, 0))
    return Machine("zen3", "AuthenticAMD", 25, 1, 1, 0xa00f11, events, None, "papi", "papi",
                   "zen3")


def zen4(umc):
    events = amd_base()
    events.update({
        "ref_cycles": [(Event(0x100000120, 2500), 1)],
        "flop_f32": [(flop_event(0xf03, 5000, AMD_FLOP, 1), 1)],
        "flop_bf16": [(flop_event(0x1003, 70, ["bf16-128", "bf16-256", "bf16-512"], 1), 1)],
        "l1_l2_bytes": [(Event(0x144, 2001), 64)],
        "l2_l3_bytes": [(Event(0x864, 1501), 64)],
        "memory_stall_cycles": [(Event(0xa2d6, 901), 1)],
    })
    if umc:
        # format: event config:0-7, rdwrmask config:8-9
        reads, writes = controllers(3, 0x10a, 0x20a, UMC)
        events.update({"dram_read_bytes": reads, "dram_write_bytes": writes})
    else:
        events["dram_read_bytes"] = [(lines_event(0x4844, 150), 64)]
    events.update(energy(1 << 33, 0))
    return Machine("zen4" + ("-umc" if umc else ""), "AuthenticAMD", 25, 0x11, 1, 0xa10f11, events,
                   ("umc", 3) if umc else None, "papi", "perf", "zen4")


def neoverse(name, part, eax, table, flops):
    """Neoverse cores: N1 counts instructions only, V2 the operations of scalar, NEON and SVE."""
    events = {
        "cycles": [(Event(0x11, 3000), 1)],
        "instructions": [(Event(0x8, 1000003, INSTRUCTIONS), 1)],
        "l1_l2_bytes": [(lines_event(0x3, 2001), 64)],
        "l2_l3_bytes": [(lines_event(0x17, 1501), 64), (Event(0x18, 301), 64)],
        "dram_read_bytes": [(lines_event(0x37, 150), 64)],
        "tlb_miss": [(Event(0x34, 43), 1)],
    }
    if flops:
        fixed = [k for k in KERNELS if k[0] == "f" and (k.endswith("scalar") or k.endswith("128"))]
        events.update({
            "ref_cycles": [(Event(0x4004, 2500), 1)],
            "flop_f32": [(flop_event(0x80c1, 5000, fixed, 1), 1),
                         (flop_event(0x80c0, 700, ["f64-sve", "f32-sve"], 1), 1)],
            "memory_stall_cycles": [(Event(0x4005, 901), 1)],
        })
    return Machine(name, "0x41", 0, part, 0x31, eax, events, None, "papi", "perf", table)


ARM_MACHINES = [neoverse("n1", 0xd0c, 0, "neoverse_n1", False),
                neoverse("v2", 0xd4f, 0, "neoverse_v2", True)]

MACHINES = [skylake(4, 0x50654, "skx"), skylake(7, 0x50657, "clx"), ice_lake(),
            rapids("spr", 143, 8, 0x806f8, "papi"), rapids("emr", 207, 2, 0xc06f2, "perf"),
            zen2(), zen3(), zen4(False), zen4(True)]


def put(root, path, text):
    full = root + path
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w") as file:
        file.write(text)


DEVICES = "/sys/bus/event_source/devices/"


def make_root(root, machine, paranoid=1, watchdog=0, sandboxed=False):
    """What the kernel of such a machine shows below /sys and /proc."""
    put(root, "/proc/sys/kernel/perf_event_paranoid", "%d\n" % paranoid)
    put(root, "/proc/sys/kernel/nmi_watchdog", "%d\n" % watchdog)
    put(root, "/proc/self/status", "CapEff:\t0000000000000000\nSeccomp:\t%d\n" %
        (2 if sandboxed else 0))
    put(root, DEVICES + ("armv8_pmuv3_0" if machine.vendor == "0x41" else "cpu") + "/type", "4\n")
    kind, count = machine.boxes or ("", 0)
    for box in range(count):
        name = ("uncore_imc_%d" if kind == "imc" else "amd_umc_%d") % box
        put(root, DEVICES + name + "/type", "%d\n" % ((IMC if kind == "imc" else UMC) + box))
        put(root, DEVICES + name + "/cpumask", "0\n")
        put(root, DEVICES + name + "/format/event", "config:0-7\n")
        put(root, DEVICES + name + "/format/umask", "config:8-15\n")
        if kind == "umc":
            put(root, DEVICES + name + "/format/rdwrmask", "config:8-9\n")
        os.makedirs(root + "/sys/devices/" + name, exist_ok=True)
    if any("joules" in metric for metric in machine.events):
        put(root, DEVICES + "power/type", "%d\n" % POWER)
        put(root, DEVICES + "power/cpumask", "0\n")
        os.makedirs(root + "/sys/devices/power", exist_ok=True)
    put(root, "/proc/cpuinfo", cpuinfo(machine))


def cpuinfo(machine):
    """One block a processor of this system, as the other machine would print it."""
    text = ""
    if machine.vendor == "0x41":
        for cpu in range(os.cpu_count()):
            text += ("processor\t: %d\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
                     "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0x%x\n"
                     "CPU revision\t: 1\n\n" % (cpu, machine.model))
        return text
    for cpu in range(os.cpu_count()):
        text += ("processor\t: %d\nvendor_id\t: %s\ncpu family\t: %d\nmodel\t\t: %d\n"
                 "model name\t: %s\nstepping\t: %d\nflags\t\t: fpu sse2\n\n" %
                 (cpu, machine.vendor, machine.family, machine.model, machine.name,
                  machine.stepping))
    return text


def invalid(text):
    """What the shipped schemas say against a document; "" if nothing."""
    tests = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    schemas = os.path.join(os.path.dirname(tests), "profiler", "schemas")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        result = subprocess.run([sys.executable, os.path.join(tests, "schema.py"), schemas,
                                 file.name], capture_output=True, text=True)
    return "" if result.returncode in (0, 77) else result.stdout + result.stderr


class Run:
    """A program under the scripted PMU."""

    def __init__(self, shim, machine, extra=(), limits=(), work=SHORT, **kernel):
        self.directory = tempfile.TemporaryDirectory(prefix="fakepmu-")
        self.root = self.directory.name + "/root"
        make_root(self.root, machine, **kernel)
        self.script = self.directory.name + "/script"
        with open(self.script, "w") as file:
            file.write(machine.script(extra, limits, work))
        # Without a shim the program brings its own (an emulator's wrapper).
        self.environment = dict(os.environ, FAKEPMU_SCRIPT=self.script, FAKEPMU_ROOT=self.root,
                                **({"LD_PRELOAD": shim} if shim else {}),
                                ASAN_OPTIONS="verify_asan_link_order=0:detect_leaks=0")

    def __call__(self, command, timeout=120, **more):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True,
                              timeout=timeout, **more)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.directory.cleanup()

#!/usr/bin/env python3
"""What the compilers made of the kernels, for each target: limits that must hold, and a table of it that is committed.

    cuda/gates.py OBJECTS                     limits, and whether cuda/GATES.md says what is there
    cuda/gates.py OBJECTS --write             limits, and writes the table
    cuda/gates.py OBJECTS --only-limits       limits alone; OBJECTS may be one file, of which nothing is said elsewhere

OBJECTS is the folder in which a build with the feature `cuda` leaves `*.cuda.o` and, beside each, what the assembler said
(`*.cuda.said`). A limit of every kernel: nothing is spilled, there is no stack, and no call, so nothing goes through local
memory. Besides, each kernel must have the instructions that it is made for: copies of 16 bytes, asynchronous where keys
and values are read, and products by tensor cores. What a GPU makes of it in time, none of this says.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "GATES.md"
TARGETS = (80, 86, 89, 90, 100, 120)

# What a multiprocessor has: threads, and bytes of shared memory; the most of them that a thread block may have.
MACHINES = {
    80: (2048, 164 << 10, 163 << 10),
    86: (1536, 100 << 10, 99 << 10),
    89: (1536, 100 << 10, 99 << 10),
    90: (2048, 228 << 10, 227 << 10),
    100: (2048, 228 << 10, 227 << 10),
    120: (1536, 100 << 10, 99 << 10),
}
REGISTERS = 65536
# Registers are given to warps in such portions; so much shared memory of a block is the system's.
REGISTER_PORTION = 256
SHARED_SYSTEM = 1024

# By the name of a kernel: the most registers, and instructions that it must have. The first that fits counts.
ASYNC = r"LDGSTS\.E\.BYPASS\S*\.128"
LOAD, STORE = r"LDG\.E\S*\.128", r"STG\.E\S*\.128"
MATRIX, PRODUCT = r"LDSM\.16\.\S*\.4", r"HMMA\.16816"
FP8 = r"F2FP\.F16\.E4M3"
RULES = [
    # Decode: three thread blocks of 128 threads have 168 registers each.
    (r"^attend<b?f16, (64|128), 16>", 168, [ASYNC, MATRIX, PRODUCT]),
    (r"^attend<b?f16, ", 255, [ASYNC, MATRIX, PRODUCT]),
    # Eight-bit keys and values are unpacked on their way from shared memory, so by ordinary loads.
    (r"^attend<\w+, (64|128), 16>", 168, [ASYNC, PRODUCT]),
    (r"^attend<", 255, [ASYNC, PRODUCT]),
    (r"^(append|gather|copy_blocks)$", 64, [LOAD, STORE]),
    (r"^fill$", 64, [STORE]),
    (r"^checksum$", 64, [LOAD]),
    (r"^merge(_two)?$", 128, [LOAD, STORE]),
    (r"^rewrite$", 64, []),
    (r"^clear_sums$", 64, []),
]
LOCAL = r"^(LDL|STL)\b"
# Where lanes of a warp may have parted, shuffles of older targets wait for them out of line: a jump to and fro, with no
# stack. Every other call is one.
WITHIN = r"`\((\.L_x_\d+|\$__internal_\d+_\$__cuda_sm70_warpsync)\)"

# Kernels that may break a rule on some targets, and why. One that does not is reported too.
EXCEPTIONS = [
    (r"^attend<(e4m3|e5m2|int8), 128, 16>$", (100, 120), ("registers",),
     "from sm_100 on the compiler keeps more of a tile unpacked: two thread blocks are resident on sm_100 in place of "
     "three; on sm_120 shared memory allows one anyway"),
    (r"^attend<e4m3, 192, 64>$", (80, 86), ("spills", "stack", "local"),
     "24 bytes a thread: without conversions in hardware, FP8 is unpacked by code that takes registers"),
]


class Kernel:
    """One kernel for one target."""

    def __init__(self, name, target):
        self.name, self.target = name, target
        self.registers = self.stack = self.spills = self.threads = self.calls = 0
        self.instructions = collections.Counter()

    def count(self, pattern):
        return sum(n for opcode, n in self.instructions.items() if re.match(pattern, opcode))

    def resident(self, shared):
        """Blocks that a multiprocessor holds at once."""
        threads, all_shared, _ = MACHINES[self.target]
        per_warp = -(-self.registers * 32 // REGISTER_PORTION) * REGISTER_PORTION
        warps = REGISTERS // per_warp
        by = [warps // (self.threads // 32), threads // self.threads, all_shared // (shared + SHARED_SYSTEM)]
        return min(by)


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"gates: {command[0]}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def plain(mangled):
    """`attend<e4m3, 64, 16>` for what the compiler calls it."""
    name = run("c++filt", mangled).strip()
    name = re.sub(r"\(anonymous namespace\)::|kvk::|^void ", "", name)
    name = re.sub(r"\(.*$", "", name).replace(" >", ">")
    name = re.sub(r"Shape<([^<>]*)>", r"\1", name)
    return re.sub(r"(\d+)u\b", r"\1", name)


def read(files, tools):
    """All kernels of some objects."""
    kernels = {}
    for file in files:
        with tempfile.TemporaryDirectory() as folder:
            run(tools / "cuobjdump", "-xelf", "all", file.resolve(), cwd=folder)
            for cubin in sorted(pathlib.Path(folder).iterdir()):
                read_cubin(cubin, tools, kernels)
        said = file.with_suffix(".said")
        if said.exists():
            read_said(said.read_text(), kernels)
    return kernels


def read_cubin(cubin, tools, kernels):
    target = int(re.search(r"sm_(\d+)", cubin.name)[1])
    new = lambda mangled: kernels.setdefault((mangled, target), Kernel(plain(mangled), target))
    usage = run(tools / "cuobjdump", "-res-usage", cubin)
    for mangled, registers, stack, local in re.findall(r"Function (\w+):\s+REG:(\d+) STACK:(\d+) .*?LOCAL:(\d+)", usage):
        kernel = new(mangled)
        kernel.registers, kernel.stack = int(registers), int(stack) + int(local)
    elf = run(tools / "cuobjdump", "-elf", cubin)
    for mangled, info in re.findall(r"^\.nv\.info\.(\w+)$(.*?)(?=^\.|\Z)", elf, re.M | re.S):
        threads = re.search(r"EIATTR_MAX_THREADS\s+Format:\s+\w+\s+Value:\s+(0x\w+)", info)
        new(mangled).threads = int(threads[1], 16) if threads else 1024
    current = None
    for line in run(tools / "nvdisasm", "-c", cubin).splitlines():
        if found := re.match(r"\.text\.(\w+):", line):
            current = new(found[1])
        elif found := re.match(r"\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?\s*([A-Z][\w.]*)(.*);", line):
            current.instructions[found[1]] += 1
            if found[1].startswith("CALL") and not re.search(WITHIN, found[2]):
                current.calls += 1


def read_said(said, kernels):
    """Bytes that the assembler spilled."""
    pattern = r"Compiling entry function '(\w+)' for 'sm_(\d+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes"
    for mangled, target, stack, stores, loads in re.findall(pattern, said, re.S):
        if kernel := kernels.get((mangled, int(target))):
            kernel.stack = max(kernel.stack, int(stack))
            kernel.spills = int(stores) + int(loads)


def shared_bytes():
    """Shared memory of instances of attention, which the launch asks for: their own header says it."""
    source = """#include "kernels/attend/shape.cuh"
#include <stdio.h>
template <class C, int D, unsigned R> void say(const char *cache) {
  printf("attend<%s, %d, %u> %zu\\n", cache, D, R, sizeof(typename kvk::Shape<C, D, R>::Shared));
}
template <class C, int D> void rows(const char *cache) { say<C, D, 16>(cache); say<C, D, 64>(cache); }
template <class C> void dims(const char *c) { rows<C, 64>(c); rows<C, 128>(c); rows<C, 192>(c); rows<C, 256>(c); }
int main() {
  using namespace kvk;
  dims<f16>("f16"); dims<bf16>("bf16"); dims<e4m3>("e4m3"); dims<e5m2>("e5m2"); dims<int8>("int8");
}
"""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "shared.cc").write_text(source)
        run(os.environ.get("CXX", "c++"), "-std=c++17", "-O1", "-I", HERE, "shared.cc", "-o", "shared", cwd=folder)
        lines = run(pathlib.Path(folder) / "shared").splitlines()
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in lines}


def broken(kernel, shared):
    """What a kernel breaks: the rule, and what is there."""
    if kernel.spills:
        yield "spills", f"{kernel.spills} bytes are spilled and loaded"
    if kernel.stack:
        yield "stack", f"{kernel.stack} bytes of stack or local memory"
    if count := kernel.count(LOCAL):
        yield "local", f"{count} loads and stores of local memory"
    if kernel.calls:
        yield "call", f"{kernel.calls} calls"
    rule = next((rule for rule in RULES if re.search(rule[0], kernel.name)), None)
    if rule is None:
        yield "rule", "there is no rule for it: add one to RULES"
        return
    _, registers_max, needed = rule
    if kernel.registers > registers_max:
        yield "registers", f"{kernel.registers} registers, at most {registers_max} are allowed"
    if shared > MACHINES[kernel.target][2]:
        yield "shared", f"{shared} bytes of shared memory, the target grants {MACHINES[kernel.target][2]}"
    if kernel.name.startswith("attend<e4m3") and kernel.target >= 89:
        needed = needed + [FP8]
    for pattern in needed:
        if not kernel.count(pattern):
            yield "instructions", f"nothing like {pattern}"


def exception_of(kernel, rule):
    def covers(exception):
        name, targets, rules, _ = exception
        return re.search(name, kernel.name) and kernel.target in targets and rule in rules

    return next(filter(covers, EXCEPTIONS), None)


def table(kernels, shared):
    """A row for each kernel, a column for each target."""
    rows = collections.defaultdict(dict)
    for kernel in kernels:
        rows[kernel.name][kernel.target] = kernel
    lines = [
        "# What the compilers made of the kernels",
        "",
        "By `cuda/gates.py`, which CI runs and compares. For each target: registers of a thread, and thread blocks that a",
        "multiprocessor holds at once. Nothing is spilled, on a stack or called, but for what stands below the table.",
        "",
        "| kernel | threads | shared bytes | " + " | ".join(f"sm_{target}" for target in TARGETS) + " |",
        "| --- | --- | --- |" + " --- |" * len(TARGETS),
    ]
    for name in sorted(rows, key=natural):
        bytes_ = shared.get(name, 0)
        cell = lambda kernel: f"{kernel.registers}, {kernel.resident(bytes_)}" if kernel else "-"
        cells = [cell(rows[name].get(target)) for target in TARGETS]
        threads = next(iter(rows[name].values())).threads
        lines.append(f"| `{name}` | {threads} | {bytes_:,} | " + " | ".join(cells) + " |")
    for name, targets, rules, why in EXCEPTIONS:
        on = ", ".join(f"sm_{target}" for target in targets)
        lines += ["", f"`{name}` on {on}: {', '.join(rules)}. {why[0].upper()}{why[1:]}."]
    return "\n".join(lines) + "\n"


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("objects", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, default=HERE.parent / ".cuda-venv/cuda/bin", help="where cuobjdump is")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--write", action="store_true")
    how.add_argument("--only-limits", action="store_true")
    options = parser.parse_args()
    files = sorted(options.objects.glob("*.cuda.o")) if options.objects.is_dir() else [options.objects]
    kernels = list(read(files, options.tools).values())
    if not kernels:
        sys.exit(f"gates: no kernels in {options.objects}: build with the feature `cuda`")
    shared, failed, excepted = shared_bytes(), 0, set()
    for kernel in sorted(kernels, key=lambda kernel: (natural(kernel.name), kernel.target)):
        for rule, what in broken(kernel, shared.get(kernel.name, 0)):
            if exception := exception_of(kernel, rule):
                excepted.add(exception)
            else:
                print(f"gates: {kernel.name}: sm_{kernel.target}: {rule}: {what}")
                failed += 1
    if options.only_limits:
        sys.exit(1 if failed else 0)
    missing = set(TARGETS) - {kernel.target for kernel in kernels}
    if missing:
        sys.exit(f"gates: not built for sm_{', sm_'.join(map(str, sorted(missing)))}: set KVLEDGER_CUDA_ARCHS")
    for exception in set(EXCEPTIONS) - excepted:
        print(f"gates: {exception[0]}: {', '.join(exception[2])}: an exception that nothing needs any more: remove it")
        failed += 1
    found = table(kernels, shared)
    if options.write:
        TABLE.write_text(found)
    elif not TABLE.exists() or TABLE.read_text() != found:
        print("gates: cuda/GATES.md is not what is there: if the change is meant, write it anew (--write)")
        failed += 1
    print(f"gates: {len(kernels)} kernels of {len(files)} files, {failed} failures")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

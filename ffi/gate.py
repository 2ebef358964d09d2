#!/usr/bin/env python3
"""Holds that the C archive is whole and clean:

1. Every public operation of the core has a kvl_ function, or a kvl_exempt_ one that says why C does without it; and
   every kvl_ function is an operation.
2. The header declares exactly these functions, and the archive defines exactly these symbols, no other.
3. The header says of each function, above its prototype, what it does, what it answers (`Results:`) and what it costs
   (`Cost:`, or once for its section): told.py.
4. Nothing in the archive can panic or allocate: a panic path would leave `abort` undefined, an allocation `malloc` or
   the allocator's own symbol; only mem* may be asked of the program that links it.

    ffi/gate.py target/capi/dist/libkvledger.a [--exempt] [--include FOLDER] [--expect NAME]...
    ffi/gate.py --cuda target/capi/dist/libkvledger_cuda.a [--include FOLDER] [--expect NAME]...

--cuda reads the archive of kernels, which has the standard library in it: 2 and 3 hold for it, and in place of 4, that it
asks for nothing of Rust, C++ or CUDA that it has inside; and if there are kernels for CUDA in it, so is what makes them
known when a program starts. --exempt reads an archive made with KVL_EXEMPT=1, which has the exempt operations too: what
no function of an archive reaches is not in it, so 4 holds for every operation only if it holds for both archives.
--expect adds a function that must be there, and --include reads headers of another folder than ffi/include, so that CI
can see the gate fail. Exit: 0 holds, 1 does not, 2 usage.
"""

import argparse
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import told  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORE = ROOT / "core/src"
# Types whose functions are not named after the type.
PREFIX = {"Pool": "", "PoolConfig": "config_"}
# Functions with another name in C, where all names stand side by side: `release` would read as what `kvl_end` does.
RENAMED = {"kvl_release": "kvl_release_blocks"}
# Functions that the archive has only when archive.sh is told so.
EXEMPT = "kvl_exempt_"
PLANTED = "kvl_planted_panic"
UNDEFINED_ALLOWED = {"memcpy", "memmove", "memset", "memcmp", "bcmp"}
# Rust's and C++'s names, and those of kernels and of CUDA's static runtime: what an archive has of these it has inside.
UNDEFINED_INSIDE = re.compile(r"_R|_Z|_*rust|kvl_|kvk_|cu[A-Z]|cuda|__cuda|nvrtc")
HAS_CUDA = "kvk_cuda_fits"
REGISTRATION = {".nv_fatbin", ".nvFatBinSegment", ".init_array"}


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def is_shipped(file):
    """Whether a file of the core is part of the library: not a test, and not the model that tests compare it with."""
    folders, name = file.relative_to(CORE).parts[:-1], file.stem
    return not {"model", "tests"} & {*folders, name} and not name.endswith("_tests")


def operations_of(source):
    """The C names of the public functions of one Rust file: free ones, and those of a type. A function that this
    cannot read comes out under a name that nothing has, which is a fault."""
    prefix = ""
    for line in source.splitlines():
        if opened := re.match(r"impl(?:<[^>]*>)? (\w+)(?:<[^>]*>)? \{", line):
            prefix = PREFIX.get(opened[1], snake(opened[1]) + "_")
        elif line == "}":
            prefix = ""
        elif found := re.match(r'\s*pub (?:const |unsafe |async |extern "C" )*fn (\w+)', line):
            name = f"kvl_{prefix}{found[1]}"
            yield RENAMED.get(name, name)


def operations():
    files = [file for file in sorted(CORE.glob("**/*.rs")) if is_shipped(file)]
    return {name for file in files for name in operations_of(file.read_text())}


def exemptions():
    """The operations that C does without, each with the reason: the comment of its kvl_exempt_ function."""
    source = (ROOT / "ffi/src/exempt.rs").read_text()
    functions = re.findall(rf'((?:^/// .*\n)*)(?:^#.*\n)*^pub extern "C" fn {EXEMPT}(\w+)', source, re.MULTILINE)
    return {f"kvl_{name}": reason for reason, name in functions}


def found_in(paths, pattern):
    return {name for path in paths for name in re.findall(pattern, path.read_text(), re.MULTILINE)}


def readelf(option, archive):
    return subprocess.run(["readelf", option, archive], check=True, capture_output=True, text=True).stdout


def symbols(archive):
    """Symbols of the archive: global ones that are defined, and undefined; local ones."""
    defined, undefined, local = set(), set(), set()
    for line in readelf("-sW", archive).splitlines():
        field = line.split()
        if len(field) >= 8 and field[4] in ("GLOBAL", "WEAK"):
            (undefined if field[6] == "UND" else defined).add(field[7])
        elif len(field) >= 8 and field[4] == "LOCAL":
            local.add(field[7])
    return defined, undefined, local


def compare(what, have, want):
    """One line for each name that one side has and the other has not."""
    return [f"{name}: missing in {what}" for name in sorted(want - have)] + [
        f"{name}: in {what}, but nobody asks for it" for name in sorted(have - want)
    ]


def faults(archive, include, with_exempt, expected):
    core, exempt = operations(), exemptions()
    want = (core - set(exempt)) | expected
    also = {name.replace("kvl_", EXEMPT, 1) for name in exempt} if with_exempt else set()
    source = found_in(sorted(ROOT.glob("ffi/src/**/*.rs")), r'extern "C" fn (kvl_\w+)') - {PLANTED}
    parts = [include / "kvledger.h", *sorted(include.glob("kvledger/*.h"))]
    header = found_in(parts, r"^kvl_status (kvl_\w+)\(")
    defined, undefined, _ = symbols(archive)
    panics = re.findall(r"\S*panicking\S*", readelf("-SW", archive))
    return (
        [f"{name}: exempt, but no operation of the core" for name in sorted(set(exempt) - core)]
        + [f"{name}: exempt without a reason" for name in sorted(exempt) if not exempt[name]]
        + compare("ffi/src", {name for name in source if not name.startswith(EXEMPT)}, want)
        + compare("the header", header, want)
        + told.faults(include, parts, "KVL_ARGUMENT")
        + compare("the archive", defined, want | also)
        + [f"{name}: undefined in the archive" for name in sorted(undefined - UNDEFINED_ALLOWED)]
        + [f"{name}: a panic path" for name in sorted(set(panics))]
    ), f"{len(want)} operations exported, {len(exempt)} exempt{' and seen' if with_exempt else ''}"


def faults_of_kernels(archive, include, expected):
    header = include / "kvledger_cuda.h"
    want = found_in([header], r"^kvl_device_status (kvl_\w+)\(") | expected
    source = found_in(sorted(ROOT.glob("ffi/cuda/src/*.rs")), r'extern "C" fn (kvl_\w+)')
    defined, undefined, local = symbols(archive)
    sections = set(re.findall(r"\] (\.\S+)", readelf("-SW", archive)))
    has_cuda = HAS_CUDA in local
    return (
        compare("ffi/cuda/src", source, want)
        + told.faults(include, [header], "KVL_DEVICE")
        + compare("the archive", defined, want)
        + [f"{name}: undefined in the archive" for name in sorted(undefined) if UNDEFINED_INSIDE.match(name)]
        + [f"{name}: kernels for CUDA, but no such section" for name in sorted(REGISTRATION - sections) if has_cuda]
    ), f"{len(want)} functions exported, kernels for the CPU device{' and CUDA' if has_cuda else ''}"


def main():
    usage = argparse.ArgumentParser(description="Holds that the C archive is whole and clean.")
    usage.add_argument("archive", type=pathlib.Path, help="what ffi/archive.sh has made")
    usage.add_argument("--cuda", action="store_true", help="it is the one of kernels")
    usage.add_argument("--exempt", action="store_true", help="it was made with KVL_EXEMPT=1")
    usage.add_argument(
        "--include", type=pathlib.Path, default=ROOT / "ffi/include", metavar="FOLDER", help="where the headers are"
    )
    usage.add_argument("--expect", action="append", default=[], metavar="NAME", help="a function that must be there")
    given = usage.parse_args()
    if not given.archive.is_file():
        usage.error(f"{given.archive}: no such file; ffi/archive.sh makes one")
    if not (given.include / "kvledger.h").is_file():
        usage.error(f"{given.include}: no kvledger.h there")
    if given.cuda:
        found, holds = faults_of_kernels(given.archive, given.include, set(given.expect))
    else:
        found, holds = faults(given.archive, given.include, given.exempt, set(given.expect))
        holds += "; none can panic or allocate"
    for fault in found:
        print(f"gate: {fault}")
    if not found:
        print(f"gate: {holds}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds that the C archive is whole and clean:

1. Every public operation of the core has a kvl_ function, and every kvl_ function is an operation.
2. The header declares exactly these functions, and the archive defines exactly these symbols, no other.
3. Nothing in the archive can panic or allocate: a panic path would leave `abort` undefined, an allocation `malloc` or
   the allocator's own symbol; only mem* may be asked of the program that links it.

    ffi/gate.py target/capi/dist/libkvledger.a [--expect NAME]...

--expect adds a function that must be there, so that CI can see the gate fail. Exit: 0 holds, 1 does not, 2 usage.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The operations of the core are the public functions of these files.
CORE = ["core/src/config.rs", "core/src/calls.rs", "core/src/pool/**/*.rs", "core/src/plan/**/*.rs"]
# Types whose functions are not named after the type.
PREFIX = {"Pool": "", "PoolConfig": "config_"}
# Operations that C does without, and why.
EXEMPT = {
    "kvl_lines": "a constant for static storage in Rust: kvl_config_bytes",
    "kvl_entries": "a constant for static storage in Rust: kvl_config_table_entries",
    "kvl_storage_new": "static storage in Rust: C declares an array",
    "kvl_storage_init": "static storage in Rust: kvl_init",
    "kvl_element_from_number": "C passes the number",
    "kvl_grain_from_number": "C passes the number",
    "kvl_region_from_number": "C passes the number",
    "kvl_binomial_new": "every kvl_binomial_ function makes one",
}
UNDEFINED_ALLOWED = {"memcpy", "memmove", "memset", "memcmp", "bcmp"}
PLANTED = "kvl_planted_panic"


def snake(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def operations_of(source):
    """The C names of the public functions of one Rust file. Test modules are indented deeper and do not match."""
    prefix = ""
    for line in source.splitlines():
        if opened := re.match(r"impl(?:<[^>]*>)? (\w+)(?:<[^>]*>)? \{", line):
            prefix = PREFIX.get(opened[1], snake(opened[1]) + "_")
        elif line == "}":
            prefix = ""
        elif found := re.match(r"(?:    )?pub (?:const )?(?:unsafe )?fn (\w+)", line):
            yield f"kvl_{prefix}{found[1]}"


def operations():
    files = sorted(file for pattern in CORE for file in ROOT.glob(pattern))
    return {name for file in files for name in operations_of(file.read_text())}


def found_in(paths, pattern):
    return {name for path in paths for name in re.findall(pattern, path.read_text(), re.MULTILINE)}


def readelf(option, archive):
    return subprocess.run(["readelf", option, archive], check=True, capture_output=True, text=True).stdout


def symbols(archive):
    """Global symbols of the archive: defined, undefined."""
    defined, undefined = set(), set()
    for line in readelf("-sW", archive).splitlines():
        field = line.split()
        if len(field) >= 8 and field[4] in ("GLOBAL", "WEAK"):
            (undefined if field[6] == "UND" else defined).add(field[7])
    return defined, undefined


def compare(what, have, want):
    """One line for each name that one side has and the other has not."""
    return [f"{name}: missing in {what}" for name in sorted(want - have)] + [
        f"{name}: in {what}, but nobody asks for it" for name in sorted(have - want)
    ]


def faults(archive, extra):
    core = operations()
    stale = [f"{name}: exempt, but no operation of the core" for name in sorted(set(EXEMPT) - core)]
    want = (core - set(EXEMPT)) | extra
    source = found_in(sorted(ROOT.glob("ffi/src/**/*.rs")), r'extern "C" fn (kvl_\w+)') - {PLANTED}
    header = found_in([ROOT / "ffi/include/kvledger.h"], r"^kvl_status (kvl_\w+)\(")
    defined, undefined = symbols(archive)
    panics = re.findall(r"\S*panicking\S*", readelf("-SW", archive))
    return (
        stale
        + compare("ffi/src", source, want)
        + compare("kvledger.h", header, want)
        + compare("the archive", defined, want)
        + [f"{name}: undefined in the archive" for name in sorted(undefined - UNDEFINED_ALLOWED)]
        + [f"{name}: a panic path" for name in sorted(set(panics))]
    ), len(want)


def main(arguments):
    extra = set()
    while len(arguments) > 2 and arguments[-2] == "--expect":
        extra.add(arguments.pop())
        arguments.pop()
    if len(arguments) != 1 or not pathlib.Path(arguments[0]).is_file():
        print("gate.py: name one archive that ffi/archive.sh has made [--expect NAME]...", file=sys.stderr)
        return 2
    found, operations_wanted = faults(arguments[0], extra)
    for fault in found:
        print(f"gate: {fault}")
    if not found:
        print(f"gate: {operations_wanted} operations exported, none can panic or allocate")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Runs what the README tells a reader to run in its section for C and C++, line by line, and looks its lines of CMake and of
C up in the programs that CI builds.

    ffi/readme.py          from the repository's root
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTION = "## C and C++"
# What is shown, and the program that it is from.
PROGRAMS = {"c": "ffi/examples/minimal.c", "cmake": "ffi/tests/consumer/CMakeLists.txt"}


def main():
    text = (ROOT / "README.md").read_text()
    section = text.split(f"\n{SECTION}\n", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL)
    lines = [line for kind, block in blocks if kind == "sh" for line in block.splitlines()]
    if len(lines) < 10:
        sys.exit(f"readme.py: the section '{SECTION}' has lost its commands")
    for kind, program in PROGRAMS.items():
        shown = [line for found, block in blocks if found == kind for line in block.splitlines() if line]
        if not shown:
            sys.exit(f"readme.py: the section '{SECTION}' has lost its lines of {program}")
        there = iter(line.strip() for line in (ROOT / program).read_text().splitlines())
        for line in shown:
            if line not in there:  # which reads on to it: the lines are there in this order
                sys.exit(f"readme.py: {program} does not have, or not at this place: {line}")
    (ROOT / "target").mkdir(exist_ok=True)
    script = "set -euo pipefail\n" + "\n".join(lines)
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"readme.py: a line of the README failed ({done.returncode})")
    print(f"readme.py: {len(lines)} lines of the README run")


main()

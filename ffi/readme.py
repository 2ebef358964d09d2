#!/usr/bin/env python3
"""Runs what the README tells a reader to run in its section for C and C++, line by line, and looks its CMake lines up in the
program that CI builds with CMake.

    ffi/readme.py          from the repository's root
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECTION = "## C and C++"


def main():
    text = (ROOT / "README.md").read_text()
    section = text.split(f"\n{SECTION}\n", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL)
    lines = [line for kind, block in blocks if kind == "sh" for line in block.splitlines()]
    cmake = [line for kind, block in blocks if kind == "cmake" for line in block.splitlines()]
    if len(lines) < 10 or not cmake:
        sys.exit(f"readme.py: the section '{SECTION}' has lost its commands")
    consumer = (ROOT / "ffi/tests/consumer/CMakeLists.txt").read_text().splitlines()
    for line in cmake:
        if line not in consumer:
            sys.exit(f"readme.py: ffi/tests/consumer/CMakeLists.txt does not have: {line}")
    (ROOT / "target").mkdir(exist_ok=True)
    script = "set -euo pipefail\n" + "\n".join(lines)
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"readme.py: a line of the README failed ({done.returncode})")
    print(f"readme.py: {len(lines)} lines of the README run")


main()

#!/usr/bin/env python3
"""Counts the instructions of fixed work (`kvledger bench count`) under callgrind and compares with harness/counts.json.

    harness/counts.py BINARY                    compare; 0: within limits, 1: above one, 2: cannot be done
    harness/counts.py BINARY --write            measure and rewrite the limits, after a change that is meant
    harness/counts.py BINARY --limits FILE      another file than harness/counts.json
    harness/counts.py BINARY --only CASE        this case and no other

BINARY is `target/release/kvledger`. Instructions are exact: the same binary gives the same counts on every machine but for
what the C library chooses by processor (memcpy). The compiler is pinned only as "stable", so a new one may need --write.
"""
import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

# What one callgrind run of the longest case takes is seconds; this is for a machine that hangs.
TIMEOUT_S = 300
# Below this part of a limit the limit has become too wide to notice anything.
FAR_BELOW = 0.90


def fail(message):
    print(f"counts: {message}", file=sys.stderr)
    sys.exit(2)


def run(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        fail(f"{command[0]}: {error}")


def cases(binary):
    """Names of all cases, as the binary lists them."""
    listed = run([binary, "bench", "count"])
    names = [line.split()[0] for line in listed.stdout.splitlines() if line.strip()]
    if listed.returncode != 0 or not names:
        fail(f"`{binary} bench count` lists no cases: {listed.stderr.strip()}")
    return names


def instructions(binary, case):
    """Instructions of one operation."""
    done = run([
        "valgrind", "--tool=callgrind", "--toggle-collect=*counted_region*", "--callgrind-out-file=/dev/null",
        binary, "bench", "count", case,
    ])
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not collected or not done.stdout.strip().isdigit():
        fail(f"{case}: valgrind: {done.stderr.strip()[-500:]}")
    if int(collected[1]) == 0:
        fail(f"{case}: nothing was counted: there is no function `counted_region` in {binary}")
    return int(collected[1]) / int(done.stdout)


def compiler():
    return run(["rustc", "--version"]).stdout.strip()


def write(path, counts):
    limits = {"compiler": compiler(), "allowance_percent": 3, "instructions": counts}
    path.write_text(json.dumps(limits, indent=2) + "\n")
    print(f"wrote {path}")


def compare(path, limits, counts):
    """Prints a line a case; whether all are within their limits."""
    allowance = 1 + limits["allowance_percent"] / 100
    measured = limits["instructions"]
    good = True
    for case in sorted(set(measured) | set(counts)):
        if case not in measured or case not in counts:
            where = path if case not in measured else "the binary"
            print(f"  FAILED  {case}: not in {where}; `--write` makes the limits anew")
            good = False
            continue
        now, then = counts[case], measured[case]
        verdict = "ok"
        if now > then * allowance:
            verdict, good = "FAILED", False
        elif now < then * FAR_BELOW:
            verdict = "below"
        print(f"  {verdict:6}  {case:18}{now:12.1f} instructions, {then:.1f} when the limit was set ({now / then - 1:+.1%})")
        if verdict == "below":
            print("          far below its limit, which would not notice a loss: `--write` makes it tight again")
    if not good:
        print(f"counts: above {path} (set with {limits['compiler']}, now {compiler()}); `--write` if that is meant")
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true")
    what.add_argument("--only", metavar="CASE")
    parser.add_argument("--limits", type=Path, default=Path(__file__).with_name("counts.json"))
    args = parser.parse_args()
    counts = {}
    limits = {}
    if not args.write:
        try:
            limits = json.loads(args.limits.read_text())
            if not {"allowance_percent", "compiler", "instructions"} <= limits.keys():
                fail(f"{args.limits}: must have `compiler`, `allowance_percent` and `instructions`")
        except (OSError, ValueError) as error:
            fail(f"{args.limits}: {error}")
    wanted = cases(args.binary)
    if args.only:
        if args.only not in wanted:
            fail(f"--only {args.only}: there is no such case; there are: {', '.join(wanted)}")
        wanted = [args.only]
        limits["instructions"] = {case: limit for case, limit in limits["instructions"].items() if case == args.only}
    for case in wanted:
        counts[case] = round(instructions(args.binary, case), 1)
    if args.write:
        write(args.limits, counts)
    elif not compare(args.limits, limits, counts):
        sys.exit(1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Writes a C program that calls every function of the headers with pointers that cannot be used.

    ffi/tests/pointers.py INCLUDE_FOLDER > pointers.c

Each function is called with every pointer NULL, with each pointer alone NULL, and with each alone misaligned, other
pointers going to large enough memory, numbers being 1 and handles stale. A function must answer, and not crash; with
every pointer NULL it must refuse; and when it refuses, no output but the refusal is written. The program is linked with
both archives, and says how many calls it made.
"""

import pathlib
import re
import sys

# Written on refusal.
REFUSALS = {"refusal", "error", "refused_at"}
PROTOTYPE = re.compile(r"^kvl_(?:device_)?status (kvl_\w+)\(([^;]*)\);", re.MULTILINE)

HEAD = """/* Made by pointers.py. */
#include <kvledger.h>
#include <kvledger_cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 16, FILL = 0xA5, PARAMETERS = 16 };

/* Aligned room for each parameter. */
static _Alignas(64) unsigned char room[PARAMETERS][BYTES];
static kvl_pool pool;
static void *memory;
static uint32_t *table;
static unsigned calls;

static void reset(int parameter, int is_input) { memset(room[parameter], is_input ? 0 : FILL, BYTES); }

static void untouched(const char *function, int parameter, unsigned status) {
  for (int i = 0; i < BYTES; i++) {
    if (room[parameter][i] == FILL) continue;
    fprintf(stderr, "%s answered %u and wrote to parameter %d\\n", function, status, parameter);
    exit(1);
  }
}

static void must_refuse(const char *function, unsigned status) {
  if (status != 0) return;
  fprintf(stderr, "%s took NULL for all of its pointers\\n", function);
  exit(1);
}

static void make_pool(void) {
  kvl_pool_config config;
  size_t bytes, entries;
  if (kvl_config_new(8, 16, 2, 8, &config, NULL) || kvl_config_bytes(&config, &bytes, NULL) ||
      kvl_config_table_entries(&config, &entries, NULL))
    exit(1);
  memory = aligned_alloc(KVL_MEMORY_ALIGN, bytes);
  table = (uint32_t *)calloc(entries, sizeof *table);
  if (memory == NULL || kvl_init(memory, bytes, table, entries, &config, &pool, NULL)) exit(1);
}
"""


def parameters(text):
    """(type, name, is pointer, is input) of each."""
    for parameter in " ".join(text.split()).split(", "):
        kind, star, name = re.fullmatch(r"(.*?)\s*(\**)(\w+)", parameter).groups()
        yield kind.strip() + star, name, bool(star), kind.startswith("const ")


def argument(index, kind, pointer, how):
    if not pointer:
        return f"({kind}){{0}}" if re.fullmatch(r"kvl_(sequence|account|transfer|device)", kind) else "1"
    if how == "null":
        return "NULL"
    if how == "askew":
        return f"({kind})(void *)(room[{index}] + 1)"
    return "&pool" if kind == "const kvl_pool*" else f"({kind})(void *)room[{index}]"


def call(function, params, spoilt, how):
    """One call: the parameters `spoilt` are as `how` says, the others good."""
    lines = [f"  reset({i}, {int(is_input)});" for i, (_, _, pointer, is_input) in enumerate(params) if pointer]
    arguments = [
        argument(i, kind, pointer, how if i in spoilt else "good") for i, (kind, _, pointer, _) in enumerate(params)
    ]
    lines.append(f"  status = (unsigned){function}({', '.join(arguments)});")
    lines.append("  calls++;")
    for i, (kind, name, pointer, is_input) in enumerate(params):
        if pointer and not is_input and name not in REFUSALS:
            lines.append(f"  if (status != 0) untouched(\"{function}\", {i}, status);")
    return lines


def calls_of(function, params):
    needed = [i for i, (_, name, pointer, _) in enumerate(params) if pointer and name not in REFUSALS]
    every = [i for i, (_, _, pointer, _) in enumerate(params) if pointer]
    lines = []
    if needed:
        lines += call(function, params, every, "null")
        lines.append(f'  must_refuse("{function}", status);')
    for index in every:
        lines += call(function, params, [index], "null")
        # Bytes have no alignment to lack.
        if params[index][0] not in {"void*", "const void*", "void**"}:
            lines += call(function, params, [index], "askew")
    return lines


def main():
    include = pathlib.Path(sys.argv[1])
    headers = [*sorted((include / "kvledger").glob("*.h")), include / "kvledger_cuda.h"]
    functions = {name: text for header in headers for name, text in PROTOTYPE.findall(header.read_text())}
    if len(functions) < 150:
        sys.exit(f"pointers.py: only {len(functions)} functions found in {include}")
    print(HEAD)
    for name, text in sorted(functions.items()):
        print(f"static void test_{name}(void) {{\n  unsigned status = 0;")
        print("\n".join(calls_of(name, list(parameters(text)))))
        print("  (void)status;\n}\n")
    print("int main(void) {\n  make_pool();")
    for name in sorted(functions):
        print(f"  test_{name}();")
    print('  printf("%u calls of ' + str(len(functions)) + ' functions\\n", calls);\n  return 0;\n}')


main()

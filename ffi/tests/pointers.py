#!/usr/bin/env python3
"""Writes a C program that calls every function of the headers with pointers that cannot be used.

    ffi/tests/pointers.py INCLUDE_FOLDER > pointers.c

Each function is called with every pointer NULL, with each pointer alone NULL, and with each alone misaligned, other
pointers going to large enough memory, numbers being 1 and handles good. A function must answer, and not crash; it must
refuse the pointer and nothing else; and when it refuses, no output but the refusal is written.

Each struct that can grow is also given with sizes that were not set, which must be refused as that; as a program of a
later version has it, larger with zeros behind, which must change nothing; and with something else behind an input,
which must be refused. Outputs end where their size says. Each handle is also one that is none, one that is over, and
one of somebody else's, while the others are good, which must be answered as that. Two outputs of a function in one
place, and one over the view of a pool, must be refused. The program is linked with both archives, and says how many
calls it made.
"""

import itertools
import pathlib
import re
import sys

# Written on refusal.
REFUSALS = {"refusal", "error", "refused_at"}
SIZED = re.compile(r"^typedef struct (kvl_\w+) \{\n  size_t size;", re.MULTILINE)
# Those that were not set, or are nobody's; and how much larger the structs of a later version are here.
SIZES = ["0", "1", "sizeof(size_t)", "sizeof({}) + 1", "4104", "SIZE_MAX"]
LATER = 24
# Handles that are passed by value, and which of them must be refused: the globals of the program are named so.
HANDLES = {
    "kvl_sequence": ["none", "over", "foreign"],
    "kvl_account": ["none", "over", "foreign"],
    "kvl_transfer": ["none", "over", "foreign"],
    "kvl_device": ["none", "over"],
    "kvl_device_stream": ["none", "over", "foreign"],
    "kvl_device_event": ["none", "over", "foreign"],
}
# Pointers that may be NULL, or are kept and not looked at.
OPTIONAL = {("kvl_identity_key_block", "media"), ("kvl_device_open_cpu", "options"), ("kvl_prefix_of", "identities")}
KEPT = {("kvl_prefix_of", "identities")}
TABLE_IN_MEMORY = ("kvl_attach", "memory", "table")
# Calls of these with zeros besides are refused for another argument before the handle is looked at.
HIDDEN = {
    "kvl_admit", "kvl_admit_prefix", "kvl_copy_submitted", "kvl_device_read", "kvl_device_write", "kvl_launch_row",
    "kvl_offload", "kvl_pin", "kvl_publish", "kvl_rank_vote",
}
# Calls with a struct to write that are refused for the zeros that they read: all others write it.
UNWRITTEN = {"kvl_split_count", "kvl_split_layout"}
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
static kvl_pool pool, other, view;
static unsigned calls;

/* Handles: one that is good, none, one that is over, and a good one of another pool or device. */
#define HANDLE(type) static type type##_good, type##_none, type##_over, type##_foreign
HANDLE(kvl_sequence);
HANDLE(kvl_account);
HANDLE(kvl_transfer);
HANDLE(kvl_device);
HANDLE(kvl_device_stream);
HANDLE(kvl_device_event);

static size_t size_of(int parameter) {
  size_t size;
  memcpy(&size, room[parameter], sizeof size);
  return size;
}

/* `size`: of a struct that can grow; 0: of another one. */
static void reset(int parameter, int is_input, size_t size) {
  memset(room[parameter], is_input ? 0 : FILL, BYTES);
  if (size != 0) memcpy(room[parameter], &size, sizeof size);
}

static void resize(int parameter, size_t size) { memcpy(room[parameter], &size, sizeof size); }

/* From byte `first` on. */
static void untouched(const char *function, int parameter, unsigned status, int first) {
  for (int i = first; i < BYTES; i++) {
    if (room[parameter][i] == FILL) continue;
    fprintf(stderr, "%s answered %u and wrote to parameter %d\\n", function, status, parameter);
    exit(1);
  }
}

static void must_be(int is_so, const char *function, int parameter, const char *what) {
  if (is_so) return;
  fprintf(stderr, "%s: %s of parameter %d\\n", function, what, parameter);
  exit(1);
}

/* Refused for its size, and for nothing else; `details` is the parameter that says so. */
static int refused_size(unsigned status, int details, int is_device) {
  if (is_device) {
    kvl_device_error error;
    memcpy(&error, room[details], sizeof error);
    return status == KVL_DEVICE_ARGUMENT && strstr(error.text, ".size: must be sizeof") != NULL;
  }
  kvl_refusal refusal;
  memcpy(&refusal, room[details], sizeof refusal);
  return status == KVL_INVALID && refusal.argument == KVL_ARGUMENT_SIZE;
}

/* The same of a pointer. */
static int refused_pointer(unsigned status, int details, int is_device) {
  kvl_refusal refusal;
  if (is_device) return status == KVL_DEVICE_ARGUMENT;
  memcpy(&refusal, room[details], sizeof refusal);
  return status == KVL_INVALID && refusal.argument == KVL_ARGUMENT_POINTER;
}

/* The size stays; what is written of an output of a later version is zeros at its end, and nothing behind it. */
static void later(const char *function, int parameter, unsigned status, size_t known, size_t size, int is_input) {
  must_be(size_of(parameter) == size, function, parameter, "another size");
  if (is_input || status != 0) return;
  for (size_t i = known; i < size; i++) must_be(room[parameter][i] == 0, function, parameter, "no zeros at the end");
  untouched(function, parameter, status, (int)size);
}

static void must_refuse(const char *function, unsigned status, const char *what) {
  if (status != 0) return;
  fprintf(stderr, "%s took %s\\n", function, what);
  exit(1);
}

#define REQUIRE(call) must_be((call) == 0, #call, 0, "a failure")

static void make_pool(kvl_pool *made, uint32_t number) {
  kvl_pool_config config = KVL_SIZED(kvl_pool_config);
  size_t bytes, entries;
  REQUIRE(kvl_config_new(16, 16, 4, 8, &config, NULL));
  config.number = number;
  config.accounts = config.transfers = config.groups = 2;
  REQUIRE(kvl_config_bytes(&config, &bytes, NULL));
  REQUIRE(kvl_config_table_entries(&config, &entries, NULL));
  REQUIRE(kvl_init(aligned_alloc(KVL_MEMORY_ALIGN, bytes), bytes, (uint32_t *)calloc(entries, sizeof(uint32_t)), entries,
                   &config, made, NULL));
}

/* An admitted sequence, an account, and a transfer that reads the sequence's block. */
static void use_pool(const kvl_pool *in, kvl_sequence *sequence, kvl_account *account, kvl_transfer *transfer) {
  kvl_admission admission = KVL_SIZED(kvl_admission);
  kvl_admitted admitted;
  kvl_advanced advanced;
  REQUIRE(kvl_admission_full(16, 16, &admission, NULL));
  REQUIRE(kvl_open(in, sequence, NULL));
  REQUIRE(kvl_admit(in, *sequence, &admission, &admitted, NULL));
  REQUIRE(kvl_advance(in, *sequence, 16, &advanced, NULL));
  REQUIRE(kvl_open_account(in, 0, 2, 0, account, NULL));
  REQUIRE(kvl_hold(in, *sequence, 0, 1, KVL_ACCESS_READ, transfer, NULL));
}

static void use_device(kvl_device *device, kvl_device_stream *stream, kvl_device_event *event) {
  REQUIRE(kvl_device_open_cpu(NULL, device, NULL));
  REQUIRE(kvl_device_open_stream(*device, stream, NULL));
  REQUIRE(kvl_device_open_event(*device, event, NULL));
}

static void make_handles(void) {
  kvl_released released;
  uint32_t blocks;
  make_pool(&pool, 1);
  make_pool(&other, 2);
  use_pool(&other, &kvl_sequence_foreign, &kvl_account_foreign, &kvl_transfer_foreign);
  use_pool(&pool, &kvl_sequence_over, &kvl_account_over, &kvl_transfer_over);
  REQUIRE(kvl_complete_transfer(&pool, kvl_transfer_over, &blocks, NULL));
  REQUIRE(kvl_close_account(&pool, kvl_account_over, NULL));
  REQUIRE(kvl_end(&pool, kvl_sequence_over, &released, NULL));
  use_pool(&pool, &kvl_sequence_good, &kvl_account_good, &kvl_transfer_good);
  use_device(&kvl_device_foreign, &kvl_device_stream_foreign, &kvl_device_event_foreign);
  use_device(&kvl_device_over, &kvl_device_stream_over, &kvl_device_event_over);
  REQUIRE(kvl_device_close(kvl_device_over, NULL));
  use_device(&kvl_device_good, &kvl_device_stream_good, &kvl_device_event_good);
}
"""


def bare(kind):
    return kind.removeprefix("const ").removesuffix("*").strip()


def parameters(text):
    """(type, name, is pointer, is input) of each."""
    for parameter in " ".join(text.split()).split(", "):
        kind, star, name = re.fullmatch(r"(.*?)\s*(\**)(\w+)", parameter).groups()
        yield kind.strip() + star, name, bool(star), kind.startswith("const ")


def status_of_pointer(function):
    """The status of a call whose pointers cannot be used."""
    return "KVL_DEVICE_ARGUMENT" if function.startswith("kvl_device_") else "KVL_INVALID"


def argument(index, kind, pointer, how):
    if not pointer:
        handle = how if how in {"good", "over", "foreign"} else "none"
        return f"{kind}_{handle}" if kind in HANDLES else "1"
    if how == "null":
        return "NULL"
    if how == "askew":
        return f"({kind})(void *)(room[{index}] + 1)"
    if how == "view":
        return f"({kind})(void *)&view"
    return "&pool" if kind == "const kvl_pool*" else f"({kind})(void *)room[{index}]"


def call(function, params, spoilt, how, sized, before=(), over=None):
    """One call: the parameters `spoilt` are as `how` says, or where parameter `over` is; the others good, but for what is
    done `before` it."""
    lines = [
        f"  reset({i}, {int(is_input)}, {f'sizeof({bare(kind)})' if bare(kind) in sized else 0});"
        for i, (kind, _, pointer, is_input) in enumerate(params)
        if pointer
    ]
    lines += before
    # Handles are good only where another one is what is tried.
    refused = how in {"null", "askew"} and not {params[i][1] for i in spoilt} & REFUSALS
    others = "good" if refused or how in {"none", "over", "foreign", "sized"} else "none"
    arguments = []
    for i, (kind, _, pointer, _) in enumerate(params):
        place = over if i in spoilt and over is not None else i
        arguments.append(argument(place, kind, pointer, how if i in spoilt else "good" if pointer else others))
    lines.append(f"  status = (unsigned){function}({', '.join(arguments)});")
    lines.append("  calls++;")
    for i, (kind, name, pointer, is_input) in enumerate(params):
        if pointer and not is_input and name not in REFUSALS:
            first = "sizeof(size_t)" if bare(kind) in sized else 0
            lines.append(f"  if (status != 0) untouched(\"{function}\", {i}, status, {first});")
            if first:
                lines.append(f"  else untouched(\"{function}\", {i}, status, (int)size_of({i}));")
    return lines


def sizes_of(function, params, sized):
    """Calls with other sizes than this version has, of each struct that can grow."""
    details = next(i for i, (_, name, _, _) in enumerate(params) if name in {"refusal", "error"})
    refused = f"refused_size(status, {details}, {int(params[details][1] == 'error')})"
    lines = []
    for i, (kind, _, pointer, is_input) in enumerate(params):
        if not pointer or bare(kind) not in sized:
            continue
        known = f"sizeof({bare(kind)})"
        for size in SIZES:
            lines += call(function, params, [], "sized", sized, [f"  resize({i}, {size.format(bare(kind))});"])
            lines.append(f'  must_be({refused}, "{function}", {i}, "the size {size.format(bare(kind))}");')
        lines += call(function, params, [], "sized", sized)
        lines.append("  usual = status;")
        lines += call(function, params, [], "sized", sized, [f"  resize({i}, {known} + {LATER});"])
        lines.append(f'  must_be(status == usual, "{function}", {i}, "a later version");')
        if not is_input and function not in UNWRITTEN:
            lines.append(f'  must_be(status == 0, "{function}", {i}, "a later version, not written");')
        lines.append(f'  later("{function}", {i}, status, {known}, {known} + {LATER}, {int(is_input)});')
        if is_input:
            for byte in (0, LATER - 1):
                before = [f"  resize({i}, {known} + {LATER});", f"  room[{i}][{known} + {byte}] = 1;"]
                lines += call(function, params, [], "sized", sized, before)
                lines.append(f'  must_be({refused}, "{function}", {i}, "byte {byte} of what is not known");')
    return lines


def handles_of(function, params, sized):
    """Calls with each handle as none, over, and another's."""
    lines = []
    for i, (kind, _, _, _) in enumerate(params):
        for how in HANDLES.get(kind, []):
            lines += call(function, params, [i], how, sized)
            if function in HIDDEN:
                lines.append(f'  must_refuse("{function}", status, "a handle: {how}");')
                continue
            said = "KVL_DEVICE_HANDLE" if function.startswith("kvl_device_") else "KVL_STALE"
            lines.append(f'  must_be(status == {said}, "{function}", {i}, "a handle, {how}, not answered as that");')
    return lines


def views_of(function, params, sized):
    """Calls with each output over the view of a pool that the call is given, which it would destroy."""
    pools = [i for i, (kind, _, _, _) in enumerate(params) if kind == "const kvl_pool*"]
    outputs = [i for i, (_, _, pointer, is_input) in enumerate(params) if pointer and not is_input]
    lines = []
    for view, output in itertools.product(pools, outputs):
        lines += call(function, params, [view, output], "view", sized, ["  view = pool;"])
        what = f'"{params[output][1]} over {params[view][1]}"'
        lines.append(f'  must_be(status == KVL_INVALID, "{function}", {output}, {what});')
        lines.append(f'  must_be(memcmp(&view, &pool, sizeof pool) == 0, "{function}", {output}, {what});')
    return lines


def overlaps_of(function, params, sized):
    """Calls with each two outputs in one place, which nothing but a pointer can be refused for. A table may be a part of the
    memory that is attached to."""
    outputs = [i for i, (_, _, pointer, is_input) in enumerate(params) if pointer and not is_input]
    details = next(i for i, (_, name, _, _) in enumerate(params) if name in {"refusal", "error"})
    lines = []
    for one, other in itertools.combinations(outputs, 2):
        if (function, params[one][1], params[other][1]) == TABLE_IN_MEMORY:
            continue
        # A size that was set is over another output that has none.
        lines += call(function, params, [other], "over it", sized, over=one)
        what = f'"{params[one][1]} and {params[other][1]} in one place"'
        said = "1" if details in (one, other) else f"refused_pointer(status, {details}, 0)"
        lines.append(f'  must_be(status == {status_of_pointer(function)} && {said}, "{function}", {other}, {what});')
    return lines


def structs_under_arrays_of(function, params, sized):
    """Calls with each struct that is read where an array is that is written."""
    details = next(i for i, (_, name, _, _) in enumerate(params) if name in {"refusal", "error"})
    counts = {i for i, (kind, _, _, _) in enumerate(params) if kind == "size_t"}
    arrays = [i for i, (_, _, pointer, is_input) in enumerate(params) if pointer and not is_input and i + 1 in counts]
    structs = [i for i, (kind, _, _, is_input) in enumerate(params) if is_input and bare(kind) in sized]
    lines = []
    for array, struct in itertools.product(arrays, structs):
        lines += call(function, params, [struct], "over it", sized, over=array)
        what = f'"{params[array][1]} over {params[struct][1]}"'
        lines.append(f'  must_be(refused_pointer(status, {details}, 0), "{function}", {array}, {what});')
    return lines


def calls_of(function, params, sized):
    needed = [i for i, (_, name, pointer, _) in enumerate(params) if pointer and name not in REFUSALS]
    every = [i for i, (_, _, pointer, _) in enumerate(params) if pointer]
    lines = []
    if needed:
        lines += call(function, params, every, "null", sized)
        lines.append(f'  must_refuse("{function}", status, "NULL for all of its pointers");')
    details = next(i for i, (_, name, _, _) in enumerate(params) if name in {"refusal", "error"})
    is_device = int(params[details][1] == "error")
    for index in every:
        kind, name = params[index][:2]
        # Bytes have no alignment to lack.
        for how, spared in [("null", OPTIONAL)] + [("askew", KEPT)] * (kind not in {"void*", "const void*"}):
            lines += call(function, params, [index], how, sized)
            if index in needed and (function, name) not in spared:
                what = f'"{how}, not answered as that"'
                lines.append(f'  must_be(refused_pointer(status, {details}, {is_device}), "{function}", {index}, {what});')
            elif how == "askew" and name in REFUSALS:
                lines.append(f'  must_be(status == {status_of_pointer(function)}, "{function}", {index}, "misaligned, taken");')
    others = (sizes_of, handles_of, overlaps_of, structs_under_arrays_of, views_of)
    return lines + [line for other in others for line in other(function, params, sized)]


def main():
    include = pathlib.Path(sys.argv[1])
    headers = [*sorted((include / "kvledger").glob("*.h")), include / "kvledger_cuda.h"]
    functions = {name: text for header in headers for name, text in PROTOTYPE.findall(header.read_text())}
    sized = {name for header in headers for name in SIZED.findall(header.read_text())}
    if len(functions) < 150 or len(sized) < 15:
        sys.exit(f"pointers.py: only {len(functions)} functions and {len(sized)} sized structs found in {include}")
    print(HEAD)
    for name, text in sorted(functions.items()):
        print(f"static void test_{name}(void) {{\n  unsigned status = 0, usual = 0;")
        print("\n".join(calls_of(name, list(parameters(text)), sized)))
        print("  (void)status;\n  (void)usual;\n}\n")
    print("int main(void) {\n  make_handles();")
    for name in sorted(functions):
        print(f"  test_{name}();")
    print('  printf("%u calls of ' + str(len(functions)) + ' functions\\n", calls);\n  return 0;\n}')


main()

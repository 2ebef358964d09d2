#!/usr/bin/env bash
# Compiles every example and every test in C and C++ against the archive, as their own comments say, with every compiler
# that is there, and runs it: plain, under the address and undefined-behaviour sanitizers, and under valgrind.
#
#   ffi/check.sh            makes the archives first
#   CI=true ffi/check.sh    gcc, clang and valgrind must all be there
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."

work=${CARGO_TARGET_DIR:-target}/capi/check
mkdir -p "$work"
prefix=$(ffi/install.sh "$work/installed" cuda)
# What the archive of kernels asks for, which is more with CUDA in it.
read -r -a needs < <(sed -n 's/^Libs.private: //p' "$prefix/lib/pkgconfig/kvledger_cuda.pc")
STRICT=(-O1 -Wall -Wextra -pedantic -Werror -I "$prefix/include" -pthread)
SANITIZE=(-g -fsanitize=address,undefined -fno-sanitize-recover=all)
built=0

there() {
  command -v "$1" > /dev/null && return 0
  [[ ${CI:-} != true ]] || { echo "check.sh: CI needs $1" >&2; exit 1; }
  echo "check.sh: no $1: left out" >&2
  return 1
}

# Whether a program needs the other archive too: by what it includes, its own headers included.
uses_kernels() { grep -q 'kvledger_cuda.h' "$1" || { [[ $1 == */main.cpp ]] && grep -q 'kvledger_cuda.h' "$(dirname "$1")"/*.hpp; }; }

# build OUT SOURCE COMPILER FLAG...
build() {
  local out=$1 source=$2
  shift 2
  local archives=("$prefix/lib/libkvledger.a")
  if uses_kernels "$source"; then
    archives=("$prefix/lib/libkvledger_cuda.a" "${archives[@]}" "${needs[@]}")
  fi
  "$@" "${STRICT[@]}" "$source" -x none "${archives[@]}" -o "$out"
  built=$((built + 1))
}

# Each way to compile a program: the compiler and the language. Headers are C and C++ alike, so C programs are both.
ways() {
  local source=$1
  if [[ $source == *.c ]]; then
    for compiler in gcc clang; do there "$compiler" && echo "$compiler -x c -std=c11"; done
    for compiler in g++ clang++; do there "$compiler" && echo "$compiler -x c++ -std=c++17"; done
  else
    local more=
    # In users' own code, where they warn of more, our macros are theirs.
    [[ $source != ffi/examples/* ]] || more='-Wconversion -Wold-style-cast'
    for compiler in g++ clang++; do there "$compiler" && echo "$compiler -x c++ -std=c++17 -fno-exceptions -fno-rtti $more"; done
  fi
  return 0
}

# Every function with every pointer that cannot be used.
ffi/tests/pointers.py "$prefix/include" > "$work/pointers.c"
build "$work/pointers" "$work/pointers.c" gcc -x c -std=c11 "${SANITIZE[@]}"
"$work/pointers"

for source in ffi/examples/*.c ffi/examples/*.cpp ffi/examples/*/main.cpp ffi/tests/*.c ffi/tests/*.cpp; do
  name=$work/$(tr / - <<< "${source#ffi/}")
  ways "$source" > "$name.ways"
  while read -r -a way; do
    build "$name" "$source" "${way[@]}"
    "$name" > /dev/null
    build "$name-sanitized" "$source" "${way[@]}" "${SANITIZE[@]}"
    "$name-sanitized" > /dev/null
  done < "$name.ways"
  # Not the ones with kernels: valgrind loses its way on the stacks of the CPU device.
  if ! uses_kernels "$source" && there valgrind; then
    valgrind --quiet --error-exitcode=1 --leak-check=full --fair-sched=yes "$name" > /dev/null
  fi
done
echo "check.sh: $built programs built, all ran as they should"

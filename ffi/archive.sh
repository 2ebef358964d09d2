#!/usr/bin/env bash
# Makes libkvledger.a: one object, the kvl_ functions its only global symbols, nothing undefined but mem*.
#
#   ffi/archive.sh [FOLDER]             into FOLDER, or target/capi/dist
#   ffi/archive.sh --cuda [FOLDER]      libkvledger_cuda.a: the CPU device, and CUDA where there is a toolkit; what it
#                                       needs is in kvledger_cuda.pc, which install.sh writes
#
# KVL_EXEMPT=1 adds the operations that C does without (ffi/src/exempt.rs), so that the gate sees into them too.
# KVL_PLANTED_PANIC=1 adds a function that can panic, so that the gate can be seen to fail.
#
# Why not plain `cargo build`: an archive without link-time optimization that could panic does not link in C at all, and
# two Rust archives in one program clash. So the crate is compiled with fat LTO (profile `capi`), linked into one object
# that keeps only what the exports reach, and every other symbol is made local.
set -euo pipefail
unset CDPATH
asked_from=$PWD
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
crate=kvledger-ffi source=ffi/src library=kvledger cfgs=(--cfg kvl_panic_handler)
if [[ ${1:-} == --cuda ]]; then
  crate=kvledger-ffi-cuda source=ffi/cuda/src library=kvledger_cuda cfgs=()
  shift
fi
if [[ $# -gt 1 || ${1:-} == -* ]]; then
  echo "usage: ffi/archive.sh [--cuda] [FOLDER]" >&2
  exit 2
fi
out=${1:-$target/capi/dist}
[[ $# -eq 0 || $out == /* ]] || out=$asked_from/$out
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

left_out=(-e '^$')
for extra in exempt planted_panic; do
  asked=KVL_${extra^^}
  if [[ ${!asked:-0} == 1 ]]; then
    cfgs+=(--cfg "kvl_$extra")
  else
    left_out+=(-e "^kvl_$extra")
  fi
done
cargo rustc --quiet --target-dir "$target" -p "$crate" --profile capi --lib --crate-type staticlib -- "${cfgs[@]}"
raw=$target/${CARGO_BUILD_TARGET:+$CARGO_BUILD_TARGET/}capi/lib${crate//-/_}.a

# The exports are what the source defines; gate.py compares them with the header and with the core.
grep -rhoE 'extern "C" fn kvl_[a-z0-9_]+' "$source" | sed 's/.* //' | sort -u | grep -v "${left_out[@]}" \
  > "$work/exports" || true
if [[ ! -s $work/exports ]]; then
  echo "archive.sh: no kvl_ function found in $source" >&2
  exit 1
fi

mapfile -t keep < <(sed 's/^/-u/' "$work/exports")
# Groups are given up: of two archives that have one, a linker would keep the other's, in which what is local here is not.
ld -r --gc-sections --force-group-allocation "${keep[@]}" -o "$work/whole.o" "$raw"
objcopy -R .llvmbc -R .llvmcmd --keep-global-symbols="$work/exports" "$work/whole.o" "$work/$library.o"
objcopy --strip-unneeded "$work/$library.o"

mkdir -p "$out"
rm -f "$out/lib$library.a"
# D: no times and no owners, so that the same source makes the same archive.
ar rcsD "$out/lib$library.a" "$work/$library.o"
echo "$out/lib$library.a"

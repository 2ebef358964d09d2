#!/usr/bin/env bash
# Makes libkvledger.a: one object, the kvl_ functions its only global symbols, nothing undefined but mem*.
#
#   ffi/archive.sh [FOLDER]     into FOLDER, or target/capi/dist
#
# KVL_EXEMPT=1 adds the operations that C does without (ffi/src/exempt.rs), so that the gate sees into them too.
# KVL_PLANTED_PANIC=1 adds a function that can panic, so that the gate can be seen to fail.
#
# Why not plain `cargo build`: an archive without link-time optimization that could panic does not link in C at all, and
# two Rust archives in one program clash. So the crate is compiled with fat LTO (profile `capi`), linked into one object
# that keeps only what the exports reach, and every other symbol is made local.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
out=${1:-$target/capi/dist}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cfgs=(--cfg kvl_panic_handler)
left_out=(-e '^$')
for extra in exempt planted_panic; do
  asked=KVL_${extra^^}
  if [[ ${!asked:-0} == 1 ]]; then
    cfgs+=(--cfg "kvl_$extra")
  else
    left_out+=(-e "^kvl_$extra")
  fi
done
cargo rustc --quiet -p kvledger-ffi --profile capi --lib --crate-type staticlib -- "${cfgs[@]}"
raw=$target/capi/libkvledger_ffi.a

# The exports are what the source defines; gate.py compares them with the header and with the core.
grep -rhoE 'extern "C" fn kvl_[a-z0-9_]+' ffi/src | sed 's/.* //' | sort -u | grep -v "${left_out[@]}" \
  > "$work/exports" || true
if [[ ! -s $work/exports ]]; then
  echo "archive.sh: no kvl_ function found in ffi/src" >&2
  exit 1
fi

mapfile -t keep < <(sed 's/^/-u/' "$work/exports")
ld -r --gc-sections "${keep[@]}" -o "$work/whole.o" "$raw"
objcopy -R .llvmbc -R .llvmcmd --keep-global-symbols="$work/exports" "$work/whole.o" "$work/kvledger.o"
objcopy --strip-unneeded "$work/kvledger.o"

mkdir -p "$out"
rm -f "$out/libkvledger.a"
# D: no times and no owners, so that the same source makes the same archive.
ar rcsD "$out/libkvledger.a" "$work/kvledger.o"
echo "$out/libkvledger.a"

#!/usr/bin/env bash
# Makes `cuda/src/raw.rs` from `cuda/kernels/kvk.h`, or says whether it is what would be made. Needs bindgen 0.73.2 and
# libclang: `LIBCLANG_PATH` names its folder where the loader does not find it. Users need neither: raw.rs is checked in.
#
#   cuda/raw.sh             writes it
#   cuda/raw.sh --check     compares, and shows what differs
#   cuda/raw.sh --stale     says whether headers or this script have changed since: needs a C compiler alone
#   BINDGEN=PROGRAM         another one than that in PATH
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."

raw=cuda/src/raw.rs
# All that the header includes: of the compiler's rule, what is of this folder.
headers=$("${CC:-cc}" -MM cuda/kernels/kvk.h | tr -d '\\' | xargs -n 1 | grep '^cuda/' | LC_ALL=C sort)
made_of="Made of headers and a script whose SHA-256, one after the other, is $(cat $headers cuda/raw.sh | sha256sum | cut -d ' ' -f 1)."
if [[ ${1:-} == --stale ]]; then
  grep -qF "$made_of" "$raw" || { echo "cuda/raw.sh: headers, or how $raw is made, have changed since: run cuda/raw.sh" >&2; exit 1; }
  exit
fi

bindgen=${BINDGEN:-bindgen}
version='bindgen 0.73.2'
[[ $("$bindgen" --version) == "$version" ]] || { echo "cuda/raw.sh: $version is needed: cargo install bindgen-cli" >&2; exit 2; }
made=$(mktemp)
trap 'rm -f "$made"' EXIT

# libclang from the package index has no headers of a compiler: gcc's serve.
"$bindgen" cuda/kernels/kvk.h --use-core --allowlist-item '^(kvk_|KVK_).*' --default-enum-style=consts \
  --rust-target 1.85 --rust-edition 2024 --merge-extern-blocks --with-derive-default --with-derive-partialeq \
  --raw-line '//! What `cuda/kernels/kvk.h` declares, by `cuda/raw.sh`: not to be edited. Checks nothing; `launch` does.' \
  --raw-line "//! $made_of" \
  --raw-line '' \
  --raw-line '#![allow(missing_docs, non_camel_case_types, rustdoc::broken_intra_doc_links)]' \
  --raw-line '#![allow(clippy::undocumented_unsafe_blocks, clippy::multiple_unsafe_ops_per_block, clippy::missing_safety_doc)]' \
  -- -std=c11 -fparse-all-comments -isystem "$(gcc -print-file-name=include)" > "$made"

if [[ ${1:-} == --check ]]; then
  diff -u "$raw" "$made" || { echo "cuda/raw.sh: $raw is not what the header makes: run cuda/raw.sh" >&2; exit 1; }
else
  cp "$made" "$raw"
fi

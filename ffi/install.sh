#!/usr/bin/env bash
# Installs the archives, shared libraries, headers, CMake files, pkg-config files and licences.
#
#   ffi/install.sh PREFIX          libkvledger
#   ffi/install.sh PREFIX cuda     libkvledger_cuda beside it
#
# The tree may be moved afterwards: nothing in it has an absolute path.
set -euo pipefail
unset CDPATH
if [[ $# -lt 1 || $# -gt 2 || $1 == -* || ${2:-cuda} != cuda ]]; then
  echo "usage: ffi/install.sh PREFIX [cuda]" >&2
  exit 2
fi
mkdir -p "$1"
prefix=$(cd "$1" && pwd)
components=(kvledger ${2:+kvledger_cuda})
cd "$(dirname "$0")/.."

version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
IFS=. read -r major minor _ <<< "$version"
# What the archive of kernels asks for. What nvcc makes of a kernel asks for C++'s library too.
cuda_libraries=(pthread dl m rt)
NEEDS_CPP=__cxa_guard_acquire

# put FILE... FOLDER: modes are ours, not those of the source, which may be a tree that nobody may write to.
put() {
  install -d "${@: -1}"
  install -m 644 "$@"
}

# fill TEMPLATE TARGET: numbers and names in place of @NAME@.
fill() {
  local flags=${cuda_libraries[*]/#/-l}
  mkdir -p "$(dirname "$2")"
  sed -e "s/@VERSION@/$version/g" -e "s/@MAJOR@/$major/g" -e "s/@MINOR@/$minor/g" -e "s/@CUDA_FLAGS@/$flags/g" \
    -e "s/@CUDA_LIBRARIES@/${cuda_libraries[*]}/g" "ffi/install/$1" > "$2"
}

for component in "${components[@]}"; do
  which=() needs=()
  [[ $component == kvledger ]] || which=(--cuda)
  archive=$(ffi/archive.sh "${which[@]}")
  put "$archive" "$prefix/lib"
  if [[ $component == kvledger_cuda ]]; then
    undefined=$(nm -u "$prefix/lib/lib$component.a")
    [[ $undefined != *"$NEEDS_CPP"* ]] || cuda_libraries+=(stdc++)
    needs=("${cuda_libraries[@]/#/-l}")
    fill kvledgerCuda.cmake.in "$prefix/lib/cmake/kvledger/kvledgerCuda.cmake"
  fi
  ${CC:-cc} -shared -Wl,-soname,"lib$component.so.$major.$minor" -Wl,--no-undefined -o "$prefix/lib/lib$component.so.$version" \
    -Wl,--whole-archive "$prefix/lib/lib$component.a" -Wl,--no-whole-archive "${needs[@]}"
  ln -sf "lib$component.so.$version" "$prefix/lib/lib$component.so.$major.$minor"
  ln -sf "lib$component.so.$major.$minor" "$prefix/lib/lib$component.so"
  fill "$component.pc.in" "$prefix/lib/pkgconfig/$component.pc"
done
put ffi/include/*.{h,hpp} "$prefix/include"
put ffi/include/kvledger/*.h "$prefix/include/kvledger"
put cuda/kernels/{types,append,attend,blocks,gather}.h "$prefix/include/kvledger/kernels"
put LICENSE-APACHE LICENSE-MIT "$prefix/share/licenses/kvledger"
fill kvledgerConfig.cmake.in "$prefix/lib/cmake/kvledger/kvledgerConfig.cmake"
fill kvledgerConfigVersion.cmake.in "$prefix/lib/cmake/kvledger/kvledgerConfigVersion.cmake"
echo "$prefix"

#!/usr/bin/env bash
# As check_install.sh, for the component of kernels: the archive's gate, and that it would see what it is against; the moved
# tree from CMake, with pkg-config, static and shared; whole archives beside another Rust archive. Kernels for CUDA are in
# it where there is a toolkit, and used where there is a GPU.
#
#   ffi/check_kernels.sh            with what the build finds
#   ffi/check_kernels.sh --cuda     kernels for CUDA must be in it
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."

source ffi/moved.sh
install_and_move cuda
archive=$prefix/lib/libkvledger_cuda.a

ffi/gate.py --cuda "$archive"
# sees WHAT ARCHIVE [OPTION]...: the gate fails, and says this.
sees() {
  local what=$1 said
  shift
  said=$(ffi/gate.py --cuda "$@") && { echo "check_kernels.sh: the gate does not see: $what" >&2; return 1; }
  grep -qF "gate: $what" <<< "$said" || { echo "check_kernels.sh: not said: $what; but: $said" >&2; return 1; }
}
sees 'kvl_not_there: missing in the archive' "$archive" --expect kvl_not_there
objcopy --globalize-symbol=kvk_cpu_fill "$archive" "$work/leaks.a"
sees 'kvk_cpu_fill: in the archive, but nobody asks for it' "$work/leaks.a"
objcopy --redefine-sym memcpy=rust_memcpy "$archive" "$work/asks.a"
sees 'rust_memcpy: undefined in the archive' "$work/asks.a"
cp -r ffi/include "$work/less"
sed -i '/^\/\* What it is; of a device that is lost/d' "$work/less/kvledger_cuda.h"
sees 'kvl_device_get_facts: kvledger_cuda.h does not say its Results' "$archive" --include "$work/less"
if [[ $(ffi/gate.py --cuda "$archive") != *CUDA ]]; then
  [[ ${1:-} != --cuda ]] || { echo "check_kernels.sh: no kernels for CUDA in the archive" >&2; exit 1; }
else
  objcopy --rename-section .nv_fatbin=.elsewhere "$archive" "$work/unregistered.a"
  sees '.nv_fatbin: kernels for CUDA, but no such section' "$work/unregistered.a"
fi

echo "from CMake"
cmake -S ffi/tests/consumer -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$PWD/ffi/examples" -DKERNELS=ON > /dev/null
cmake --build "$work/cmake" --target kernels-cuda kernels-cuda_shared > /dev/null
"$work/cmake/kernels-cuda"
"$work/cmake/kernels-cuda_shared" > /dev/null
# A component that another version left there does not go with the headers of this one.
cp -r "$prefix" "$work/older"
sed -i '/VERSION_EQUAL/s/"[^"]*"/"0.0.9"/' "$work/older/lib/cmake/kvledger/kvledgerCuda.cmake"
said=$(cmake -S ffi/tests/consumer -B "$work/cmake-older" -DCMAKE_PREFIX_PATH="$work/older" -DEXAMPLES="$PWD/ffi/examples" \
  -DKERNELS=ON 2>&1) && { echo "check_kernels.sh: CMake took a component of another version" >&2; exit 1; }
grep -qF "the component 'cuda'" <<< "$said"

echo "with pkg-config"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -r -a flags < <(pkg-config --cflags --libs kvledger_cuda)
c++ -std=c++17 ffi/examples/kernels.cpp "${flags[@]}" -o "$work/shared"
LD_LIBRARY_PATH=$prefix/lib "$work/shared" > /dev/null
[[ $(ldd "$work/shared") == *libkvledger_cuda.so* ]]
# By a compiler of C, which adds no library of C++: all that the archive asks for is in its file.
read -r -a needs < <(pkg-config --libs-only-l --static kvledger_cuda | sed 's/-lkvledger\(_cuda\)\?\( \|$\)//g')
plain=(-std=c11 -I "$prefix/include" ffi/tests/beside/kernels.c)
cc "${plain[@]}" "$archive" "$prefix/lib/libkvledger.a" "${needs[@]}" -o "$work/static"
"$work/static"
shows_only_kvl libkvledger_cuda.so

echo "beside other Rust code"
rustc --edition 2024 -O --crate-type staticlib ffi/tests/beside/tokenizer.rs -o "$work/libtokenizer.a"
cc -DTOKENIZER "${plain[@]}" -Wl,--whole-archive "$archive" "$prefix/lib/libkvledger.a" "$work/libtokenizer.a" \
  -Wl,--no-whole-archive "${needs[@]}" -o "$work/whole"
"$work/whole"
echo "check_kernels.sh: installed, moved and used"

#!/usr/bin/env bash
# Installs into a temporary folder, moves the tree, and uses it as others would: from CMake, with pkg-config, static and
# shared, and beside another Rust archive, whole archives included.
set -euo pipefail
cd "$(dirname "$0")/.."

source ffi/moved.sh
install_and_move

echo "from CMake"
cmake -S ffi/tests/consumer -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$PWD/ffi/examples" > /dev/null
cmake --build "$work/cmake" > /dev/null
for program in in-c-kvledger in-c-shared in-cpp-kvledger in-cpp-shared; do
  "$work/cmake/$program" > /dev/null
done
# A version or a component that is not there is refused, and said.
refuse() {
  local said
  sed "s/^find_package(kvledger .*/find_package(kvledger $1)/" ffi/tests/consumer/CMakeLists.txt > "$work/CMakeLists.txt"
  mkdir -p "$work/refused" && mv "$work/CMakeLists.txt" "$work/refused/"
  if said=$(cmake -S "$work/refused" -B "$work/refused/build" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$PWD/ffi/examples" 2>&1); then
    echo "check_install.sh: CMake took: $1" >&2
    exit 1
  fi
  grep -q kvledger <<< "$said"
}
refuse "0.9 REQUIRED"
refuse "0.1 REQUIRED COMPONENTS tokenizer"

echo "with pkg-config"
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -r -a flags < <(pkg-config --cflags --libs kvledger)
cc -std=c11 ffi/examples/minimal.c "${flags[@]}" -o "$work/shared"
LD_LIBRARY_PATH=$prefix/lib "$work/shared" > /dev/null
[[ $(ldd "$work/shared") == *libkvledger.so* ]]
cc -std=c11 ffi/examples/minimal.c $(pkg-config --cflags kvledger) "$prefix/lib/libkvledger.a" -o "$work/static"
"$work/static" > /dev/null
shows_only_kvl libkvledger.so

echo "beside other Rust code"
rustc --edition 2024 -O --crate-type staticlib ffi/tests/beside/tokenizer.rs -o "$work/libtokenizer.a"
beside=(-std=c11 -I "$prefix/include" ffi/tests/beside/main.c)
needs=(-lpthread -ldl -lm)
cc "${beside[@]}" "$prefix/lib/libkvledger.a" "$work/libtokenizer.a" "${needs[@]}" -o "$work/beside"
"$work/beside"
cc "${beside[@]}" -Wl,--whole-archive "$prefix/lib/libkvledger.a" "$work/libtokenizer.a" -Wl,--no-whole-archive "${needs[@]}" \
  -o "$work/whole"
"$work/whole"
echo "check_install.sh: installed, moved and used"

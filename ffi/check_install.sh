#!/usr/bin/env bash
# Installs into a temporary folder, moves the tree, and uses it as others would: from CMake, with pkg-config, static and
# shared, and beside another Rust archive, whole archives included.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."

source ffi/moved.sh
install_and_move

echo "from CMake"
cmake -S ffi/tests/consumer -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$PWD/ffi/examples" > /dev/null
cmake --build "$work/cmake" > /dev/null
for program in in-c-kvledger in-c-shared in-cpp-kvledger in-cpp-shared; do
  "$work/cmake/$program" > /dev/null
done
# asks WHAT: what CMake says to a program that asks for this, and its answer.
asks() {
  mkdir -p "$work/asks"
  sed "s/^find_package(kvledger .*/find_package(kvledger $1)/" ffi/tests/consumer/CMakeLists.txt > "$work/asks/CMakeLists.txt"
  rm -rf "$work/asks/build"
  cmake -S "$work/asks" -B "$work/asks/build" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$PWD/ffi/examples" 2>&1
}
# A version or a component that is not there is refused, and said.
refuse() {
  local said
  if said=$(asks "$@"); then
    echo "check_install.sh: CMake took: $1" >&2
    exit 1
  fi
  grep -q kvledger <<< "$said"
}
take() { asks "$@" > "$work/said" || { cat "$work/said" >&2; echo "check_install.sh: CMake did not take: $1" >&2; exit 1; }; }
refuse "0.9 REQUIRED"
refuse "0.0 REQUIRED"
refuse "0.1 REQUIRED COMPONENTS tokenizer"
take "0.1 REQUIRED OPTIONAL_COMPONENTS tokenizer"
# Of a range, both ends.
take "0.0...0.2 REQUIRED"
take "0.1.0...0.1.0 REQUIRED"
refuse "0.0.1...<0.1.0 REQUIRED"
refuse "0.0.1...0.0.9 REQUIRED"
refuse "0.1.1...0.2 REQUIRED"

# Nothing of it may stop the next installation over this one: files have modes of their own, not those of the source. The
# archive is made, so that no cargo is needed.
echo "from a source that nobody may write to, twice"
mkdir -p "$work/source" "$work/no-cargo"
cp -r --parents ffi cuda/kernels Cargo.toml LICENSE-* "$work/source"
chmod -R a-w "$work/source"
ln -s "$(type -P true)" "$work/no-cargo/cargo"
[[ ${CARGO_TARGET_DIR:-target} == /* ]] || export CARGO_TARGET_DIR=$PWD/${CARGO_TARGET_DIR:-target}
for _ in 1 2; do
  said=$(cd "$work" && CDPATH=. PATH=$work/no-cargo:$PATH source/ffi/install.sh "over it")
  [[ $said == "$work/over it" ]]
  [[ -z $(find "$said" ! -type l ! -perm -200) ]]
done
diff -r "$prefix" "$said"
# An archive by itself goes to the folder that is meant where it is asked for.
said=$(cd "$work" && PATH=$work/no-cargo:$PATH source/ffi/archive.sh alone)
cmp "$said" "$prefix/lib/libkvledger.a"
[[ $said -ef $work/alone/libkvledger.a ]]
chmod -R u+w "$work/source"

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
echo "in a shared library of somebody else"
cc -std=c11 -fPIC -shared -Dmain=plug -I "$prefix/include" ffi/examples/minimal.c "$prefix/lib/libkvledger.a" -Wl,--exclude-libs,ALL \
  -o "$work/plug.so"
shown=$(nm -D --defined-only "$work/plug.so" | awk '{print $3}')
[[ $shown == plug ]] || { echo "check_install.sh: a library that hides its archives shows: $shown" >&2; exit 1; }
echo "check_install.sh: installed, moved and used"

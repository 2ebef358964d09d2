#!/usr/bin/env bash
# The executor's tests for aarch64, compiled by a cross compiler and run by qemu: they hold the switch of that machine.
# Installs both where they are missing and root may do so; without them it says so and answers 77.
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/../.."

compiler=aarch64-linux-gnu
emulator=qemu-aarch64
packages=(gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user)

there() { command -v "$compiler-g++" > /dev/null && command -v "$emulator" > /dev/null; }

if ! there && [[ $EUID -eq 0 ]] && command -v apt-get > /dev/null; then
  install=(apt-get install -y --no-install-recommends "${packages[@]}")
  "${install[@]}" || { apt-get update && "${install[@]}"; } || true
fi
there || { echo "cuda/cpu/cross.sh: skipped: no $compiler-g++ or no $emulator; on Debian: ${packages[*]}"; exit 77; }

CC=$compiler-gcc CXX=$compiler-g++ RUN="$emulator -L /usr/$compiler" cuda/cpu/test.sh

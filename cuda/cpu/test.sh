#!/usr/bin/env bash
# Tests of the CPU device's executor, with a compiler alone.
#
#   cuda/cpu/test.sh                  the tests, ordinary
#   cuda/cpu/test.sh address          with AddressSanitizer and UndefinedBehaviorSanitizer; and that they see overruns
#   cuda/cpu/test.sh thread           with ThreadSanitizer; and that it sees every race, and none where there is none
#
#   CC=PROGRAM CXX=PROGRAM            other compilers than gcc and g++
#   RUN='PROGRAM ARGUMENTS'           what runs the tests, for other machines than this one
#   CUDA_INCLUDE=FOLDER               NVIDIA's headers, to compare numbers with; .cuda-venv's if they are there
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/../.."

mode=${1:-plain}
watched=()
case $mode in
  plain) ;;
  address) watched=(-fsanitize=address,undefined -fno-sanitize-recover=all) ;;
  thread) watched=(-fsanitize=thread) ;;
  *) echo "cuda/cpu/test.sh: $mode: plain, address or thread" >&2; exit 2 ;;
esac
read -ra run <<< "${RUN:-}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# As build.rs does: no exceptions, no run-time types, numbers as the source says.
compile=("${CXX:-g++}" -x c++ -std=c++17 -O2 -g -fno-omit-frame-pointer -ffp-contract=off -fno-exceptions -fno-rtti
  -Wall -Wextra -Wshadow -Werror)

# executor FOLDER FLAG...
executor() {
  local source
  mkdir "$1"
  for source in cuda/cpu/*.cc; do
    "${compile[@]}" "${@:2}" -c "$source" -o "$1/$(basename "$source" .cc).o"
  done
}

# build NAME EXECUTOR FLAG...: links as C does, so that nothing can need the C++ library.
build() {
  "${compile[@]}" "${watched[@]}" "${@:3}" -c "cuda/cpu/tests/$1.cc" -o "$work/$1.o"
  "${CC:-gcc}" "${watched[@]}" "$work/$1.o" "$2"/*.o -o "$work/$1" -lm -pthread
}

# must WHAT TEST ARGUMENT...: `pass`, or `fail` with a report of a sanitizer.
must() {
  local said verdict=pass
  said=$("${run[@]}" "$work/$2" "${@:3}" 2>&1) || verdict=fail
  if [[ $verdict == fail && $1 == fail ]] && ! grep -qE 'WARNING: ThreadSanitizer: data race|ERROR: AddressSanitizer' <<< "$said"; then
    verdict='fail otherwise'
  fi
  if [[ $verdict == "$1" ]]; then
    echo "ok      ${*:2}"
  else
    printf 'FAILED  %s: %s, not %s\n%s\n' "${*:2}" "$verdict" "$1" "$said"
    failed=$((failed + 1))
  fi
}

# Not watched for races: the executor announces what it does for a kernel.
if [[ $mode == thread ]]; then executor "$work/executor"; else executor "$work/executor" "${watched[@]}"; fi
executor "$work/planted" -DKVK_PLANTS

tests=(errors schedules async warp numbers threads)
if [[ $mode == thread ]]; then
  build threads "$work/executor"
  must pass threads 1
  build races "$work/executor"
  for name in $("$work/races"); do
    for order in 0 1 2; do
      case $name in
        ordered-*) must pass races "$name" "$order" ;;
        race-*) must fail races "$name" "$order" ;;
      esac
    done
  done
else
  for name in "${tests[@]}"; do
    build "$name" "$work/executor"
    must pass "$name"
  done
fi

if [[ $mode == address ]]; then
  build overruns "$work/executor"
  for name in $("$work/overruns"); do
    case $name in
      inside-*) must pass overruns "$name" ;;
      overrun-*) must fail overruns "$name" ;;
    esac
  done
fi

if [[ $mode == plain ]]; then
  build plants "$work/planted" -DKVK_PLANTS
  must pass plants
  headers=${CUDA_INCLUDE:-$(find -L .cuda-venv -path '*/include/cuda_fp8.h' -printf '%h\n' -quit 2> /dev/null || true)}
  if [[ -n $headers ]]; then
    build nvidia "$work/executor" -isystem "$headers"
    must pass nvidia
  else
    echo "skipped nvidia: no headers of a CUDA toolkit"
  fi
fi

echo "$mode: $failed failed"
[[ $failed -eq 0 ]]

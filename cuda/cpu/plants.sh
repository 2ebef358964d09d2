#!/usr/bin/env bash
# Whether mistakes that are planted in kernels are found: each of cuda/cpu/plants.h by `kvledger verify`, which compares
# results, and each race by ThreadSanitizer too. Without a mistake nothing may be found.
#
#   cuda/cpu/plants.sh KVLEDGER            a program that was built with KVL_PLANTS=1
#   cuda/cpu/plants.sh --races KVLEDGER    one that was built with KVL_SANITIZE=thread too
set -euo pipefail
lists='RACES|FAULTS'
if [[ ${1:-} == --races ]]; then
  lists=RACES
  shift
fi
[[ $# -eq 1 && -x $1 ]] || { echo "cuda/cpu/plants.sh: [--races] KVLEDGER, a program of a build with KVL_PLANTS=1" >&2; exit 2; }
kvledger=$(realpath "$1")
unset CDPATH
cd "$(dirname "$0")"
# What ThreadSanitizer answers when it has seen a race; and what `verify` does when results are wrong.
if [[ $lists == RACES ]]; then found=66 cases=2; else found=1 cases=50; fi

# verify MISTAKE KERNELS: the answer; what was said is in $said. One thread: launches of several are not of interest, and
# the first order of threads that shows a mistake is enough.
said=$(mktemp)
trap 'rm -f "$said"' EXIT
verify() {
  local answer=0
  KVL_PLANT=$1 "$kvledger" verify --device cpu --threads 1 --seed 1 --cases "$cases" --kernel "$2" &> "$said" || answer=$?
  echo "$answer"
}

# "MISTAKE KERNEL" of each.
mistakes=$(awk -v lists="^#define KVK_PLANTED_($lists)" '
  $0 ~ /^#define/ { inside = $0 ~ lists }
  inside && match($0, /PLANT\([a-z0-9_]+\) *\/\* [a-z_]+:/) {
    split(substr($0, RSTART, RLENGTH), part, /[():*\/ ]+/)
    print part[2], part[3]
  }' plants.h)
[[ -n $mistakes ]] || { echo "cuda/cpu/plants.sh: no mistakes in plants.h" >&2; exit 1; }

failed=0
check() {
  local answer
  answer=$(verify "$1" "$2")
  if [[ $answer -eq $3 ]]; then
    printf 'ok      %-20s %-12s %s\n' "${1:-nothing}" "$2" "$(grep -cE 'again:|data race' "$said" || true) reports"
  else
    printf 'FAILED  %-20s %-12s answers %s, not %s\n' "${1:-nothing}" "$2" "$answer" "$3"
    tail -n 20 "$said"
    failed=$((failed + 1))
  fi
}

for kernel in $(cut -d ' ' -f 2 <<< "$mistakes" | sort -u); do
  check '' "$kernel" 0
done
while read -r mistake kernel; do
  check "$mistake" "$kernel" "$found"
done <<< "$mistakes"
echo "planted mistakes: $(wc -l <<< "$mistakes"), $failed failed"
[[ $failed -eq 0 ]]

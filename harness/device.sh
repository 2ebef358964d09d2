#!/usr/bin/env bash
# The checks and times of a machine with a GPU, in one command of at most eight minutes: what is built, whether every kernel is
# right, what compute-sanitizer finds, how long the shapes take, and what others take. A step that fails or takes too long
# does not stop the ones after it; what is in the folder then is still good.
#
#   harness/device.sh                  on a GPU, results into $OUT or the folder device-results
#   harness/device.sh --dry-run        the same steps on the CPU device, with little work: for where there is no GPU
#   KVLEDGER=FILE harness/device.sh    with this command instead of one that is built: for machines without Rust
#   KVL_PEERS=FOLDER ...               runs each executable of the folder, with the name of a JSON file to write
#
# Exit: 0 every step did what it should; 1 one did not; 2 usage.
set -uo pipefail
here=$PWD
unset CDPATH
cd "$(dirname "$0")/.."

device=cuda
case ${1:-} in
  "") ;;
  --dry-run) device=cpu ;;
  *) echo "harness/device.sh: $1: give --dry-run or nothing" >&2; exit 2 ;;
esac
[[ $# -le 1 ]] || { echo "harness/device.sh: one argument at most" >&2; exit 2; }

# Paths are those of who calls.
absolute() { if [[ $1 == /* ]]; then echo "$1"; else echo "$here/$1"; fi; }
out=$(absolute "${OUT:-device-results}")
mkdir -p "$out" || exit 2
summary=$out/summary.txt
: > "$summary"
failed=0

if [[ $device == cpu ]]; then
  cases=1 watched=1 shapes=(--kernel append,fill) rounds=1
else
  cases=60 watched=2 shapes=() rounds=9
fi

# All steps together, in seconds.
TOTAL=470

# step NAME SECONDS COMMAND...: its output into a file, one line into the summary. No step goes on beyond the total.
step() {
  local name=$1 seconds=$2 code=0 begin=$SECONDS verdict
  shift 2
  [[ $seconds -le $((TOTAL - begin)) ]] || seconds=$((TOTAL - begin))
  if [[ $seconds -le 0 ]]; then
    skip "$name" "no time is left"
    failed=1
    return
  fi
  timeout -k 5 "$seconds" "$@" > "$out/$name.txt" 2>&1 || code=$?
  case $code in
    0) verdict=done ;;
    124 | 137) verdict="stopped after $seconds s" failed=1 ;;
    *) verdict="failed ($code): $(tail -n 1 "$out/$name.txt")" failed=1 ;;
  esac
  printf '%-10s %4d s  %s\n' "$name" $((SECONDS - begin)) "$verdict" | tee -a "$summary"
}

skip() {
  printf '%-10s         skipped: %s\n' "$1" "$2" | tee -a "$summary"
}

facts() {
  uname -srm
  nproc
  if command -v nvidia-smi > /dev/null; then
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv
  fi
}
export -f facts

step facts 10 bash -c facts
if [[ -n ${KVLEDGER:-} ]]; then
  kvledger=$(absolute "$KVLEDGER")
  skip build "KVLEDGER names a command"
elif command -v cargo > /dev/null; then
  target=${CARGO_TARGET_DIR:-target}
  features=()
  [[ $device == cpu ]] || features=(--features kvledger-cuda/cuda)
  step build 150 cargo build --release --locked -p kvledger-harness "${features[@]}"
  kvledger=$target/release/kvledger
else
  echo "harness/device.sh: no cargo here: name a command that was built elsewhere by KVLEDGER" >&2
  exit 2
fi
[[ -x $kvledger ]] || { echo "harness/device.sh: $kvledger: no such command" >&2; exit 2; }

step verify 90 "$kvledger" verify --device "$device" --seed 1 --cases "$cases" --json "$out/verify.json"

# With the CPU device there is nothing that it could watch.
if [[ $device == cpu ]] || ! command -v compute-sanitizer > /dev/null; then
  skip sanitize "$([[ $device == cpu ]] && echo "a dry run" || echo "no compute-sanitizer")"
else
  for tool in memcheck racecheck; do
    step "$tool" 40 compute-sanitizer --tool "$tool" --error-exitcode 1 \
      "$kvledger" verify --device cuda --kernel append,attend,merge --seed 1 --cases "$watched"
  done
fi

step profile 120 "$kvledger" profile --device "$device" "${shapes[@]}" --rounds "$rounds" --seconds 100 \
  --json "$out/profile.json"

if [[ -n ${KVL_PEERS:-} ]]; then
  peers=$(absolute "$KVL_PEERS")
  for peer in "$peers"/*; do
    [[ -f $peer && -x $peer ]] || continue
    name=$(basename "$peer")
    step "peer-${name%.*}" 30 "$peer" "$out/peer-${name%.*}.json"
  done
else
  skip peers "KVL_PEERS names no folder"
fi

echo
[[ ! -s $out/profile.txt ]] || cat "$out/profile.txt"
exit "$failed"

#!/usr/bin/env bash
# Measures on this machine and makes everything that is shown of it: the figures, the text, the picture, and the tables of
# README.md, whose mark must name these figures. Run it where nothing else runs; with `--full` it takes under 25 minutes.
#
#   harness/measure.sh MACHINE [flags of `kvledger bench`]
#   harness/measure.sh xeon-2-core --full --trace AzureLLMInferenceTrace_conv.csv
set -euo pipefail
unset CDPATH
cd "$(dirname "$0")/.."

machine=${1:?name the machine, as a folder of harness/results}
shift
figures=harness/results/$machine/figures.json
if ! grep -qxF "<!-- figures: $figures -->" README.md; then
  echo "harness/measure.sh: README.md has no line \`<!-- figures: $figures -->\`: name that file in its mark, or another MACHINE" >&2
  exit 2
fi
cargo build --release -p kvledger-harness
kvledger=${CARGO_TARGET_DIR:-target}/release/kvledger
folder=${figures%/*}
mkdir -p "$folder"
COLUMNS=120 "$kvledger" bench "$@" --json "$figures" > "$folder/figures.txt"
"$kvledger" bench report "$figures" --svg "$folder/figures.svg"
"$kvledger" bench report "$figures" --into README.md

#!/usr/bin/env bash
# Measures on this machine and makes everything that is shown of it: the figures, the text, the picture, and the tables of
# README.md, whose mark must name these figures. Run it where nothing else runs; with `--full` it takes under 25 minutes.
#
#   harness/measure.sh MACHINE [flags of `kvledger bench`]
#   harness/measure.sh xeon-2-core --full --trace AzureLLMInferenceTrace_conv.csv
set -euo pipefail
cd "$(dirname "$0")/.."

machine=${1:?name the machine, as a folder of harness/results}
shift
cargo build --release -p kvledger-harness
kvledger=${CARGO_TARGET_DIR:-target}/release/kvledger
folder=harness/results/$machine
mkdir -p "$folder"
COLUMNS=120 "$kvledger" bench "$@" --json "$folder/figures.json" > "$folder/figures.txt"
"$kvledger" bench report "$folder/figures.json" --svg "$folder/figures.svg"
"$kvledger" bench report "$folder/figures.json" --into README.md

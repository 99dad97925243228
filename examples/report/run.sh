#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [BIN [OUT]]: two runs of one kernel, with cycles by source line and counters over time, and their report. BIN holds the
# tools, OUT gets what is made; both are relative to the root of the checkout (defaults: build/release/bin, build/report).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
bin=${1:-build/release/bin}
out=${2:-build/report}
kernel=traces/kernels/spmv
mkdir -p "$out"

# spmv.ptx is the kernel's PTX with line information: cycles belong to lines of spmv.cu.
"$bin/regatta-annotate" --launch "$kernel/launch.small.toml" --ptx examples/report/spmv.ptx --out "$out/spmv.rgt" --listing "$out/spmv.lst"
for scheme in baseline regless; do
  "$bin/regatta-sim" "$out/spmv.rgt" --scheme "$scheme" --cpi-lines --stats "$out/$scheme.json" \
    --sample 500 --sample-file "$out/$scheme.csv" >"$out/$scheme.txt"
done
"$bin/regatta-report" "$out/baseline.json" "$out/regless.json" --samples "$out/baseline.csv" --samples "$out/regless.csv" \
  --listing "$out/spmv.lst" --trace "$out/spmv.rgt" --sources "$kernel" --title "spmv: register file and RegLess" --out "$out/report.html"

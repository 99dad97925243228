#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# run.sh [BIN]: from a kernel to cycles in four commands. BIN holds the tools, relative to the root of the
# checkout (default: build/release/bin); the results go to build/quickstart.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bin=${1:-build/release/bin}
cd "$root"
out=build/quickstart
mkdir -p "$out"

# step TITLE COMMAND...: says what is run, runs it.
bold=""
plain=""
if [ -t 1 ]; then
  bold=$(printf '\033[1m')
  plain=$(printf '\033[0m')
fi
step() {
  printf '\n%s%s%s\n' "$bold" "$1" "$plain"
  shift
  echo "\$ $*"
  "$@"
}
# The head of a long listing.
first_lines() {
  awk -v n="$1" 'NR <= n; END { if (NR > n) print "  ... " NR - n " more lines" }'
}

step "1. Execute hotspot's PTX and write its annotated trace" \
  "$bin/regatta-annotate" --launch traces/kernels/hotspot/launch.toml --out "$out/hotspot.rgt"
step "2. What the trace holds" \
  "$bin/regatta-trace" info "$out/hotspot.rgt" >"$out/info.txt"
first_lines 32 <"$out/info.txt"
step "3. Replay it on one SM of a GTX 980, every operand checked" \
  "$bin/regatta-sim" "$out/hotspot.rgt" --stats "$out/gto.json"
step "4. The same machine with another warp scheduler and half as many register banks" \
  "$bin/regatta-sim" "$out/hotspot.rgt" --scheduler lrr --register_file.banks 8 --stats "$out/lrr.json"

printf '\nEverything that was counted is in %s and %s.\n' "$out/gto.json" "$out/lrr.json"
echo "Next: README.md, \"Your own kernel in five minutes\"."

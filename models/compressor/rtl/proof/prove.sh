#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prove.sh [SECONDS]: proves with yosys that the logic of matcher and expander equals that of a second micro-architecture,
# for all inputs; by induction, that a pipeline register keeps the pin protocol; and that each seeded bug is refuted. SECONDS: the limit of each proof (default 1800).
set -u
cd "$(dirname "$0")/.."
limit=${1:-1800}
command -v yosys >/dev/null || { echo "prove.sh: yosys is missing (.cmake/setup-packages.sh --cosim installs it)" >&2; exit 2; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
passed=0

# prove UNIT PARTS DEFINE EXPECTED: EXPECTED is "proved" or "refuted".
prove() {
  unit=$1 parts=$2 define=$3 expected=$4
  run "
    read_verilog -sv $define $parts proof/${unit}_composed.sv
    prep -flatten -top ${unit}_composed; design -stash gate
    read_verilog -sv proof/${unit}_reference.sv
    prep -flatten -top ${unit}_reference; design -stash gold
    design -copy-from gate -as gate ${unit}_composed
    design -copy-from gold -as gold ${unit}_reference
    miter -equiv -flatten -make_outputs gold gate miter
    hierarchy -top miter
    sat -verify -prove trigger 0 miter"
}

# prove_stage DEFINE EXPECTED
prove_stage() {
  unit=pipe_stage define=$1 expected=$2
  run "
    read_verilog -sv -formal $define pipe_stage.sv proof/pipe_properties.sv
    prep -flatten -top pipe_properties
    sat -tempinduct -set-init-zero -prove-asserts -verify pipe_properties"
}

# run SCRIPT: of the proof that unit, define and expected describe.
run() {
  start=$(date +%s)
  timeout "$limit" yosys -q -p "$1" >"$log" 2>&1
  status=$?
  if [ $status -eq 0 ]; then found=proved
  elif grep -q 'proof did fail' "$log"; then found=refuted
  elif [ $status -eq 124 ]; then found="not decided in $limit s"
  else found="error"; cat "$log" >&2
  fi
  verdict=ok
  if [ "$found" = "$expected" ]; then passed=$((passed + 1)); else verdict="FAILED, expected $expected"; failed=$((failed + 1)); fi
  echo "$unit ${define:-as it is}: $found, $(($(date +%s) - start)) s: $verdict"
}

matcher="matcher_compare.sv matcher_select.sv"
expander="expander_bases.sv expander_adders.sv"
for bug in WIDTH STRIDE HALVES; do prove matcher "$matcher" "-DBUG_MATCHER_$bug" refuted; done
for bug in HALVES OFFSET CARRY; do prove expander "$expander" "-DBUG_EXPANDER_$bug" refuted; done
prove_stage -DBUG_PIPE_OVERWRITE refuted
prove_stage "" proved
prove expander "$expander" "" proved
prove matcher "$matcher" "" proved
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prove.sh [SECONDS]: proves with yosys that the priority encoder and the population count equal second ones for all
# inputs; by induction on small instances, the assertions of the free space monitor and of the chains; and that each
# seeded bug is refuted. SECONDS: the limit of each proof (default 1800).
set -u
cd "$(dirname "$0")/.."
limit=${1:-1800}
command -v yosys >/dev/null || { echo "prove.sh: yosys is missing (.cmake/setup-packages.sh --cosim installs it)" >&2; exit 2; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0
passed=0

# run NAME DEFINE EXPECTED SCRIPT: EXPECTED is "proved" or "refuted".
run() {
  start=$(date +%s)
  timeout "$limit" yosys -q -p "$4" >"$log" 2>&1
  status=$?
  if [ $status -eq 0 ]; then found=proved
  elif grep -q 'proof did fail' "$log"; then found=refuted
  elif [ $status -eq 124 ]; then found="not decided in $limit s"
  else found="error"; cat "$log" >&2
  fi
  verdict=ok
  if [ "$found" = "$3" ]; then passed=$((passed + 1)); else verdict="FAILED, expected $3"; failed=$((failed + 1)); fi
  echo "$1 ${2:-as it is}: $found, $(($(date +%s) - start)) s: $verdict"
}

# equal GATE FILES GOLD FILE DEFINE EXPECTED: two modules without state.
equal() {
  run "$1" "$5" "$6" "
    read_verilog -sv $5 $2
    prep -flatten -top $1; design -stash gate
    read_verilog -sv $4
    prep -flatten -top $3; design -stash gold
    design -copy-from gate -as gate $1
    design -copy-from gold -as gold $3
    miter -equiv -flatten -make_outputs gold gate miter
    hierarchy -top miter
    sat -verify -prove trigger 0 miter"
}

# inductive TOP FILES SIZES DEFINE EXPECTED: the assertions of a module, from registers that are 0 and a reset on. SIZES:
# its parameters. Read with -defer, so that nothing of the full size is made.
inductive() {
  run "$1" "$4" "$5" "
    read_verilog -sv -formal -defer $4 $2
    hierarchy -top $1 $3
    proc; flatten; opt -fast; memory -nordff; opt -fast
    rename -top $1
    sat -tempinduct -set-init-zero -set-assumes -prove-asserts -verify $1"
}

encoder="lowest_entry.sv lowest_set.sv"
monitor="free_space_monitor.sv $encoder"
flags="-chparam ENTRIES 8 -chparam GROUP 4"
links="-chparam ENTRIES 4 -chparam CTAS 2 -chparam WARP 1 -chparam REG 1"

equal population_count population_count.sv count_reference proof/count_reference.sv -DBUG_COUNT_WIDTH refuted
equal lowest_entry "$encoder" lowest_reference proof/lowest_reference.sv -DBUG_LOWEST_NODE refuted
inductive free_space_monitor "$monitor" "$flags" -DBUG_MONITOR_LIMIT refuted
for bug in LINK END DROP; do inductive pending_chains pending_chains.sv "$links" "-DBUG_CHAIN_$bug" refuted; done
equal population_count population_count.sv count_reference proof/count_reference.sv "" proved
equal lowest_entry "$encoder" lowest_reference proof/lowest_reference.sv "" proved
inductive free_space_monitor "$monitor" "$flags" "" proved
inductive pending_chains pending_chains.sv "$links" "" proved
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prove.sh [SECONDS]: proves with yosys that the priority encoder and the population count equal second ones for all
# inputs; by induction on small instances, the assertions of the free space monitor and of the chains; and that each
# seeded bug is refuted. SECONDS: the limit of each proof (default 1800).
cd "$(dirname "$0")/.." || exit 2
limit=${1:-1800}
. ../../../../platform/cosim/prove_lib.sh

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

prove_equal population_count population_count.sv count_reference proof/count_reference.sv -DBUG_COUNT_WIDTH refuted
prove_equal lowest_entry "$encoder" lowest_reference proof/lowest_reference.sv -DBUG_LOWEST_NODE refuted
inductive free_space_monitor "$monitor" "$flags" -DBUG_MONITOR_LIMIT refuted
for bug in LINK END DROP; do inductive pending_chains pending_chains.sv "$links" "-DBUG_CHAIN_$bug" refuted; done
prove_equal population_count population_count.sv count_reference proof/count_reference.sv "" proved
prove_equal lowest_entry "$encoder" lowest_reference proof/lowest_reference.sv "" proved
inductive free_space_monitor "$monitor" "$flags" "" proved
inductive pending_chains pending_chains.sv "$links" "" proved
summary

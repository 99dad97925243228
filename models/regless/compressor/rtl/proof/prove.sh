#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prove.sh [SECONDS]: proves with yosys that the logic of matcher and expander equals that of a second micro-architecture,
# for all inputs; by induction, that a pipeline register keeps the pin protocol; and that each seeded bug is refuted. SECONDS: the limit of each proof (default 1800).
cd "$(dirname "$0")/.." || exit 2
limit=${1:-1800}
. ../../../../platform/cosim/prove_lib.sh

# prove UNIT PARTS DEFINE EXPECTED: EXPECTED is "proved" or "refuted".
prove() { prove_equal "$1_composed" "$2 proof/$1_composed.sv" "$1_reference" "proof/$1_reference.sv" "$3" "$4"; }

matcher="matcher_compare.sv matcher_select.sv"
expander="expander_bases.sv expander_adders.sv"
for bug in WIDTH STRIDE HALVES; do prove matcher "$matcher" "-DBUG_MATCHER_$bug" refuted; done
for bug in HALVES OFFSET CARRY; do prove expander "$expander" "-DBUG_EXPANDER_$bug" refuted; done
prove_induction pipe_properties "pipe_stage.sv proof/pipe_properties.sv" -DBUG_PIPE_OVERWRITE refuted
prove_induction pipe_properties "pipe_stage.sv proof/pipe_properties.sv" "" proved
prove expander "$expander" "" proved
prove matcher "$matcher" "" proved
summary

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prove.sh [SECONDS]: proves with yosys that match and list ends of a staging bank equal a second micro-architecture, for all
# inputs; by induction, that a bank of 4 lines equals one of linked lists, with its invariants, and keeps the pin protocol; and
# that each seeded bug is refuted. SECONDS: the limit of each proof (default 1800).
cd "$(dirname "$0")/.." || exit 2
limit=${1:-1800}
. ../../../../platform/cosim/prove_lib.sh

match="osu_tag_match.sv"
step="osu_bank_step.sv osu_tag_match.sv osu_list_ends.sv osu_order.sv"
bank="$step proof/bank_reference.sv proof/bank_properties.sv"
for bug in MATCH ORDER ERASE; do prove_induction bank_properties "$bank" "-DBUG_BANK_$bug" refuted; done
prove_equal osu_tag_match "$match" tag_match_reference proof/tag_match_reference.sv -DBUG_BANK_MATCH refuted
prove_equal osu_tag_match "$match" tag_match_reference proof/tag_match_reference.sv "" proved
prove_asserts list_ends_properties "osu_list_ends.sv proof/list_ends_properties.sv" "" proved
prove_induction bank_pins_properties "osu_bank.sv $step proof/bank_pins_properties.sv" "" proved
prove_induction bank_properties "$bank" "" proved
summary

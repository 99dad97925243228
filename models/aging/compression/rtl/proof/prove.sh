#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prove.sh [SECONDS]: proves with yosys that comparison and decompression equal a second micro-architecture, for all inputs; by
# induction, what the state machine, the buffers and the pins do; and that each seeded bug is refuted. SECONDS: the limit of each
# proof (default 1800).
cd "$(dirname "$0")/.." || exit 2
limit=${1:-1800}
. ../../../../platform/cosim/prove_lib.sh

# prove_registers TOP FILES DEFINE EXPECTED: the module's own properties, under its assumptions on the inputs.
prove_registers() {
  run "$1" "$3" "$4" "
    read_verilog -sv -formal $3 $2
    prep -flatten -top $1
    sat -tempinduct -set-init-zero -set-assumes -prove-asserts -verify $1"
}

compare="deltas_compare.sv delta_encode.sv proof/deltas_composed.sv"
compression="compression_unit.sv compression_control.sv deltas_compare.sv delta_encode.sv"
decompression="decompression_unit.sv decompression_block.sv"
prove_deltas() { prove_equal deltas_composed "$compare" deltas_reference proof/deltas_reference.sv "$1" "$2"; }
prove_offsets() {
  prove_equal decompression_composed "$decompression proof/decompression_composed.sv" \
    decompression_reference proof/decompression_reference.sv "$1" "$2"
}
for bug in HIGH POWER BLOCK; do prove_deltas -DBUG_DELTAS_$bug refuted; done
prove_registers compression_control compression_control.sv -DBUG_CONTROL_IDLE refuted
for bug in BLOCK_ZERO BLOCK_NARROW UNIT_COUNT; do prove_offsets -DBUG_$bug refuted; done
prove_registers compression_control compression_control.sv "" proved
prove_registers compression_unit "$compression" "" proved
prove_registers compression_top "compression_top.sv compression_control.sv proof/compression_unit_any.sv" "" proved
prove_registers decompression_top "decompression_top.sv proof/decompression_any.sv" "" proved
prove_asserts decompression_properties "$decompression proof/decompression_properties.sv" "" proved
prove_offsets "" proved
prove_deltas "" proved
summary

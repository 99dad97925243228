// SPDX-License-Identifier: Apache-2.0
// deltas_compare with the encoders, which matter only if the sub-wavefront is compressible.
module deltas_composed (
    input  logic [511:0] components,
    input  logic [ 31:0] stored_component,
    input  logic [  6:0] stored_element,
    input  logic [  6:0] stored_block,
    input  logic         comp_deltas,
    output logic         compr,
    output logic [  2:0] element_code,
    output logic [  2:0] block_code
);
  logic [6:0] element, block;
  logic [2:0] of_element, of_block;
  deltas_compare compare (
      .components(components),
      .stored_component(stored_component),
      .stored_element(stored_element),
      .stored_block(stored_block),
      .comp_deltas(comp_deltas),
      .compr(compr),
      .element(element),
      .block(block)
  );
  delta_encode encode_element (.delta(element), .code(of_element));
  delta_encode encode_block (.delta(block), .code(of_block));
  assign element_code = compr ? of_element : 3'd0;
  assign block_code = compr ? of_block : 3'd0;
endmodule

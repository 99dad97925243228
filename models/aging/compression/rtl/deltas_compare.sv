// SPDX-License-Identifier: Apache-2.0
// Subtractors and comparators of the computing deltas module (aging-aware register file, Figure 8): 14 differences
// within the two blocks of a sub-wavefront, two between first components of blocks. A delta is zero or a power of two up
// to 64, so the comparators are 7 bits wide, and the bits above must be zero.
module deltas_compare (
    input  logic [511:0] components,       // component i of the sub-wavefront in bits 32 i + 31 to 32 i
    input  logic [ 31:0] stored_component, // first component of the block before
    input  logic [  6:0] stored_element,   // element delta and block delta of the first sub-wavefront
    input  logic [  6:0] stored_block,
    input  logic         comp_deltas,      // compare with the stored deltas, not with those of this sub-wavefront
    output logic         compr,
    output logic [  6:0] element,          // deltas of this sub-wavefront, if compr
    output logic [  6:0] block
);
  // The differences, 32 bits each.
  logic [447:0] element_difference;
  logic [ 63:0] block_difference;
  genvar b, e;
  generate
    for (b = 0; b < 2; b = b + 1) begin : of_block
      for (e = 0; e < 7; e = e + 1) begin : of_element
        assign element_difference[32*(7*b+e)+:32] = components[32*(8*b+e+1)+:32] - components[32*(8*b+e)+:32];
      end
    end
  endgenerate
  assign block_difference[31:0] = components[31:0] - stored_component;
  assign block_difference[63:32] = components[287:256] - components[31:0];
  assign element = element_difference[6:0];
  assign block = block_difference[38:32];

  logic [6:0] to_element, to_block;
  assign to_element = comp_deltas ? stored_element : element;
  assign to_block   = comp_deltas ? stored_block : block;

  logic [13:0] element_equal;
  logic [ 1:0] block_equal;
  genvar i;
  generate
    for (i = 0; i < 14; i = i + 1) begin : compare_element
`ifdef BUG_DELTAS_HIGH
      if (i == 9) begin : narrow
        assign element_equal[i] = element_difference[32*i+:16] == {9'd0, to_element};
      end else begin : whole
        assign element_equal[i] = element_difference[32*i+:32] == {25'd0, to_element};
      end
`else
      assign element_equal[i] = ~|element_difference[32*i+7+:25] && element_difference[32*i+:7] == to_element;
`endif
    end
    for (i = 0; i < 2; i = i + 1) begin : compare_block
      assign block_equal[i] = ~|block_difference[32*i+7+:25] && block_difference[32*i+:7] == to_block;
    end
  endgenerate

  // At most one bit is set in each delta.
  logic powers;
`ifdef BUG_DELTAS_POWER
  assign powers = ~|(to_element & (to_element - 7'd1));
`else
  assign powers = ~|(to_element & (to_element - 7'd1)) && ~|(to_block & (to_block - 7'd1));
`endif
`ifdef BUG_DELTAS_BLOCK
  assign compr = powers && &element_equal && block_equal[1];
`else
  assign compr = powers && &element_equal && block_equal[1] && (block_equal[0] || !comp_deltas);
`endif
endmodule

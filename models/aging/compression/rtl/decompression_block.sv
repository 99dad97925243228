// SPDX-License-Identifier: Apache-2.0
// Half of the decompression unit (aging-aware register file, Figure 10): the 8 components of a block. 8 shifters and as
// many multiplexers, 7 first-level and 8 second-level adders.
module decompression_block (
    input  logic [ 31:0] base,
    input  logic [  2:0] element,  // logarithms, 7: zero
    input  logic [  2:0] block,
    input  logic [  2:0] count,    // of the block
    output logic [255:0] components
);
  // Offsets are at most 7 x 64.
  logic [8:0] start;
`ifdef BUG_BLOCK_ZERO
  assign start = {6'd0, count} << block;
`else
  assign start = &block ? 9'd0 : {6'd0, count} << block;
`endif
  genvar e;
  generate
    for (e = 0; e < 8; e = e + 1) begin : of_element
      localparam [8:0] PLACE = e[8:0];
      logic [8:0] offset;
      assign offset = &element ? 9'd0 : PLACE << element;
      logic [9:0] sum;
`ifdef BUG_BLOCK_NARROW
      assign sum = {1'b0, start + offset};
`else
      assign sum = {1'b0, start} + {1'b0, offset};
`endif
      assign components[32*e+:32] = base + {22'd0, sum};
    end
  endgenerate
endmodule

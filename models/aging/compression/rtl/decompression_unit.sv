// SPDX-License-Identifier: Apache-2.0
// The decompression unit (aging-aware register file, section 5.1.2, Figure 10): a sub-wavefront of a compressed register.
module decompression_unit (
    input  logic [ 31:0] base,
    input  logic [  2:0] element,
    input  logic [  2:0] block,
    input  logic [  1:0] beat,       // which sub-wavefront
    output logic [511:0] components
);
  decompression_block first (
      .base(base),
      .element(element),
      .block(block),
      .count({beat, 1'b0}),
      .components(components[255:0])
  );
`ifdef BUG_UNIT_COUNT
  localparam [0:0] SECOND = 1'b0;
`else
  localparam [0:0] SECOND = 1'b1;
`endif
  decompression_block second (
      .base(base),
      .element(element),
      .block(block),
      .count({beat, SECOND}),
      .components(components[511:256])
  );
endmodule

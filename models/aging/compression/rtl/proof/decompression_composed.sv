// SPDX-License-Identifier: Apache-2.0
// The offsets of a register's 64 components, from the decompression unit with a base of 0.
module decompression_composed (
    input  logic [   2:0] element,
    input  logic [   2:0] block,
    output logic [2047:0] offsets
);
  genvar i;
  generate
    for (i = 0; i < 4; i = i + 1) begin : sub_wavefront
      localparam [1:0] BEAT = i;
      decompression_unit unit (
          .base(32'd0),
          .element(element),
          .block(block),
          .beat(BEAT),
          .components(offsets[512*i+:512])
      );
    end
  endgenerate
endmodule

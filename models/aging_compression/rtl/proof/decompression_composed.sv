// SPDX-License-Identifier: Apache-2.0
// The four sub-wavefronts of a register, as decompression_top makes them one after the other.
module decompression_composed (
    input  logic [  31:0] base,
    input  logic [   2:0] element,
    input  logic [   2:0] block,
    output logic [2047:0] components
);
  genvar i;
  generate
    for (i = 0; i < 4; i = i + 1) begin : sub_wavefront
      localparam [1:0] BEAT = i;
      decompression_unit unit (
          .base(base), .element(element), .block(block), .beat(BEAT), .components(components[512*i+:512])
      );
    end
  endgenerate
endmodule

// SPDX-License-Identifier: Apache-2.0
// Each component is the base plus an offset that does not depend on it.
module decompression_properties (
    input logic [31:0] base,
    input logic [ 2:0] element,
    input logic [ 2:0] block,
    input logic [ 1:0] beat
);
  logic [511:0] components, offsets;
  decompression_unit unit (
      .base(base),
      .element(element),
      .block(block),
      .beat(beat),
      .components(components)
  );
  decompression_unit from_zero (
      .base(32'd0),
      .element(element),
      .block(block),
      .beat(beat),
      .components(offsets)
  );
  genvar i;
  generate
    for (i = 0; i < 16; i = i + 1) begin : component
      always_comb assert (components[32*i+:32] == base + offsets[32*i+:32]);
    end
  endgenerate
endmodule

// SPDX-License-Identifier: Apache-2.0
// The associative match by bit planes, as a content-addressable memory has it, for the proof: each bit of the wanted tag
// drops the lines that differ in it.
module tag_match_reference #(
    parameter LINES = 16,
    parameter TAG_BITS = 12
) (
    input  logic [         LINES-1:0] has_tag,
    input  logic [LINES*TAG_BITS-1:0] tags,
    input  logic [      TAG_BITS-1:0] wanted,
    output logic [         LINES-1:0] match
);
  integer i, b;
  logic [LINES-1:0] plane;
  always_comb begin
    match = has_tag;
    for (b = 0; b < TAG_BITS; b = b + 1) begin
      for (i = 0; i < LINES; i = i + 1) plane[i] = tags[i*TAG_BITS+b];
      match = match & (wanted[b] ? plane : ~plane);
    end
  end
endmodule

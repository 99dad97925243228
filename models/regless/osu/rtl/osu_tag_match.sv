// SPDX-License-Identifier: Apache-2.0
// The associative match of a bank: one comparator per line.
module osu_tag_match #(
    parameter LINES = 16,
    parameter TAG_BITS = 12
) (
    input  logic [         LINES-1:0] has_tag,
    input  logic [LINES*TAG_BITS-1:0] tags,
    input  logic [      TAG_BITS-1:0] wanted,
    output logic [         LINES-1:0] match
);
  genvar i;
  generate
    for (i = 0; i < LINES; i = i + 1) begin : line
`ifdef BUG_BANK_MATCH
      // Bit 3 of the register is not compared.
      localparam [TAG_BITS-1:0] COMPARED = ~(1 << (TAG_BITS > 3 ? 3 : TAG_BITS - 1));
      assign match[i] = has_tag[i] && ((tags[i*TAG_BITS+:TAG_BITS] ^ wanted) & COMPARED) == 0;
`else
      assign match[i] = has_tag[i] && tags[i*TAG_BITS+:TAG_BITS] == wanted;
`endif
    end
  endgenerate
endmodule

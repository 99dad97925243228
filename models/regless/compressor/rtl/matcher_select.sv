// SPDX-License-Identifier: Apache-2.0
// Second stage of the matcher: the pattern (numbers as in patterns.h) and the 8 bytes of the slot, first base in the low
// half. A slot is 0 where its pattern needs no bytes.
module matcher_select (
    input  logic [ 2:0] low,
    input  logic [ 2:0] high,
    input  logic [ 2:0] middle,
    input  logic [31:0] first,    // lane 0
    input  logic [31:0] second,   // lane 16
    output logic [ 2:0] pattern,
    output logic [63:0] slot
);
  logic [2:0] halves;
  assign halves = low & high;

  always_comb begin
    pattern = 3'd0;
    if (halves[0] && middle[0]) pattern = 3'd1;
    if (halves[1]) pattern = middle[1] ? 3'd2 : 3'd4;
`ifdef BUG_MATCHER_HALVES
    if (halves[2]) pattern = 3'd3;
`else
    if (halves[2]) pattern = middle[2] ? 3'd3 : 3'd5;
`endif
  end

  assign slot[31:0] = pattern != 3'd0 ? first : 32'd0;
  assign slot[63:32] = pattern >= 3'd4 ? second : 32'd0;
endmodule

// SPDX-License-Identifier: Apache-2.0
// First stage of the expander: the bases of both halves of the warp, and the stride as two bits ({4, 1}).
module expander_bases (
    input  logic [ 2:0] pattern,
    input  logic [63:0] slot,
    output logic [31:0] first,
    output logic [31:0] second,
    output logic [ 1:0] stride
);
  logic halves;
  assign stride = {pattern == 3'd3 || pattern == 3'd5, pattern == 3'd2 || pattern == 3'd4};
`ifdef BUG_EXPANDER_HALVES
  assign halves = pattern == 3'd4;
`else
  assign halves = pattern == 3'd4 || pattern == 3'd5;
`endif
  assign first = slot[31:0];
  assign second = halves ? slot[63:32] : slot[31:0] + {25'd0, stride[1], 1'b0, stride[0], 4'd0};
endmodule

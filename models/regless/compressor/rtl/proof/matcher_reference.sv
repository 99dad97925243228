// SPDX-License-Identifier: Apache-2.0
// The matcher by its definition, for the proof: every lane is compared with its base plus its place times the stride;
// the patterns are tried in the order of patterns.h. No difference of neighbours is formed.
module matcher_reference (
    input  logic [1023:0] lanes,
    output logic [   2:0] pattern,
    output logic [  63:0] slot
);
  logic [31:0] first, second;
  assign first  = lanes[31:0];
  assign second = lanes[543:512];

  logic [15:0] low0, low1, low4, high0, high1, high4;
  genvar i;
  generate
    for (i = 0; i < 16; i = i + 1) begin : place
      assign low0[i]  = lanes[32*i+:32] == first;
      assign low1[i]  = lanes[32*i+:32] == first + i;
      assign low4[i]  = lanes[32*i+:32] == first + 4 * i;
      assign high0[i] = lanes[512+32*i+:32] == second;
      assign high1[i] = lanes[512+32*i+:32] == second + i;
      assign high4[i] = lanes[512+32*i+:32] == second + 4 * i;
    end
  endgenerate

  always_comb begin
    if (&low0 && &high0 && second == first) pattern = 3'd1;
    else if (&low1 && &high1 && second == first + 32'd16) pattern = 3'd2;
    else if (&low4 && &high4 && second == first + 32'd64) pattern = 3'd3;
    else if (&low1 && &high1) pattern = 3'd4;
    else if (&low4 && &high4) pattern = 3'd5;
    else pattern = 3'd0;
    case (pattern)
      3'd0: slot = 64'd0;
      3'd4, 3'd5: slot = {second, first};
      default: slot = {32'd0, first};
    endcase
  end
endmodule

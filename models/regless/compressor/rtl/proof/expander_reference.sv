// SPDX-License-Identifier: Apache-2.0
// The expander as a chain, for the proof: each lane is its left neighbour plus the stride; the second half starts anew
// from its base if the pattern has one.
module expander_reference (
    input  logic [   2:0] pattern,
    input  logic [  63:0] slot,
    output logic [1023:0] lanes
);
  logic [31:0] stride;
  always_comb begin
    case (pattern)
      3'd2, 3'd4: stride = 32'd1;
      3'd3, 3'd5: stride = 32'd4;
      default: stride = 32'd0;
    endcase
  end

  assign lanes[31:0] = slot[31:0];
  genvar i;
  generate
    for (i = 1; i < 32; i = i + 1) begin : lane
      if (i == 16) begin : second
        assign lanes[543:512] = pattern[2] && !pattern[1] ? slot[63:32] : lanes[511:480] + stride;
      end else begin : next
        assign lanes[32*i+:32] = lanes[32*i-32+:32] + stride;
      end
    end
  endgenerate
endmodule

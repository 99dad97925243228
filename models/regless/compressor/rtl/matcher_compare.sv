// SPDX-License-Identifier: Apache-2.0
// First stage of the matcher: the 31 differences between neighbouring lanes, each compared with the strides 0, 1 and 4.
// Bit 0, 1, 2 of an output: stride 0, 1, 4.
module matcher_compare (
    input  logic [1023:0] lanes,
    output logic [   2:0] low,    // all 15 differences within lanes 0-15
    output logic [   2:0] high,   // all 15 differences within lanes 16-31
    output logic [   2:0] middle  // lane 16 less lane 15
);
  logic [30:0] is0, is1, is4;

  genvar i;
  generate
    for (i = 0; i < 31; i = i + 1) begin : gap
      logic [31:0] difference;
      assign difference = lanes[32*i+32+:32] - lanes[32*i+:32];
      assign is0[i] = difference == 32'd0;
`ifdef BUG_MATCHER_WIDTH
      if (i == 20) begin : narrow
        assign is1[i] = difference[15:0] == 16'd1;
      end else begin : whole
        assign is1[i] = difference == 32'd1;
      end
`else
      assign is1[i] = difference == 32'd1;
`endif
`ifdef BUG_MATCHER_STRIDE
      assign is4[i] = difference[31:1] == 31'd2;
`else
      assign is4[i] = difference == 32'd4;
`endif
    end
  endgenerate

  assign low = {&is4[14:0], &is1[14:0], &is0[14:0]};
  assign middle = {is4[15], is1[15], is0[15]};
  assign high = {&is4[30:16], &is1[30:16], &is0[30:16]};
endmodule

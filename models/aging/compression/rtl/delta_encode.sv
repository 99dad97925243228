// SPDX-License-Identifier: Apache-2.0
// The three bits that a table entry has of a delta: the logarithm, 7 for a delta of zero.
module delta_encode (
    input  logic [6:0] delta,  // at most one bit is set
    output logic [2:0] code
);
  assign code[0] = delta[1] || delta[3] || delta[5] || delta == 7'd0;
  assign code[1] = delta[2] || delta[3] || delta[6] || delta == 7'd0;
  assign code[2] = delta[4] || delta[5] || delta[6] || delta == 7'd0;
endmodule

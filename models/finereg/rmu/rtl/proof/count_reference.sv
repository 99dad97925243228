// SPDX-License-Identifier: Apache-2.0
// The number of bits that are set, for the proof: one bit after the other goes into a counter of half adders.
module count_reference (
    input  logic [63:0] set,
    output logic [ 6:0] count
);
  logic [6:0] total, carry;
  always_comb begin
    total = 7'd0;
    carry = 7'd0;
    for (int i = 0; i < 64; i = i + 1) begin
      carry[0] = set[i];
      for (int b = 1; b < 7; b = b + 1) carry[b] = carry[b-1] && total[b-1];
      total = total ^ carry;
    end
  end
  assign count = total;
endmodule

// SPDX-License-Identifier: Apache-2.0
// The hash of two lanes by its definition, for the proof: bit k is the parity of the value ANDed with row k of the matrix. Row k of a
// lane is its window from bit k on, mirrored.
module hash_reference #(
    parameter LANES = 2
) (
    input  logic [32*LANES-1:0] value,
    output logic [        31:0] hash
);
`include "h3_windows.svh"
  genvar k, lane, i;
  generate
    for (k = 0; k < 32; k = k + 1) begin : place
      logic [LANES-1:0] parity;
      for (lane = 0; lane < LANES; lane = lane + 1) begin : part
        logic [31:0] mirrored;
        for (i = 0; i < 32; i = i + 1) begin : mirror
          assign mirrored[i] = value[32*lane+31-i];
        end
        assign parity[lane] = ^(mirrored & WINDOWS[63*lane+k+:32]);
      end
      assign hash[k] = ^parity;
    end
  endgenerate
endmodule

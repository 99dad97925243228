// SPDX-License-Identifier: Apache-2.0
// lowest_one without a search: the bit is isolated by a subtraction, and each bit of its number is an OR.
module lowest_one_reference #(
    parameter PLACES = 256
) (
    input  logic                      enable,
    input  logic [        PLACES-1:0] bits,
    output logic                      any,
    output logic [$clog2(PLACES)-1:0] place
);
  logic [PLACES-1:0] lowest;
  assign lowest = enable ? bits & ~(bits - 1'b1) : '0;
  assign any = |lowest;
  genvar b, i;
  generate
    for (b = 0; b < $clog2(PLACES); b = b + 1) begin : digit
      logic [PLACES-1:0] with_digit;
      for (i = 0; i < PLACES; i = i + 1) begin : bit_of
        assign with_digit[i] = lowest[i] && ((i >> b) & 1) == 1;
      end
      assign place[b] = |with_digit;
    end
  endgenerate
endmodule

// SPDX-License-Identifier: Apache-2.0
// The logic of compressor_matcher without its registers.
module matcher_composed (
    input  logic [1023:0] lanes,
    output logic [   2:0] pattern,
    output logic [  63:0] slot
);
  logic [2:0] low, high, middle;
  matcher_compare compare (.lanes(lanes), .low(low), .high(high), .middle(middle));
  matcher_select select (
      .low(low), .high(high), .middle(middle), .first(lanes[31:0]), .second(lanes[543:512]), .pattern(pattern), .slot(slot)
  );
endmodule

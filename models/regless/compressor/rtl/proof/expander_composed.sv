// SPDX-License-Identifier: Apache-2.0
// The logic of compressor_expander without its registers.
module expander_composed (
    input  logic [   2:0] pattern,
    input  logic [  63:0] slot,
    output logic [1023:0] lanes
);
  logic [31:0] first, second;
  logic [1:0] stride;
  expander_bases bases (.pattern(pattern), .slot(slot), .first(first), .second(second), .stride(stride));
  expander_adders adders (.first(first), .second(second), .stride(stride), .lanes(lanes));
endmodule

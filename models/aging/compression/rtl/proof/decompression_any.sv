// SPDX-License-Identifier: Apache-2.0
// Stands for decompression_unit where only registers and pins are proved: different outputs for different inputs.
module decompression_unit (
    input  logic [ 31:0] base,
    input  logic [  2:0] element,
    input  logic [  2:0] block,
    input  logic [  1:0] beat,
    output logic [511:0] components
);
  assign components = {472'd1, base, element, block, beat};
endmodule

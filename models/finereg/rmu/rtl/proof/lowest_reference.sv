// SPDX-License-Identifier: Apache-2.0
// The lowest entry by a scan from the highest to the lowest, for the proof.
module lowest_reference #(
    parameter WIDTH  = 1024,
    localparam PLACE = $clog2(WIDTH)
) (
    input  logic [WIDTH-1:0] set,
    output logic             any,
    output logic [PLACE-1:0] lowest
);
  always_comb begin
    any = 1'b0;
    lowest = '0;
    for (int i = WIDTH - 1; i >= 0; i = i - 1) begin
      if (set[i]) begin
        any = 1'b1;
        lowest = i[PLACE-1:0];
      end
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// The place of the lowest bit that is 1.
module lowest_one #(
    parameter PLACES = 256
) (
    input  logic                      enable,  // otherwise the answer is 0
    input  logic [        PLACES-1:0] bits,
    output logic                      any,
    output logic [$clog2(PLACES)-1:0] place
);
  localparam PLACE_BITS = $clog2(PLACES);
  always_comb begin
    any   = 1'b0;
    place = '0;
    if (enable) begin
      for (integer i = PLACES - 1; i >= 0; i = i - 1) begin
        if (bits[i]) begin
          any   = 1'b1;
          place = i[PLACE_BITS-1:0];
        end
      end
    end
  end
endmodule

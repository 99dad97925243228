// SPDX-License-Identifier: Apache-2.0
// The order in which the lines of a bank came into their lists, as a matrix: row i has a bit for each line that came
// before line i. One matrix serves all lists. A line that comes is behind all others; without one nothing changes.
module osu_order #(
    parameter LINES = 16
) (
    input  logic [LINES*LINES-1:0] older,
    input  logic [      LINES-1:0] comes,       // one-hot, or 0
    output logic [LINES*LINES-1:0] next_older
);
  genvar i;
  generate
    for (i = 0; i < LINES; i = i + 1) begin : line
      localparam [LINES-1:0] SELF = 1 << i;
`ifdef BUG_BANK_ORDER
      // A line that comes again still counts as before those that came since its last time.
      assign next_older[i*LINES+:LINES] = comes[i] ? ~SELF : older[i*LINES+:LINES];
`else
      assign next_older[i*LINES+:LINES] = comes[i] ? ~SELF : older[i*LINES+:LINES] & ~comes;
`endif
    end
  endgenerate
endmodule

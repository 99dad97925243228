// SPDX-License-Identifier: Apache-2.0
// The member of a list that came first and the one that came last, one-hot; none if the list is empty. Row i of
// `older` has a bit for each line that came before line i.
module osu_list_ends #(
    parameter LINES = 16
) (
    input  logic [      LINES-1:0] members,
    input  logic [LINES*LINES-1:0] older,
    output logic [      LINES-1:0] first,
    output logic [      LINES-1:0] last
);
  genvar i;
  generate
    for (i = 0; i < LINES; i = i + 1) begin : line
      localparam [LINES-1:0] SELF = 1 << i;
      assign first[i] = members[i] && (members & older[i*LINES+:LINES]) == 0;
      assign last[i]  = members[i] && (members & ~older[i*LINES+:LINES] & ~SELF) == 0;
    end
  endgenerate
endmodule

// SPDX-License-Identifier: Apache-2.0
// osu_list_ends against a tournament: the lines are taken one after the other, and a member that came earlier
// (later) than the best so far replaces it. Any order of the lines is allowed that is one; the order of a line and an
// earlier number is free.
module list_ends_properties #(
    parameter LINES = 16
) (
    input logic [      LINES-1:0] members,
    input logic [LINES*LINES-1:0] older
);
  logic [LINES-1:0] first, last;
  osu_list_ends #(
      .LINES(LINES)
  ) ends (
      .members(members),
      .older(older),
      .first(first),
      .last(last)
  );

  logic [LINES-1:0] earliest, latest;
  logic is_order;
  integer i, j, k, e, l;
  always_comb begin
    earliest = 0;
    latest = 0;
    e = 0;
    l = 0;
    for (i = 0; i < LINES; i = i + 1) begin
      if (members[i]) begin
        if (earliest == 0 || older[e*LINES+i]) begin
          earliest = 1 << i;
          e = i;
        end
        if (latest == 0 || older[i*LINES+l]) begin
          latest = 1 << i;
          l = i;
        end
      end
    end
    is_order = 1;
    for (i = 0; i < LINES; i = i + 1) begin
      if (older[i*LINES+i]) is_order = 0;
      for (j = 0; j < LINES; j = j + 1) begin
        if (i != j && older[i*LINES+j] == older[j*LINES+i]) is_order = 0;
        for (k = 0; k < LINES; k = k + 1) begin
          if (older[i*LINES+j] && older[j*LINES+k] && !older[i*LINES+k]) is_order = 0;
        end
      end
    end
  end

  always_comb begin
    if (is_order) begin
      assert (first == earliest);
      assert (last == latest);
    end
  end
endmodule

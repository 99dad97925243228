// SPDX-License-Identifier: Apache-2.0
// A priority encoder of many bits, as a tree with two levels: the lowest group with a bit, then the lowest bit of it.
module lowest_entry #(
    parameter WIDTH  = 1024,          // GROUP times a power of two
    parameter GROUP  = 32,            // a power of two
    localparam PLACE = $clog2(WIDTH)
) (
    input  logic [WIDTH-1:0] set,
    output logic             any,
    output logic [PLACE-1:0] lowest  // 0 if none is set
);
  localparam GROUPS = WIDTH / GROUP;
  localparam LOW = $clog2(GROUP);

  logic [GROUPS-1:0] occupied;
  genvar g;
  generate
    for (g = 0; g < GROUPS; g = g + 1) begin : leaf
      assign occupied[g] = |set[GROUP*g+:GROUP];
    end
  endgenerate

  lowest_set #(
      .WIDTH(GROUPS)
  ) of_groups (
      .set(occupied),
      .any(any),
      .lowest(lowest[PLACE-1:LOW])
  );
  logic in_group;
  lowest_set #(
      .WIDTH(GROUP)
  ) of_bits (
      .set(set[{lowest[PLACE-1:LOW], {LOW{1'b0}}}+:GROUP]),
      .any(in_group),
      .lowest(lowest[LOW-1:0])
  );
  logic unused;
  assign unused = in_group;
endmodule

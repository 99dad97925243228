// SPDX-License-Identifier: Apache-2.0
// The lowest bit that is set, found in a tree of nodes with two inputs. A node says whether any bit below it is set, and
// where the lowest of them is.
module lowest_set #(
    parameter WIDTH  = 32,            // a power of two
    localparam PLACE = $clog2(WIDTH)
) (
    input  logic [WIDTH-1:0] set,
    output logic             any,
    output logic [PLACE-1:0] lowest  // 0 if none is set
);
  // Nodes of one level, from leaves to root: a level's nodes overwrite the first half of the level below.
  logic [WIDTH-1:0] found;
  logic [WIDTH*PLACE-1:0] place;
  logic lower;
  always_comb begin
    lower = 1'b0;
    found = set;
    place = '0;
    for (int level = 0; level < PLACE; level = level + 1) begin
      for (int node = 0; node < WIDTH >> (level + 1); node = node + 1) begin
`ifdef BUG_LOWEST_NODE
        lower = found[2*node] && !(level == 2 && found[2*node+1]);
`else
        lower = found[2*node];
`endif
        place[PLACE*node+:PLACE] = lower ? place[2*PLACE*node+:PLACE] : place[(2*node+1)*PLACE+:PLACE];
        place[PLACE*node+level] = !lower;
        found[node] = found[2*node] || found[2*node+1];
      end
    end
  end
  assign any = found[0];
  assign lowest = any ? place[PLACE-1:0] : '0;
endmodule

// SPDX-License-Identifier: Apache-2.0
// The number of bits of 64 that are set: rows of adders, whose sums are of twice as many bits from row to row.
module population_count (
    input  logic [63:0] set,
    output logic [ 6:0] count
);
  logic [63:0] by2, by4;
  logic [31:0] by8;  // four bits each
  logic [5:0] low, middle, high, top;  // of 16 bits each, at most 16
  assign by2 = (set & 64'h5555_5555_5555_5555) + ((set >> 1) & 64'h5555_5555_5555_5555);
  assign by4 = (by2 & 64'h3333_3333_3333_3333) + ((by2 >> 2) & 64'h3333_3333_3333_3333);
  genvar i;
  generate
    for (i = 0; i < 8; i = i + 1) begin : eighth
`ifdef BUG_COUNT_WIDTH
      assign by8[4*i+:4] = {1'b0, by4[8*i+:3] + by4[8*i+4+:3]};
`else
      assign by8[4*i+:4] = by4[8*i+:4] + by4[8*i+4+:4];
`endif
    end
  endgenerate
  assign low = {2'b0, by8[3:0]} + {2'b0, by8[7:4]};
  assign middle = {2'b0, by8[11:8]} + {2'b0, by8[15:12]};
  assign high = {2'b0, by8[19:16]} + {2'b0, by8[23:20]};
  assign top = {2'b0, by8[27:24]} + {2'b0, by8[31:28]};
  assign count = ({1'b0, low} + {1'b0, middle}) + ({1'b0, high} + {1'b0, top});
endmodule

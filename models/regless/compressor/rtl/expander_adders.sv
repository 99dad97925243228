// SPDX-License-Identifier: Apache-2.0
// Second stage of the expander: 30 adders, base + place x stride.
module expander_adders (
    input  logic [  31:0] first,
    input  logic [  31:0] second,
    input  logic [   1:0] stride,
    output logic [1023:0] lanes
);
  genvar i;
  generate
    for (i = 0; i < 16; i = i + 1) begin : place
      localparam [3:0] PLACE = i[3:0];
      logic [5:0] offset;
`ifdef BUG_EXPANDER_OFFSET
      assign offset = stride[1] ? {PLACE[2:0] | {2'b0, PLACE[3]}, 3'b000} >> 1 : stride[0] ? {2'b00, PLACE} : 6'd0;
`else
      assign offset = stride[1] ? {PLACE, 2'b00} : stride[0] ? {2'b00, PLACE} : 6'd0;
`endif
      assign lanes[32*i+:32] = first + {26'd0, offset};
`ifdef BUG_EXPANDER_CARRY
      assign lanes[512+32*i+:32] = {second[31:16], second[15:0] + {10'd0, offset}};
`else
      assign lanes[512+32*i+:32] = second + {26'd0, offset};
`endif
    end
  endgenerate
endmodule

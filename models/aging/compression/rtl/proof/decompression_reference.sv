// SPDX-License-Identifier: Apache-2.0
// The offsets as chains of adders, for the proof: each is its left neighbour plus the element delta, the first one of a
// block that of the block before plus the block delta. No shifts, no places.
module decompression_reference (
    input  logic [   2:0] element,
    input  logic [   2:0] block,
    output logic [2047:0] offsets
);
  logic [31:0] element_delta, block_delta;
  always_comb begin
    case (element)
      3'd0: element_delta = 32'd1;
      3'd1: element_delta = 32'd2;
      3'd2: element_delta = 32'd4;
      3'd3: element_delta = 32'd8;
      3'd4: element_delta = 32'd16;
      3'd5: element_delta = 32'd32;
      3'd6: element_delta = 32'd64;
      default: element_delta = 32'd0;
    endcase
    case (block)
      3'd0: block_delta = 32'd1;
      3'd1: block_delta = 32'd2;
      3'd2: block_delta = 32'd4;
      3'd3: block_delta = 32'd8;
      3'd4: block_delta = 32'd16;
      3'd5: block_delta = 32'd32;
      3'd6: block_delta = 32'd64;
      default: block_delta = 32'd0;
    endcase
  end

  genvar i;
  generate
    for (i = 0; i < 64; i = i + 1) begin : component
      if (i == 0) begin : first
        assign offsets[31:0] = 32'd0;
      end else if (i % 8 == 0) begin : next_block
        assign offsets[32*i+:32] = offsets[32*i-256+:32] + block_delta;
      end else begin : next
        assign offsets[32*i+:32] = offsets[32*i-32+:32] + element_delta;
      end
    end
  endgenerate
endmodule

// SPDX-License-Identifier: Apache-2.0
// The H3 hash of a warp register (WIR section V-A): each bit of the value adds (XORs) its column of a fixed bit matrix.
// The columns of a lane are the places of a window of 63 bits, as in h3_hash.h. Depth: log2(32 LANES) XOR gates.
module h3_hash #(
    parameter LANES = 32,      // a power of two, at most 64
    parameter HASH_BITS = 32
) (
    input  logic [32*LANES-1:0] value,  // lane i in bits 32 i + 31 to 32 i
    output logic [HASH_BITS-1:0] hash
);
`include "h3_windows.svh"
  localparam BITS = 32 * LANES;
  localparam LEVELS = $clog2(BITS);

  // A tree of sums; level 0 has the columns of the bits that are 1. Not in waveforms: 4,096 sums of 64 lanes, whose code takes
  // a minute to compile.
  /* verilator tracing_off */
  genvar l, i;
  generate
    for (l = 0; l <= LEVELS; l = l + 1) begin : level
      for (i = 0; i < BITS >> l; i = i + 1) begin : node
        logic [HASH_BITS-1:0] sum;
        if (l == 0) begin : column
`ifdef BUG_HASH_COLUMN
          localparam SHIFT = i == BITS - 1 ? 1 : 31 - i % 32;
`else
          localparam SHIFT = 31 - i % 32;
`endif
          assign sum = {HASH_BITS{value[i]}} & WINDOWS[63*(i/32)+SHIFT+:HASH_BITS];
`ifdef BUG_HASH_FOLD
        end else if (l == 5 && i == 0) begin : wrong
          assign sum = level[l-1].node[2*i].sum | level[l-1].node[2*i+1].sum;
`endif
        end else begin : pair
          assign sum = level[l-1].node[2*i].sum ^ level[l-1].node[2*i+1].sum;
        end
      end
    end
  endgenerate
  /* verilator tracing_on */
  assign hash = level[LEVELS].node[0].sum;
endmodule

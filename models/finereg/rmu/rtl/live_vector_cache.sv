// SPDX-License-Identifier: Apache-2.0
// The live register information cache of FineReg (MICRO 2018, section V-C): direct-mapped, a PC and a bit vector per
// entry, 12 bytes. The index is the low bits of the PC. An operation is answered one edge later.
module live_vector_cache #(
    parameter ENTRIES = 32,              // a power of two
    localparam INDEX  = $clog2(ENTRIES)
) (
    input  logic        clk,
    input  logic        rst_n,
    input  logic        req_valid,
    output logic        req_ready,
    input  logic [ 3:0] req_op,
    input  logic [31:0] req_pc,
    input  logic [63:0] req_vector,
    output logic        rsp_valid,
    input  logic        rsp_ready,
    output logic        rsp_ok,      // LOOKUP: a hit; FILL: another PC has lost its entry
    output logic [63:0] rsp_vector   // LOOKUP: of a hit
);
  localparam [3:0] LOOKUP = 4'd0, FILL = 4'd1, CLEAR = 4'd2;

  logic [ENTRIES-1:0] valid;
  logic [31-INDEX:0] tags[0:ENTRIES-1];
  logic [63:0] vectors[0:ENTRIES-1];

  logic [INDEX-1:0] index;
  logic accepted, same, hit;
  assign index = req_pc[INDEX-1:0];
  assign req_ready = !rsp_valid || rsp_ready;
  assign accepted = req_valid && req_ready;
`ifdef BUG_VECTORS_TAG
  assign same = (tags[index] ^ req_pc[31:INDEX]) >> 1 == '0;
`else
  assign same = tags[index] == req_pc[31:INDEX];
`endif
  assign hit = valid[index] && same;

  always_ff @(posedge clk) begin
    if (!rst_n) valid <= '0;
    else if (accepted && req_op == CLEAR) valid <= '0;
    else if (accepted && req_op == FILL) valid[index] <= 1'b1;
  end
  always_ff @(posedge clk) begin
    if (accepted && req_op == FILL) begin
      tags[index] <= req_pc[31:INDEX];
      vectors[index] <= req_vector;
    end
  end
  always_ff @(posedge clk) begin
    if (!rst_n) rsp_valid <= 1'b0;
    else if (req_ready) rsp_valid <= req_valid;
    if (accepted) begin
      rsp_ok <= req_op == LOOKUP ? hit : req_op == FILL ? valid[index] && !same : 1'b0;
      rsp_vector <= req_op == LOOKUP && hit ? vectors[index] : '0;
    end
  end
endmodule

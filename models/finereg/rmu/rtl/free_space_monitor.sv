// SPDX-License-Identifier: Apache-2.0
// The free space monitor of FineReg (MICRO 2018, section V-C): a flag per entry of the pending file, 1 for a taken one.
// Entries beyond the limit count as taken. An operation is answered one edge later.
module free_space_monitor #(
    parameter ENTRIES = 1024,            // GROUP times a power of two
    parameter GROUP   = 32,
    localparam ENTRY  = $clog2(ENTRIES)
) (
    input  logic             clk,
    input  logic             rst_n,
    input  logic             req_valid,
    output logic             req_ready,
    input  logic [      3:0] req_op,
    input  logic [  ENTRY:0] req_index,  // GIVE_BACK: an entry; LIMIT: a number of entries
    output logic             rsp_valid,
    input  logic             rsp_ready,
    output logic             rsp_ok,     // TAKE: there was a free one; GIVE_BACK: it was taken
    output logic [ENTRY-1:0] rsp_entry,  // TAKE: which
    output logic [  ENTRY:0] rsp_count   // free ones behind the operation
);
  localparam [3:0] TAKE = 4'd0, GIVE_BACK = 4'd1, LIMIT = 4'd2;

  logic [ENTRIES-1:0] taken;
  logic [ENTRY:0] limit, free, free_next;

  logic accepted, any, takes, gives;
  logic [ENTRY-1:0] lowest, entry;
  assign req_ready = !rsp_valid || rsp_ready;
  assign accepted = req_valid && req_ready;
  assign entry = req_index[ENTRY-1:0];
  lowest_entry #(
      .WIDTH(ENTRIES),
      .GROUP(GROUP)
  ) encoder (
      .set(~taken),
      .any(any),
      .lowest(lowest)
  );
  assign takes = req_op == TAKE && any;
`ifdef BUG_MONITOR_LIMIT
  assign gives = req_op == GIVE_BACK && taken[entry];
`else
  assign gives = req_op == GIVE_BACK && taken[entry] && req_index < limit;
`endif
  assign free_next = req_op == LIMIT ? req_index : free + {{ENTRY{1'b0}}, gives} - {{ENTRY{1'b0}}, takes};

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      taken <= '0;
      limit <= ENTRIES[ENTRY:0];
      free  <= ENTRIES[ENTRY:0];
    end else if (accepted) begin
      free <= free_next;
      if (takes) taken[lowest] <= 1'b1;
      if (gives) taken[entry] <= 1'b0;
      if (req_op == LIMIT) begin
        taken <= {ENTRIES{1'b1}} << req_index;
        limit <= req_index;
      end
    end
  end
  always_ff @(posedge clk) begin
    if (!rst_n) rsp_valid <= 1'b0;
    else if (req_ready) rsp_valid <= req_valid;
    if (accepted) begin
      rsp_ok <= takes || gives || req_op == LIMIT;
      rsp_entry <= takes ? lowest : '0;
      rsp_count <= free_next;
    end
  end

`ifdef FORMAL
`include "proof/free_space_properties.svh"
`endif
endmodule

// SPDX-License-Identifier: Apache-2.0
// FineReg's register management unit (MICRO 2018, section V-C, Figure 10) without its access logic. Four parts, each with
// a channel of its own; here they share one, an operation at a time. Pins and operations: README.md.
module rmu #(
    parameter VECTORS = 32,               // entries of the cache of bit vectors, a power of two
    parameter ENTRIES = 1024,             // of the pending file: GROUP times a power of two
    parameter CTAS    = 128,              // a power of two
    parameter GROUP   = 32,
    localparam ENTRY  = $clog2(ENTRIES),
    localparam CTA    = $clog2(CTAS)
) (
    input  logic              clk,
    input  logic              rst_n,
    input  logic              req_valid,
    output logic              req_ready,
    input  logic [       5:0] req_op,
    input  logic [      31:0] req_index,
    input  logic [      63:0] req_set,
    input  logic [      63:0] req_vector,
    input  logic [       4:0] req_warp,
    input  logic [       5:0] req_register,
    output logic              rsp_valid,
    input  logic              rsp_ready,
    output logic              rsp_ok,
    output logic [      63:0] rsp_vector,
    output logic [ ENTRY-1:0] rsp_entry,
    output logic [   ENTRY:0] rsp_count,
    output logic [       5:0] rsp_register,
    output logic [ENTRY+12:0] rsp_tag
);
  localparam [1:0] CACHE = 2'd0, DECODER = 2'd1, MONITOR = 2'd2, CHAINS = 2'd3;

  // The part of the operation that is under way, and answers it.
  logic busy, accepted;
  logic [1:0] part, owner;
  logic [3:0] ready, valid;
  assign part = req_op[5:4];
  assign rsp_valid = busy && valid[owner];
  assign req_ready = ready[part] && (!busy || (rsp_valid && rsp_ready));
  assign accepted = req_valid && req_ready;
  always_ff @(posedge clk) begin
    if (!rst_n) busy <= 1'b0;
    else if (accepted) busy <= 1'b1;
    else if (rsp_valid && rsp_ready) busy <= 1'b0;
    if (accepted) owner <= part;
  end

  // A part is offered a request only when it will be taken, and takes its answer back with the unit's.
  logic free;
  assign free = !busy || (rsp_valid && rsp_ready);

  logic cache_ok, decoder_ok, monitor_ok, chains_ok;
  logic [63:0] cache_vector, decoder_vector;
  logic [ENTRY-1:0] monitor_entry, chains_entry;
  logic [6:0] decoder_count;
  logic [ENTRY:0] monitor_count, chains_count;
  logic [5:0] decoder_register;
  logic [ENTRY+12:0] chains_tag;

  live_vector_cache #(
      .ENTRIES(VECTORS)
  ) cache (
      .clk(clk),
      .rst_n(rst_n),
      .req_valid(req_valid && free && part == CACHE),
      .req_ready(ready[CACHE]),
      .req_op(req_op[3:0]),
      .req_pc(req_index),
      .req_vector(req_vector),
      .rsp_valid(valid[CACHE]),
      .rsp_ready(rsp_ready),
      .rsp_ok(cache_ok),
      .rsp_vector(cache_vector)
  );
  register_index_decoder decoder (
      .clk(clk),
      .rst_n(rst_n),
      .req_valid(req_valid && free && part == DECODER),
      .req_ready(ready[DECODER]),
      .req_op(req_op[3:0]),
      .req_set(req_set),
      .req_vector(req_vector),
      .req_register(req_register),
      .rsp_valid(valid[DECODER]),
      .rsp_ready(rsp_ready),
      .rsp_ok(decoder_ok),
      .rsp_vector(decoder_vector),
      .rsp_count(decoder_count),
      .rsp_register(decoder_register)
  );
  free_space_monitor #(
      .ENTRIES(ENTRIES),
      .GROUP(GROUP)
  ) free_space (
      .clk(clk),
      .rst_n(rst_n),
      .req_valid(req_valid && free && part == MONITOR),
      .req_ready(ready[MONITOR]),
      .req_op(req_op[3:0]),
      .req_index(req_index[ENTRY:0]),
      .rsp_valid(valid[MONITOR]),
      .rsp_ready(rsp_ready),
      .rsp_ok(monitor_ok),
      .rsp_entry(monitor_entry),
      .rsp_count(monitor_count)
  );
  pending_chains #(
      .ENTRIES(ENTRIES),
      .CTAS(CTAS)
  ) chains (
      .clk(clk),
      .rst_n(rst_n),
      .req_valid(req_valid && free && part == CHAINS),
      .req_ready(ready[CHAINS]),
      .req_op(req_op[3:0]),
      .req_entry(req_index[ENTRY-1:0]),
      .req_cta(req_index[CTA-1:0]),
      .req_warp(req_warp),
      .req_register(req_register),
      .rsp_valid(valid[CHAINS]),
      .rsp_ready(rsp_ready),
      .rsp_ok(chains_ok),
      .rsp_entry(chains_entry),
      .rsp_count(chains_count),
      .rsp_tag(chains_tag)
  );

  always_comb begin
    rsp_ok = 1'b0;
    rsp_vector = '0;
    rsp_entry = '0;
    rsp_count = '0;
    rsp_register = '0;
    rsp_tag = '0;
    case (owner)
      CACHE: begin
        rsp_ok = cache_ok;
        rsp_vector = cache_vector;
      end
      DECODER: begin
        rsp_ok = decoder_ok;
        rsp_vector = decoder_vector;
        rsp_count[6:0] = decoder_count;
        rsp_register = decoder_register;
      end
      MONITOR: begin
        rsp_ok = monitor_ok;
        rsp_entry = monitor_entry;
        rsp_count = monitor_count;
      end
      CHAINS: begin
        rsp_ok = chains_ok;
        rsp_entry = chains_entry;
        rsp_count = chains_count;
        rsp_tag = chains_tag;
      end
    endcase
  end
endmodule

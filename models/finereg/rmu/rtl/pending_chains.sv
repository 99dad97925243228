// SPDX-License-Identifier: Apache-2.0
// The chains of FineReg's pending registers (MICRO 2018, sections V-C to V-E, Figures 10 and 11): the pointer table, and
// the tags of the pending file's entries. One chain is made at a time, and one is walked. An operation is answered one
// edge later, DROP one edge later for each entry that it clears.
module pending_chains #(
    parameter ENTRIES = 1024,
    parameter CTAS    = 128,
    parameter WARP    = 5,                // bits
    parameter REG     = 6,
    localparam ENTRY  = $clog2(ENTRIES),
    localparam CTA    = $clog2(CTAS)
) (
    input  logic                     clk,
    input  logic                     rst_n,
    input  logic                     req_valid,
    output logic                     req_ready,
    input  logic [              3:0] req_op,
    input  logic [        ENTRY-1:0] req_entry,  // APPEND, PEEK
    input  logic [          CTA-1:0] req_cta,    // BEGIN, POINTER, WALK, DROP
    input  logic [         WARP-1:0] req_warp,
    input  logic [          REG-1:0] req_register,
    output logic                     rsp_valid,
    input  logic                     rsp_ready,
    output logic                     rsp_ok,
    output logic [        ENTRY-1:0] rsp_entry,
    output logic [          ENTRY:0] rsp_count,
    output logic [ENTRY+WARP+REG+1:0] rsp_tag    // valid, end, next, warp, register
);
  localparam [3:0] BEGIN = 4'd0, APPEND = 4'd1, CLOSE = 4'd2, POINTER = 4'd3, WALK = 4'd4, STEP = 4'd5, RETURN = 4'd6,
      PEEK = 4'd7, DROP = 4'd8;
  localparam [ENTRY:0] NONE = '0, ONE = {{ENTRY{1'b0}}, 1'b1};

  // Tags: next is written with the entry behind it.
  logic [ENTRIES-1:0] used, ends;
  logic [ENTRY-1:0] nexts[0:ENTRIES-1];
  logic [WARP+REG-1:0] registers[0:ENTRIES-1];
  // The pointer table: first and count, of CTAs that have a chain.
  logic [CTAS-1:0] present;
  logic [2*ENTRY:0] pointers[0:CTAS-1];
  // The chain that is made.
  logic making;
  logic [CTA-1:0] made_cta;
  logic [ENTRY-1:0] made_first, made_last;
  logic [ENTRY:0] made_count;
  // The chain that is walked: where it goes on, and how many entries are left of it.
  logic walking;
  logic [CTA-1:0] walked_cta;
  logic [ENTRY-1:0] walked_entry;
  logic [ENTRY:0] walked_left;
  // The rest of a chain that is dropped.
  logic dropping;
  logic [ENTRY-1:0] dropped_entry;
  logic [ENTRY:0] dropped_left, dropped_count;

  logic accepted;
  assign req_ready = !dropping && (!rsp_valid || rsp_ready);
  assign accepted  = req_valid && req_ready;

  logic [ENTRY-1:0] first;
  logic [ENTRY:0] count;
  assign {count, first} = present[req_cta] ? pointers[req_cta] : '0;

  // The tag that an operation reads, and what is told of it: no next where none is written yet, or never will be.
  logic [ENTRY-1:0] at, next;
  logic linked;
  logic [WARP+REG-1:0] place;
  logic [ENTRY+WARP+REG+1:0] tag;
  assign at = dropping ? dropped_entry : req_op == STEP ? walked_entry : req_entry;
  assign next = nexts[at];
  assign place = registers[at];
  assign linked = !ends[at] && !(making && made_count != NONE && made_last == at);
  assign tag = used[at] ? {1'b1, ends[at], linked ? next : {ENTRY{1'b0}}, place} : '0;

  logic begins, appends, closes, walks, steps, returns, drops;
  assign begins = req_op == BEGIN && !making && !present[req_cta] && !(walking && walked_cta == req_cta);
  assign appends = req_op == APPEND && making && !used[req_entry];
  assign closes = req_op == CLOSE && making;
  assign walks = req_op == WALK && !walking && !(making && made_cta == req_cta);
  assign steps = req_op == STEP && walking && walked_left != NONE;
  assign returns = req_op == RETURN && walking && walked_left == NONE;
  assign drops = req_op == DROP;

  // What a drop begins with: the part that is made, the part that is not walked yet, or the whole chain.
  logic made_drop, walked_drop;
  logic [ENTRY-1:0] drop_first;
  logic [ENTRY:0] drop_count;
`ifdef BUG_CHAIN_DROP
  assign made_drop = 1'b0;
`else
  assign made_drop = making && made_cta == req_cta;
`endif
  assign walked_drop = walking && walked_cta == req_cta;
  assign drop_first = made_drop ? made_first : walked_drop ? walked_entry : first;
  assign drop_count = made_drop ? made_count : walked_drop ? walked_left : count;

  // Tags.
  always_ff @(posedge clk) begin
    if (!rst_n) used <= '0;
    else if (dropping) used[dropped_entry] <= 1'b0;
    else if (accepted && steps) used[walked_entry] <= 1'b0;
    else if (accepted && appends) used[req_entry] <= 1'b1;
  end
  always_ff @(posedge clk) begin
    if (!rst_n) ends <= '0;
`ifndef BUG_CHAIN_END
    else if (accepted && appends) ends[req_entry] <= 1'b0;
`endif
    else if (accepted && closes && made_count != NONE) ends[made_last] <= 1'b1;
  end
  always_ff @(posedge clk) begin
`ifdef BUG_CHAIN_LINK
    if (accepted && appends && made_count > ONE) nexts[made_last] <= req_entry;
`else
    if (accepted && appends && made_count != NONE) nexts[made_last] <= req_entry;
`endif
    if (accepted && appends) registers[req_entry] <= {req_warp, req_register};
  end

  // Pointers.
  always_ff @(posedge clk) begin
    if (!rst_n) present <= '0;
    else if (accepted && closes) present[made_cta] <= made_count != NONE;
    else if (accepted && returns) present[walked_cta] <= 1'b0;
    else if (accepted && drops) present[req_cta] <= 1'b0;
  end
  always_ff @(posedge clk) begin
    if (accepted && closes) pointers[made_cta] <= {made_count, made_first};
  end

  // The chain that is made.
  always_ff @(posedge clk) begin
    if (!rst_n) making <= 1'b0;
    else if (accepted) begin
      if (begins) making <= 1'b1;
      if (closes || (drops && made_drop)) making <= 1'b0;
    end
    if (accepted && begins) begin
      made_cta <= req_cta;
      made_first <= '0;
      made_count <= '0;
    end
    if (accepted && appends) begin
      if (made_count == NONE) made_first <= req_entry;
      made_last <= req_entry;
      made_count <= made_count + ONE;
    end
  end

  // The chain that is walked.
  always_ff @(posedge clk) begin
    if (!rst_n) walking <= 1'b0;
    else if (accepted) begin
      if (walks) walking <= 1'b1;
      if (returns || (drops && walked_drop)) walking <= 1'b0;
    end
    if (accepted && walks) begin
      walked_cta <= req_cta;
      walked_entry <= first;
      walked_left <= count;
    end
    if (accepted && steps) begin
      walked_entry <= next;
      walked_left  <= walked_left - ONE;
    end
  end

  // A drop clears an entry per edge.
  always_ff @(posedge clk) begin
    if (!rst_n) dropping <= 1'b0;
    else if (dropping) dropping <= dropped_left != ONE;
    else if (accepted && drops) dropping <= drop_count != NONE;
    if (dropping) begin
      dropped_entry <= next;
      dropped_left  <= dropped_left - ONE;
    end else if (accepted && drops) begin
      dropped_entry <= drop_first;
      dropped_left  <= drop_count;
      dropped_count <= drop_count;
    end
  end

  // Answers.
  always_ff @(posedge clk) begin
    if (!rst_n) rsp_valid <= 1'b0;
    else if (dropping) rsp_valid <= dropped_left == ONE;
    else if (req_ready) rsp_valid <= req_valid && !(drops && drop_count != NONE);
    if (dropping) begin
      rsp_ok <= 1'b1;
      rsp_entry <= '0;
      rsp_count <= dropped_count;
      rsp_tag <= '0;
    end else if (accepted) begin
      rsp_ok <= begins || appends || closes || (req_op == POINTER && count != NONE) || walks || steps || returns ||
          (req_op == PEEK && used[req_entry]);
      rsp_entry <= '0;
      rsp_count <= '0;
      rsp_tag <= '0;
      if (appends) begin
        rsp_entry <= made_count == NONE ? req_entry : made_first;
        rsp_count <= made_count + ONE;
      end
      if (closes) {rsp_count, rsp_entry} <= {made_count, made_first};
      if (walks || req_op == POINTER) {rsp_count, rsp_entry} <= {count, first};
      if (steps) {rsp_count, rsp_entry} <= {walked_left - ONE, walked_entry};
      if (steps || req_op == PEEK) rsp_tag <= tag;
    end
  end

`ifdef FORMAL
`include "proof/pending_chains_properties.svh"
`endif
endmodule

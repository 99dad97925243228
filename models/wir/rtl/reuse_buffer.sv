// SPDX-License-Identifier: Apache-2.0
// WIR's reuse buffer (section V-C, figure 9): results by tag, directly indexed. It takes an operation a cycle, and
// answers it in the next one. Pins: README.md.
module reuse_buffer #(
    parameter ENTRIES = 256,
    parameter TAG_BITS = 43,    // figure 9: opcode 8, three operands of 10, barriers 5
    parameter BLOCK_BITS = 4,
    parameter RESULT_BITS = 10,
    parameter OWNER_BITS = 32
) (
    input  logic                       clk,
    input  logic                       rst_n,
    input  logic                       req_valid,
    output logic                       req_ready,
    input  logic [                2:0] req_op,
    input  logic [$clog2(ENTRIES)-1:0] req_place,
    input  logic [       TAG_BITS-1:0] req_tag,
    input  logic [     BLOCK_BITS-1:0] req_block,
    input  logic [     OWNER_BITS-1:0] req_owner,
    input  logic [    RESULT_BITS-1:0] req_result,
`ifdef FORMAL
    input  logic [$clog2(ENTRIES)-1:0] probe,
    output logic                       probe_valid,
    output logic                       probe_pending,
    output logic [       TAG_BITS-1:0] probe_tag,
    output logic [     BLOCK_BITS-1:0] probe_block,
    output logic [     OWNER_BITS-1:0] probe_owner,
    output logic [    RESULT_BITS-1:0] probe_result,
    output logic [$clog2(ENTRIES)-1:0] used_place,
`endif
    output logic                       rsp_valid,
    input  logic                       rsp_ready,
    output logic [                1:0] rsp_outcome,
    output logic                       rsp_dropped,  // rsp_tag and rsp_block are those of an entry that goes; else 0
    output logic [       TAG_BITS-1:0] rsp_tag,
    output logic [     BLOCK_BITS-1:0] rsp_block,
    output logic [    RESULT_BITS-1:0] rsp_result
);
  localparam INDEX = $clog2(ENTRIES);
  localparam [2:0] DROP_LOAD = 3'd6;

  logic taken;
  assign req_ready = !rsp_valid || rsp_ready;
  assign taken = req_valid && req_ready;

  logic [ENTRIES-1:0] valid, pending;
  logic [TAG_BITS-1:0] tags[0:ENTRIES-1];
  logic [BLOCK_BITS-1:0] blocks[0:ENTRIES-1];
  logic [OWNER_BITS-1:0] owners[0:ENTRIES-1];
  logic [RESULT_BITS-1:0] results[0:ENTRIES-1];

  // Operations that choose an entry themselves: the first one, of all or of the loads of a CTA (block 0: of any CTA).
  logic chooses, any;
  logic [ENTRIES-1:0] candidates, this_block;
  logic [INDEX-1:0] first, place;
  assign chooses = req_op[2:1] == 2'b11;
  always_comb begin
    candidates = '0;
    this_block = '0;
    if (chooses) begin
      for (integer i = 0; i < ENTRIES; i = i + 1) begin
`ifdef BUG_REUSE_LOADS
        this_block[i] = (blocks[i] | req_block) == req_block;
`else
        this_block[i] = blocks[i] == req_block;
`endif
        candidates[i] = valid[i] && (req_op != DROP_LOAD || (blocks[i] != '0 && (req_block == '0 || this_block[i])));
      end
    end
  end
  lowest_one #(
      .PLACES(ENTRIES)
  ) first_candidate (
      .enable(chooses),
      .bits(candidates),
      .any(any),
      .place(first)
  );
  assign place = chooses ? first : req_place;

  logic [1:0] outcome;
  logic give_tag, give_result, next_valid, next_pending, write_tag, write_result;
  reuse_decide decide (
      .op(req_op),
      .valid(valid[place] && (!chooses || any)),
      .pending(pending[place]),
      .same_tag(tags[place] == req_tag && blocks[place] == req_block),
      .same_owner(owners[place] == req_owner),
      .outcome(outcome),
      .give_tag(give_tag),
      .give_result(give_result),
      .next_valid(next_valid),
      .next_pending(next_pending),
      .write_tag(write_tag),
      .write_result(write_result)
  );

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      valid <= '0;
    end else if (taken && (!chooses || any)) begin
      valid[place]   <= next_valid;
      pending[place] <= next_pending;
    end
  end
  always_ff @(posedge clk) begin
    if (taken && write_tag) begin
      tags[place]   <= req_tag;
      blocks[place] <= req_block;
      owners[place] <= req_owner;
    end
    if (taken && write_result) results[place] <= req_result;
  end

  always_ff @(posedge clk) begin
    if (!rst_n) rsp_valid <= 1'b0;
    else if (req_ready) rsp_valid <= req_valid;
  end
  always_ff @(posedge clk) begin
    if (req_ready) begin
      rsp_outcome <= outcome;
      rsp_dropped <= give_tag;
      rsp_tag <= give_tag ? tags[place] : '0;
      rsp_block <= give_tag ? blocks[place] : '0;
      rsp_result <= give_result ? results[place] : '0;
    end
  end

`ifdef FORMAL
  assign probe_valid = valid[probe];
  assign probe_pending = pending[probe];
  assign probe_tag = tags[probe];
  assign probe_block = blocks[probe];
  assign probe_owner = owners[probe];
  assign probe_result = results[probe];
  assign used_place = place;
`endif
endmodule

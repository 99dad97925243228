// SPDX-License-Identifier: Apache-2.0
// reuse_buffer against one entry, written down from README.md: any entry, chosen in reset. What holds for it holds for
// all.
module reuse_properties #(
    parameter ENTRIES = 4,
    parameter TAG_BITS = 3,
    parameter BLOCK_BITS = 2,
    parameter RESULT_BITS = 3,
    parameter OWNER_BITS = 2
) (
    input logic                       clk,
    input logic                       rst_n,
    input logic [$clog2(ENTRIES)-1:0] any_place,
    input logic                       req_valid,
    input logic [                2:0] req_op,
    input logic [$clog2(ENTRIES)-1:0] req_place,
    input logic [       TAG_BITS-1:0] req_tag,
    input logic [     BLOCK_BITS-1:0] req_block,
    input logic [     OWNER_BITS-1:0] req_owner,
    input logic [    RESULT_BITS-1:0] req_result,
    input logic                       rsp_ready
);
  localparam INDEX = $clog2(ENTRIES);
  logic req_ready, rsp_valid, rsp_dropped, probe_valid, probe_pending;
  logic [1:0] rsp_outcome;
  logic [TAG_BITS-1:0] rsp_tag, probe_tag;
  logic [BLOCK_BITS-1:0] rsp_block, probe_block;
  logic [OWNER_BITS-1:0] probe_owner;
  logic [RESULT_BITS-1:0] rsp_result, probe_result;
  logic [INDEX-1:0] place, used_place;
  reuse_buffer #(
      .ENTRIES(ENTRIES),
      .TAG_BITS(TAG_BITS),
      .BLOCK_BITS(BLOCK_BITS),
      .RESULT_BITS(RESULT_BITS),
      .OWNER_BITS(OWNER_BITS)
  ) dut (
      .clk(clk),
      .rst_n(rst_n),
      .req_valid(req_valid),
      .req_ready(req_ready),
      .req_op(req_op),
      .req_place(req_place),
      .req_tag(req_tag),
      .req_block(req_block),
      .req_owner(req_owner),
      .req_result(req_result),
      .probe(place),
      .probe_valid(probe_valid),
      .probe_pending(probe_pending),
      .probe_tag(probe_tag),
      .probe_block(probe_block),
      .probe_owner(probe_owner),
      .probe_result(probe_result),
      .used_place(used_place),
      .rsp_valid(rsp_valid),
      .rsp_ready(rsp_ready),
      .rsp_outcome(rsp_outcome),
      .rsp_dropped(rsp_dropped),
      .rsp_tag(rsp_tag),
      .rsp_block(rsp_block),
      .rsp_result(rsp_result)
  );

  // The entry.
  logic valid, pending;
  logic [TAG_BITS-1:0] tag;
  logic [BLOCK_BITS-1:0] block;
  logic [OWNER_BITS-1:0] owner;
  logic [RESULT_BITS-1:0] result;
  // The answer: expected, if the operation was on this entry.
  logic open, here, might_drop, dropped;
  logic [1:0] outcome;
  logic [TAG_BITS-1:0] old_tag;
  logic [BLOCK_BITS-1:0] old_block;
  logic [RESULT_BITS-1:0] old_result;

  logic moves, chooses, candidate, on_it, same, mine;
  assign moves = !open || rsp_ready;
  assign chooses = req_op == 3'd6 || req_op == 3'd7;
  assign candidate = valid && (req_op == 3'd7 || (req_op == 3'd6 && block != '0 && (req_block == '0 || req_block == block)));
  assign on_it = chooses ? candidate && used_place == place : req_place == place;
  assign same = valid && tag == req_tag && block == req_block;
  assign mine = same && pending && owner == req_owner;

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      place <= any_place;
      {open, valid} <= 2'd0;
    end else if (moves) begin
      open <= req_valid;
      here <= on_it;
      might_drop <= candidate;
      old_tag <= tag;
      old_block <= block;
      old_result <= result;
      dropped <= 1'b0;
      case (req_op)
        3'd0: outcome <= !same ? 2'd0 : pending ? 2'd1 : 2'd2;
        3'd2: outcome <= mine ? 2'd1 : 2'd0;
        3'd3: begin
          outcome <= mine ? 2'd1 : 2'd0;
          dropped <= mine;
        end
        default: begin
          outcome <= !valid ? 2'd0 : pending ? 2'd1 : 2'd2;
          dropped <= valid;
        end
      endcase
      if (req_valid && on_it) begin
        case (req_op)
          3'd0: ;
          3'd1, 3'd4: begin
            valid <= 1'b1;
            pending <= req_op == 3'd1;
            tag <= req_tag;
            block <= req_block;
            owner <= req_owner;
            result <= req_result;
          end
          3'd2: if (mine) begin
            pending <= 1'b0;
            result <= req_result;
          end
          3'd3: if (mine) valid <= 1'b0;
          default: valid <= 1'b0;
        endcase
      end
    end
  end

  always_comb begin
    assert (req_ready == moves);
    assert (probe_valid == valid);
    assert (!valid || (probe_pending == pending && probe_tag == tag && probe_block == block));
    assert (!valid || !pending || probe_owner == owner);
    assert (!valid || pending || probe_result == result);
    // The first candidate is dropped.
    assert (!chooses || !candidate || used_place <= place);
    // Answers.
    assert (rsp_valid == open);
    assert (!open || !here || (rsp_outcome == outcome && rsp_dropped == dropped));
    assert (!open || !here || !dropped || (rsp_tag == old_tag && rsp_block == old_block));
    assert (!open || !here || outcome != 2'd2 || rsp_result == old_result);
    assert (!open || !might_drop || rsp_outcome != 2'd0);
    assert (!open || rsp_dropped || (rsp_tag == '0 && rsp_block == '0));
    assert (!open || rsp_outcome == 2'd2 || rsp_result == '0);
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// vsb against one entry of the table, written down from README.md: any entry, chosen in reset. What
// holds for it holds for all. The hash is an instance of its own, which other proofs are about.
module vsb_properties #(
    parameter ENTRIES = 4,
    parameter HASH_BITS = 5,
    parameter REGISTER_BITS = 3
) (
    input logic                       clk,
    input logic                       rst_n,
    input logic [$clog2(ENTRIES)-1:0] any_place,
    input logic                       req_valid,
    input logic [                1:0] req_op,
    input logic [               31:0] req_value,
    input logic [      HASH_BITS-1:0] req_hash,
    input logic [  REGISTER_BITS-1:0] req_register,
    input logic                       rsp_ready
);
  localparam INDEX = $clog2(ENTRIES);
  logic req_ready, rsp_valid, rsp_found, probe_valid, stage_valid;
  logic [1:0] stage_op;
  logic [HASH_BITS-1:0] rsp_hash, probe_hash, stage_hash, value_hash;
  logic [REGISTER_BITS-1:0] rsp_register, probe_register, stage_register;
  logic [INDEX-1:0] place, used_place;
  vsb #(
      .LANES(1),
      .ENTRIES(ENTRIES),
      .HASH_BITS(HASH_BITS),
      .REGISTER_BITS(REGISTER_BITS)
  ) dut (
      .clk(clk),
      .rst_n(rst_n),
      .req_valid(req_valid),
      .req_ready(req_ready),
      .req_op(req_op),
      .req_value(req_value),
      .req_hash(req_hash),
      .req_register(req_register),
      .probe(place),
      .probe_valid(probe_valid),
      .probe_hash(probe_hash),
      .probe_register(probe_register),
      .used_place(used_place),
      .stage_valid(stage_valid),
      .stage_op(stage_op),
      .stage_hash(stage_hash),
      .stage_register(stage_register),
      .rsp_valid(rsp_valid),
      .rsp_ready(rsp_ready),
      .rsp_hash(rsp_hash),
      .rsp_found(rsp_found),
      .rsp_register(rsp_register)
  );
  h3_hash #(
      .LANES(1),
      .HASH_BITS(HASH_BITS)
  ) hasher (
      .value(req_value),
      .hash (value_hash)
  );

  // The operation behind the hash, and the entry.
  logic second, valid;
  logic [1:0] op;
  logic [HASH_BITS-1:0] op_hash, hash;
  logic [REGISTER_BITS-1:0] op_register, register;
  // The answer: expected, if the operation was on this entry.
  logic third, here, before, drops, found;
  logic [HASH_BITS-1:0] answer_hash;
  logic [REGISTER_BITS-1:0] old;
  logic [INDEX-1:0] dropped;

  logic moves, on_it;
  assign moves = !third || rsp_ready;
  assign on_it = op == 2'd3 ? used_place == place && valid : op_hash[INDEX-1:0] == place;
  always_ff @(posedge clk) begin
    if (!rst_n) begin
      place <= any_place;
      {second, third, valid} <= 3'd0;
    end else if (moves) begin
      second <= req_valid;
      op <= req_op;
      op_hash <= req_op == 2'd0 ? value_hash : req_hash;
      op_register <= req_register;
      third <= second;
      answer_hash <= op_hash;
      before <= valid;
      drops <= op == 2'd3;
      dropped <= used_place;
      here <= on_it;
      found <= valid && (op != 2'd0 || hash == op_hash);
      old <= register;
      if (second && on_it) begin
        if (op == 2'd1) begin
          valid <= 1'b1;
          hash <= op_hash;
          register <= op_register;
        end else if (op != 2'd0) valid <= 1'b0;
      end
    end
  end

  always_comb begin
    // State, stage by stage.
    assert (req_ready == moves);
    assert (stage_valid == second);
    assert (!second || (stage_op == op && stage_hash == op_hash && stage_register == op_register));
    assert (probe_valid == valid);
    assert (!valid || (probe_hash == hash && probe_register == register));
    assert (!valid || hash[INDEX-1:0] == place);
    // Answers.
    assert (rsp_valid == third);
    assert (!third || rsp_hash == answer_hash);
    assert (!third || !here || (rsp_found == found && (!found || rsp_register == old)));
    assert (!third || rsp_found || rsp_register == '0);
    // The first valid entry is dropped, if there is one.
    assert (!third || !drops || !before || (rsp_found && dropped <= place));
    assert (!third || !drops || before || !(rsp_found && dropped == place));
  end
endmodule

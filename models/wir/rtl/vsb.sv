// SPDX-License-Identifier: Apache-2.0
// WIR's value signature buffer with its hash (section V-A), in two stages as in section VII-E: hash, table. It takes an
// operation a cycle. Pins: README.md.
module vsb #(
    parameter LANES = 32,
    parameter ENTRIES = 256,
    parameter HASH_BITS = 32,
    parameter REGISTER_BITS = 10
) (
    input  logic                     clk,
    input  logic                     rst_n,
    input  logic                     req_valid,
    output logic                     req_ready,
    input  logic [              1:0] req_op,
    input  logic [     32*LANES-1:0] req_value,
    input  logic [    HASH_BITS-1:0] req_hash,
    input  logic [REGISTER_BITS-1:0] req_register,
`ifdef FORMAL
    input  logic [$clog2(ENTRIES)-1:0] probe,
    output logic                       probe_valid,
    output logic [      HASH_BITS-1:0] probe_hash,
    output logic [  REGISTER_BITS-1:0] probe_register,
    output logic [$clog2(ENTRIES)-1:0] used_place,
    output logic                       stage_valid,
    output logic [                1:0] stage_op,
    output logic [      HASH_BITS-1:0] stage_hash,
    output logic [  REGISTER_BITS-1:0] stage_register,
`endif
    output logic                     rsp_valid,
    input  logic                     rsp_ready,
    output logic [    HASH_BITS-1:0] rsp_hash,
    output logic                     rsp_found,
    output logic [REGISTER_BITS-1:0] rsp_register
);
  // One enable for both stages: an answer that waits holds everything.
  logic advance;
  assign advance   = !rsp_valid || rsp_ready;
  assign req_ready = advance;

  logic [HASH_BITS-1:0] hash;
  h3_hash #(
      .LANES(LANES),
      .HASH_BITS(HASH_BITS)
  ) hasher (
      .value(req_value),
      .hash (hash)
  );

  logic held;
  logic [1:0] held_op;
  logic [HASH_BITS-1:0] held_hash;
  logic [REGISTER_BITS-1:0] held_register;
  always_ff @(posedge clk) begin
    if (!rst_n) held <= 1'b0;
    else if (advance) held <= req_valid;
  end
  always_ff @(posedge clk) begin
    if (advance) begin
      held_op <= req_op;
      held_hash <= req_op == 2'd0 ? hash : req_hash;
      held_register <= req_register;
    end
  end

  logic found;
  logic [REGISTER_BITS-1:0] old_register;
  vsb_table #(
      .ENTRIES(ENTRIES),
      .HASH_BITS(HASH_BITS),
      .REGISTER_BITS(REGISTER_BITS)
  ) entries (
      .clk(clk),
      .rst_n(rst_n),
      .enable(held && advance),
      .op(held_op),
      .hash(held_hash),
      .new_register(held_register),
`ifdef FORMAL
      .probe(probe),
      .probe_valid(probe_valid),
      .probe_hash(probe_hash),
      .probe_register(probe_register),
      .used_place(used_place),
`endif
      .found(found),
      .old_register(old_register)
  );

  always_ff @(posedge clk) begin
    if (!rst_n) rsp_valid <= 1'b0;
    else if (advance) rsp_valid <= held;
  end
  always_ff @(posedge clk) begin
    if (advance) begin
      rsp_hash <= held_hash;
      rsp_found <= found;
      rsp_register <= old_register;
    end
  end

`ifdef FORMAL
  assign stage_valid = held;
  assign stage_op = held_op;
  assign stage_hash = held_hash;
  assign stage_register = held_register;
`endif
endmodule

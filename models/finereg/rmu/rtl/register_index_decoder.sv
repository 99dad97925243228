// SPDX-License-Identifier: Apache-2.0
// The register index decoder of FineReg (MICRO 2018, section V-C): the live registers of a warp as a union of bit
// vectors, their number, and one after the other, lowest first. An operation is answered one edge later.
module register_index_decoder (
    input  logic        clk,
    input  logic        rst_n,
    input  logic        req_valid,
    output logic        req_ready,
    input  logic [ 3:0] req_op,
    input  logic [63:0] req_set,
    input  logic [63:0] req_vector,
    input  logic [ 5:0] req_register,
    output logic        rsp_valid,
    input  logic        rsp_ready,
    output logic        rsp_ok,        // the set of the answer has registers
    output logic [63:0] rsp_vector,    // that set
    output logic [ 6:0] rsp_count,     // how many
    output logic [ 5:0] rsp_register   // the lowest
);
  localparam [3:0] JOIN = 4'd0, LOAD = 4'd1, NEXT = 4'd2, REMOVE = 4'd3;

  logic [63:0] working, set, removed;  // working: what is still to be decoded of a warp
  logic accepted, any;
  logic [6:0] count;
  logic [5:0] lowest;
  assign req_ready = !rsp_valid || rsp_ready;
  assign accepted  = req_valid && req_ready;
  assign removed   = 64'd1 << req_register;
  always_comb begin
    case (req_op)
      JOIN: set = req_set | req_vector;
      LOAD: set = req_set;
      NEXT: set = working;
      REMOVE: set = working & ~removed;
      default: set = '0;
    endcase
  end
  population_count counter (
      .set  (set),
      .count(count)
  );
  lowest_set #(
      .WIDTH(64)
  ) encoder (
      .set(set),
      .any(any),
      .lowest(lowest)
  );

  always_ff @(posedge clk) begin
    if (!rst_n) working <= '0;
    else if (accepted && (req_op == LOAD || req_op == REMOVE)) working <= set;
  end
  always_ff @(posedge clk) begin
    if (!rst_n) rsp_valid <= 1'b0;
    else if (req_ready) rsp_valid <= req_valid;
    if (accepted) begin
      rsp_ok <= any;
      rsp_vector <= set;
      rsp_count <= count;
      rsp_register <= lowest;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// The pins of a staging bank of 2 lines by the pin protocol, with any requests: an answer stays as it is until it is
// taken, and there is one per request.
module bank_pins_properties (
    input logic       clk,
    input logic       req_valid,
    input logic [2:0] req_op,
    input logic       req_line,
    input logic       req_warp,
    input logic       req_register,
    input logic [2:0] req_flags,
    input logic       rsp_ready
);
  logic running;
  always_ff @(posedge clk) running <= 1'b1;

  logic req_ready, rsp_valid, rsp_found, rsp_line, rsp_lost, rsp_warp, rsp_register;
  logic [1:0] rsp_list;
  osu_bank #(
      .LINES(2),
      .WARP_BITS(1),
      .REGISTER_BITS(1)
  ) bank (
      .clk(clk), .rst_n(running), .req_valid(req_valid), .req_ready(req_ready), .req_op(req_op), .req_line(req_line),
      .req_warp(req_warp), .req_register(req_register), .req_flags(req_flags), .rsp_valid(rsp_valid),
      .rsp_ready(rsp_ready), .rsp_found(rsp_found), .rsp_line(rsp_line), .rsp_list(rsp_list), .rsp_lost(rsp_lost),
      .rsp_warp(rsp_warp), .rsp_register(rsp_register)
  );

  logic full, waited;
  logic [6:0] answer, answer_before;
  assign answer = {rsp_found, rsp_line, rsp_list, rsp_lost, rsp_warp, rsp_register};
  always_ff @(posedge clk) begin
    full <= running && (req_valid && (!full || rsp_ready) || full && !rsp_ready);
    waited <= running && full && !rsp_ready;
    answer_before <= answer;
  end

  always_comb begin
    if (running) begin
      assert (rsp_valid == full);
      assert (req_ready == (!full || rsp_ready));
      assert (!waited || (full && answer == answer_before));
    end
  end
endmodule

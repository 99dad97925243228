// SPDX-License-Identifier: Apache-2.0
// A block with state for tests of direct transactors and checkpoints: the sum of all requests, a memory of the last 256.
module toy_sum (
    input  logic        clk,
    input  logic        rst_n,
    input  logic        req_valid,
    output logic        req_ready,
    input  logic [31:0] req_word,
    output logic        rsp_valid,
    input  logic        rsp_ready,
    output logic [31:0] rsp_word
);
  logic [31:0] sum;
  logic [255:0][31:0] last;
  logic [7:0] next;
  assign req_ready = !rsp_valid || rsp_ready;

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      rsp_valid <= 1'b0;
      sum <= '0;
      next <= '0;
      last <= '0;
    end else if (req_ready) begin
      rsp_valid <= req_valid;
      if (req_valid) begin
        sum <= sum + req_word;
        last[next] <= req_word;
        next <= next + 8'd1;
        rsp_word <= sum + req_word - last[next];
      end
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// A block for tests of the transactor: three times the request, plus one, LATENCY cycles later. The enable of the whole
// pipeline stalls while an answer waits; a shift register refuses requests in some cycles.
module toy #(
    parameter LATENCY = 3
) (
    input  logic        clk,
    input  logic        rst_n,
    input  logic        req_valid,
    output logic        req_ready,
    input  logic [31:0] req_word,
    output logic        rsp_valid,
    input  logic        rsp_ready,
    output logic [31:0] rsp_word
);
  logic [LATENCY-1:0] valid;
  logic [32*LATENCY-1:0] words;
  logic [7:0] noise;
  logic enable;
  assign enable = !rsp_valid || rsp_ready;
  assign req_ready = enable && noise[1:0] != 2'd0;
  assign rsp_valid = valid[LATENCY-1];
  assign rsp_word = words[32*LATENCY-1-:32];

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      valid <= '0;
      noise <= 8'h5a;
    end else begin
      noise <= {noise[6:0], noise[7] ^ noise[5] ^ noise[4] ^ noise[3]};
      if (enable) begin
        valid <= {valid[LATENCY-2:0], req_valid && req_ready};
        words <= {words[32*LATENCY-33:0], req_word * 32'd3 + 32'd1};
      end
    end
  end
endmodule

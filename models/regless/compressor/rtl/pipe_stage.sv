// SPDX-License-Identifier: Apache-2.0
// A register between two valid/ready channels. It takes a word when it is empty, or when its own word leaves: a pipeline
// of them closes its bubbles and stalls stage by stage.
module pipe_stage #(
    parameter WIDTH = 1
) (
    input  logic             clk,
    input  logic             rst_n,
    input  logic             in_valid,
    output logic             in_ready,
    input  logic [WIDTH-1:0] in_data,
    output logic             out_valid,
    input  logic             out_ready,
    output logic [WIDTH-1:0] out_data
);
  assign in_ready = !out_valid || out_ready;

  always_ff @(posedge clk) begin
    if (!rst_n) out_valid <= 1'b0;
    else if (in_ready) out_valid <= in_valid;
  end

  always_ff @(posedge clk) begin
`ifdef BUG_PIPE_OVERWRITE
    if (in_valid) out_data <= in_data;
`else
    if (in_valid && in_ready) out_data <= in_data;
`endif
  end
endmodule

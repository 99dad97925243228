// SPDX-License-Identifier: Apache-2.0
// pipe_stage against a register and a flag written down as the pin protocol says it: what is taken stays until it leaves.
module pipe_properties (
    input logic       clk,
    input logic       rst_n,
    input logic       in_valid,
    input logic [3:0] in_data,
    input logic       out_ready
);
  logic in_ready, out_valid;
  logic [3:0] out_data;
  pipe_stage #(
      .WIDTH(4)
  ) stage (
      .clk(clk),
      .rst_n(rst_n),
      .in_valid(in_valid),
      .in_ready(in_ready),
      .in_data(in_data),
      .out_valid(out_valid),
      .out_ready(out_ready),
      .out_data(out_data)
  );

  logic full;
  logic [3:0] word;
  always_ff @(posedge clk) begin
    if (!rst_n) full <= 1'b0;
    else if (full) full <= !out_ready || in_valid;
    else full <= in_valid;
    if (in_valid && !(full && !out_ready)) word <= in_data;
  end

  always_comb begin
    assert (out_valid == full);
    assert (!full || out_data == word);
    assert (in_ready == (!full || out_ready));
  end
endmodule

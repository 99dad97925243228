// SPDX-License-Identifier: Apache-2.0
// The expander of RegLess's compressor (MICRO 2017, section 5.3), pipelined: a warp register a cycle, LATENCY cycles
// after its slot. Pins: README.md.
module compressor_expander #(
    parameter LATENCY = 2
) (
    input  logic          clk,
    input  logic          rst_n,
    input  logic          req_valid,
    output logic          req_ready,
    input  logic [   2:0] req_pattern,
    input  logic [  63:0] req_slot,
    output logic          rsp_valid,
    input  logic          rsp_ready,
    output logic [1023:0] rsp_lanes
);
  logic [31:0] first, second;
  logic [1:0] stride;
  expander_bases bases (
      .pattern(req_pattern),
      .slot   (req_slot),
      .first  (first),
      .second (second),
      .stride (stride)
  );

  // Bases and stride wait in all registers but the last: they are narrower than the lanes.
  localparam STAGES = LATENCY - 1;
  logic [STAGES:0] valid, ready;
  logic [66*STAGES+65:0] word;
  assign valid[0] = req_valid;
  assign req_ready = ready[0];
  assign word[65:0] = {stride, second, first};
  genvar i;
  generate
    for (i = 0; i < STAGES; i = i + 1) begin : before_adders
      pipe_stage #(
          .WIDTH(66)
      ) stage (
          .clk(clk),
          .rst_n(rst_n),
          .in_valid(valid[i]),
          .in_ready(ready[i]),
          .in_data(word[66*i+:66]),
          .out_valid(valid[i+1]),
          .out_ready(ready[i+1]),
          .out_data(word[66*i+66+:66])
      );
    end
  endgenerate

  logic [1023:0] lanes;
  expander_adders adders (
      .first (word[66*STAGES+:32]),
      .second(word[66*STAGES+32+:32]),
      .stride(word[66*STAGES+64+:2]),
      .lanes (lanes)
  );
  pipe_stage #(
      .WIDTH(1024)
  ) last (
      .clk(clk),
      .rst_n(rst_n),
      .in_valid(valid[STAGES]),
      .in_ready(ready[STAGES]),
      .in_data(lanes),
      .out_valid(rsp_valid),
      .out_ready(rsp_ready),
      .out_data(rsp_lanes)
  );
endmodule

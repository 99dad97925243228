// SPDX-License-Identifier: Apache-2.0
// The pattern matcher of RegLess's compressor (MICRO 2017, section 5.3), pipelined: a warp register a cycle, answered
// LATENCY cycles later. Pins: README.md.
module compressor_matcher #(
    parameter LATENCY = 2
) (
    input  logic          clk,
    input  logic          rst_n,
    input  logic          req_valid,
    output logic          req_ready,
    input  logic [1023:0] req_lanes,
    output logic          rsp_valid,
    input  logic          rsp_ready,
    output logic [   2:0] rsp_pattern,
    output logic [  63:0] rsp_slot
);
  logic [2:0] low, high, middle;
  matcher_compare compare (
      .lanes (req_lanes),
      .low   (low),
      .high  (high),
      .middle(middle)
  );

  // Flags and bases, behind the first register if there are two stages or more.
  logic [72:0] flags_in, flags;
  logic flags_valid, flags_ready;
  assign flags_in = {low, high, middle, req_lanes[543:512], req_lanes[31:0]};
  generate
    if (LATENCY > 1) begin : split
      pipe_stage #(
          .WIDTH(73)
      ) stage (
          .clk(clk),
          .rst_n(rst_n),
          .in_valid(req_valid),
          .in_ready(req_ready),
          .in_data(flags_in),
          .out_valid(flags_valid),
          .out_ready(flags_ready),
          .out_data(flags)
      );
    end else begin : joined
      assign flags = flags_in;
      assign flags_valid = req_valid;
      assign req_ready = flags_ready;
    end
  endgenerate

  logic [ 2:0] pattern;
  logic [63:0] slot;
  matcher_select select (
      .low    (flags[72:70]),
      .high   (flags[69:67]),
      .middle (flags[66:64]),
      .first  (flags[31:0]),
      .second (flags[63:32]),
      .pattern(pattern),
      .slot   (slot)
  );

  // The last register, and more of them for a longer latency.
  localparam STAGES = LATENCY > 1 ? LATENCY - 1 : 1;
  logic [STAGES:0] valid, ready;
  logic [67*STAGES+66:0] word;
  assign valid[0] = flags_valid;
  assign flags_ready = ready[0];
  assign word[66:0] = {pattern, slot};
  genvar i;
  generate
    for (i = 0; i < STAGES; i = i + 1) begin : after
      pipe_stage #(
          .WIDTH(67)
      ) stage (
          .clk(clk),
          .rst_n(rst_n),
          .in_valid(valid[i]),
          .in_ready(ready[i]),
          .in_data(word[67*i+:67]),
          .out_valid(valid[i+1]),
          .out_ready(ready[i+1]),
          .out_data(word[67*i+67+:67])
      );
    end
  endgenerate
  assign ready[STAGES] = rsp_ready;
  assign rsp_valid = valid[STAGES];
  assign {rsp_pattern, rsp_slot} = word[67*STAGES+:67];
endmodule

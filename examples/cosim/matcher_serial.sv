// SPDX-License-Identifier: Apache-2.0
// A pattern matcher for RegLess's compressor that is not pipelined: LANES lanes per cycle, so 32 / LANES cycles per
// value. It has LANES subtractors where compressor_matcher has 31, and takes no request while it works.
module matcher_serial #(
    parameter LANES = 16  // 16, 8, 4 or 2
) (
    input  logic          clk,
    input  logic          rst_n,
    input  logic          req_valid,
    output logic          req_ready,
    input  logic [1023:0] req_lanes,    // lane i in bits 32 i + 31 to 32 i
    output logic          rsp_valid,
    input  logic          rsp_ready,
    output logic [   2:0] rsp_pattern,
    output logic [  63:0] rsp_slot
);
  localparam BEATS = 32 / LANES;
  localparam BITS = $clog2(BEATS);

  // The beat of this cycle. 0: no value is inside; the first beat is the cycle of the request.
  logic [BITS-1:0] beat;
  logic start, step, last;
  assign req_ready = beat == 0 && (!rsp_valid || rsp_ready);
  assign start = req_valid && req_ready;
  assign step = start || beat != 0;
  assign last = &beat;

  // Lanes of this beat, lanes still to come, and the last lane of the beat before.
  logic [32*LANES-1:0] now;
  logic [1023-32*LANES:0] rest;
  logic [31:0] previous;
  assign now = start ? req_lanes[32*LANES-1:0] : rest[32*LANES-1:0];

  // Differences between neighbours, each compared with the strides 0, 1 and 4. The one at place 0 is the seam to the
  // beat before.
  logic [LANES-1:0] is0, is1, is4;
  genvar i;
  generate
    for (i = 0; i < LANES; i = i + 1) begin : gap
      logic [31:0] left, difference;
      if (i == 0) begin : seam_gap
        assign left = previous;
      end else begin : inner_gap
        assign left = now[32*i-32+:32];
      end
      assign difference = now[32*i+:32] - left;
      assign is0[i] = difference == 32'd0;
      assign is1[i] = difference == 32'd1;
      assign is4[i] = difference == 32'd4;
    end
  endgenerate
  logic [2:0] inner, seam;
  assign inner = {&is4[LANES-1:1], &is1[LANES-1:1], &is0[LANES-1:1]};
  assign seam = {is4[0], is1[0], is0[0]};

  // Flags of lanes 0-15, of lanes 16-31 and of the step between them: as they were, and with this beat.
  logic [2:0] low, high, middle, low_now, high_now, middle_now;
  logic [31:0] first, second, second_now;
  logic upper, upper_first;  // a beat of lanes 16-31; the first of them
  assign upper = beat[BITS-1];
`ifdef BUG_WIDTH
  assign upper_first = upper && (beat << 1) == 0;  // 0 has 32 bits, so the shift drops none
`else
  assign upper_first = beat == BEATS[BITS:1];
`endif
  always_comb begin
    low_now = low;
    high_now = high;
    middle_now = middle;
    second_now = second;
    if (start) low_now = inner;
    else if (!upper) low_now = low & inner & seam;
    else if (upper_first) begin
      high_now = inner;
      middle_now = seam;
      second_now = now[31:0];
    end else high_now = high & inner & seam;
  end

  // The answer, as compressor_matcher has it.
  logic [2:0] halves, pattern;
  assign halves = low_now & high_now;
  always_comb begin
    pattern = 3'd0;
    if (halves[0] && middle_now[0]) pattern = 3'd1;
    if (halves[1]) pattern = middle_now[1] ? 3'd2 : 3'd4;
    if (halves[2]) pattern = middle_now[2] ? 3'd3 : 3'd5;
  end

  always_ff @(posedge clk) begin
    if (!rst_n) beat <= '0;
    else if (step) beat <= beat + 1'b1;  // 0 again after the last
    if (!rst_n) rsp_valid <= 1'b0;
    else if (last) rsp_valid <= 1'b1;
    else if (rsp_ready) rsp_valid <= 1'b0;
  end

  always_ff @(posedge clk) begin
    if (step) begin
      rest <= start ? req_lanes[1023:32*LANES] : rest >> 32 * LANES;
      previous <= now[32*LANES-1-:32];
      low <= low_now;
      high <= high_now;
      middle <= middle_now;
      second <= second_now;
    end
    if (start) first <= now[31:0];
    if (last) begin
      rsp_pattern <= pattern;
      rsp_slot <= {pattern >= 3'd4 ? second_now : 32'd0, pattern != 3'd0 ? first : 32'd0};
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// The compression unit behind the pin protocol: a whole register comes at once and is delivered to the unit as its SIMD
// unit would, a sub-wavefront a cycle. Pins: README.md.
module compression_top (
    input  logic          clk,
    input  logic          rst_n,
    input  logic          req_valid,
    output logic          req_ready,
    input  logic [   2:0] req_beats,
    input  logic [2047:0] req_components,
    output logic          rsp_valid,
    input  logic          rsp_ready,
    output logic          rsp_compressible,
    output logic [  31:0] rsp_base,
    output logic [   2:0] rsp_element,
    output logic [   2:0] rsp_block,
    output logic [   2:0] rsp_beats
);
  logic active, over, start, ct_write;
  logic [1:0] place;
  logic [31:0] ct_base;
  logic [2:0] ct_element, ct_block;
  logic [2047:0] rest;  // what the SIMD unit has still to deliver, the next sub-wavefront in the low bits
  compression_unit unit (
      .clk(clk),
      .rst_n(rst_n),
      .start(start),
      .beats(req_beats),
      .beat(active),
      .components(rest[511:0]),
      .active(active),
      .over(over),
      .place(place),
      .ct_write(ct_write),
      .ct_base(ct_base),
      .ct_element(ct_element),
      .ct_block(ct_block)
  );

  assign req_ready = !active && (!rsp_valid || rsp_ready);
  assign start = req_valid && req_ready;
  always_ff @(posedge clk) begin
    if (start) rest <= req_components;
    else if (active) rest <= {512'd0, rest[2047:512]};
  end

  always_ff @(posedge clk) begin
    if (!rst_n) rsp_valid <= 1'b0;
    else if (over) rsp_valid <= 1'b1;
    else if (rsp_ready) rsp_valid <= 1'b0;
    if (over) begin
      rsp_beats <= {1'b0, place} + 3'd1;
      rsp_compressible <= ct_write;
      rsp_base <= ct_base;
      rsp_element <= ct_element;
      rsp_block <= ct_block;
    end
  end

`ifdef FORMAL
  // The request that was taken last, and the edges since then until its answer.
  logic [2047:0] taken;
  logic [2:0] beats;
  logic [2:0] edges;
  logic open, waited;
  logic [41:0] answer, waiting;
  assign answer = {rsp_compressible, rsp_base, rsp_element, rsp_block, rsp_beats};
  always_ff @(posedge clk) begin
    if (start) {taken, beats} <= {req_components, req_beats};
    if (start) edges <= 3'd1;
    else if (!rsp_valid) edges <= edges + 3'd1;
    if (!rst_n) open <= 1'b0;
    else if (start) open <= 1'b1;
    else if (rsp_valid && rsp_ready) open <= 1'b0;
    waited <= rst_n && rsp_valid && !rsp_ready;
    waiting <= answer;
  end
  always_comb begin
    assume (!req_valid || req_beats == 3'd2 || req_beats == 3'd3 || req_beats == 3'd4);
    // One answer per request, which stands as it is until it is taken.
    assert (!(active && rsp_valid) && open == (active || rsp_valid));
    assert (!waited || (rsp_valid && answer == waiting));
    // One edge, and one for each sub-wavefront that was worked on.
    if (active) assert (edges == {1'b0, place} + 3'd1);
    if (rsp_valid) assert (edges == rsp_beats + 3'd1);
    // The unit sees the request, sub-wavefront by sub-wavefront.
    if (active) assert (rest == taken >> {place, 9'd0});
  end
`endif
endmodule

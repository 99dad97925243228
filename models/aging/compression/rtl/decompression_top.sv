// SPDX-License-Identifier: Apache-2.0
// The decompression unit behind the pin protocol: a table entry comes, a sub-wavefront a cycle is decompressed, and the
// whole register leaves. Pins: README.md.
module decompression_top (
    input  logic          clk,
    input  logic          rst_n,
    input  logic          req_valid,
    output logic          req_ready,
    input  logic [   2:0] req_beats,
    input  logic [  31:0] req_base,
    input  logic [   2:0] req_element,
    input  logic [   2:0] req_block,
    output logic          rsp_valid,
    input  logic          rsp_ready,
    output logic [2047:0] rsp_components
);
  logic start, active;
  logic [2:0] left;  // sub-wavefronts to come
  logic [1:0] beat;
  logic [31:0] base;
  logic [2:0] element, block;
  logic [511:0] components;
  decompression_unit unit (
      .base(base),
      .element(element),
      .block(block),
      .beat(beat),
      .components(components)
  );

  assign active = left != 3'd0;
  assign req_ready = !active && (!rsp_valid || rsp_ready);
  assign start = req_valid && req_ready;
  always_ff @(posedge clk) begin
    if (!rst_n) left <= 3'd0;
    else if (start) left <= req_beats;
    else if (active) left <= left - 3'd1;
    if (!rst_n) rsp_valid <= 1'b0;
    else if (left == 3'd1) rsp_valid <= 1'b1;
    else if (rsp_ready) rsp_valid <= 1'b0;
  end
  always_ff @(posedge clk) begin
    if (start) begin
      {base, element, block} <= {req_base, req_element, req_block};
      beat <= 2'd0;
      rsp_components <= 2048'd0;
    end else if (active) begin
      beat <= beat + 2'd1;
      rsp_components[{beat, 9'd0}+:512] <= components;
    end
  end

`ifdef FORMAL
  // The entry that was taken last, the edges since then until the answer, and what each sub-wavefront has to be.
  logic [37:0] entry;
  logic [2:0] total, edges;
  logic open, waited;
  logic [2047:0] waiting, expected;
  always_ff @(posedge clk) begin
    if (start) {entry, total} <= {req_base, req_element, req_block, req_beats};
    if (start) edges <= 3'd1;
    else if (!rsp_valid) edges <= edges + 3'd1;
    if (!rst_n) open <= 1'b0;
    else if (start) open <= 1'b1;
    else if (rsp_valid && rsp_ready) open <= 1'b0;
    waited <= rst_n && rsp_valid && !rsp_ready;
    waiting <= rsp_components;
  end
  genvar i;
  generate
    for (i = 0; i < 4; i = i + 1) begin : sub_wavefront
      localparam [1:0] BEAT = i;
      logic [511:0] value;
      decompression_unit unit (
          .base(entry[37:6]),
          .element(entry[5:3]),
          .block(entry[2:0]),
          .beat(BEAT),
          .components(value)
      );
      assign expected[512*i+:512] = {1'b0, BEAT} < edges - 3'd1 ? value : 512'd0;
    end
  endgenerate
  always_comb begin
    assume (!req_valid || req_beats == 3'd2 || req_beats == 3'd3 || req_beats == 3'd4);
    assert (!(active && rsp_valid) && open == (active || rsp_valid));
    assert (!waited || (rsp_valid && rsp_components == waiting));
    if (open) begin
      assert (total >= 3'd2 && total <= 3'd4 && edges >= 3'd1 && edges + left == total + 3'd1);
      assert ({base, element, block} == entry && (!active || {1'b0, beat} == edges - 3'd1));
      assert (rsp_components == expected);
    end
  end
`endif
endmodule

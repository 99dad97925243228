// SPDX-License-Identifier: Apache-2.0
// The compression unit (aging-aware register file, section 5.1.1, Figure 8): subtractors, comparators, buffers, control.
// It sees a sub-wavefront a cycle, and has the entry for the compression table in the cycle of the last one.
module compression_unit (
    input  logic         clk,
    input  logic         rst_n,
    input  logic         start,
    input  logic [  2:0] beats,
    input  logic         beat,
    input  logic [511:0] components,
    output logic         active,      // a register is in the unit
    output logic         over,        // this sub-wavefront decides about the register
    output logic [  1:0] place,       // sub-wavefronts of the register before this one
    output logic         ct_write,    // it is compressible: the table is written
    output logic [ 31:0] ct_base,
    output logic [  2:0] ct_element,
    output logic [  2:0] ct_block
);
  logic wen_delta, wen_c, comp_deltas, final_st, wen_ct, compr;
  compression_control control (
      .clk(clk),
      .rst_n(rst_n),
      .start(start),
      .beats(beats),
      .beat(beat),
      .compr(compr),
      .active(active),
      .over(over),
      .place(place),
      .wen_delta(wen_delta),
      .wen_c(wen_c),
      .comp_deltas(comp_deltas),
      .final_st(final_st),
      .wen_ct(wen_ct)
  );

  // The buffers. C_0 is kept with the deltas: the table gets it with the last sub-wavefront.
  logic [31:0] base, component;
  logic [6:0] element_delta, block_delta;
  logic [6:0] element, block;
  deltas_compare compare (
      .components(components),
      .stored_component(component),
      .stored_element(element_delta),
      .stored_block(block_delta),
      .comp_deltas(comp_deltas),
      .compr(compr),
      .element(element),
      .block(block)
  );
  always_ff @(posedge clk) begin
    if (beat && wen_delta) begin
      base <= components[31:0];
      element_delta <= element;
      block_delta <= block;
    end
    if (beat && wen_c) component <= components[287:256];
  end

  // The entry is valid in the last state only, where compr is the verdict.
  assign ct_write = wen_ct && beat && final_st && compr;
  assign ct_base = base;
  delta_encode encode_element (
      .delta(element_delta),
      .code (ct_element)
  );
  delta_encode encode_block (
      .delta(block_delta),
      .code (ct_block)
  );

`ifdef FORMAL
  // The deltas of the first sub-wavefront at full width, its first component, and that of the last block before.
  logic [31:0] first, first_element, first_block, last_first;
  always_ff @(posedge clk) begin
    if (beat && active && !comp_deltas) begin
      first <= components[31:0];
      first_element <= components[63:32] - components[31:0];
      first_block <= components[287:256] - components[31:0];
    end
    if (beat && active) last_first <= components[287:256];
  end
  always_comb begin
    assume (!start || beats == 3'd2 || beats == 3'd3 || beats == 3'd4);
    if (active && comp_deltas) begin
      assert (base == first && component == last_first);
      assert ({25'd0, element_delta} == first_element && {25'd0, block_delta} == first_block);
      assert (first_element == (ct_element == 3'd7 ? 32'd0 : 32'd1 << ct_element));
      assert (first_block == (ct_block == 3'd7 ? 32'd0 : 32'd1 << ct_block));
    end
    assert (!ct_write || over);
    assert (ct_write == (over && compr));
  end
`endif
endmodule

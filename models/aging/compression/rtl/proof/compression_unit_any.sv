// SPDX-License-Identifier: Apache-2.0
// Stands for compression_unit where only registers and pins are proved: the control module with any verdict on a
// sub-wavefront, and any entry.
module compression_unit (
    input  logic         clk,
    input  logic         rst_n,
    input  logic         start,
    input  logic [  2:0] beats,
    input  logic         beat,
    input  logic [511:0] components,
    output logic         active,
    output logic         over,
    output logic [  1:0] place,
    output logic         ct_write,
    output logic [ 31:0] ct_base,
    output logic [  2:0] ct_element,
    output logic [  2:0] ct_block
);
  logic compr, wen_delta, wen_c, comp_deltas, final_st, wen_ct;
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
  assign {compr, ct_base, ct_element, ct_block} = components[38:0];
  assign ct_write = wen_ct && beat && compr;
endmodule

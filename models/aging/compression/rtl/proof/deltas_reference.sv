// SPDX-License-Identifier: Apache-2.0
// The comparison of a sub-wavefront by its meaning, for the proof: each component is predicted from the first one of its
// sub-wavefront, base + block delta + place x element delta, by shifts of a chosen amount. No differences of neighbours.
module deltas_reference (
    input  logic [511:0] components,
    input  logic [ 31:0] stored_component,
    input  logic [  6:0] stored_element,
    input  logic [  6:0] stored_block,
    input  logic         comp_deltas,
    output logic         compr,
    output logic [  2:0] element_code,
    output logic [  2:0] block_code
);
  // Deltas of the sub-wavefront itself: one of eight if it is one, else none.
  logic [31:0] first;
  assign first = components[31:0];
  logic [7:0] is_element, is_block;  // bit 7: zero
  genvar k, i;
  generate
    for (k = 0; k < 7; k = k + 1) begin : delta
      localparam [31:0] POWER = 32'd1 << k;
      assign is_element[k] = comp_deltas ? stored_element == POWER[6:0] : components[63:32] == first + POWER;
      assign is_block[k] = comp_deltas ? stored_block == POWER[6:0] : components[287:256] == first + POWER;
    end
  endgenerate
  assign is_element[7] = comp_deltas ? stored_element == 7'd0 : components[63:32] == first;
  assign is_block[7] = comp_deltas ? stored_block == 7'd0 : components[287:256] == first;

  logic [31:0] element_delta, block_delta;
  assign element_delta = {25'd0, is_element[6:0]};
  assign block_delta = {25'd0, is_block[6:0]};

  logic [15:0] as_predicted;
  generate
    for (i = 0; i < 16; i = i + 1) begin : predict
      localparam [31:0] PLACE = i % 8;
      logic [31:0] offset;
      assign offset = PLACE * element_delta + (i >= 8 ? block_delta : 32'd0);
      assign as_predicted[i] = components[32*i+:32] == first + offset;
    end
  endgenerate
  assign compr = |is_element && |is_block && &as_predicted && (!comp_deltas || first == stored_component + block_delta);
  always_comb begin
    element_code = 3'd0;
    block_code = 3'd0;
    for (int n = 1; n < 8; n = n + 1) begin
      if (compr && is_element[n]) element_code = n[2:0];
      if (compr && is_block[n]) block_code = n[2:0];
    end
  end
endmodule

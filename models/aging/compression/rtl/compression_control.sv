// SPDX-License-Identifier: Apache-2.0
// The control module of the compression unit (aging-aware register file, Figure 9 and Table 1): five states. A register
// of two or three sub-wavefronts leaves out states before the last one.
module compression_control (
    input  logic       clk,
    input  logic       rst_n,
    input  logic       start,        // the SIMD unit begins with a register; its first sub-wavefront is in the next cycle
    input  logic [2:0] beats,        // of it, 2 to 4: with start
    input  logic       beat,         // a sub-wavefront leaves the SIMD unit
    input  logic       compr,        // it goes with those before it
    output logic       active,       // a register is in the unit
    output logic       over,         // this sub-wavefront decides about it
    output logic [1:0] place,       // sub-wavefronts of it before this one
    output logic       wen_delta,
    output logic       wen_c,
    output logic       comp_deltas,
    output logic       final_st,
    output logic       wen_ct
);
  localparam [2:0] IDLE = 3'd0;
  localparam [2:0] DELTAS_0 = 3'd1;
  localparam [2:0] DELTAS_16 = 3'd2;
  localparam [2:0] DELTAS_32 = 3'd3;
  localparam [2:0] DELTAS_48 = 3'd4;

  logic [2:0] state;
  logic [2:0] of_register;  // beats of the register in the unit
  logic [2:0] following, next;
  always_comb begin
    case (state)
      DELTAS_0: following = of_register == 3'd2 ? DELTAS_48 : DELTAS_16;
      DELTAS_16: following = of_register == 3'd3 ? DELTAS_48 : DELTAS_32;
      DELTAS_32: following = DELTAS_48;
      default: following = IDLE;
    endcase
`ifdef BUG_CONTROL_IDLE
    next = compr || state == DELTAS_32 ? following : IDLE;
`else
    next = compr ? following : IDLE;
`endif
  end

  always_ff @(posedge clk) begin
    if (!rst_n) state <= IDLE;
    else if (start) state <= DELTAS_0;
    else if (beat) state <= next;
    if (start) of_register <= beats;
    if (start) place <= 2'd0;
    else if (beat) place <= place + 2'd1;
  end

  assign active = state != IDLE;
  assign over = active && beat && next == IDLE;
  // Table 1.
  assign wen_delta = state == DELTAS_0;
  assign wen_c = state == DELTAS_0 || state == DELTAS_16 || state == DELTAS_32;
  assign comp_deltas = state == DELTAS_16 || state == DELTAS_32 || state == DELTAS_48;
  assign final_st = state == DELTAS_48;
  assign wen_ct = state == DELTAS_48;

`ifdef FORMAL
  // The register as its SIMD unit sees it, which goes on to deliver whatever the verdict.
  logic running, agreed, last;
  logic [2:0] seen, total;
  assign last = seen + 3'd1 == total;
  always_ff @(posedge clk) begin
    if (!rst_n) running <= 1'b0;
    else if (start) running <= 1'b1;
    else if (beat && last) running <= 1'b0;
    if (start) begin
      agreed <= 1'b1;
      seen <= 3'd0;
      total <= beats;
    end else if (beat && running) begin
      agreed <= agreed && compr;
      seen <= seen + 3'd1;
    end
  end
  always_comb begin
    assume (!start || beats == 3'd2 || beats == 3'd3 || beats == 3'd4);
    // What is in the unit.
    if (running) assert (of_register == total && total >= 3'd2 && total <= 3'd4 && seen < total);
    assert (active == (running && agreed));
    if (active) assert ({1'b0, place} == seen);
    assert (state == (!active ? IDLE : last ? DELTAS_48 : seen + 3'd1));
    // The verdict: with the last sub-wavefront, and compressible if all have agreed since the start.
    assert (over == (running && agreed && beat && (last || !compr)));
    assert ((wen_ct && beat && compr) == (running && beat && last && agreed && compr));
    // Signals that never come together, or not without the other.
    assert (!(wen_delta && comp_deltas) && !(wen_c && final_st) && wen_ct == final_st);
    assert (active == (wen_delta || comp_deltas) && active == (wen_c || final_st));
    assert (state <= DELTAS_48);
  end
`endif
endmodule

// SPDX-License-Identifier: Apache-2.0
// Tags and lists of one bank of RegLess's operand staging unit (MICRO 2017, section 5.2): an operation per clock edge.
// Pins: README.md.
module osu_bank #(
    parameter LINES = 16,
    parameter WARP_BITS = 4,
    parameter REGISTER_BITS = 8,
    parameter LINE_BITS = LINES > 1 ? $clog2(LINES) : 1
) (
    input  logic                     clk,
    input  logic                     rst_n,
    input  logic                     req_valid,
    output logic                     req_ready,
    input  logic [              2:0] req_op,
    input  logic [    LINE_BITS-1:0] req_line,
    input  logic [    WARP_BITS-1:0] req_warp,
    input  logic [REGISTER_BITS-1:0] req_register,
    input  logic [              2:0] req_flags,
    output logic                     rsp_valid,
    input  logic                     rsp_ready,
    output logic                     rsp_found,
    output logic [    LINE_BITS-1:0] rsp_line,
    output logic [              1:0] rsp_list,
    output logic                     rsp_lost,
    output logic [    WARP_BITS-1:0] rsp_warp,
    output logic [REGISTER_BITS-1:0] rsp_register
);
  localparam TAG_BITS = WARP_BITS + REGISTER_BITS;

  logic [LINES-1:0] in_free, in_clean, in_dirty, has_tag, is_dirty, is_defined;
  logic [LINES*LINES-1:0] older;
  logic [LINES*TAG_BITS-1:0] tags;
  logic [LINES-1:0] next_free, next_clean, next_dirty, next_has_tag, next_is_dirty, next_is_defined;
  logic [LINES*LINES-1:0] next_older;
  logic [LINES*TAG_BITS-1:0] next_tags;
  logic found, lost;
  logic [LINE_BITS-1:0] found_line;
  logic [1:0] list;
  logic [TAG_BITS-1:0] lost_tag;

  osu_bank_step #(
      .LINES(LINES),
      .WARP_BITS(WARP_BITS),
      .REGISTER_BITS(REGISTER_BITS)
  ) step (
      .in_free(in_free),
      .in_clean(in_clean),
      .in_dirty(in_dirty),
      .older(older),
      .has_tag(has_tag),
      .tags(tags),
      .is_dirty(is_dirty),
      .is_defined(is_defined),
      .op(req_op),
      .line(req_line),
      .tag({req_warp, req_register}),
      .flags(req_flags),
      .next_free(next_free),
      .next_clean(next_clean),
      .next_dirty(next_dirty),
      .next_older(next_older),
      .next_has_tag(next_has_tag),
      .next_tags(next_tags),
      .next_is_dirty(next_is_dirty),
      .next_is_defined(next_is_defined),
      .found(found),
      .found_line(found_line),
      .list(list),
      .lost(lost),
      .lost_tag(lost_tag)
  );

  // At reset all lines are free, in the order of their numbers.
  logic [LINES*LINES-1:0] by_number;
  genvar i;
  generate
    for (i = 0; i < LINES; i = i + 1) begin : start
      assign by_number[i*LINES+:LINES] = (1 << i) - 1;
    end
  endgenerate

  logic takes;
  assign req_ready = !rsp_valid || rsp_ready;
  assign takes = req_valid && req_ready;

  always_ff @(posedge clk) begin
    if (!rst_n) begin
      in_free <= {LINES{1'b1}};
      in_clean <= 0;
      in_dirty <= 0;
      older <= by_number;
      has_tag <= 0;
      is_dirty <= 0;
      is_defined <= 0;
      rsp_valid <= 1'b0;
    end else begin
      if (req_ready) rsp_valid <= req_valid;
      if (takes) begin
        in_free <= next_free;
        in_clean <= next_clean;
        in_dirty <= next_dirty;
        older <= next_older;
        has_tag <= next_has_tag;
        is_dirty <= next_is_dirty;
        is_defined <= next_is_defined;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (takes) begin
      tags <= next_tags;
      rsp_found <= found;
      rsp_line <= found_line;
      rsp_list <= list;
      rsp_lost <= lost;
      {rsp_warp, rsp_register} <= lost_tag;
    end
  end
endmodule

// SPDX-License-Identifier: Apache-2.0
// The table of the value signature buffer: a register per hash, directly indexed by the hash's low bits. An operation
// reads one entry and writes it at the same edge.
module vsb_table #(
    parameter ENTRIES = 256,
    parameter HASH_BITS = 32,
    parameter REGISTER_BITS = 10
) (
    input  logic                     clk,
    input  logic                     rst_n,
    input  logic                     enable,  // the operation takes place at this edge
    input  logic [              1:0] op,      // 0 find, 1 insert, 2 evict, 3 drop the first
    input  logic [    HASH_BITS-1:0] hash,
    input  logic [REGISTER_BITS-1:0] new_register,
`ifdef FORMAL
    input  logic [$clog2(ENTRIES)-1:0] probe,
    output logic                       probe_valid,
    output logic [      HASH_BITS-1:0] probe_hash,
    output logic [  REGISTER_BITS-1:0] probe_register,
    output logic [$clog2(ENTRIES)-1:0] used_place,
`endif
    output logic                     found,
    output logic [REGISTER_BITS-1:0] old_register  // 0 unless found
);
  localparam INDEX = $clog2(ENTRIES);
  localparam [1:0] FIND = 2'd0, INSERT = 2'd1, DROP_FIRST = 2'd3;

  logic [ENTRIES-1:0] valid;
  logic [HASH_BITS-1:0] hashes[0:ENTRIES-1];
  logic [REGISTER_BITS-1:0] registers[0:ENTRIES-1];

  logic [INDEX-1:0] first, place;
  logic any;
  lowest_one #(
      .PLACES(ENTRIES)
  ) first_valid (
      .enable(op == DROP_FIRST),
      .bits(valid),
      .any(any),
      .place(first)
  );
  assign place = op == DROP_FIRST ? first : hash[INDEX-1:0];

  logic same;
`ifdef BUG_VSB_COMPARE
  assign same = hashes[place][HASH_BITS-2:0] == hash[HASH_BITS-2:0];
`else
  assign same = hashes[place] == hash;
`endif
  always_comb begin
    case (op)
      FIND: found = valid[place] && same;
      DROP_FIRST: found = any;
      default: found = valid[place];
    endcase
  end
  assign old_register = found ? registers[place] : '0;

  always_ff @(posedge clk) begin
    if (!rst_n) valid <= '0;
`ifdef BUG_VSB_EVICT
    else if (enable && op != FIND && !(op == DROP_FIRST && &place)) valid[place] <= op == INSERT;
`else
    else if (enable && op != FIND) valid[place] <= op == INSERT;
`endif
  end
  always_ff @(posedge clk) begin
    if (enable && op == INSERT) begin
      hashes[place] <= hash;
      registers[place] <= new_register;
    end
  end

`ifdef FORMAL
  assign probe_valid = valid[probe];
  assign probe_hash = hashes[probe];
  assign probe_register = registers[probe];
  assign used_place = place;
`endif
endmodule

// SPDX-License-Identifier: Apache-2.0
// What an operation on the reuse buffer does to the entry in its place. Combinational.
module reuse_decide (
    input  logic [2:0] op,  // 0 find, 1 claim, 2 complete, 3 abandon, 4 insert, 5 evict, 6 drop a load, 7 drop the first
    // The entry.
    input  logic       valid,
    input  logic       pending,
    input  logic       same_tag,
    input  logic       same_owner,
    output logic [1:0] outcome,       // 0 nothing, 1 pending, 2 result
    output logic       give_tag,      // the entry goes, and its tag is answered
    output logic       give_result,
    // Its next state.
    output logic       next_valid,
    output logic       next_pending,
    output logic       write_tag,     // and owner
    output logic       write_result
);
  localparam [2:0] FIND = 3'd0, CLAIM = 3'd1, COMPLETE = 3'd2, ABANDON = 3'd3, INSERT = 3'd4;

  logic mine, concerned;
`ifdef BUG_REUSE_OWNER
  assign mine = valid && pending && same_tag;
`else
  assign mine = valid && pending && same_tag && same_owner;
`endif
  always_comb begin
    case (op)
      FIND: concerned = valid && same_tag;
      COMPLETE, ABANDON: concerned = mine;
      default: concerned = valid;
    endcase
  end
  assign outcome = !concerned ? 2'd0 : pending ? 2'd1 : 2'd2;
  assign give_tag = concerned && op != FIND && op != COMPLETE;
  assign give_result = outcome == 2'd2;

  assign write_tag = op == CLAIM || op == INSERT;
  assign write_result = op == INSERT || (op == COMPLETE && mine);
  assign next_valid = write_tag || (valid && !give_tag);
`ifdef BUG_REUSE_PENDING
  assign next_pending = op == CLAIM || (pending && !(op == COMPLETE && mine));
`else
  assign next_pending = op == CLAIM || (pending && !write_result);
`endif
endmodule

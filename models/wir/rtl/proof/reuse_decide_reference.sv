// SPDX-License-Identifier: Apache-2.0
// reuse_decide as one case per operation.
module reuse_decide_reference (
    input  logic [2:0] op,
    input  logic       valid,
    input  logic       pending,
    input  logic       same_tag,
    input  logic       same_owner,
    output logic [1:0] outcome,
    output logic       give_tag,
    output logic       give_result,
    output logic       next_valid,
    output logic       next_pending,
    output logic       write_tag,
    output logic       write_result
);
  logic [1:0] state;
  assign state = {valid && !pending, valid && pending};
  always_comb begin
    outcome = 2'd0;
    give_tag = 1'b0;
    next_valid = valid;
    next_pending = pending;
    write_tag = 1'b0;
    write_result = 1'b0;
    case (op)
      3'd0: if (same_tag) outcome = state;
      3'd1: begin
        outcome = state;
        give_tag = valid;
        {next_valid, next_pending, write_tag} = 3'b111;
      end
      3'd2: if (state == 2'd1 && same_tag && same_owner) begin
        outcome = 2'd1;
        next_pending = 1'b0;
        write_result = 1'b1;
      end
      3'd3: if (state == 2'd1 && same_tag && same_owner) begin
        outcome = 2'd1;
        give_tag = 1'b1;
        next_valid = 1'b0;
      end
      3'd4: begin
        outcome = state;
        give_tag = valid;
        {next_valid, next_pending, write_tag, write_result} = 4'b1011;
      end
      default: begin
        outcome = state;
        give_tag = valid;
        next_valid = 1'b0;
      end
    endcase
    give_result = outcome[1];
  end
endmodule

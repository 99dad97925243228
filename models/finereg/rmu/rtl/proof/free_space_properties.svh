// SPDX-License-Identifier: Apache-2.0
// Included by free_space_monitor under FORMAL: the count is that of clear flags, none of them beyond the limit; what is
// taken is the lowest, and an operation changes no other flag.
  logic started;
  initial started = 1'b0;
  logic [ENTRIES-1:0] before;
  logic [3:0] op;
  logic [ENTRY:0] index;
  always_ff @(posedge clk) begin
    started <= 1'b1;
    if (accepted) begin
      before <= taken;
      op <= req_op;
      index <= req_index;
    end
  end
  // What the page asks of a request.
  always_comb begin
    assume (started || !rst_n);
    assume (req_op != GIVE_BACK || req_index < ENTRIES);
    assume (req_op != LIMIT || req_index <= ENTRIES);
  end

  logic [ENTRY:0] clear;
  logic lower_free, free_before;
  always_comb begin
    clear = '0;
    lower_free = 1'b0;
    free_before = 1'b0;
    for (int i = 0; i < ENTRIES; i = i + 1) begin
      if (!taken[i] && i < limit) clear = clear + 1;
      if (!before[i] && i < rsp_entry) lower_free = 1'b1;
      if (!before[i]) free_before = 1'b1;
    end
  end
  genvar i;
  generate
    for (i = 0; i < ENTRIES; i = i + 1) begin : flag
      always_comb begin
        if (started && i >= limit) assert (taken[i]);
        if (started && rsp_valid && op != LIMIT) begin
          assert (taken[i] == ((op == TAKE && rsp_ok && rsp_entry == i) || (before[i] && !(op == GIVE_BACK && rsp_ok && index == i))));
        end
        if (started && rsp_valid && op == LIMIT) assert (taken[i] == (i >= index));
      end
    end
  endgenerate
  always_comb begin
    if (started) begin
      assert (free == clear);
      assert (limit <= ENTRIES);
      if (rsp_valid) begin
        assert (rsp_count == free);
        if (op == TAKE) assert (rsp_ok == free_before);
        if (op == TAKE && rsp_ok) assert (!before[rsp_entry] && !lower_free);
        if (op == GIVE_BACK) assert (rsp_ok == (before[index[ENTRY-1:0]] && index < limit));
      end
    end
  end

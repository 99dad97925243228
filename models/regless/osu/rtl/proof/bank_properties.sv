// SPDX-License-Identifier: Apache-2.0
// A bank of 4 lines and 8 tags beside bank_reference, with any operations. The relation between the two states is
// inductive, so it holds for ever: together with the equal results it says that lines leave a list in the order in which
// they came, that lists have no cycle, and that their counters are right.
module bank_properties (
    input logic       clk,
    input logic [2:0] op,
    input logic [1:0] line,
    input logic [2:0] tag,
    input logic [2:0] flags
);
  logic running;
  always_ff @(posedge clk) running <= 1'b1;

  logic [3:0] in_free, in_clean, in_dirty, has_tag, is_dirty, is_defined;
  logic [15:0] older;
  logic [11:0] tags;
  logic [3:0] next_free, next_clean, next_dirty, next_has_tag, next_is_dirty, next_is_defined;
  logic [15:0] next_older;
  logic [11:0] next_tags;
  logic found, lost;
  logic [1:0] found_line, list;
  logic [2:0] lost_tag;
  osu_bank_step #(
      .LINES(4),
      .WARP_BITS(1),
      .REGISTER_BITS(2)
  ) step (
      .in_free(in_free), .in_clean(in_clean), .in_dirty(in_dirty), .older(older), .has_tag(has_tag), .tags(tags),
      .is_dirty(is_dirty), .is_defined(is_defined), .op(op), .line(line), .tag(tag), .flags(flags),
      .next_free(next_free), .next_clean(next_clean), .next_dirty(next_dirty), .next_older(next_older),
      .next_has_tag(next_has_tag), .next_tags(next_tags), .next_is_dirty(next_is_dirty),
      .next_is_defined(next_is_defined), .found(found), .found_line(found_line), .list(list), .lost(lost),
      .lost_tag(lost_tag)
  );
  always_ff @(posedge clk) begin
    in_free <= running ? next_free : 4'b1111;
    in_clean <= running ? next_clean : 4'b0000;
    in_dirty <= running ? next_dirty : 4'b0000;
    older <= running ? next_older : 16'b0111_0011_0001_0000;
    has_tag <= running ? next_has_tag : 4'b0000;
    is_dirty <= running ? next_is_dirty : 4'b0000;
    is_defined <= running ? next_is_defined : 4'b0000;
    tags <= next_tags;
  end

  logic r_found, r_lost;
  logic [1:0] r_found_line, r_list;
  logic [2:0] r_lost_tag;
  logic [7:0] place, next, previous, head, tail, table_known;
  logic [11:0] count;
  logic [15:0] table_line;
  logic [3:0] r_is_dirty, r_is_defined;
  bank_reference reference (
      .clk(clk), .running(running), .op(op), .line(line), .tag(tag), .flags(flags), .found(r_found),
      .found_line(r_found_line), .list(r_list), .lost(r_lost), .lost_tag(r_lost_tag), .place(place), .next(next),
      .previous(previous), .head(head), .tail(tail), .count(count), .table_known(table_known),
      .table_line(table_line), .is_dirty(r_is_dirty), .is_defined(r_is_defined)
  );

  // The results are equal.
  always_comb begin
    if (running) begin
      assert (found == r_found);
      assert (found_line == r_found_line);
      assert (list == r_list);
      assert (lost == r_lost);
      assert (lost_tag == r_lost_tag);
    end
  end

  // A line is in one list or owned; a free line has no tag; the list of a listed line fits its dirty bit.
  always_comb begin
    if (running) begin
      assert ((in_free & in_clean) == 0 && (in_free & in_dirty) == 0 && (in_clean & in_dirty) == 0);
      assert ((in_free & has_tag) == 0);
      assert ((in_clean & is_dirty) == 0 && (in_dirty & ~is_dirty) == 0);
      assert (is_dirty == r_is_dirty && is_defined == r_is_defined);
    end
  end

  // Lists: `members` of list l, by the matrix and by the links.
  logic [3:0] members;
  logic between;
  integer i, j, k, l, n;
  always_comb begin
    members = 0;
    between = 0;
    {i, j, k, l, n} = 0;
    if (running) begin
      for (i = 0; i < 4; i = i + 1) begin
        assert (!older[4*i+i]);
        for (j = 0; j < 4; j = j + 1) begin
          if (i != j) assert (older[4*i+j] != older[4*j+i]);
          for (k = 0; k < 4; k = k + 1) begin
            if (older[4*i+j] && older[4*j+k]) assert (older[4*i+k]);
          end
        end
      end
      for (l = 1; l < 4; l = l + 1) begin
        members = l == 1 ? in_free : l == 2 ? in_clean : in_dirty;
        n = 0;
        for (i = 0; i < 4; i = i + 1) begin
          assert (members[i] == (place[2*i+:2] == l));
          if (members[i]) n = n + 1;
          if (members[i] && (members & older[4*i+:4]) == 0) assert (head[2*l+:2] == i);
          if (members[i] && (members & ~older[4*i+:4] & ~(1 << i)) == 0) assert (tail[2*l+:2] == i);
          for (j = 0; j < 4; j = j + 1) begin
            // i came directly before j.
            between = 0;
            for (k = 0; k < 4; k = k + 1) between = between || (members[k] && older[4*k+i] && older[4*j+k]);
            if (members[i] && members[j] && older[4*j+i] && !between) begin
              assert (next[2*i+:2] == j);
              assert (previous[2*j+:2] == i);
            end
          end
        end
        assert (count[3*l+:3] == n);
      end
    end
  end

  // Tags: at most one line has a tag, the one that the table leads to.
  integer a, b;
  always_comb begin
    {a, b} = 0;
    if (running) begin
      for (a = 0; a < 4; a = a + 1) begin
        if (has_tag[a]) assert (table_known[tags[3*a+:3]] && table_line[2*tags[3*a+:3]+:2] == a);
        for (b = 0; b < 4; b = b + 1) begin
          if (a != b && has_tag[a] && has_tag[b]) assert (tags[3*a+:3] != tags[3*b+:3]);
        end
      end
      for (b = 0; b < 8; b = b + 1) begin
        if (table_known[b]) assert (has_tag[table_line[2*b+:2]] && tags[3*table_line[2*b+:2]+:3] == b);
      end
    end
  end
endmodule

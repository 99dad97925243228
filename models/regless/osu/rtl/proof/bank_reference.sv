// SPDX-License-Identifier: Apache-2.0
// A bank of 4 lines as the model has it, for the proof: three doubly linked lists with heads, tails and counters, and
// the line of each tag in a table. The state is visible. Operations: README.md.
module bank_reference (
    input  logic       clk,
    input  logic       running,     // 0: as after reset
    input  logic [2:0] op,
    input  logic [1:0] line,
    input  logic [2:0] tag,
    input  logic [2:0] flags,
    output logic       found,
    output logic [1:0] found_line,
    output logic [1:0] list,
    output logic       lost,
    output logic [2:0] lost_tag,
    output logic [7:0] place,       // 2 bits per line: 0 owned, 1 free, 2 clean, 3 dirty
    output logic [7:0] next,        // 2 bits per line, of listed lines that are not the last
    output logic [7:0] previous,
    output logic [7:0] head,        // 2 bits per list, 0 to 3; of lists that are not empty
    output logic [7:0] tail,
    output logic [11:0] count,      // 3 bits per list
    output logic [7:0] table_known, // by tag
    output logic [15:0] table_line, // 2 bits per tag
    output logic [3:0] is_dirty,
    output logic [3:0] is_defined
);
  // What happens: `unlink` a line from its list, `link` it behind another list.
  logic unlink, link;
  logic [1:0] subject, from, to;
  logic has_tag;
  logic [2:0] its_tag;
  integer t;
  always_comb begin
    found = 0;
    found_line = 0;
    list = 0;
    lost = 0;
    lost_tag = 0;
    unlink = 0;
    link = 0;
    subject = line;
    to = 0;
    if (op == 0 && table_known[tag]) begin
      found = 1;
      found_line = table_line[2*tag+:2];
      list = place[2*found_line+:2];
    end
    if (op == 1 && !table_known[tag]) begin
      if (flags[2] && count[3*3+:3] != 0) list = 3;
      if (flags[1] && count[3*2+:3] != 0) list = 2;
      if (flags[0] && count[3*1+:3] != 0) list = 1;
      if (list != 0) begin
        found = 1;
        found_line = head[2*list+:2];
        subject = found_line;
        unlink = 1;
      end
    end
    // The tag of the line: that of the table's entry which leads to it.
    has_tag = 0;
    its_tag = 0;
    for (t = 0; t < 8; t = t + 1) begin
      if (table_known[t] && table_line[2*t+:2] == subject) begin
        has_tag = 1;
        its_tag = t[2:0];
      end
    end
    if (op == 1 && found && has_tag) begin
      lost = 1;
      lost_tag = its_tag;
    end
    from = place[2*subject+:2];
    if (op == 2 || op == 5 || op == 6) list = from;
    if (op == 2) unlink = from != 0;
    if (op == 3) to = flags[0] || !is_defined[line] ? 1 : is_dirty[line] ? 3 : 2;
    if (op == 4) to = 1;
    if (op == 6 && from[1]) to = flags[0] ? 3 : 2;
    if (op == 3 || op == 4 || (op == 6 && from[1] && to != from)) begin
      link = 1;
      unlink = from != 0;
      list = to;
      // What is last there once the line is out of its list.
      if (from == to && tail[2*to+:2] == line) begin
        found = count[3*to+:3] > 1;
        found_line = found ? previous[2*line+:2] : 0;
      end else begin
        found = count[3*to+:3] != 0;
        found_line = found ? tail[2*to+:2] : 0;
      end
    end
  end

  logic [7:0] heads, tails, nexts, previouses, places;
  logic [11:0] counts;
  logic [1:0] p, n;
  logic is_head, is_tail;
  always_comb begin
    heads = head;
    tails = tail;
    nexts = next;
    previouses = previous;
    places = place;
    counts = count;
    p = previous[2*subject+:2];
    n = next[2*subject+:2];
    is_head = head[2*from+:2] == subject;
    is_tail = tail[2*from+:2] == subject;
    if (unlink) begin
      if (is_head) heads[2*from+:2] = n;
      else nexts[2*p+:2] = n;
      if (is_tail) tails[2*from+:2] = p;
      else previouses[2*n+:2] = p;
      counts[3*from+:3] = counts[3*from+:3] - 3'd1;
      places[2*subject+:2] = 2'd0;
    end
    if (link) begin
      if (counts[3*to+:3] == 0) begin
        heads[2*to+:2] = subject;
      end else begin
        nexts[2*tails[2*to+:2]+:2] = subject;
        previouses[2*subject+:2] = tails[2*to+:2];
      end
      tails[2*to+:2] = subject;
      counts[3*to+:3] = counts[3*to+:3] + 3'd1;
      places[2*subject+:2] = to;
    end
  end

  always_ff @(posedge clk) begin
    if (!running) begin
      place <= 8'b01010101;
      next <= {2'd0, 2'd3, 2'd2, 2'd1};
      previous <= {2'd2, 2'd1, 2'd0, 2'd0};
      head <= 0;
      tail <= {2'd0, 2'd0, 2'd3, 2'd0};
      count <= {3'd0, 3'd0, 3'd4, 3'd0};
      table_known <= 0;
      is_dirty <= 0;
      is_defined <= 0;
    end else begin
      place <= places;
      next <= nexts;
      previous <= previouses;
      head <= heads;
      tail <= tails;
      count <= counts;
      if (has_tag && ((op == 1 && found) || op == 4 || op == 5 || (op == 3 && to == 1))) table_known[its_tag] <= 0;
      if (op == 1 && found) begin
        table_known[tag] <= 1;
        table_line[2*tag+:2] <= subject;
        is_dirty[subject] <= 0;
        is_defined[subject] <= 0;
      end
      if (op == 6) begin
        is_dirty[line] <= flags[0];
        is_defined[line] <= flags[1];
      end
    end
  end
endmodule

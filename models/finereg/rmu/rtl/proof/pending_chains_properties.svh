// SPDX-License-Identifier: Apache-2.0
// Included by pending_chains under FORMAL. Each entry gets an owner and a position when it is appended. What is asserted
// of them: every chain has its registers at the positions from the first to the last, once each, linked in this order;
// no entry is in two chains; a chain of n registers ends after n steps.
  logic [CTA-1:0] owner[0:ENTRIES-1];
  logic [ENTRY:0] position[0:ENTRIES-1];
  logic [ENTRY:0] walked_total, dropped_total;
  logic [CTA-1:0] dropped_cta;
  logic dropped_open;  // it had no end yet
  logic started;
  initial started = 1'b0;
  logic after_drop;
  always_ff @(posedge clk) begin
    started <= 1'b1;
    after_drop <= rst_n && accepted && drops;
    if (accepted && appends) begin
      owner[req_entry] <= made_cta;
      position[req_entry] <= made_count;
    end
    if (accepted && walks) walked_total <= count;
    if (accepted && drops) begin
      dropped_cta <= req_cta;
      dropped_total <= made_drop ? made_count : walked_drop ? walked_total : count;
      dropped_open <= made_drop;
    end
  end
  always_comb assume (started || !rst_n);

  // The chain of each CTA: positions low to total - 1, and the entry at low.
  logic [CTAS-1:0] open;
  logic [CTAS*(ENTRY+1)-1:0] low, total;
  logic [CTAS*ENTRY-1:0] front;
  genvar c, e, f;
  generate
    for (c = 0; c < CTAS; c = c + 1) begin : chain
      logic made_here, walked_here, dropped_here;
      assign made_here = making && made_cta == c;
      assign walked_here = walking && walked_cta == c;
      assign dropped_here = dropping && dropped_cta == c;
      logic [ENTRY:0] l, t;
      logic [ENTRY-1:0] at_front;
      assign t = made_here ? made_count : walked_here ? walked_total : dropped_here ? dropped_total :
          present[c] ? pointers[c][2*ENTRY:ENTRY] : NONE;
      assign l = made_here ? NONE : walked_here ? walked_total - walked_left :
          dropped_here ? dropped_total - dropped_left : NONE;
      assign at_front = made_here ? made_first : walked_here ? walked_entry : dropped_here ? dropped_entry :
          pointers[c][ENTRY-1:0];
      assign open[c] = made_here || (dropped_here && dropped_open);
      assign total[(ENTRY+1)*c+:ENTRY+1] = t;
      assign low[(ENTRY+1)*c+:ENTRY+1] = l;
      assign front[ENTRY*c+:ENTRY] = at_front;
      always_comb begin
        if (started) begin
          assert (l <= t && t <= ENTRIES);
          if (l != t) assert (used[at_front] && owner[at_front] == c && position[at_front] == l);
          // One place for a CTA's chain at a time. That of a walk keeps its pointer until it is returned.
          assert (!(made_here && (walked_here || dropped_here || present[c])));
          assert (!(dropped_here && (walked_here || present[c])));
          if (present[c]) assert (pointers[c][2*ENTRY:ENTRY] != NONE);
          if (walked_here) assert (walked_total == (present[c] ? pointers[c][2*ENTRY:ENTRY] : NONE));
        end
      end
    end
    for (e = 0; e < ENTRIES; e = e + 1) begin : entry
      logic [ENTRY:0] l, t, p;
      assign l = low[(ENTRY+1)*owner[e]+:ENTRY+1];
      assign t = total[(ENTRY+1)*owner[e]+:ENTRY+1];
      assign p = position[e];
      always_comb begin
        if (started && used[e]) begin
          assert (l <= p && p < t);
          if (p + ONE < t) begin
            assert (used[nexts[e]] && owner[nexts[e]] == owner[e] && position[nexts[e]] == p + ONE);
          end
          assert (ends[e] == (!open[owner[e]] && p + ONE == t));
        end
      end
      for (f = 0; f < e; f = f + 1) begin : other
        always_comb begin
          if (started && used[e] && used[f]) assert (owner[e] != owner[f] || position[e] != position[f]);
        end
      end
    end
  endgenerate
  always_comb begin
    if (started) begin
      if (making && made_count != NONE) begin
        assert (used[made_last] && owner[made_last] == made_cta && position[made_last] == made_count - ONE);
      end
      if (walking) assert (walked_left <= walked_total);
      if (dropping) assert (dropped_left != NONE && dropped_left <= dropped_total && used[dropped_entry]);
      // Nothing of a CTA is left by a drop but what it clears now.
      if (after_drop) begin
        assert (!(making && made_cta == dropped_cta) && !(walking && walked_cta == dropped_cta) && !present[dropped_cta]);
      end
      // A step finds a register, with the end at the last one.
      if (accepted && steps) assert (tag[ENTRY+WARP+REG+1] && tag[ENTRY+WARP+REG] == (walked_left == ONE));
    end
  end

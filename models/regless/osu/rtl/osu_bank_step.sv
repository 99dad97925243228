// SPDX-License-Identifier: Apache-2.0
// One operation on the state of a bank: its result and the state after it. Operations, flags and results: README.md.
// A line is in one list (free, clean, dirty), or in none: then it is owned.
module osu_bank_step #(
    parameter LINES = 16,
    parameter WARP_BITS = 4,
    parameter REGISTER_BITS = 8,
    parameter LINE_BITS = LINES > 1 ? $clog2(LINES) : 1,
    parameter TAG_BITS = WARP_BITS + REGISTER_BITS
) (
    input  logic [         LINES-1:0] in_free,
    input  logic [         LINES-1:0] in_clean,
    input  logic [         LINES-1:0] in_dirty,
    input  logic [   LINES*LINES-1:0] older,
    input  logic [         LINES-1:0] has_tag,
    input  logic [LINES*TAG_BITS-1:0] tags,
    input  logic [         LINES-1:0] is_dirty,
    input  logic [         LINES-1:0] is_defined,
    input  logic [               2:0] op,
    input  logic [     LINE_BITS-1:0] line,
    input  logic [      TAG_BITS-1:0] tag,
    input  logic [               2:0] flags,
    output logic [         LINES-1:0] next_free,
    output logic [         LINES-1:0] next_clean,
    output logic [         LINES-1:0] next_dirty,
    output logic [   LINES*LINES-1:0] next_older,
    output logic [         LINES-1:0] next_has_tag,
    output logic [LINES*TAG_BITS-1:0] next_tags,
    output logic [         LINES-1:0] next_is_dirty,
    output logic [         LINES-1:0] next_is_defined,
    output logic                      found,
    output logic [     LINE_BITS-1:0] found_line,
    output logic [               1:0] list,
    output logic                      lost,
    output logic [      TAG_BITS-1:0] lost_tag
);
  localparam [2:0] LOOK_UP = 0, ALLOCATE = 1, OWN = 2, RELEASE = 3, FREE = 4, FORGET = 5, MARK = 6;
  localparam [1:0] OWNED = 0, FREE_LIST = 1, CLEAN_LIST = 2, DIRTY_LIST = 3;

  logic is_look_up, is_allocate, is_own, is_release, is_free, is_forget, is_mark;
  assign is_look_up  = op == LOOK_UP;
  assign is_allocate = op == ALLOCATE;
  assign is_own      = op == OWN;
  assign is_release  = op == RELEASE;
  assign is_free     = op == FREE;
  assign is_forget   = op == FORGET;
  assign is_mark     = op == MARK;

  logic [LINES-1:0] match;
  osu_tag_match #(
      .LINES(LINES),
      .TAG_BITS(TAG_BITS)
  ) matcher (
      .has_tag(has_tag),
      .tags  (tags),
      .wanted(tag),
      .match (match)
  );

  // The line that the operation is about: the one that it names, or the one that has its tag.
  logic [LINES-1:0] named, subject;
  genvar i;
  generate
    for (i = 0; i < LINES; i = i + 1) begin : decode
      assign named[i] = line == i[LINE_BITS-1:0];
    end
  endgenerate
  assign subject = is_look_up || is_allocate ? match : named;

  logic was_free, was_clean, was_dirty, was_defined, held_dirty;
  assign was_free    = (subject & in_free) != 0;
  assign was_clean   = (subject & in_clean) != 0;
  assign was_dirty   = (subject & in_dirty) != 0;
  assign was_defined = (subject & is_defined) != 0;
  assign held_dirty  = (subject & is_dirty) != 0;

  // The list that a line is taken from or goes to.
  logic to_free, from_free, from_clean, from_dirty;
  logic [1:0] chosen;
  assign to_free    = is_free || flags[0] || !was_defined;
  assign from_free  = flags[0] && in_free != 0;
  assign from_clean = flags[1] && in_clean != 0;
  assign from_dirty = flags[2] && in_dirty != 0;
  always_comb begin
    chosen = OWNED;
    if (is_allocate && match == 0) begin
      if (from_free) chosen = FREE_LIST;
      else if (from_clean) chosen = CLEAN_LIST;
      else if (from_dirty) chosen = DIRTY_LIST;
    end
    if (is_release || is_free) chosen = to_free ? FREE_LIST : held_dirty ? DIRTY_LIST : CLEAN_LIST;
    // A listed line follows its dirty bit.
    if (is_mark && was_clean && flags[0]) chosen = DIRTY_LIST;
    if (is_mark && was_dirty && !flags[0]) chosen = CLEAN_LIST;
  end

  logic [LINES-1:0] members, first, last;
  always_comb begin
    case (chosen)
      FREE_LIST:  members = in_free;
      CLEAN_LIST: members = in_clean;
      DIRTY_LIST: members = in_dirty;
      default:    members = 0;
    endcase
    if (!is_allocate) members = members & ~named;
  end
  osu_list_ends #(
      .LINES(LINES)
  ) ends (
      .members(members),
      .older (older),
      .first  (first),
      .last   (last)
  );

  // What changes: lines that leave their list, that come into one, whose tag goes.
  logic [LINES-1:0] taken, leaves, comes, untagged;
  assign taken  = is_allocate ? first : 0;
  assign comes  = !is_allocate && chosen != OWNED ? named : 0;
  assign leaves = taken | comes | (is_own ? named : 0);
`ifdef BUG_BANK_ERASE
  // A line that is erased keeps its tag.
  assign untagged = is_free || is_forget ? named : 0;
`else
  assign untagged = is_free || is_forget || (is_release && to_free) ? named : 0;
`endif
  assign next_free = (in_free & ~leaves) | (chosen == FREE_LIST ? comes : 0);
  assign next_clean = (in_clean & ~leaves) | (chosen == CLEAN_LIST ? comes : 0);
  assign next_dirty = (in_dirty & ~leaves) | (chosen == DIRTY_LIST ? comes : 0);
  assign next_has_tag = (has_tag & ~untagged) | taken;
  generate
    for (i = 0; i < LINES; i = i + 1) begin : tag_of
      assign next_tags[i*TAG_BITS+:TAG_BITS] = taken[i] ? tag : tags[i*TAG_BITS+:TAG_BITS];
    end
  endgenerate
  assign next_is_dirty   = is_mark ? (flags[0] ? is_dirty | named : is_dirty & ~named) : is_dirty & ~taken;
  assign next_is_defined = is_mark ? (flags[1] ? is_defined | named : is_defined & ~named) : is_defined & ~taken;
  osu_order #(
      .LINES(LINES)
  ) order (
      .older(older),
      .comes(comes),
      .next_older(next_older)
  );

  // The result.
  logic [LINES-1:0] shown;
  assign shown = is_look_up ? match : is_allocate ? first : last;
  assign found = shown != 0;
  assign lost  = (taken & has_tag) != 0;
  integer n;
  always_comb begin
    found_line = 0;
    lost_tag   = 0;
    for (n = 0; n < LINES; n = n + 1) begin
      if (shown[n]) found_line = found_line | n[LINE_BITS-1:0];
      if (taken[n] && has_tag[n]) lost_tag = lost_tag | tags[n*TAG_BITS+:TAG_BITS];
    end
    list = chosen;
    if (is_look_up || is_own || is_forget || (is_mark && chosen == OWNED)) begin
      list = was_free ? FREE_LIST : was_clean ? CLEAN_LIST : was_dirty ? DIRTY_LIST : OWNED;
    end
  end
endmodule

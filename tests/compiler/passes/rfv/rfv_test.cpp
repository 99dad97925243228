// SPDX-License-Identifier: Apache-2.0
//
// RFV's release points: known answers, all states of a few lanes in small programs, and random walks and emulated paths
// of warps that lose every released value.
#include <regatta/emulator/emulator.h>
#include <regatta/passes/rfv.h>
#include <regatta/test/catch.h>
#include <regatta/trace/section_registry.h>
#include <regatta/trace/warp_stream.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../hand_code.h"
#include "../random_kernel.h"
#include "../simt_lanes.h"
#include "rfv_warp.h"

using namespace regatta;
using passes::RfvPlan;
using test::HandCode;
using test::SimtLanes;
using trace::RfvRegisters;
using Warp = test::RfvWarp;

namespace {

struct Planned {
  trace::Kernel kernel;  ///< without annotations
  RfvPlan plan;

  trace::Kernel annotated() const {
    trace::Kernel k = kernel;
    passes::add_rfv(k, plan);
    return k;
  }
  /// "3:R1 5:R0,R2 b2:R4": released by instruction 3, ..., and where block 2 starts.
  std::string releases() const {
    std::string text;
    const auto add = [&](const std::string& place, RfvRegisters registers) {
      if (registers != 0) text += (text.empty() ? "" : " ") + place + ":" + trace::rfv_text(registers);
    };
    for (std::size_t b = 0; b < kernel.blocks.size(); ++b) {
      add("b" + std::to_string(b), plan.releases.at_block[b]);
      for (std::uint32_t i = 0; i < kernel.blocks[b].count; ++i)
        add(std::to_string(kernel.blocks[b].first + i), plan.releases.at_operand[kernel.blocks[b].first + i]);
    }
    return text;
  }
  /// Flags the slot of instruction `index` that has this register alone.
  void flag(std::uint32_t index, unsigned reg) {
    const auto slots = trace::use_slots_of(kernel.instructions[index]);
    for (unsigned s = 0; s < slots.size(); ++s) {
      if (!trace::is_source(slots[s]) || trace::registers_of(slots[s]) != RfvRegisters{1} << reg) continue;
      plan.releases.flags[index] = static_cast<std::uint8_t>(plan.releases.flags[index] | 1u << s);
      plan.releases.at_operand[index] |= RfvRegisters{1} << reg;
    }
  }
};

Planned plan(const ir::Function& f, unsigned table = 0) {
  analysis::FunctionAnalyses analyses(f);
  Planned p;
  p.kernel = ir::to_trace(f, analyses.reconvergence().immediate(), 32);
  p.plan = passes::plan_rfv(p.kernel, analyses, passes::RfvOptions{table});
  return p;
}

Planned plan(HandCode& c, unsigned table = 0) {
  ir::build_edges(c.f);
  return plan(c.f, table);
}

/// What `regatta-trace verify` says, "" if nothing.
std::string verify(const trace::Kernel& kernel) {
  const trace::SectionRegistry sections = trace::SectionRegistry::with_builtin();
  const trace::SectionFormat* format = sections.of_scheme(trace::rfv_scheme);
  REQUIRE(format != nullptr);
  try {
    format->validate(kernel);
    format->verify(kernel);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

/// Goes through all states of some lanes: every subset takes each branch, in both orders of its sides. What lanes may
/// read is found anew, from each place where a lane is. For programs whose only guards are those of branches and exits.
class AllStates {
 public:
  AllStates(const Planned& p, std::uint32_t lanes, std::size_t limit) : p_(p), lanes_(lanes), limit_(limit) {
    find_live();
    needed_at.assign(p.kernel.blocks.size(), 0);
    needed_behind.assign(p.kernel.instructions.size(), 0);
    owned_at.assign(p.kernel.blocks.size(), 0);
  }

  /// False when there are too many states.
  bool run() {
    visit({SimtLanes(lanes_), p_.plan.section.exempt | p_.plan.section.at_start});
    while (!work_.empty()) {
      if (seen_.size() > limit_) return false;
      const State s = work_.back();
      work_.pop_back();
      pass(s);
    }
    return true;
  }

  std::string early;  ///< the first release of a value that a lane may read later
  unsigned most = 0;  ///< registers of the warp
  std::size_t reached() const { return seen_.size(); }
  /// Over all states: what lanes may read, at the start of each block behind its releases and behind each instruction,
  /// and what the warp has at the start of the block.
  std::vector<RfvRegisters> needed_at, needed_behind, owned_at;

 private:
  using State = std::pair<SimtLanes, RfvRegisters>;

  void find_live() {
    const auto& code = p_.kernel.instructions;
    live_.assign(code.size() + 1, 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t n = code.size(); n-- > 0;) {
        const trace::StaticInstruction& i = code[n];
        const bool leaves = i.op_class == trace::OpClass::branch || i.op_class == trace::OpClass::exit;
        RfvRegisters behind = 0;
        if (i.branch_target >= 0) behind |= live_[static_cast<std::size_t>(i.branch_target)];
        if (!leaves || i.guard.predicate >= 0) behind |= live_[n + 1];
        const RfvRegisters before = trace::read_by(i) | (behind & ~trace::written_by(i));
        changed = changed || before != live_[n];
        live_[n] = before;
      }
    }
  }

  void visit(State s) {
    if (s.first.done() || !seen_.insert(s).second) return;
    work_.push_back(std::move(s));
  }

  void pass(const State& s) {
    const trace::BasicBlock& block = p_.kernel.blocks[s.first.block()];
    RfvRegisters waiting = 0;
    for (const std::uint32_t b : s.first.waiting()) waiting |= live_[p_.kernel.blocks[b].first];
    const std::string name = "block " + std::to_string(s.first.block());
    RfvRegisters owned = s.second;
    const RfvRegisters needed = live_[block.first] | waiting;
    needed_at[s.first.block()] |= needed;
    release(owned, p_.plan.releases.at_block[s.first.block()], needed, name);
    owned_at[s.first.block()] |= owned;
    for (std::uint32_t n = block.first; n < block.first + block.count; ++n) {
      const trace::StaticInstruction& i = p_.kernel.instructions[n];
      if ((trace::read_by(i) & ~owned) != 0 && early.empty()) early = "instruction " + std::to_string(n) + " reads";
      owned |= trace::written_by(i);
      most = std::max(most, static_cast<unsigned>(__builtin_popcountll(owned)));
      // What is behind the last instruction is asked where its lanes go.
      if (n + 1 == block.first + block.count) {
        owned &= ~p_.plan.releases.at_operand[n];
        continue;
      }
      needed_behind[n] |= live_[n + 1] | waiting;
      release(owned, p_.plan.releases.at_operand[n], live_[n + 1] | waiting, "instruction " + std::to_string(n));
    }
    const trace::StaticInstruction& last = p_.kernel.instructions[block.first + block.count - 1];
    const bool leaves = last.op_class == trace::OpClass::branch || last.op_class == trace::OpClass::exit;
    const std::uint32_t lanes = s.first.lanes();
    for (std::uint32_t taken = lanes;; taken = (taken - 1) & lanes) {
      const bool possible = !leaves ? taken == 0 : last.guard.predicate >= 0 || taken == lanes;
      for (const bool first : {false, true}) {
        if (!possible) continue;
        State next{s.first, owned};
        next.first.leave(p_.kernel, taken, first);
        visit(std::move(next));
      }
      if (taken == 0) break;
    }
  }

  void release(RfvRegisters& owned, RfvRegisters released, RfvRegisters needed, const std::string& place) {
    if ((released & owned & needed) != 0 && early.empty())
      early = place + " releases " + trace::rfv_text(released & owned & needed);
    owned &= ~released;
  }

  const Planned& p_;
  const std::uint32_t lanes_;
  const std::size_t limit_;
  std::vector<RfvRegisters> live_;  ///< per instruction: what a lane may read that goes on there
  std::set<State> seen_;
  std::vector<State> work_;
};

std::string early_in_all_states(const Planned& p) {
  AllStates all(p, 3, 20000);
  REQUIRE(all.run());
  CHECK((!all.early.empty() || all.most <= p.plan.section.most));
  return all.early;
}

/// A walk of a warp of eight lanes. Predicates get a random value in each lane where they are written; the sides of a
/// branch run in a random order.
Warp walk(std::mt19937& random, const Planned& p, std::uint32_t most_instructions) {
  constexpr std::uint32_t lanes = 0xff;
  std::array<std::uint32_t, trace::max_predicates> predicate{};
  for (std::uint32_t& value : predicate) value = random() & lanes;
  Warp warp(p.kernel, p.plan.section, p.plan.releases);
  SimtLanes simt(lanes);
  std::uint32_t steps = 0;
  while (!simt.done() && steps < most_instructions && warp.wrong().empty()) {
    const trace::BasicBlock& block = p.kernel.blocks[simt.block()];
    std::uint32_t taken = 0;
    for (std::uint32_t n = block.first; n < block.first + block.count; ++n, ++steps) {
      const trace::StaticInstruction& i = p.kernel.instructions[n];
      std::uint32_t active = simt.lanes();
      if (i.guard.predicate >= 0) {
        const std::uint32_t on = predicate[static_cast<std::size_t>(i.guard.predicate)];
        active &= i.guard.negated ? ~on : on;
      }
      warp.step(n, active);
      for (unsigned d = 0; d < i.destination_predicate_count; ++d) {
        std::uint32_t& value = predicate[i.destination_predicates[d]];
        value = (value & ~active) | (static_cast<std::uint32_t>(random()) & active);
      }
      if (i.op_class == trace::OpClass::branch || i.op_class == trace::OpClass::exit) taken = active;
    }
    simt.leave(p.kernel, taken, random() % 2 == 0);
  }
  return warp;
}

std::string early_in_walks(const Planned& p) {
  std::mt19937 random(5);
  for (unsigned n = 0; n < 200; ++n)
    if (const Warp warp = walk(random, p, 200); !warp.wrong().empty()) return warp.wrong();
  return "";
}

void check_right(const Planned& p) {
  CHECK(verify(p.annotated()) == "");
  CHECK(early_in_all_states(p) == "");
  CHECK(early_in_walks(p) == "");
}

}  // namespace

TEST_CASE("straight code: each value is released by the instruction that reads it last") {
  HandCode c;
  c.op({0}, {});
  c.op({1}, {0});
  c.op({2}, {0, 1});
  c.op({0}, {2});
  c.op({0}, {0});  // in place
  c.op({}, {0, 2});
  c.exit();
  const Planned p = plan(c);
  CHECK(p.releases() == "2:R0 R1 5:R0 R2");
  CHECK(p.plan.section.most == 3);
  CHECK(p.plan.section.at_start == 0);
  CHECK(p.plan.flagged == 4);
  CHECK(p.plan.unflagged == 0);
  check_right(p);
  const trace::Kernel kernel = p.annotated();
  Planned early = p;
  early.flag(1, 0);
  CHECK(verify(early.annotated()) == "rfv: instruction 2 reads R0, which is released on a path to it");
  CHECK(early_in_all_states(early) == "instruction 1 releases R0");
  CHECK(early_in_walks(early) == "instruction 2 reads a released R0");
  REQUIRE(kernel.inserted.size() == 1);
  CHECK(kernel.inserted[0].instruction.opcode == "pir");
  CHECK(trace::rfv_word_text(kernel.inserted[0].instruction.operands[0].value) == "flags --- --- 01- --- --- 01-");
}

TEST_CASE("a register that is read before it is written is there from the start") {
  HandCode c;
  c.op({1}, {0});
  c.op({}, {1});
  c.exit();
  const Planned p = plan(c);
  CHECK(p.plan.section.at_start == 1);
  CHECK(p.releases() == "0:R0 1:R1");
  CHECK(p.plan.section.most == 2);
  check_right(p);
}

namespace {

/// R3 is written before a branch and read on one side of it.
HandCode one_sided() {
  HandCode c;
  c.op({0}, {});
  c.op({3}, {});
  c.compare(0);
  c.branch(2, true);  // 3
  c.block();
  c.op({1}, {3});  // 4
  c.op({0}, {1});
  c.block();
  c.op({}, {0});  // 6
  c.exit();
  return c;
}

}  // namespace

TEST_CASE("a branch: what one side reads last is released where the sides meet") {
  SECTION("one side only, and lanes that pass it by") {
    HandCode c = one_sided();
    // No lane needs R3 where the sides meet, nor on another side: there is none.
    Planned p = plan(c);
    CHECK(p.releases() == "4:R3 5:R1 b2:R3 6:R0");
    check_right(p);
  }
  SECTION("both sides read it") {
    HandCode c;
    c.op({0}, {});
    c.op({3}, {});
    c.compare(0);
    c.branch(2, true);  // 3
    c.block();
    c.op({0}, {3});  // 4
    c.branch(3, false);
    c.block();
    c.op({0}, {3});  // 6
    c.block();
    c.op({}, {0});  // 7
    c.exit();
    Planned p = plan(c);
    CHECK(p.releases() == "2:R0 b3:R3 7:R0");
    CHECK(p.plan.section.most == 2);
    check_right(p);
    // Right for a single lane on either path, wrong for the lanes of the side that runs second.
    p.flag(4, 3);
    CHECK(verify(p.annotated()) == "");
    CHECK(early_in_all_states(p) == "instruction 4 releases R3");
    CHECK(early_in_walks(p) == "instruction 6 reads a released R3");
  }
}

TEST_CASE("a loop releases nothing that lives around its back edge") {
  HandCode c;
  c.op({0}, {});
  c.op({1}, {});
  c.block();
  c.op({2}, {0});  // 2
  c.op({1}, {1, 2});
  c.compare(1);
  c.branch(1, true);
  c.block();
  c.op({}, {1});  // 6
  c.exit();
  Planned p = plan(c);
  CHECK(p.releases() == "3:R2 b2:R0 6:R1");
  CHECK(p.plan.section.most == 3);
  check_right(p);
  p.flag(2, 0);
  CHECK(verify(p.annotated()) == "rfv: instruction 2 reads R0, which is released on a path to it");
  CHECK(early_in_all_states(p) == "instruction 2 releases R0");
  CHECK(early_in_walks(p) == "instruction 2 reads a released R0");
}

TEST_CASE("a value that leaves a loop is kept for the lanes that left it first") {
  HandCode c;
  c.op({0}, {});
  c.op({1}, {});
  c.block();
  c.op({1}, {0});  // 2: a full definition, but not of the lanes that wait behind the loop
  c.op({2}, {1});
  c.compare(2);
  c.branch(1, true);
  c.block();
  c.op({}, {1});  // 6
  c.exit();
  Planned p = plan(c);
  CHECK(p.releases() == "4:R2 b2:R0 6:R1");
  CHECK(p.plan.section.most == 3);
  check_right(p);
}

TEST_CASE("a guarded definition does not end the old value") {
  HandCode c;
  c.op({0}, {});
  c.compare(0);
  c.op({1}, {0});
  HandCode::under(c.op({1}, {0}));  // 3: reads R0 last
  c.op({}, {1});
  c.exit();
  const Planned p = plan(c);
  CHECK(p.releases() == "3:R0 4:R1");
  CHECK(early_in_walks(p) == "");
  CHECK(verify(p.annotated()) == "");
  // Read under the guard, too: lanes without it keep the old value, which the end of the block reads.
  HandCode d;
  d.op({0}, {});
  d.compare(0);
  d.op({1}, {0});
  HandCode::under(d.op({}, {1}));
  HandCode::under(d.op({1}, {0}));
  d.op({}, {1});
  d.exit();
  const Planned q = plan(d);
  CHECK(q.releases() == "4:R0 5:R1");
  CHECK(early_in_walks(q) == "");
}

TEST_CASE("nested divergence: released where no lane of any level waits for the value") {
  HandCode c;
  c.op({0}, {});
  c.op({3}, {});
  c.op({4}, {});
  c.compare(0);
  c.branch(4, true);  // 4
  c.block();          // 1
  c.op({1}, {4});     // 5: lanes on the other outer side read R3 only
  c.compare(1);
  c.branch(3, true);  // 7
  c.block();          // 2
  c.op({0}, {3});     // 8
  c.block();          // 3
  c.op({0}, {0});     // 9
  c.branch(5, false);
  c.block();       // 4
  c.op({0}, {3});  // 11
  c.block();       // 5
  c.op({}, {0});   // 12
  c.exit();
  const Planned p = plan(c);
  CHECK(p.releases() == "5:R4 6:R1 b5:R3 R4 12:R0");
  check_right(p);
}

TEST_CASE("pairs, dead results and operands without a slot") {
  HandCode c;
  c.op({4}, {}, 2);
  c.op({6}, {4}, 2);  // 1: R5 lives on
  c.op({8}, {5});     // 2
  c.op({}, {6}, 2);   // 3
  c.op({}, {8});      // 4
  c.op({2}, {});      // 5: nothing reads it
  c.compare(0);
  c.branch(1, true);
  c.block();
  c.exit();
  const Planned p = plan(c);
  CHECK(p.releases() == "2:R5 3:R6 R7 4:R8 6:R0 b1:R2 R4");
  CHECK(p.plan.unflagged == 1);
  CHECK(p.plan.section.at_start == 1);
  check_right(p);
}

TEST_CASE("a bounded table: the registers that live longest are exempt") {
  HandCode c;
  c.op({0}, {});
  c.op({1}, {0});
  c.block();
  c.op({2}, {1});  // 2
  c.op({1}, {1, 2});
  c.compare(1);
  c.branch(1, true);
  c.block();
  c.op({}, {0, 1});  // 6
  c.exit();
  const Planned all = plan(c);
  CHECK(all.releases() == "3:R2 6:R0 R1");
  CHECK(all.plan.section.exempt == 0);
  const Planned two = plan(c, 2);
  CHECK(trace::rfv_text(two.plan.section.exempt) == "R0");
  CHECK(two.releases() == "3:R2 6:R1");
  CHECK(two.plan.section.most == 3);
  check_right(two);
  const Planned one = plan(c, 1);
  CHECK(trace::rfv_text(one.plan.section.exempt) == "R0 R1");
  check_right(one);
  CHECK(plan(c, 3).plan.section.exempt == 0);
  CHECK(plan(c, 63).plan.section.table_entries == 63);
  CHECK_THROWS_WITH(plan(c, 64), "error: --rfv-table is 64, expected 0 to 63");
}

TEST_CASE("more than 63 registers are refused") {
  HandCode c;
  c.op({62}, {});
  c.op({}, {62});
  c.exit();
  const Planned p = plan(c);
  CHECK(p.releases() == "1:R62");
  check_right(p);
  HandCode d;
  d.op({63}, {});
  d.exit();
  CHECK_THROWS_WITH(plan(d),
                    "error: kernel by_hand has 64 registers, expected at most 63 with --rfv: use --max-registers 63");
}

TEST_CASE("words: 18 instructions and 9 numbers") {
  HandCode c;
  for (std::uint32_t r = 0; r < 20; ++r) c.op({r}, {});  // dead
  c.op({20}, {});
  for (unsigned n = 0; n < 20; ++n) c.op({20}, {20});
  c.op({}, {20});  // 41
  c.compare(20);
  c.f.blocks[0].instructions.pop_back();
  c.block();
  c.exit();
  const Planned p = plan(c);
  CHECK(p.plan.section.most == 21);
  const trace::Kernel kernel = p.annotated();
  CHECK(verify(kernel) == "");
  std::string words;
  for (const trace::InsertedInstruction& i : kernel.inserted) {
    CHECK(i.disposition == trace::Disposition::decode);
    words += std::to_string(i.before) + " " + trace::rfv_word_text(i.instruction.operands[0].value) + "\n";
  }
  CHECK(words ==
        "36 flags --- --- --- --- --- 0--\n"
        "42 release R0 R1 R2 R3 R4 R5 R6 R7 R8\n"
        "42 release R9 R10 R11 R12 R13 R14 R15 R16 R17\n"
        "42 release R18 R19\n");
  const trace::RfvReleases back = trace::read_rfv_words(kernel, p.plan.section);
  CHECK(back.flags == p.plan.releases.flags);
  CHECK(back.at_block == p.plan.releases.at_block);
  CHECK(back.at_operand == p.plan.releases.at_operand);
}

namespace {

ir::Function random_function(std::mt19937& random, bool structured, bool guards, unsigned nodes,
                             std::uint64_t buffer = 0x10000) {
  test::KernelShape shape;
  shape.nodes = nodes;
  shape.instructions = 2 + random() % 10;
  shape.registers = 4 + 2 * (random() % 8);
  shape.structured = structured;
  shape.guards = guards;
  shape.wide = shape.registers >= 8;
  shape.fuel = 4 + random() % 16;
  shape.buffer = buffer;
  return test::random_kernel(random, shape);
}

unsigned random_table(std::mt19937& random, const ir::Function& f) {
  return random() % 3 == 0 ? 1 + static_cast<unsigned>(random() % f.registers_used) : 0;
}

}  // namespace

TEST_CASE("all states of three lanes: nothing is released early or late, and C is the most") {
  std::mt19937 random(41);
  std::uint64_t complete = 0, states = 0, flags = 0, blocks = 0, late_flags = 0, late_blocks = 0, tight = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    CAPTURE(round);
    const ir::Function f = random_function(random, round % 2 == 0, false, 2 + static_cast<unsigned>(random() % 4));
    const Planned p = plan(f, random_table(random, f));
    REQUIRE(verify(p.annotated()) == "");
    AllStates all(p, 7, 4000);
    const bool ended = all.run();
    REQUIRE(all.early == "");
    REQUIRE(all.most <= p.plan.section.most);
    states += all.reached();
    if (!ended) continue;
    ++complete;
    tight += all.most == p.plan.section.most;
    for (std::size_t b = 0; b < p.kernel.blocks.size(); ++b) {
      if (all.owned_at[b] == 0) continue;
      blocks += p.plan.releases.at_block[b] != 0;
      late_blocks += (all.owned_at[b] & ~all.needed_at[b] & ~p.plan.section.exempt) != 0;
      const trace::BasicBlock& block = p.kernel.blocks[b];
      for (std::uint32_t n = block.first; n + 1 < block.first + block.count; ++n) {
        const trace::StaticInstruction& i = p.kernel.instructions[n];
        const auto slots = trace::use_slots_of(i);
        for (unsigned s = 0; s < slots.size(); ++s) {
          if (!trace::is_source(slots[s])) continue;
          const RfvRegisters keeps = all.needed_behind[n] | trace::written_by(i) | p.plan.section.exempt;
          const bool flagged = (p.plan.releases.flags[n] >> s & 1) != 0;
          flags += flagged;
          late_flags += (trace::registers_of(slots[s]) & keeps) == 0 && !flagged;
        }
      }
    }
  }
  CAPTURE(complete, states, flags, blocks, late_flags, late_blocks, tight);
  CHECK(complete > 1500);
  CHECK(flags > 5000);
  CHECK(blocks > 5000);
  CHECK(late_flags == 0);
  CHECK(late_blocks == 0);
  // Some state has as many as the section says.
  CHECK(tight == complete);
}

TEST_CASE("random walks with guards: no released value is read, and C holds") {
  std::mt19937 random(42);
  std::uint64_t released = 0, steps = 0, owned = 0, all = 0, reached = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    CAPTURE(round);
    const ir::Function f = random_function(random, round % 2 == 0, true, 2 + static_cast<unsigned>(random() % 10));
    const Planned p = plan(f, random_table(random, f));
    REQUIRE(verify(p.annotated()) == "");
    unsigned most = 0;
    for (unsigned n = 0; n < 10; ++n) {
      const Warp warp = walk(random, p, 1000);
      REQUIRE(warp.wrong() == "");
      released += warp.released();
      steps += warp.steps();
      owned += warp.owned_steps();
      all += warp.steps() * f.registers_used;
      most = std::max(most, warp.most());
    }
    reached += most == p.plan.section.most;
  }
  CAPTURE(released, steps, owned, all, reached);
  CHECK(released > 100000);
  CHECK(owned < all);
  CHECK(reached > 1000);
}

TEST_CASE("planted faults in random programs: every early release is found") {
  std::mt19937 random(43);
  std::uint64_t early_flags = 0, early_blocks = 0, walks_found = 0;
  for (unsigned round = 0; round < 300; ++round) {
    CAPTURE(round);
    const ir::Function f = random_function(random, round % 2 == 0, false, 2 + static_cast<unsigned>(random() % 3));
    const Planned p = plan(f);
    AllStates all(p, 3, 4000);
    if (!all.run()) continue;
    // The flag of one read in the place of the next: an operand of an instruction whose register is needed behind it.
    std::vector<std::pair<std::uint32_t, unsigned>> reads;
    for (std::uint32_t n = 0; n < p.kernel.instructions.size(); ++n) {
      const trace::StaticInstruction& i = p.kernel.instructions[n];
      for (const trace::UseSlot& s : trace::use_slots_of(i)) {
        if (!trace::is_source(s) || s.count != 1) continue;
        if ((trace::registers_of(s) & all.needed_behind[n] & ~trace::written_by(i)) != 0)
          reads.emplace_back(n, s.first);
      }
    }
    if (!reads.empty()) {
      const auto [n, reg] = reads[random() % reads.size()];
      Planned wrong = p;
      wrong.flag(n, reg);
      CAPTURE(n, reg);
      AllStates found(wrong, 3, 8000);
      found.run();
      REQUIRE(found.early != "");
      ++early_flags;
      bool walked = false;
      for (unsigned k = 0; k < 30 && !walked; ++k) walked = !walk(random, wrong, 400).wrong().empty();
      walks_found += walked;
    }
    // A release at the start of a block, where a lane needs the value.
    for (std::size_t b = 1; b < p.kernel.blocks.size(); ++b) {
      const RfvRegisters needed = all.needed_at[b] & all.owned_at[b];
      if (needed == 0) continue;
      Planned wrong = p;
      wrong.plan.releases.at_block[b] |= needed & (~needed + 1);
      AllStates found(wrong, 3, 8000);
      found.run();
      REQUIRE(found.early != "");
      ++early_blocks;
    }
  }
  CAPTURE(early_flags, early_blocks, walks_found);
  CHECK(early_flags > 150);
  CHECK(early_blocks > 500);
  CHECK(walks_found * 4 > early_flags * 3);
}

namespace {

struct KeptCtas : emulator::TraceSink {
  std::vector<trace::Cta> ctas;
  bool wants(std::uint64_t) const override { return true; }
  void take(trace::Cta&& cta) override { ctas.push_back(std::move(cta)); }
};

}  // namespace

TEST_CASE("emulated paths of random programs read no released value") {
  std::mt19937 random(44);
  emulator::DeviceMemory memory;
  const std::uint64_t buffer = memory.allocate("buffer", 4096, true);
  const ir::Module module;
  const emulator::ModuleImage image(module, memory);
  emulator::EmulatorOptions options;
  options.max_instructions = 1u << 20;
  emulator::LaunchRequest request;
  request.block = {64, 1, 1};
  std::uint64_t released = 0, steps = 0, divergent = 0;
  for (unsigned round = 0; round < 500; ++round) {
    CAPTURE(round);
    const ir::Function f =
        random_function(random, round % 2 == 0, round % 3 != 0, 2 + static_cast<unsigned>(random() % 12), buffer);
    const Planned p = plan(f, random_table(random, f));
    emulator::Emulator emulator(f, analysis::FunctionAnalyses(f).reconvergence().immediate(), memory, image, options);
    KeptCtas keep;
    divergent += emulator.run(request, &p.kernel, &keep).divergent_branches;
    for (const trace::WarpColumns& columns : keep.ctas.at(0).warps) {
      Warp warp(p.kernel, p.plan.section, p.plan.releases);
      REQUIRE(warp.replay(columns) == "");
      released += warp.released();
      steps += warp.steps();
    }
  }
  CAPTURE(released, steps, divergent);
  CHECK(released > 10000);
  CHECK(divergent > 1000);
}

// SPDX-License-Identifier: Apache-2.0
//
// Access ranges, trip counts, weights and the layout of shared variables: known answers, and everything tried.
#include <regatta/passes/sharing.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "../hand_code.h"

using namespace regatta;
using passes::ScratchpadLayout;
using passes::VariableSet;
using test::HandCode;

namespace {

constexpr VariableSet a = 1, b = 2, c = 4;

class RangeCode : public HandCode {
 public:
  void work(unsigned times = 1) {
    while (times-- > 0) op({0}, {0});
  }
  void access(VariableSet s) { op({0}, {0}).shared_accesses = s; }
  void set(std::uint32_t reg, std::uint32_t number) {
    ir::Instruction& i = op({reg}, {});
    i.op = ir::Opcode::mov;
    i.sources = {ir::Operand::immediate(number)};
  }
  ir::Instruction& step(std::uint32_t reg, std::uint32_t number) {
    ir::Instruction& i = op({reg}, {reg});
    i.op = ir::Opcode::add;
    i.sources.push_back(ir::Operand::immediate(number));
    return i;
  }
  ir::Instruction& test(ir::Compare compare, std::uint32_t reg, std::uint32_t number, ir::Type type = ir::Type::u32) {
    HandCode::compare(reg);
    ir::Instruction& i = f.blocks.back().instructions.back();
    i.type = type;
    i.mod.compare = compare;
    i.sources.push_back(ir::Operand::immediate(number));
    return i;
  }
};

struct Ranges {
  explicit Ranges(RangeCode& code) : analyses((ir::build_edges(code.f), code.f)), ranges(analyses) {}
  analysis::FunctionAnalyses analyses;
  passes::AccessRanges ranges;
  std::uint64_t weight(VariableSet s) { return passes::RangeWeight(ranges, analyses).of(s); }
  /// Instructions in the range, "012".
  std::string covered(VariableSet s) const {
    std::string text;
    for (std::uint32_t i = 0; i < ranges.instructions(); ++i)
      if (ranges.covers(i, s)) text += std::to_string(i);
    return text;
  }
};

/// A counter from `start` by `step`; the loop goes on while it compares with `bound`, tested behind the step.
std::uint64_t trips(std::uint32_t start, std::uint32_t step, ir::Compare compare, std::uint32_t bound,
                    ir::Type type = ir::Type::u32) {
  RangeCode code;
  code.set(1, start);
  code.block();
  code.work();
  code.step(1, step);
  code.test(compare, 1, bound, type);
  code.branch(1, true);
  code.block();
  code.exit();
  Ranges r(code);
  const std::vector<std::uint64_t> counts = passes::trip_counts(r.analyses);
  REQUIRE(counts.size() == 1);
  return counts[0];
}

std::vector<ir::SharedVariable> variables_of(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& sizes) {
  std::vector<ir::SharedVariable> variables;
  for (const auto& [bytes, alignment] : sizes)
    variables.push_back({"v" + std::to_string(variables.size()), 0, bytes, false, alignment});
  return variables;
}

trace::Share share(const char* t) { return trace::parse_share(t).value(); }

/// Random, and never smaller for a larger set: stretches between sets of accesses, as ranges are.
class RandomWeight {
 public:
  RandomWeight(std::mt19937& random, std::size_t variables) {
    const VariableSet all = analysis::all_variables(variables);
    for (unsigned n = 1 + static_cast<unsigned>(random() % 12); n-- > 0;)
      stretches_.emplace_back(random() & all, random() & all, random() % 4);
  }
  std::uint64_t operator()(VariableSet s) const {
    std::uint64_t sum = 0;
    for (const auto& [first, last, count] : stretches_) sum += (first & s) != 0 && (last & s) != 0 ? count : 0;
    return sum;
  }

 private:
  std::vector<std::tuple<VariableSet, VariableSet, std::uint64_t>> stretches_;
};

/// Places variables one by one, as the header says.
std::vector<std::uint32_t> placed_by_hand(const std::vector<ir::SharedVariable>& variables, VariableSet common,
                                          std::uint32_t& bytes) {
  std::vector<std::uint32_t> offsets(variables.size());
  std::uint32_t end = 0, dynamic_alignment = 1;
  for (const bool in_common : {false, true})
    for (std::uint32_t alignment = 256; alignment > 0; alignment /= 2)
      for (std::size_t v = 0; v < variables.size(); ++v) {
        if (variables[v].alignment != alignment || variables[v].bytes == 0 || ((common >> v) & 1) != in_common)
          continue;
        while (end % alignment != 0) ++end;
        offsets[v] = end;
        end += variables[v].bytes;
      }
  for (const auto& v : variables)
    if (v.bytes == 0) dynamic_alignment = std::max(dynamic_alignment, v.alignment);
  while (end % dynamic_alignment != 0) ++end;
  for (std::size_t v = 0; v < variables.size(); ++v)
    if (variables[v].bytes == 0) offsets[v] = end;
  bytes = end;
  return offsets;
}

}  // namespace

TEST_CASE("access ranges begin at the first access and end at the last") {
  RangeCode code;
  code.work();     // 0
  code.access(a);  // 1
  code.work();     // 2
  code.access(b);  // 3
  code.access(a);  // 4
  code.work();     // 5
  code.access(b);  // 6
  code.exit();     // 7
  Ranges r(code);
  CHECK(r.covered(a) == "1234");
  CHECK(r.covered(b) == "3456");
  CHECK(r.covered(a | b) == "123456");
  CHECK(r.covered(c) == "");
  CHECK_FALSE(r.ranges.holds_in(1, a));
  CHECK(r.ranges.holds_out(1, a));
  CHECK(r.ranges.holds_in(4, a));
  CHECK_FALSE(r.ranges.holds_out(4, a));
  CHECK(r.ranges.before(3) == a);
  CHECK(r.ranges.after(3) == (a | b));
  CHECK(r.weight(a) == 4);
  CHECK(r.weight(b) == 4);
  CHECK(r.weight(a | b) == 6);
  CHECK(r.weight(0) == 0);
}

// Thesis, table 3.1. Its figure 3.3 is a drawing; this is the graph that the table and example 3.2.1 tell of.
TEST_CASE("access ranges of table 3.1") {
  RangeCode code;
  struct Block {
    const char* name;
    VariableSet accessed;
    const char *in, *out;  ///< A, B, C, AB, BC, CA
  };
  const Block blocks[] = {{"Entry", 0, "......", "......"}, {"BB1", a, "......", "A..S.S"},
                          {"BB2", b, "AB.SSS", "AB.SSS"},   {"BB3", b, "AB.SSS", "AB.SSS"},
                          {"BB4", a, "A..SSS", "....SS"},   {"BB5", c, "....SS", "..C.SS"},
                          {"BB6", c, "..C.SS", "......"},   {"Exit", 0, "......", "......"}};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  std::uint32_t next = 0;
  for (const Block& block : blocks) {
    const std::string name = block.name;
    if (name != "Entry") code.block();
    const std::uint32_t first = next;
    code.work();
    if (block.accessed != 0) {
      code.access(block.accessed);
    } else {
      code.work();
    }
    next += 2;
    if (name == "BB3") {
      code.branch(2, true);
    } else if (name == "Exit") {
      code.exit();
    } else {
      code.work();
    }
    ends.emplace_back(first, next++);
  }
  Ranges r(code);
  const VariableSet sets[] = {a, b, c, a | b, b | c, c | a};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    for (std::size_t s = 0; s < 6; ++s) {
      CAPTURE(blocks[i].name, s);
      CHECK(r.ranges.holds_in(ends[i].first, sets[s]) == (blocks[i].in[s] != '.'));
      CHECK(r.ranges.holds_out(ends[i].second, sets[s]) == (blocks[i].out[s] != '.'));
    }
  }
  // Example 3.2.3: of the pairs, A and B have the shortest range.
  CHECK(r.weight(a | b) < r.weight(b | c));
  CHECK(r.weight(a | b) < r.weight(c | a));
}

TEST_CASE("the heavier arm of a branch counts, and a loop body as often as it iterates") {
  RangeCode code;
  code.access(a);        // 0
  code.compare(0);       // 1
  code.branch(2, true);  // 2
  code.block();
  code.work(5);
  code.branch(3, false);
  code.block();
  code.work(2);
  code.block();
  code.access(a);
  code.exit();
  CHECK(Ranges(code).weight(a) == 3 + 6 + 1);

  // Two nested loops of 10 and 3 iterations, the access in the inner one.
  RangeCode nest;
  nest.set(1, 0);
  nest.block();
  nest.set(2, 0);
  nest.block();
  nest.access(a);
  nest.step(2, 1);
  nest.test(ir::Compare::lt, 2, 3);
  nest.branch(2, true);
  nest.block();
  nest.step(1, 1);
  nest.test(ir::Compare::lt, 1, 10);
  nest.branch(1, true);
  nest.block();
  nest.work();
  nest.exit();
  Ranges r(nest);
  CHECK(passes::trip_counts(r.analyses) == std::vector<std::uint64_t>{10, 3});
  CHECK(r.weight(a) == 10 * (1 + 3 * 4 + 3));
}

TEST_CASE("trip counts of counted loops, and 1024 for the others") {
  CHECK(trips(0, 1, ir::Compare::lt, 10) == 10);
  CHECK(trips(0, 3, ir::Compare::lt, 10) == 4);
  CHECK(trips(0, 1, ir::Compare::le, 10) == 11);
  CHECK(trips(16, 0xffffffff, ir::Compare::ne, 0) == 16);
  CHECK(trips(16, 0xffffffff, ir::Compare::gt, 0, ir::Type::s32) == 16);
  CHECK(trips(0xfffffff8, 2, ir::Compare::lt, 0, ir::Type::s32) == 4);
  // A body runs once before its test.
  CHECK(trips(20, 1, ir::Compare::lt, 10) == 1);
  // Never left, left after more than 2^20 steps, and another type than a 32-bit integer.
  CHECK(trips(0, 2, ir::Compare::ne, 1) == passes::assumed_trip_count);
  CHECK(trips(0, 1, ir::Compare::lt, 1u << 30) == passes::assumed_trip_count);
  CHECK(trips(0, 1, ir::Compare::lt, (1u << 20) + 1) == (1u << 20) + 1);
  CHECK(trips(0, 1, ir::Compare::lt, 10, ir::Type::f32) == passes::assumed_trip_count);

  // The test in the header: it runs once more than the body, which counts as often as it runs.
  const auto tested_first = [](const std::function<void(RangeCode&)>& change) {
    RangeCode code;
    code.set(1, 0);
    code.block();
    code.test(ir::Compare::ge, 1, 7);
    code.branch(3, true);
    code.block();
    code.work();
    code.step(1, 1);
    code.branch(1, false);
    code.block();
    code.exit();
    change(code);
    Ranges r(code);
    return passes::trip_counts(r.analyses).at(0);
  };
  CHECK(tested_first([](RangeCode&) {}) == 7);
  // What keeps the count from being known: a step under a guard, two steps, a start from memory, a bound in a register.
  CHECK(tested_first([](RangeCode& k) { HandCode::under(k.f.blocks[2].instructions[1]); }) == 1024);
  CHECK(tested_first([](RangeCode& k) {
          k.f.blocks[2].instructions.insert(k.f.blocks[2].instructions.begin(), k.f.blocks[2].instructions[1]);
        }) == 1024);
  CHECK(tested_first([](RangeCode& k) { k.f.blocks[0].instructions[0].op = ir::Opcode::ld; }) == 1024);
  CHECK(tested_first([](RangeCode& k) { k.f.blocks[1].instructions[0].sources[1] = ir::Operand::reg(0, 1); }) == 1024);
}

TEST_CASE("ranges and weights of random code are those of its paths") {
  std::mt19937 random(31);
  unsigned heavy = 0, loops = 0;
  for (unsigned round = 0; round < 400; ++round) {
    const bool acyclic = round % 2 == 0;
    RangeCode code;
    const auto blocks = static_cast<std::uint32_t>(1 + random() % 7);
    for (std::uint32_t n = 0; n < blocks; ++n) {
      if (n != 0) code.block();
      for (unsigned i = static_cast<unsigned>(random() % 4); i-- > 0;)
        random() % 4 == 0 ? code.access(1 + random() % 7) : code.work();
      const std::uint32_t lowest = acyclic ? n + 1 : 0;
      if (n + 1 == blocks || random() % 8 == 0) {
        code.exit();
      } else {
        code.branch(lowest + static_cast<std::uint32_t>(random() % (blocks - lowest)), random() % 3 != 0);
      }
    }
    Ranges r(code);
    const trace::Kernel kernel = ir::to_trace(code.f, r.analyses.reconvergence().immediate(), 32);
    const auto count = static_cast<std::uint32_t>(kernel.instructions.size());
    std::vector<std::set<std::uint32_t>> next(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const trace::StaticInstruction& s = kernel.instructions[i];
      if (s.op_class == trace::OpClass::branch) next[i].insert(static_cast<std::uint32_t>(s.branch_target));
      if (s.op_class == trace::OpClass::exit) continue;
      if (s.op_class != trace::OpClass::branch || s.guard.predicate >= 0) next[i].insert(i + 1);
    }
    // Whether one or more steps lead from one instruction to another.
    std::vector<std::vector<bool>> leads(count, std::vector<bool>(count));
    for (std::uint32_t from = 0; from < count; ++from) {
      std::vector<std::uint32_t> work(next[from].begin(), next[from].end());
      while (!work.empty()) {
        const std::uint32_t at = work.back();
        work.pop_back();
        if (leads[from][at]) continue;
        leads[from][at] = true;
        work.insert(work.end(), next[at].begin(), next[at].end());
      }
    }
    const auto reached = [&](std::uint32_t i) { return i == 0 || leads[0][i]; };
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!reached(i)) continue;
      VariableSet before = 0, after = 0;
      for (std::uint32_t o = 0; o < count; ++o) {
        if (reached(o) && leads[o][i]) before |= r.ranges.accesses(o);
        if (leads[i][o]) after |= r.ranges.accesses(o);
      }
      CAPTURE(round, i);
      REQUIRE(r.ranges.before(i) == before);
      REQUIRE(r.ranges.after(i) == after);
    }
    loops += r.analyses.loops().loops().empty() ? 0 : 1;
    std::uint64_t smaller[8] = {};
    for (VariableSet s = 1; s < 8; ++s) {
      const std::uint64_t weight = r.weight(s);
      smaller[s] = weight;
      for (VariableSet part = s; part != 0; part = (part - 1) & s) REQUIRE(smaller[part] <= weight);
      if (!acyclic) continue;
      const std::function<std::uint64_t(std::uint32_t)> heaviest = [&](std::uint32_t i) {
        std::uint64_t most = 0;
        for (const std::uint32_t n : next[i]) most = std::max(most, heaviest(n));
        return most + (r.ranges.covers(i, s) ? 1 : 0);
      };
      REQUIRE(weight == heaviest(0));
      heavy += weight > 3 ? 1 : 0;
    }
  }
  CHECK(heavy > 100);
  CHECK(loops > 50);
}

TEST_CASE("the variables with the shortest range are common") {
  // 64 bytes; half of them private. b is needed for the shortest time.
  const auto variables = variables_of({{32, 4}, {16, 4}, {16, 4}});
  const auto weight = [](VariableSet s) {
    return std::uint64_t{(s & 1) * 100 + ((s >> 1) & 1) * 5 + ((s >> 2) & 1) * 7};
  };
  const ScratchpadLayout l = passes::choose_layout(variables, 0, share("0.5"), weight);
  CHECK(l.common == (b | c));
  CHECK(l.weight == 12);
  CHECK(l.boundary == 32);
  CHECK(l.is_exact);
  CHECK(l.placement.offsets == std::vector<std::uint32_t>{0, 32, 48});
  CHECK(l.placement.static_bytes == 64);
  // With less private, only a variable that fits can stay.
  const ScratchpadLayout less = passes::choose_layout(variables, 0, share("0.25"), weight);
  CHECK(less.common == (a | b));
  CHECK(less.boundary == 16);
  CHECK(less.placement.offsets == std::vector<std::uint32_t>{16, 48, 0});
  // A tenth holds none of them: all are common, and the first one is split.
  const ScratchpadLayout tenth = passes::choose_layout(variables, 0, share("0.1"), weight);
  CHECK(tenth.common == (a | b | c));
  CHECK(tenth.boundary == 4);
  CHECK(tenth.placement.offsets == std::vector<std::uint32_t>{0, 32, 48});
  // Everything private: nothing is common.
  const ScratchpadLayout all = passes::choose_layout(variables, 0, share("1"), weight);
  CHECK(all.common == 0);
  CHECK(all.boundary == 64);
}

TEST_CASE("equally light sets: fewest bytes, then the earliest declarations") {
  const auto same = [](VariableSet) { return std::uint64_t{3}; };
  CHECK(passes::choose_layout(variables_of({{16, 4}, {16, 4}, {16, 4}, {16, 4}}), 0, share("0.5"), same).common ==
        (a | b));
  // The smaller variable is enough.
  CHECK(passes::choose_layout(variables_of({{48, 4}, {16, 4}}), 0, share("0.75"), same).common == b);
  // No variables at all.
  const ScratchpadLayout none = passes::choose_layout({}, 100, share("0.1"), same);
  CHECK(none.common == 0);
  CHECK(none.boundary == 8);
  CHECK(none.placement.static_bytes == 0);
}

TEST_CASE("dynamic shared memory is common, and lies last") {
  const auto variables = variables_of({{0, 16}, {20, 4}, {0, 4}});
  const auto weight = [](VariableSet s) { return std::uint64_t{s}; };
  const ScratchpadLayout l = passes::choose_layout(variables, 968, share("0.1"), weight);
  CHECK(l.common == (a | c));
  CHECK(l.placement.offsets == std::vector<std::uint32_t>{32, 0, 32});
  CHECK(l.placement.static_bytes == 32);
  CHECK(l.boundary == 100);
}

TEST_CASE("layouts of random variables are the best of all sets") {
  std::mt19937 random(32);
  unsigned some_private = 0, dynamic = 0;
  for (unsigned round = 0; round < 600; ++round) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> sizes;
    std::uint32_t strictest = 1;
    for (unsigned n = static_cast<unsigned>(random() % 9); n-- > 0;) {
      const auto alignment = static_cast<std::uint32_t>(1u << random() % 5);
      // Half of the rounds have sizes that are no multiples of the alignment.
      const auto bytes =
          static_cast<std::uint32_t>(random() % 10 == 0 ? 0 : (1 + random() % 20) * (round % 2 == 0 ? alignment : 1));
      sizes.emplace_back(bytes, alignment);
      strictest = std::max(strictest, alignment);
    }
    const auto variables = variables_of(sizes);
    const auto dynamic_bytes = static_cast<std::uint32_t>(random() % 2 == 0 ? 0 : random() % 200);
    const char* const shares[] = {"0.1", "0.25", "0.5", "0.9", "1"};
    const trace::Share t = share(shares[random() % 5]);
    const RandomWeight weight(random, variables.size());
    const ScratchpadLayout l = passes::choose_layout(variables, dynamic_bytes, t, std::cref(weight));
    CAPTURE(round);

    std::uint32_t bytes = 0;
    REQUIRE(l.placement.offsets == placed_by_hand(variables, l.common, bytes));
    REQUIRE(l.placement.static_bytes == bytes);
    REQUIRE(l.boundary == (bytes + dynamic_bytes) * std::uint64_t{t.numerator} / t.denominator / 4 * 4);
    REQUIRE(l.weight == weight(l.common));
    // No room is lost but to alignment: with sizes that are multiples of it, only between the two groups and in front
    // of dynamic memory.
    std::uint32_t needed = 0;
    for (const auto& v : variables) needed += v.bytes;
    if (round % 2 == 0) REQUIRE(bytes < needed + 2 * strictest);

    VariableSet always = 0;
    for (std::size_t v = 0; v < variables.size(); ++v)
      if (variables[v].bytes == 0) always |= VariableSet{1} << v;
    dynamic += always != 0 ? 1 : 0;
    bool found = false;
    std::tuple<std::uint64_t, std::uint32_t, std::uint32_t> best;
    std::string best_declarations;
    for (VariableSet s = 0; s < VariableSet{1} << variables.size(); ++s) {
      if ((s & always) != always) continue;
      std::uint32_t end = 0, in_set = 0;
      const auto offsets = placed_by_hand(variables, s, end);
      const std::uint64_t boundary = (end + dynamic_bytes) * std::uint64_t{t.numerator} / t.denominator / 4 * 4;
      bool fits = true;
      std::string declarations;
      for (std::size_t v = 0; v < variables.size(); ++v) {
        const bool in = ((s >> v) & 1) != 0;
        fits = fits && (in || offsets[v] + variables[v].bytes <= boundary);
        in_set += in ? variables[v].bytes : 0;
        declarations += in ? '0' : '1';
      }
      if (!fits) continue;
      const auto key = std::tuple(weight(s), end, in_set);
      if (!found || key < best || (key == best && declarations < best_declarations)) {
        best = key;
        best_declarations = declarations;
      }
      found = true;
    }
    REQUIRE(found);
    std::string declarations;
    for (std::size_t v = 0; v < variables.size(); ++v) declarations += ((l.common >> v) & 1) != 0 ? '0' : '1';
    REQUIRE(l.weight == std::get<0>(best));
    REQUIRE(l.placement.static_bytes == std::get<1>(best));
    REQUIRE(declarations == best_declarations);
    some_private += l.common != analysis::all_variables(variables.size()) ? 1 : 0;
  }
  CHECK(some_private > 100);
  CHECK(dynamic > 50);
}

TEST_CASE("many variables are laid out greedily, the lightest ranges common") {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sizes(passes::most_searched_variables + 1, {4, 4});
  const auto variables = variables_of(sizes);
  const auto weight = [](VariableSet s) {
    std::uint64_t sum = 0;
    for (unsigned v = 0; v < 17; ++v) sum += ((s >> v) & 1) * (17 - v);
    return sum;
  };
  const ScratchpadLayout l = passes::choose_layout(variables, 0, share("0.5"), weight);
  CHECK_FALSE(l.is_exact);
  // 68 bytes, the boundary at 32: eight variables are private, the nine with the lightest ranges are not.
  CHECK(l.boundary == 32);
  CHECK(l.common == VariableSet{0x1ff00});
  // One variable fewer is searched.
  sizes.pop_back();
  CHECK(passes::choose_layout(variables_of(sizes), 0, share("0.5"), weight).is_exact);
}

// SPDX-License-Identifier: Apache-2.0
#include "unwritten_reads.h"

#include <regatta/test/catch.h>

#include <random>
#include <vector>

using namespace regatta;
using checker::unwritten_reads;

namespace {

trace::StaticInstruction instruction(std::vector<unsigned> writes, std::vector<unsigned> reads, int guard = -1) {
  trace::StaticInstruction s;
  for (const unsigned w : writes) s.destinations[s.destination_count++] = static_cast<std::uint8_t>(w);
  for (const unsigned r : reads) s.sources[s.source_count++] = static_cast<std::uint8_t>(r);
  s.guard.predicate = static_cast<std::int8_t>(guard);
  return s;
}

/// Blocks of the given lengths, and where each goes.
void blocks(trace::Kernel& kernel, const std::vector<std::pair<unsigned, std::vector<std::uint32_t>>>& all) {
  std::uint32_t first = 0;
  for (const auto& [count, successors] : all) {
    trace::BasicBlock& b = kernel.blocks.emplace_back();
    b.first = first;
    b.count = count;
    b.successors = successors;
    first += count;
  }
}

std::vector<unsigned> listed(const std::bitset<256>& set) {
  std::vector<unsigned> all;
  for (unsigned r = 0; r < set.size(); ++r) {
    if (set[r]) all.push_back(r);
  }
  return all;
}

}  // namespace

TEST_CASE("unwritten reads: straight code, guards, what an instruction reads of its own") {
  trace::Kernel k;
  k.instructions = {instruction({1}, {}),  instruction({2}, {1}), instruction({3}, {}, 0),
                    instruction({4}, {3}), instruction({5}, {5}), instruction({}, {2, 4, 5})};
  blocks(k, {{6, {}}});
  CHECK(listed(unwritten_reads(k)) == std::vector<unsigned>{3, 5});
}

TEST_CASE("unwritten reads: one side of a branch writes, or both, or a loop does") {
  // 0 -> 1, 2; 1 -> 3; 2 -> 3. R1 on both sides, R2 on one.
  trace::Kernel k;
  k.instructions = {instruction({}, {}), instruction({1, 2}, {}), instruction({1}, {}), instruction({}, {1}),
                    instruction({}, {2})};
  blocks(k, {{1, {1, 2}}, {1, {3}}, {1, {3}}, {2, {}}});
  CHECK(listed(unwritten_reads(k)) == std::vector<unsigned>{2});
  // A loop: R3 is read at its top and written at its end; R4 is written before it.
  trace::Kernel loop;
  loop.instructions = {instruction({4}, {}), instruction({5}, {3, 4}), instruction({3}, {5}), instruction({}, {3})};
  blocks(loop, {{1, {1}}, {2, {1, 2}}, {1, {}}});
  CHECK(listed(unwritten_reads(loop)) == std::vector<unsigned>{3});
}

TEST_CASE("unwritten reads: what no block holds may come first, what no path reaches does not come") {
  trace::Kernel k;
  k.instructions = {instruction({1}, {}), instruction({}, {7}), instruction({}, {1})};
  CHECK(listed(unwritten_reads(k)) == std::vector<unsigned>{1, 7});
  blocks(k, {{1, {2}}, {1, {2}}, {1, {}}});
  CHECK(listed(unwritten_reads(k)).empty());
}

TEST_CASE("unwritten reads: as a search of all paths finds them") {
  std::mt19937 random(20);
  const auto draw = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  constexpr unsigned registers = 6;
  for (unsigned round = 0; round < 2000; ++round) {
    trace::Kernel k;
    std::vector<std::pair<unsigned, std::vector<std::uint32_t>>> shape;
    const unsigned count = 1 + draw(8);
    for (unsigned b = 0; b < count; ++b) {
      const unsigned length = 1 + draw(4);
      for (unsigned i = 0; i < length; ++i) {
        std::vector<unsigned> writes, reads;
        if (draw(2) == 0) writes.push_back(draw(registers));
        for (unsigned n = draw(3); n != 0; --n) reads.push_back(draw(registers));
        k.instructions.push_back(instruction(writes, reads, draw(4) == 0 ? 0 : -1));
      }
      std::vector<std::uint32_t> successors;
      for (unsigned n = draw(3); n != 0; --n) successors.push_back(draw(count));
      shape.emplace_back(length, successors);
    }
    blocks(k, shape);
    // For each register: the instructions that can be come to without its having been written.
    std::bitset<256> expected;
    for (unsigned r = 0; r < registers; ++r) {
      std::vector<bool> seen(k.instructions.size());
      std::vector<std::size_t> work{0};
      while (!work.empty()) {
        const std::size_t at = work.back();
        work.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        const trace::StaticInstruction& s = k.instructions[at];
        for (unsigned n = 0; n < s.source_count; ++n) {
          if (s.sources[n] == r) expected.set(r);
        }
        if (s.destination_count == 1 && s.destinations[0] == r && s.guard.predicate < 0) continue;
        for (const trace::BasicBlock& b : k.blocks) {
          const std::size_t last = b.first + b.count - 1;
          if (at < b.first || at > last) continue;
          if (at < last) work.push_back(at + 1);
          if (at == last) {
            for (const std::uint32_t s2 : b.successors) work.push_back(k.blocks[s2].first);
          }
        }
      }
    }
    INFO("round " << round);
    REQUIRE(unwritten_reads(k) == expected);
  }
}

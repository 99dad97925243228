// SPDX-License-Identifier: Apache-2.0
#include "saved_registers.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace regatta::ptx {
namespace {

using ir::Opcode;
using Bits = std::vector<std::uint64_t>;

constexpr std::uint32_t none = ~std::uint32_t{0};
constexpr unsigned word_bits = 64;

void set(Bits& bits, std::uint32_t n) { bits[n / word_bits] |= std::uint64_t{1} << (n % word_bits); }
void clear(Bits& bits, std::uint32_t n) { bits[n / word_bits] &= ~(std::uint64_t{1} << (n % word_bits)); }
bool test(const Bits& bits, std::uint32_t n) { return (bits[n / word_bits] >> (n % word_bits) & 1u) != 0; }

class RangeLiveness {
 public:
  RangeLiveness(const Draft& draft, const CodeRange& range, std::size_t registers)
      : draft_(draft),
        range_(range),
        dense_(registers, none),
        call_at_(range.end - range.begin, nullptr),
        hands_over_(range.end - range.begin, 0) {
    for (const std::uint32_t r : range.live_at_end) number(r);
    for (std::size_t n = range.begin; n < range.end; ++n)
      for_reads(draft.instructions[n], [&](std::uint32_t r) { number(r); });
    find_blocks();
    solve();
  }

  std::vector<std::uint32_t> live_at(std::size_t position) const {
    const Bits& live = in_[block_at_[position - range_.begin]];
    std::vector<std::uint32_t> found;
    for (std::uint32_t n = 0; n < registers_.size(); ++n)
      if (test(live, n)) found.push_back(registers_[n]);
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  template <class Visit>
  static void for_reads(const ir::Instruction& i, const Visit& visit) {
    const ir::Accesses a = ir::accesses(i, false);
    for (const std::uint32_t r : a.reads) visit(r);
    for (const std::uint32_t r : a.predicate_reads) visit(r);
  }

  /// Only registers that the code reads are looked at.
  void number(std::uint32_t r) {
    if (dense_[r] != none) return;
    dense_[r] = static_cast<std::uint32_t>(registers_.size());
    registers_.push_back(r);
  }

  void find_blocks() {
    const std::size_t count = range_.end - range_.begin;
    std::vector<char> leader(count + 1, 0);
    leader[0] = leader[count] = 1;
    const auto lead = [&](std::size_t position) {
      if (position >= range_.begin && position <= range_.end) leader[position - range_.begin] = 1;
    };
    for (const Draft::Label& l : draft_.labels)
      if (l.position != Draft::unplaced) lead(l.position);
    for (const BodyCall& c : range_.calls) {
      lead(c.behind);
      lead(c.after);
      call_at_[c.jump - range_.begin] = &c;
      for (const std::size_t n : c.handing_over) hands_over_[n - range_.begin] = 1;
    }
    for (std::size_t n = 0; n < count; ++n) {
      const Opcode op = draft_.instructions[range_.begin + n].op;
      if (op == Opcode::bra || op == Opcode::exit) leader[n + 1] = 1;
    }
    block_at_.assign(count + 1, 0);
    for (std::size_t n = 0; n <= count; ++n) {
      if (leader[n]) first_.push_back(n);
      block_at_[n] = static_cast<std::uint32_t>(first_.size() - 1);
    }
  }

  /// What is live behind the last instruction of a block, which stands at `last`.
  void live_out(std::size_t last, Bits& live) const {
    const ir::Instruction& i = draft_.instructions[range_.begin + last];
    const auto join = [&](std::size_t n) {
      const Bits& there = in_[block_at_[n]];
      for (std::size_t w = 0; w < live.size(); ++w) live[w] |= there[w];
    };
    if (const BodyCall* call = call_at_[last]) {
      // What is live behind the results is saved and restored, be it a register of the callee's.
      join(call->after - range_.begin);
      for (const std::uint32_t r : call->results)
        if (dense_[r] != none) clear(live, dense_[r]);
      const Bits saved = live;
      join(call->behind - range_.begin);
      for (const std::uint32_t r : call->handed_back)
        if (dense_[r] != none && !test(saved, dense_[r])) clear(live, dense_[r]);
      return;
    }
    if (i.op == Opcode::bra) {
      const std::size_t target = draft_.labels[i.target].position;
      if (target >= range_.begin && target <= range_.end) join(target - range_.begin);
    }
    if ((i.op != Opcode::bra && i.op != Opcode::exit) || i.guarded) join(last + 1);
  }

  void solve() {
    const std::size_t words = registers_.size() / word_bits + 1;
    in_.assign(first_.size(), Bits(words, 0));
    for (const std::uint32_t r : range_.live_at_end) set(in_.back(), dense_[r]);
    Bits live;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = first_.size() - 1; b-- > 0;) {
        live.assign(words, 0);
        live_out(first_[b + 1] - 1, live);
        for (std::size_t n = first_[b + 1]; n-- > first_[b];) {
          const ir::Instruction& i = draft_.instructions[range_.begin + n];
          // A guarded write leaves the old value in some lanes. The callee's registers may be those of the function
          // that calls, whose values outlive the call.
          const bool kills = !i.guarded && hands_over_[n] == 0;
          for (const ir::Operand& d : i.destinations)
            if (kills && dense_[d.id] != none) clear(live, dense_[d.id]);
          for_reads(i, [&](std::uint32_t r) { set(live, dense_[r]); });
        }
        if (live == in_[b]) continue;
        in_[b] = live;
        changed = true;
      }
    }
  }

  const Draft& draft_;
  const CodeRange& range_;
  std::vector<std::uint32_t> dense_;      ///< by register
  std::vector<std::uint32_t> registers_;  ///< by dense number
  std::vector<const BodyCall*> call_at_;  ///< by instruction of the range: of a call's jump, the call
  std::vector<char> hands_over_;          ///< by instruction: it writes a register of a callee
  std::vector<std::size_t> first_;        ///< of each block, the last of which is the end
  std::vector<std::uint32_t> block_at_;
  std::vector<Bits> in_;  ///< live at the beginning of each block
};

}  // namespace

std::vector<std::vector<std::uint32_t>> live_across_calls(const Draft& draft, const CodeRange& range,
                                                          std::size_t registers) {
  const RangeLiveness liveness(draft, range, registers);
  std::vector<std::vector<std::uint32_t>> all;
  for (const BodyCall& c : range.calls) {
    std::vector<std::uint32_t> live = liveness.live_at(c.after);
    const auto is_result = [&](std::uint32_t r) {
      return std::find(c.results.begin(), c.results.end(), r) != c.results.end();
    };
    live.erase(std::remove_if(live.begin(), live.end(), is_result), live.end());
    all.push_back(std::move(live));
  }
  return all;
}

void insert(Draft& draft, std::vector<Insertion> insertions) {
  std::stable_sort(insertions.begin(), insertions.end(), [](const Insertion& a, const Insertion& b) {
    return a.at != b.at ? a.at < b.at : a.behind_labels < b.behind_labels;
  });
  std::vector<ir::Instruction> code;
  std::vector<std::uint32_t> label_at;
  auto next = insertions.begin();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> first_labels;
  const auto take = [&](std::size_t at, bool behind_labels) {
    for (; next != insertions.end() && next->at == at && next->behind_labels == behind_labels; ++next) {
      const bool has_label = next->first_label < draft.labels.size() && draft.labels[next->first_label].position == at;
      if (has_label) first_labels.emplace_back(next->first_label, static_cast<std::uint32_t>(code.size()));
      std::move(next->code.begin(), next->code.end(), std::back_inserter(code));
    }
  };
  for (std::size_t n = 0; n <= draft.instructions.size(); ++n) {
    take(n, false);
    label_at.push_back(static_cast<std::uint32_t>(code.size()));
    take(n, true);
    if (n < draft.instructions.size()) code.push_back(std::move(draft.instructions[n]));
  }
  for (Draft::Label& l : draft.labels)
    if (l.position != Draft::unplaced) l.position = label_at[l.position];
  for (const auto& [label, position] : first_labels) draft.labels[label].position = position;
  draft.instructions = std::move(code);
}

}  // namespace regatta::ptx

// SPDX-License-Identifier: Apache-2.0
#include "vector_loads.h"

#include <regatta/analysis/dependences.h>

#include "../definitions.h"

#include <algorithm>
#include <vector>

namespace regatta::passes {

namespace {

using ir::Instruction;
using ir::Opcode;
using ir::Operand;
using trace::MemorySpace;

constexpr unsigned word = 4;
constexpr unsigned all_zeros = 64;  ///< low zero bits of a zero

unsigned low_zeros(std::uint64_t value) {
  return value == 0 ? all_zeros : static_cast<unsigned>(__builtin_ctzll(value));
}

/// How many low bits of values are known to be zero.
class LowZeros {
 public:
  explicit LowZeros(const ir::Function& f) : definitions_(f) {}

  unsigned of(const Operand& o, Place at, unsigned depth = 0) const {
    if (o.kind == Operand::Kind::immediate) return o.symbol.empty() ? low_zeros(o.value) : 0;
    constexpr unsigned deepest = 12;
    if (!o.is_reg() || depth > deepest) return 0;
    const Instruction* d = definitions_.unique(o.id, at);
    if (d == nullptr || d->destinations.size() != 1) return 0;
    const Place there = definitions_.place(o.id);
    const auto source = [&](std::size_t s) { return of(d->sources[s], there, depth + 1); };
    const auto shifted = [&](std::size_t value, std::size_t by) {
      const Operand& n = d->sources[by];
      return n.kind == Operand::Kind::immediate ? std::min<std::uint64_t>(all_zeros, source(value) + n.value)
                                                : source(value);
    };
    switch (d->op) {
      case Opcode::mov:
        return d->sources[0].is_predicate() ? 0 : source(0);
      case Opcode::cvt:
        return ir::is_float(d->type) || ir::is_float(d->source_type) || d->mod.saturate ? 0 : source(0);
      case Opcode::shl:
        return static_cast<unsigned>(shifted(0, 1));
      case Opcode::lea:
        return static_cast<unsigned>(std::min<std::uint64_t>(shifted(0, 2), source(1)));
      case Opcode::add:
      case Opcode::sub:
      case Opcode::or_:
      case Opcode::xor_:
        return ir::is_float(d->type) ? 0 : std::min(source(0), source(1));
      case Opcode::and_:
        return std::max(source(0), source(1));
      case Opcode::add3:
        return std::min({source(0), source(1), source(2)});
      case Opcode::mul_lo:
      case Opcode::mul_wide:
        return std::min(all_zeros, source(0) + source(1));
      case Opcode::mad_lo:
      case Opcode::mad_wide:
        return std::min(std::min(all_zeros, source(0) + source(1)), source(2));
      default:
        return 0;
    }
  }

 private:
  Definitions definitions_;
};

bool is_word_load(const Instruction& i) {
  return i.op == Opcode::ld && !i.guarded && ir::size_of(i.type) == word && i.mod.vector == 1 && !i.mod.is_volatile &&
         i.mod.order == ir::MemoryOrder::weak && i.destinations.size() == 1 &&
         (i.mod.space == MemorySpace::shared || i.mod.space == MemorySpace::constant) &&
         (i.sources[0].is_reg() || (i.sources[0].kind == Operand::Kind::immediate && i.sources[0].symbol.empty()));
}

bool same_base(const Instruction& a, const Instruction& b) {
  return a.mod.space == b.mod.space && a.type == b.type && a.sources[0].kind == b.sources[0].kind &&
         (a.sources[0].is_reg() ? a.sources[0].id == b.sources[0].id : a.sources[0].value == b.sources[0].value);
}

/// May change what loads of shared memory give.
bool writes_shared(const Instruction& i) {
  if (analysis::orders_memory(i)) return true;
  const bool writes = i.op == Opcode::st || i.op == Opcode::stmatrix || i.op == Opcode::atom || i.op == Opcode::red;
  return writes && i.mod.space != MemorySpace::global && i.mod.space != MemorySpace::local;
}

class Joiner {
 public:
  explicit Joiner(ir::Function& f) : f_(f), zeros_(f) {}

  std::uint32_t run() {
    std::vector<std::vector<bool>> gone;
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) {
      gone.emplace_back(f_.blocks[b].instructions.size(), false);
      for (std::uint32_t n = 0; n < gone[b].size(); ++n)
        if (!gone[b][n] && is_word_load(f_.blocks[b].instructions[n])) join(b, n, gone[b]);
    }
    // Only now: what is known of low bits goes by the places of definitions.
    for (std::uint32_t b = 0; b < f_.blocks.size(); ++b) {
      auto& code = f_.blocks[b].instructions;
      std::vector<Instruction> kept;
      for (std::uint32_t n = 0; n < gone[b].size(); ++n)
        if (!gone[b][n]) kept.push_back(std::move(code[n]));
      code = std::move(kept);
    }
    return joined_;
  }

 private:
  /// Loads that can be made where load `first` stands, by their distance from it in words; -1: none.
  std::vector<std::int64_t> neighbours(const std::vector<Instruction>& code, std::uint32_t first,
                                       const std::vector<bool>& gone) const {
    constexpr std::int64_t reach = 4;
    std::vector<std::int64_t> at(2 * reach - 1, -1);
    const Instruction& load = code[first];
    std::vector<std::uint32_t> touched;  // registers read or written since
    const auto is_touched = [&](const Operand& o) {
      return std::find(touched.begin(), touched.end(), o.id) != touched.end();
    };
    constexpr std::uint32_t longest = 64;
    for (std::uint32_t n = first; n < code.size() && n - first < longest; ++n) {
      const Instruction& i = code[n];
      if (!gone[n] && is_word_load(i) && same_base(load, i) && (n == first || !is_touched(i.destinations[0]))) {
        const std::int64_t bytes = i.offset - load.offset, words = bytes / word;
        if (bytes % word == 0 && words > -reach && words < reach && at[static_cast<std::size_t>(words + reach - 1)] < 0)
          at[static_cast<std::size_t>(words + reach - 1)] = n;
      }
      if (n != first && load.mod.space == MemorySpace::shared && writes_shared(i)) break;
      bool changes_base = false;
      for (const Operand& d : i.destinations) {
        if (!d.is_reg() && !d.is_predicate()) continue;
        touched.push_back(d.id);
        changes_base |= load.sources[0].is_reg() && d.id == load.sources[0].id;
      }
      if (changes_base) break;
      for (const Operand& s : i.sources)
        if (s.is_reg() || s.is_predicate()) touched.push_back(s.id);
    }
    return at;
  }

  void join(std::uint32_t b, std::uint32_t first, std::vector<bool>& gone) {
    auto& code = f_.blocks[b].instructions;
    const std::vector<std::int64_t> at = neighbours(code, first, gone);
    const std::size_t own = at.size() / 2;
    const unsigned zeros = zeros_.of(code[first].sources[0], {b, first});
    for (unsigned words = code[first].mod.space == MemorySpace::shared ? 4 : 2; words >= 2; words /= 2) {
      const unsigned bytes = words * word;
      if (zeros < low_zeros(bytes)) continue;
      // The place of this word in its group, by its offset.
      const std::int64_t offset = code[first].offset;
      const auto place = static_cast<std::size_t>(((offset % bytes) + bytes) % bytes / word);
      if (((offset % word) + word) % word != 0 || place > own) continue;
      const std::size_t begin = own - place;
      if (begin + words > at.size() ||
          std::any_of(at.begin() + static_cast<std::ptrdiff_t>(begin),
                      at.begin() + static_cast<std::ptrdiff_t>(begin + words), [](std::int64_t n) { return n < 0; }))
        continue;
      std::vector<Operand> destinations;
      for (std::size_t w = begin; w < begin + words; ++w) {
        const auto n = static_cast<std::size_t>(at[w]);
        destinations.push_back(code[n].destinations[0]);
        if (n == first) continue;
        gone[n] = true;
        ++joined_;
      }
      code[first].destinations = std::move(destinations);
      code[first].offset = offset - static_cast<std::int64_t>(place * word);
      code[first].mod.vector = static_cast<std::uint8_t>(words);
      return;
    }
  }

  ir::Function& f_;
  LowZeros zeros_;
  std::uint32_t joined_ = 0;
};

}  // namespace

std::uint32_t join_loads(ir::Function& f) { return Joiner(f).run(); }

std::uint32_t split_constant_loads(ir::Function& f) {
  constexpr unsigned most = 2 * word;
  std::uint32_t split = 0;
  for (ir::Block& b : f.blocks) {
    std::vector<Instruction> code;
    for (Instruction& i : b.instructions) {
      const unsigned element = ir::size_of(i.type);
      const bool is_long = i.op == Opcode::ld && i.mod.space == MemorySpace::constant && element * i.mod.vector > most;
      if (!is_long || i.destinations.size() != i.mod.vector) {
        code.push_back(std::move(i));
        continue;
      }
      // An address that one of the parts overwrites is read by the last one.
      const std::size_t part = most / element;
      std::vector<Instruction> parts;
      for (std::size_t at = 0; at < i.destinations.size(); at += part) {
        Instruction one = i;
        const auto first = i.destinations.begin() + static_cast<std::ptrdiff_t>(at);
        one.destinations.assign(first, first + static_cast<std::ptrdiff_t>(part));
        one.mod.vector = static_cast<std::uint8_t>(part);
        one.offset += static_cast<std::int64_t>(at * element);
        parts.push_back(std::move(one));
      }
      const auto overwrites = [&](const Instruction& one) {
        return std::any_of(one.destinations.begin(), one.destinations.end(), [&](const Operand& to) {
          return to.is_reg() && i.sources[0].is_reg() && to.id == i.sources[0].id;
        });
      };
      std::stable_partition(parts.begin(), parts.end(), [&](const Instruction& one) { return !overwrites(one); });
      split += static_cast<std::uint32_t>(parts.size() - 1);
      for (Instruction& one : parts) code.push_back(std::move(one));
    }
    b.instructions = std::move(code);
  }
  return split;
}

}  // namespace regatta::passes

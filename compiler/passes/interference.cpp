// SPDX-License-Identifier: Apache-2.0
#include "allocation.h"
#include "register_limits.h"

#include <algorithm>

namespace regatta::passes {

PairSet::PairSet(std::size_t ids) {
  if (ids <= largest_matrix) {
    bits_.assign(ids * (ids + 1) / 128 + 1, 0);
  } else {
    slots_.assign(1024, 0);
  }
}

std::uint64_t PairSet::key(std::uint32_t a, std::uint32_t b) {
  if (a > b) std::swap(a, b);
  return (std::uint64_t{a} << 32 | b) + 1;
}

std::size_t PairSet::find(std::uint64_t k) const {
  const std::size_t mask = slots_.size() - 1;
  std::uint64_t h = k * 0x9e3779b97f4a7c15u;
  std::size_t at = static_cast<std::size_t>(h >> 20) & mask;
  while (slots_[at] != 0 && slots_[at] != k) at = (at + 1) & mask;
  return at;
}

bool PairSet::contains(std::uint32_t a, std::uint32_t b) const {
  if (!bits_.empty()) return (bits_[bit(a, b) / 64] >> (bit(a, b) % 64) & 1) != 0;
  return slots_[find(key(a, b))] != 0;
}

bool PairSet::insert(std::uint32_t a, std::uint32_t b) {
  if (!bits_.empty()) {
    std::uint64_t& word = bits_[bit(a, b) / 64];
    const std::uint64_t mask = std::uint64_t{1} << (bit(a, b) % 64);
    const bool is_new = (word & mask) == 0;
    word |= mask;
    return is_new;
  }
  const std::uint64_t k = key(a, b);
  std::size_t at = find(k);
  if (slots_[at] != 0) return false;
  if (2 * (used_ + 1) > slots_.size()) {
    std::vector<std::uint64_t> old(slots_.size() * 2, 0);
    old.swap(slots_);
    for (std::uint64_t o : old)
      if (o != 0) slots_[find(o)] = o;
    at = find(k);
  }
  slots_[at] = k;
  ++used_;
  return true;
}

double loop_weight(std::uint32_t depth) {
  double weight = 1;
  for (std::uint32_t d = 0; d < std::min(depth, 6u); ++d) weight *= 10;
  return weight;
}

void Interference::add(const ir::Function& f, std::uint32_t a, std::uint32_t b) {
  if (a == b || f.registers[a].is_predicate != f.registers[b].is_predicate || !pairs_.insert(a, b)) return;
  neighbours_[a].push_back(b);
  neighbours_[b].push_back(a);
}

/// Copies, bank pairs and weights that one instruction adds.
void Interference::collect(const ir::Instruction& i, double weight, const ir::Function& f) {
  const analysis::Variables variables(f);
  variables.for_each_read(i, [&](std::uint32_t v) { weight_[v] += weight; });
  variables.for_each_write(i, [&](std::uint32_t v) { weight_[v] += weight; });

  const auto is_register = [](const ir::Operand& o) { return o.is_reg() || (o.is_predicate() && !o.negated); };
  const auto copy = [&](const ir::Operand& d, unsigned word_d, const ir::Operand& s, unsigned word_s) {
    if (is_register(d) && is_register(s) && d.id != s.id && d.kind == s.kind)
      copies_.push_back({d.id, s.id, static_cast<std::uint8_t>(word_d), static_cast<std::uint8_t>(word_s), weight});
  };
  if (i.op == ir::Opcode::mov && i.destinations.size() == 1 && i.sources.size() == 1) {
    if (i.destinations[0].words == i.sources[0].words) copy(i.destinations[0], 0, i.sources[0], 0);
  } else if (i.op == ir::Opcode::pack && i.destinations[0].words == 2 && i.sources.size() == 2) {
    copy(i.destinations[0], 0, i.sources[0], 0);
    copy(i.destinations[0], 1, i.sources[1], 0);
  } else if (i.op == ir::Opcode::unpack && i.sources[0].words == 2 && i.destinations.size() == 2) {
    copy(i.destinations[0], 0, i.sources[0], 0);
    copy(i.destinations[1], 0, i.sources[0], 1);
  }

  for (std::size_t a = 0; a < i.sources.size(); ++a)
    for (std::size_t b = a + 1; b < i.sources.size(); ++b) {
      const ir::Operand &x = i.sources[a], &y = i.sources[b];
      if (!x.is_reg() || !y.is_reg() || x.id == y.id) continue;
      bank_pairs_[x.id].push_back({y.id, weight});
      bank_pairs_[y.id].push_back({x.id, weight});
    }
}

void Interference::find_limits(const ir::Function& f, const analysis::Liveness& liveness) {
  limit_.assign(f.registers.size(), trace::max_general_registers);
  const RegisterLimits limits(f);
  analysis::LivenessWalker walker(liveness);
  std::vector<unsigned> behind;
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    const auto& code = f.blocks[b].instructions;
    unsigned limit = limits.at_start(b);
    behind.clear();
    for (const ir::Instruction& i : code) behind.push_back(limit = RegisterLimits::behind(i, limit));
    const auto apply = [&](std::uint32_t v, unsigned least) { limit_[v] = std::min(limit_[v], least); };
    for (walker.start(b); walker.more(); walker.step()) {
      const std::size_t n = walker.index();
      walker.live().for_each([&](std::uint32_t v) { apply(v, behind[n]); });
      liveness.variables().for_each_write(code[n], [&](std::uint32_t v) { apply(v, behind[n]); });
    }
    walker.live().for_each([&](std::uint32_t v) { apply(v, limits.at_start(b)); });
  }
}

Interference::Interference(const ir::Function& f, const std::vector<bool>& pinned)
    : pairs_(f.registers.size()),
      neighbours_(f.registers.size()),
      bank_pairs_(f.registers.size()),
      weight_(f.registers.size(), 0) {
  analysis::FunctionAnalyses analyses(f);
  analysis::BitSet certain(f.registers.size());
  for (std::uint32_t v = 0; v < pinned.size(); ++v)
    if (pinned[v]) certain.set(v);
  const analysis::Liveness liveness(f, analyses.cfg(), nullptr, &certain);
  const analysis::Variables& variables = liveness.variables();
  analysis::LivenessWalker walker(liveness);
  const auto measure = [&](const analysis::BitSet& live) {
    unsigned words = 0;
    live.for_each([&](std::uint32_t v) { words += f.registers[v].words; });
    pressure_ = std::max(pressure_, words);
  };

  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    const double weight = loop_weight(analyses.loops().depth(b));
    for (walker.start(b); walker.more(); walker.step()) {
      const ir::Instruction& i = f.blocks[b].instructions[walker.index()];
      collect(i, weight, f);
      measure(walker.live());
      // A copy's destination may share its source's place while both hold the same value.
      const bool is_copy = i.op == ir::Opcode::mov && i.sources.size() == 1 && i.destinations.size() == 1 &&
                           (i.sources[0].is_reg() || (i.sources[0].is_predicate() && !i.sources[0].negated)) &&
                           i.sources[0].words == i.destinations[0].words;
      const std::uint32_t exempt = is_copy ? i.sources[0].id : ~0u;
      variables.for_each_write(i, [&](std::uint32_t d) {
        walker.live().for_each([&](std::uint32_t v) {
          if (v != exempt) add(f, d, v);
        });
        variables.for_each_write(i, [&](std::uint32_t other) { add(f, d, other); });
      });
    }
    measure(walker.live());
  }
  if (sets_registers(f)) find_limits(f, liveness);
  std::stable_sort(copies_.begin(), copies_.end(), [](const Copy& x, const Copy& y) { return x.weight > y.weight; });
}

}  // namespace regatta::passes

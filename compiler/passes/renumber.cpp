// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/renumber.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "allocation.h"
#include "register_groups.h"

namespace regatta::passes {

namespace {

/// What it costs, beside the 1 for a conflict in the register file, ...
constexpr double staging_conflict = 0.5;
/// ... and for two registers of a group to share a bank, next to a conflict of two operands.
constexpr double shared_bank = 0.02;
/// Rounds of improvement; each ends sooner when nothing improves any more.
constexpr unsigned most_rounds = 8;

class Renumberer {
 public:
  Renumberer(const ir::Function& f, const std::vector<RegisterGroup>& groups, const RenumberOptions& options)
      : options_(options),
        count_(f.registers_used),
        operands_(count_ * count_),
        together_(count_ * count_),
        place_(count_),
        register_at_(count_) {
    std::iota(place_.begin(), place_.end(), 0);
    std::iota(register_at_.begin(), register_at_.end(), 0);
    width_ = register_groups(f);
    analysis::FunctionAnalyses analyses(f);
    for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
      const double weight = loop_weight(analyses.loops().depth(b));
      for (const ir::Instruction& i : f.blocks[b].instructions) instruction(i, weight);
    }
    for (const RegisterGroup& group : groups) {
      const double weight = shared_bank * loop_weight(analyses.loops().depth(group.block));
      for (const std::uint8_t x : group.registers)
        for (const std::uint8_t y : group.registers)
          if (x != y) together_[x * count_ + y] += weight;
    }
  }

  RenumberResult run(ir::Function& f) {
    RenumberResult result;
    result.conflicts_before = conflicts();
    bool better = true;
    for (unsigned round = 0; round < most_rounds && better; ++round) {
      better = false;
      for (const unsigned width : {4u, 2u, 1u})
        for (unsigned a = 0; a + width <= count_; a += width)
          for (unsigned b = a + width; b + width <= count_; b += width) better |= try_exchange(a, b, width);
    }
    result.conflicts_after = conflicts();
    for (unsigned r = 0; r < count_; ++r) result.moved += place_[r] != r;
    if (result.moved != 0) rename_registers(f, place_);
    return result;
  }

 private:
  void instruction(const ir::Instruction& i, double weight) {
    std::vector<unsigned> sources;
    for (const ir::Operand& o : i.sources)
      if (o.is_reg())
        for (unsigned w = 0; w < o.words; ++w) sources.push_back(o.id + w);
    for (const unsigned x : sources)
      for (const unsigned y : sources)
        if (x != y) operands_[x * count_ + y] += weight;
  }

  /// Whether the numbers from `at` on can move as a block of `width`: nothing wider reaches in.
  bool is_movable(unsigned at, unsigned width) const {
    for (unsigned n = at; n < at + width; ++n)
      if (width_[register_at_[n]] > width) return false;
    return true;
  }

  double pair_cost(unsigned x, unsigned y, unsigned place_x, unsigned place_y) const {
    if (place_x % options_.file_banks != place_y % options_.file_banks) return 0;
    const double operands = operands_[x * count_ + y];
    if (place_x % options_.banks != place_y % options_.banks) return operands;
    return operands * (1 + staging_conflict) + together_[x * count_ + y];
  }

  /// What the registers at [a, a+width) and [b, b+width) cost with all others and with each other.
  double cost_around(unsigned a, unsigned b, unsigned width) const {
    double sum = 0;
    for (const unsigned base : {a, b})
      for (unsigned n = base; n < base + width; ++n)
        for (unsigned m = 0; m < count_; ++m) {
          const bool inside = (m >= a && m < a + width) || (m >= b && m < b + width);
          if (m != n) sum += (inside ? 0.5 : 1) * pair_cost(register_at_[n], register_at_[m], n, m);
        }
    return sum;
  }

  bool try_exchange(unsigned a, unsigned b, unsigned width) {
    if (!is_movable(a, width) || !is_movable(b, width)) return false;
    const double before = cost_around(a, b, width);
    if (before == 0) return false;
    exchange(a, b, width);
    // By more than rounding, else two orders could be exchanged for ever.
    if (cost_around(a, b, width) < before * (1 - 1e-9)) return true;
    exchange(a, b, width);
    return false;
  }

  void exchange(unsigned a, unsigned b, unsigned width) {
    for (unsigned n = 0; n < width; ++n) {
      std::swap(register_at_[a + n], register_at_[b + n]);
      place_[register_at_[a + n]] = a + n;
      place_[register_at_[b + n]] = b + n;
    }
  }

  double conflicts() const {
    double sum = 0;
    for (unsigned x = 0; x < count_; ++x)
      for (unsigned y = x + 1; y < count_; ++y)
        if (place_[x] % options_.banks == place_[y] % options_.banks) sum += operands_[x * count_ + y];
    return sum;
  }

  const RenumberOptions options_;
  const unsigned count_;
  std::vector<double> operands_, together_;  ///< per pair of registers
  std::vector<unsigned> width_;              ///< of the group that a register belongs to
  std::vector<unsigned> place_;              ///< new number of a register
  std::vector<unsigned> register_at_;        ///< and back
};

}  // namespace

RenumberResult renumber_registers(ir::Function& f, const std::vector<RegisterGroup>& groups,
                                  const RenumberOptions& options) {
  if (!f.allocated) throw std::logic_error(f.name + ": registers are renumbered after allocation");
  return Renumberer(f, groups, options).run(f);
}

}  // namespace regatta::passes

// SPDX-License-Identifier: Apache-2.0
#include "register_limits.h"

#include <algorithm>
#include <stdexcept>

namespace regatta::passes {

namespace {

using ir::Instruction;
using ir::Opcode;

unsigned registers_of(const Instruction& i) {
  return static_cast<unsigned>(std::min<std::uint64_t>(i.sources[0].value, trace::max_general_registers));
}

/// What holds at the start of each block: `join` of what holds at the ends of its predecessors.
template <class Behind, class Join>
std::vector<unsigned> solve(const ir::Function& f, Behind&& behind, Join&& join) {
  constexpr unsigned unknown = ~0u;
  std::vector<unsigned> at_start(f.blocks.size(), unknown);
  at_start[0] = std::min(f.entry_registers, trace::max_general_registers);
  std::vector<std::uint32_t> work{0};
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    unsigned limit = at_start[b];
    for (const Instruction& i : f.blocks[b].instructions) limit = behind(i, limit);
    for (const std::uint32_t s : f.blocks[b].successors) {
      const unsigned joint = at_start[s] == unknown ? limit : join(at_start[s], limit);
      if (joint == at_start[s]) continue;
      at_start[s] = joint;
      work.push_back(s);
    }
  }
  for (unsigned& limit : at_start) limit = limit == unknown ? trace::max_general_registers : limit;  // unreachable
  return at_start;
}

unsigned most_behind(const Instruction& i, unsigned limit) {
  if (i.op != Opcode::set_registers) return limit;
  return i.guarded ? std::max(limit, registers_of(i)) : registers_of(i);
}

}  // namespace

unsigned RegisterLimits::behind(const Instruction& i, unsigned limit) {
  if (i.op != Opcode::set_registers) return limit;
  return i.guarded ? std::min(limit, registers_of(i)) : registers_of(i);
}

RegisterLimits::RegisterLimits(const ir::Function& f)
    : f_(f),
      at_start_(solve(f, behind, [](unsigned a, unsigned b) { return std::min(a, b); })),
      most_at_start_(solve(f, most_behind, [](unsigned a, unsigned b) { return std::max(a, b); })) {
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    unsigned limit = at_start_[b];
    least_.push_back(limit);
    for (const Instruction& i : f.blocks[b].instructions) {
      limit = behind(i, limit);
      least_.back() = std::min(least_.back(), limit);
    }
  }
}

unsigned RegisterLimits::most_before(std::uint32_t block, std::size_t instruction) const {
  unsigned most = most_at_start_[block];
  for (std::size_t n = 0; n < instruction; ++n) most = most_behind(f_.blocks[block].instructions[n], most);
  return most;
}

void verify_limits(const ir::Function& f) {
  if (!sets_registers(f)) return;
  const RegisterLimits limits(f);
  for (std::uint32_t b = 0; b < f.blocks.size(); ++b) {
    unsigned limit = limits.at_start(b);
    for (const Instruction& i : f.blocks[b].instructions) {
      for (const auto* operands : {&i.destinations, &i.sources})
        for (const ir::Operand& o : *operands)
          if (o.is_reg() && o.id + o.words > limit) {
            throw std::logic_error("register allocation of " + f.name + ": block " + std::to_string(b) + ", '" +
                                   ir::to_text(i, true) + "': a thread has " + std::to_string(limit) +
                                   " registers there");
          }
      limit = RegisterLimits::behind(i, limit);
    }
  }
}

}  // namespace regatta::passes

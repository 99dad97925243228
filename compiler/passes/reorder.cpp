// SPDX-License-Identifier: Apache-2.0
#include <regatta/passes/reorder.h>

#include <regatta/analysis/cfg.h>

#include "register_groups.h"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace regatta::passes {

namespace {

/// Numbers that are not given away yet.
class FreeNumbers {
 public:
  explicit FreeNumbers(unsigned count) : is_free_(count, true) {}

  bool is_free(unsigned base, unsigned width) const {
    if (base + width > is_free_.size()) return false;
    return std::all_of(is_free_.begin() + base, is_free_.begin() + base + width, [](bool free) { return free; });
  }
  void take(unsigned base, unsigned width, bool taken = true) { std::fill_n(is_free_.begin() + base, width, !taken); }
  /// Whether `waiting` groups of 1, 2 and 4 numbers find aligned places. Widths are powers of two, so counting is
  /// enough: the widest take their places first, and each of them costs two places of half its width.
  bool has_room(const std::array<unsigned, 3>& waiting) const {
    unsigned taken = 0;  // in units of the width at hand
    for (int w = 2; w >= 0; --w) {
      taken = 2 * taken + waiting[static_cast<std::size_t>(w)];
      unsigned places = 0;
      const unsigned width = 1u << w;
      for (unsigned base = 0; base + width <= is_free_.size(); base += width) places += is_free(base, width) ? 1 : 0;
      if (taken > places) return false;
    }
    return true;
  }

 private:
  std::vector<bool> is_free_;
};

std::size_t class_of(unsigned width) { return width == 4 ? 2 : width - 1; }

}  // namespace

std::vector<std::uint8_t> registers_by_first_use(const ir::Function& f) {
  if (!f.allocated) throw std::logic_error(f.name + ": registers are reordered after allocation");
  std::vector<std::uint8_t> order;
  std::vector<bool> seen(f.registers_used);
  const auto use = [&](unsigned r) {
    if (!seen[r]) order.push_back(static_cast<std::uint8_t>(r));
    seen[r] = true;
  };
  const analysis::Cfg cfg(f);
  for (const std::uint32_t b : cfg.reverse_post_order())
    for (const ir::Instruction& i : f.blocks[b].instructions)
      for (const auto* operands : {&i.destinations, &i.sources})
        for (const ir::Operand& o : *operands)
          for (unsigned w = 0; o.is_reg() && w < o.words; ++w) use(o.id + w);
  for (unsigned r = 0; r < f.registers_used; ++r) use(r);
  return order;
}

unsigned reorder_registers(ir::Function& f) {
  const std::vector<std::uint8_t> order = registers_by_first_use(f);
  const std::vector<unsigned> width = register_groups(f);
  const unsigned count = f.registers_used;
  constexpr unsigned unplaced = ~0u;
  std::vector<unsigned> place(count, unplaced);
  std::array<unsigned, 3> waiting{};
  FreeNumbers numbers(count);
  for (unsigned base = 0; base < count; base += width[base]) {
    if (base + width[base] <= count) {
      ++waiting[class_of(width[base])];
      continue;
    }
    // A vector whose last elements are not used reaches past the last number: no other place has less room.
    for (unsigned r = base; r < count; ++r) place[r] = r;
    numbers.take(base, count - base);
  }
  for (const std::uint8_t r : order) {
    if (place[r] != unplaced) continue;
    const unsigned size = width[r], base = r / size * size;
    --waiting[class_of(size)];
    for (unsigned to = 0; to + size <= count; to += size) {
      if (!numbers.is_free(to, size)) continue;
      numbers.take(to, size);
      if (numbers.has_room(waiting)) {
        for (unsigned w = 0; w < size; ++w) place[base + w] = to + w;
        break;
      }
      numbers.take(to, size, false);
    }
  }
  unsigned moved = 0;
  for (unsigned r = 0; r < count; ++r) moved += place[r] != r ? 1 : 0;
  rename_registers(f, place);
  // Numbers that nothing names are the kernel's too: its last ones may have moved there.
  f.registers_used = count;
  return moved;
}

}  // namespace regatta::passes

// SPDX-License-Identifier: Apache-2.0
#include <regatta/analysis/next_access.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::analysis {

NextAccess::NextAccess(const ir::Function& f, const Cfg& cfg, unsigned bound) : variables_(f), bound_(bound) {
  if (bound == 0 || bound >= beyond) throw std::invalid_argument("a bound of 1 to 254");
  const std::size_t variables = variables_.count();
  // A block as a whole: the first access to each variable, by its place, or none.
  std::vector<std::vector<std::uint8_t>> first(cfg.size(), std::vector<std::uint8_t>(variables, beyond));
  for (std::uint32_t b = 0; b < cfg.size(); ++b) {
    const auto& instructions = f.blocks[b].instructions;
    for (std::size_t i = instructions.size(); i-- > 0;) step(instructions[i], first[b]);
  }
  // From all infinite downwards, the way of the data: a block after its successors.
  in_ = first;
  out_.assign(cfg.size(), std::vector<std::uint8_t>(variables, beyond));
  const std::vector<std::uint32_t>& order = cfg.reverse_post_order();
  for (bool changed = true; changed;) {
    changed = false;
    for (auto b = order.rbegin(); b != order.rend(); ++b) {
      merge_successors(cfg, *b, out_[*b]);
      const std::size_t length = f.blocks[*b].instructions.size();
      for (std::size_t v = 0; v < variables; ++v) {
        if (first[*b][v] != beyond) continue;
        const std::size_t through = out_[*b][v] == beyond ? beyond : out_[*b][v] + length;
        const auto in = static_cast<std::uint8_t>(through > bound_ ? beyond : through);
        changed = changed || in != in_[*b][v];
        in_[*b][v] = in;
      }
    }
  }
}

void NextAccess::merge_successors(const Cfg& cfg, std::uint32_t block, std::vector<std::uint8_t>& distances) const {
  const std::vector<std::uint32_t>& successors = cfg.successors(block);
  if (successors.empty()) return;
  distances = in_[successors.front()];
  for (std::size_t s = 1; s < successors.size(); ++s) {
    const std::vector<std::uint8_t>& other = in_[successors[s]];
    std::transform(distances.begin(), distances.end(), other.begin(), distances.begin(),
                   [](std::uint8_t a, std::uint8_t b) { return std::max(a, b); });
  }
}

void NextAccess::step(const ir::Instruction& instruction, std::vector<std::uint8_t>& distances) const {
  for (std::uint8_t& d : distances) d = d >= bound_ ? beyond : static_cast<std::uint8_t>(d + 1);
  const auto access = [&](std::uint32_t v) { distances[v] = 1; };
  variables_.for_each_read(instruction, access);
  variables_.for_each_write(instruction, access);
}

}  // namespace regatta::analysis

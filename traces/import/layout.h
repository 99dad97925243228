// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/trace/kernel_builder.h>

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "code.h"
#include "path_finder.h"

namespace regatta::import {

/// A kernel's code in its order: static indices for PCs, ascending from the entry; PCs below the entry come last.
class Layout {
 public:
  explicit Layout(const Code& code);

  std::uint32_t index_of(std::uint64_t pc) const { return index_.at(pc); }
  const CodeLine& line(std::uint32_t index) const { return *lines_[index]; }
  std::size_t size() const { return lines_.size(); }
  const FlowCode& flow() const { return flow_; }

  /// What the paths of the warps say: an instruction that not all lanes of its path execute, a jump beside a target.
  void found(const std::vector<Step>& steps, const WarpPath& path);
  /// The kernel, with version tags. `header`: of its first launch.
  trace::Kernel kernel(const Header& header, std::uint32_t local_bytes) const;

 private:
  void find_target(std::uint32_t index);

  std::unordered_map<std::uint64_t, std::uint32_t> index_;
  std::vector<const CodeLine*> lines_;
  FlowCode flow_;
  std::vector<bool> guarded_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges_;
};

}  // namespace regatta::import

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/observer.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace regatta::assembly {

/// Which registers a write-back point dropped the last write of: if a reader finds another value, that is why.
class DropLog : public protocol::Observer {
 public:
  struct Drop {
    protocol::Cycle cycle;
    std::uint64_t pc = 0;  ///< bytes
    bool last = false;     ///< nothing was written to the register since
  };
  std::vector<protocol::Event> interests() const override { return {protocol::Event::register_written}; }
  bool keeps_cycle_time() const override { return true; }
  void register_written(protocol::Cycle now, const protocol::DynamicInstruction& d, unsigned destination,
                        bool written) override {
    Drop& drop = at(d.warp, d.traits->writes[destination]);
    // What no lane executes is dropped by the pipeline itself.
    if (d.active == 0) return;
    drop = Drop{now, std::uint64_t{d.traits->index} * trace::bytes_per_instruction, !written};
  }
  /// Null: the last write of the register was not dropped.
  const Drop* last(protocol::WarpSlot warp, protocol::RegisterId reg) {
    const Drop& drop = at(warp, reg);
    return drop.last ? &drop : nullptr;
  }

 private:
  static constexpr std::size_t registers = 256;
  Drop& at(protocol::WarpSlot warp, protocol::RegisterId reg) {
    const std::size_t index = warp.value() * registers + reg.value();
    if (drops_.size() <= index) drops_.resize((warp.value() + std::size_t{1}) * registers);
    return drops_[index];
  }
  std::vector<Drop> drops_;
};

}  // namespace regatta::assembly

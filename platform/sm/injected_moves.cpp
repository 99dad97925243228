// SPDX-License-Identifier: Apache-2.0
#include "injected_moves.h"

#include <regatta/sm/decode.h>

namespace regatta::sm {

void InjectedMoves::move(WarpSlot warp, protocol::RegisterId reg) {
  wanted_ = true;
  warp_ = warp;
  register_ = reg;
}

bool InjectedMoves::take_request(protocol::RegisterId& reg) {
  const bool wanted = wanted_;
  wanted_ = false;
  reg = register_;
  return wanted;
}

DynamicInstruction& InjectedMoves::make(const Warp& warp, protocol::RegisterId reg, const DynamicInstruction& next) {
  while (static_.size() <= reg.value()) {
    trace::StaticInstruction s;
    s.opcode = "mov (injected)";
    s.op_class = trace::OpClass::int_add;
    s.source_count = s.destination_count = 1;
    s.sources[0] = s.destinations[0] = static_cast<std::uint8_t>(static_.size());
    static_.push_back(s);
  }
  DynamicInstruction& d = core_.pool.take();
  if (traits_.size() <= d.pool_index) traits_.resize(std::size_t{d.pool_index} + 1);
  InstructionTraits& t = traits_[d.pool_index];
  t = traits_of(static_[reg.value()], next.traits->index, core_.config);
  outside_program(d, t, warp.info.lanes);
  d.warp = warp.info.warp;
  d.cta = warp.info.cta;
  d.scheduler = warp.scheduler;
  d.sequence = next.sequence;
  d.fetched = core_.now;
  return d;
}

}  // namespace regatta::sm

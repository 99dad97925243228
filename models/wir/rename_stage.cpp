// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/rename_stage.h>

namespace regatta::models::wir {

using protocol::DynamicInstruction;

RenameStage::RenameStage(PhysicalRegisterFile& file, sc_core::sc_time period)
    : file_(&file),
      state_(&file.state()),
      rules_(state_->config.barrier_bits),
      halves_(state_->config.schedulers),
      freed_(
          period, [](void* stage) { static_cast<RenameStage*>(stage)->opened(); }, this) {
  state_->on_opened = [this] { opened(); };
}

void RenameStage::kernel_started(const protocol::KernelContext& context) {
  all_lanes_ = trace::all_lanes(context.warp_size);
  warps_of_cta_.clear();
}

void RenameStage::warp_started(const protocol::WarpInfo& warp) {
  rules_.warp_started(warp);
  if (scheduler_of_.size() <= warp.warp.value()) scheduler_of_.resize(warp.warp.value() + 1u);
  scheduler_of_[warp.warp.value()] = unknown;
  if (warps_of_cta_.size() <= warp.cta.value()) warps_of_cta_.resize(warp.cta.value() + 1u);
  if (warps_of_cta_[warp.cta.value()]++ == 0) rules_.cta_started(warp.cta);
}

void RenameStage::warp_finished(const protocol::WarpInfo& warp) {
  if (--warps_of_cta_[warp.cta.value()] != 0) return;
  // The slot's next CTA has another scratchpad, and begins to count barriers anew.
  state_->reuse.drop_loads(static_cast<std::uint16_t>(warp.cta.value() + 1),
                           [this](const Dropped& dropped) { state_->give_up(dropped); });
}

bool RenameStage::tables_busy(protocol::WarpSlot warp) {
  const std::uint8_t scheduler = scheduler_of_[warp.value()];
  if (scheduler == unknown || halves_[scheduler].busy_until <= state_->now()) return false;
  freed_.request(halves_[scheduler].busy_until);
  return true;
}

/// The further cycles that the half's ports need for all registers of the instruction.
void RenameStage::occupy_tables(const DynamicInstruction& d, InFlight& f) {
  scheduler_of_[d.warp.value()] = d.scheduler;
  const unsigned registers = d.traits->read_count + d.traits->write_count;
  const unsigned ports = state_->config.rename_ports;
  if (registers <= ports) return;
  const unsigned further = (registers - 1) / ports;
  ++state_->counters.long_renames;
  halves_[d.scheduler].busy_until = state_->now() + 1 + further;
  f.renamed_at = state_->now() + state_->config.front_delay() + further;
}

bool RenameStage::may_issue(const DynamicInstruction& d) {
  if (tables_busy(d.warp)) return false;
  const protocol::InstructionTraits& t = *d.traits;
  unsigned wanted = 0;
  for (unsigned i = 0; i < t.write_count; ++i) {
    const RenameEntry& e = state_->rename.at(d.warp, t.writes[i]);
    if (!e.valid() || !state_->is_held(e.reg)) continue;
    const bool in_place = e.pinned && d.active != all_lanes_;
    if (in_place || !state_->credits_left(++wanted)) {
      ++state_->counters.refused_issues;
      state_->refused();
      return false;
    }
  }
  return true;
}

void RenameStage::issued(const DynamicInstruction& d) {
  const protocol::InstructionTraits& t = *d.traits;
  const StaticCode& code = state_->code[t.index];
  RegisterState::Counters& n = state_->counters;
  ++n.instructions;
  n.rename_reads += t.read_count + t.write_count;
  InFlight& f = state_->enter(d);
  occupy_tables(d, f);
  // The readers that this instruction makes the last to know a register, before it becomes a reader itself.
  for (unsigned i = 0; i < t.write_count; ++i) {
    const RenameEntry& e = state_->rename.at(d.warp, t.writes[i]);
    if (e.valid() && state_->is_held(e.reg)) state_->promise(e.reg);
  }
  f.divergent = d.active != all_lanes_;
  bool known = true;
  bool pinned = false;
  for (unsigned i = 0; i < t.read_count; ++i) {
    const RenameEntry& e = state_->rename.at(d.warp, t.reads[i]);
    f.sources[i] = e.reg;
    known = known && e.valid();
    pinned = pinned || e.pinned;
    if (!e.valid() || t.unit == protocol::Unit::none) continue;  // the others read no operands
    file_->fetch_ahead(e.reg);
    state_->hold(e.reg);
    f.held |= static_cast<std::uint8_t>(1u << i);
  }
  f.kind = code.kind;
  // A pinned register is overwritten in place: its number says nothing about its value (blocks.md B2).
  f.reusable = code.kind != ReuseKind::none && !f.divergent && known && !pinned;
  if (f.reusable) tag(d, code, f);
  if (code.effect != MemoryEffect::none) rules_.renamed(d, code);
}

void RenameStage::tag(const DynamicInstruction& d, const StaticCode& code, InFlight& f) const {
  f.tag = ReuseTag{};
  f.tag.opcode = code.signature;
  for (unsigned i = 0; i < code.sources; ++i) f.tag.sources[i] = f.sources[code.source[i]];
  if (code.kind == ReuseKind::arithmetic) return;
  f.reusable = state_->parts.loads && rules_.tag_load(d, code.kind, f.tag);
}

}  // namespace regatta::models::wir

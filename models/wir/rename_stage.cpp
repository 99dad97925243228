// SPDX-License-Identifier: Apache-2.0
#include <regatta/models/wir/rename_stage.h>

namespace regatta::models::wir {

using protocol::DynamicInstruction;

RenameStage::RenameStage(PhysicalRegisterFile& file)
    : file_(&file), state_(&file.state()), rules_(state_->config.barrier_bits), halves_(state_->config.schedulers) {
  state_->on_opened = [this] { opened(); };
}

void RenameStage::kernel_started(const protocol::KernelContext& context) {
  all_lanes_ = trace::all_lanes(context.warp_size);
  warps_of_cta_.clear();
}

void RenameStage::warp_started(const protocol::WarpInfo& warp) {
  rules_.warp_started(warp);
  if (warps_of_cta_.size() <= warp.cta.value()) warps_of_cta_.resize(warp.cta.value() + 1u);
  if (warps_of_cta_[warp.cta.value()]++ == 0) rules_.cta_started(warp.cta);
}

void RenameStage::warp_finished(const protocol::WarpInfo& warp) {
  if (--warps_of_cta_[warp.cta.value()] != 0) return;
  state_->begin();
  // The slot's next CTA has another scratchpad and counts its barriers from zero.
  state_->reuse.drop_loads(static_cast<std::uint16_t>(warp.cta.value() + 1),
                           [this](const Dropped& dropped) { state_->give_up(dropped); });
}

bool RenameStage::tables_busy(unsigned scheduler) {
  Half& half = halves_[scheduler];
  if (half.busy_until <= state_->begin()) return false;
  if (half.told != half.busy_until) listener_->reconsider(protocol::Cycle(half.busy_until));
  half.told = half.busy_until;
  return true;
}

/// Occupies the ports of the half for the additional cycles that the instruction's registers need.
void RenameStage::occupy_tables(const DynamicInstruction& d, InFlight& f) {
  const unsigned registers = d.traits->read_count + d.traits->write_count;
  const unsigned ports = state_->config.rename_ports;
  if (registers <= ports) return;
  const unsigned further = (registers - 1) / ports;
  ++state_->counters.long_renames;
  halves_[d.scheduler].busy_until = state_->now() + 1 + further;
  f.renamed_at = state_->now() + state_->config.front_delay() + further;
}

bool RenameStage::may_issue(const DynamicInstruction& d) {
  if (tables_busy(d.scheduler)) return false;
  const protocol::InstructionTraits& t = *d.traits;
  const RenameEntry* const entries = state_->rename.of(d.warp);
  unsigned wanted = 0;
  for (unsigned i = 0; i < t.write_count; ++i) {
    const RenameEntry& e = entries[t.writes[i].value()];
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

[[gnu::flatten]] void RenameStage::issued(const DynamicInstruction& d) {
  const protocol::InstructionTraits& t = *d.traits;
  const StaticCode& code = state_->code[t.index];
  RegisterState::Counters& n = state_->counters;
  state_->begin();
  ++n.instructions;
  n.rename_reads += t.read_count + t.write_count;
  InFlight& f = state_->enter(d);
  occupy_tables(d, f);
  const RenameEntry* const entries = state_->rename.of(d.warp);
  // Old registers of the destinations are then held by their readers alone. Checked before this instruction becomes a
  // reader itself.
  for (unsigned i = 0; i < t.write_count; ++i) {
    const RenameEntry& e = entries[t.writes[i].value()];
    if (e.valid() && state_->is_held(e.reg)) state_->promise(e.reg);
  }
  f.divergent = d.active != all_lanes_;
  bool known = true;
  bool pinned = false;
  unsigned held = 0;
  for (unsigned i = 0; i < t.read_count; ++i) {
    const RenameEntry e = entries[t.reads[i].value()];
    f.sources[i] = e.reg;
    pinned = pinned || e.pinned;
    if (!e.valid()) {
      known = false;
    } else {
      file_->fetch_ahead(e.reg);
      state_->hold(e.reg);
      held |= 1u << i;
    }
  }
  f.held = static_cast<std::uint8_t>(held);
  f.kind = code.kind;
  f.wide_immediate = code.wide_immediate;
  f.unit = t.unit;
  // A pinned register is overwritten in place: its number says nothing about its value (section V-D; README.md,
  // "Choices where the paper is silent").
  f.reusable = code.kind != ReuseKind::none && !f.divergent && known && !pinned;
  if (f.reusable) tag(d, code, f);
  if (code.effect != MemoryEffect::none) rules_.renamed(d, code);
}

void RenameStage::tag(const DynamicInstruction& d, const StaticCode& code, InFlight& f) const {
  // Built in place: copying a tag that has just been assembled would make the host wait for its parts.
  ReuseTag& tag = f.tag;
  tag.opcode = code.signature;
  tag.sources.fill(no_register);
  tag.block = 0;
  tag.barriers = 0;
  for (unsigned i = 0; i < code.sources; ++i) tag.sources[i] = f.sources[code.source[i]];
  if (code.kind != ReuseKind::arithmetic) f.reusable = state_->parts.loads && rules_.tag_load(d, code.kind, tag);
  f.fold = tag.fold();
  state_->reuse.fetch_ahead(f.fold);
}

}  // namespace regatta::models::wir

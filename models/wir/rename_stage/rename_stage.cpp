// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/rename_stage.h>

#include <algorithm>

namespace regatta::models::wir {

using protocol::DynamicInstruction;
using protocol::LookupReply;

RenameStage::RenameStage(const sc_core::sc_module_name& name, const WirMachine& config, support::ClockDomain& clock,
                         InFlightTable& in_flight)
    : sc_module(name),
      tables("tables", *this),
      access("access"),
      credits("credits"),
      reuse("reuse"),
      registers("registers"),
      keeper("keeper"),
      clock_(clock),
      front_delay_(config.front_delay()),
      pairs_(config.reuse_pairs),
      loads_(config.loads()),
      in_flight_(in_flight),
      rules_(config.barrier_bits),
      halves_(config.schedulers),
      again_(
          clock, [](void* stage) { static_cast<RenameStage*>(stage)->ask_again(); }, this) {
  keeper.bind(*this);
}

void RenameStage::end_of_elaboration() {
  entries_ = &access->view();
  credits_ = credits.operator->();
  pool_ = &credits->view();
  reuse_ = reuse.operator->();
  registers_ = registers.operator->();
}

void RenameStage::kernel_started(const protocol::KernelContext& context) {
  all_lanes_ = trace::all_lanes(context.warp_size);
  code_ = static_code(context, pairs_);
}

bool RenameStage::tables_busy(unsigned scheduler) {
  Half& half = halves_[scheduler];
  const std::uint64_t now = clock_.now();
  const std::uint64_t free = half.refused != nullptr ? now + 1 : half.busy_until;
  if (free <= now) return false;
  if (half.told != free) listener_->reconsider(protocol::Cycle(free));
  half.told = free;
  return true;
}

bool RenameStage::may_issue(const DynamicInstruction& d) {
  if (tables_busy(d.scheduler)) return false;
  const protocol::InstructionTraits& t = *d.traits;
  const RenameEntry* const entries = entries_->of(d.warp);
  unsigned wanted = 0;
  for (unsigned i = 0; i < t.write_count; ++i) {
    const RenameEntry& e = entries[t.writes[i].value()];
    if (!e.valid() || pool_->holds(e.reg) == 0) continue;
    const bool in_place = e.pinned && d.active != all_lanes_;
    if (in_place || !credits_->credits_left(++wanted)) {
      ++refused_issues_;
      credits_->refused();
      return false;
    }
  }
  return true;
}

[[gnu::flatten]] void RenameStage::issued(const DynamicInstruction& d) {
  const protocol::InstructionTraits& t = *d.traits;
  const StaticCode& code = code_[t.index];
  ++instructions_;
  InFlight& f = in_flight_.enter(d);
  // Old registers of the destinations are then held by their readers alone. Checked before this instruction becomes a
  // reader itself.
  const RenameEntry* const entries = entries_->of(d.warp);
  for (unsigned i = 0; i < t.write_count; ++i) {
    const RenameEntry& e = entries[t.writes[i].value()];
    if (e.valid() && pool_->holds(e.reg) != 0) credits_->promise(e.reg);
  }
  f.divergent = d.active != all_lanes_;
  f.kind = code.kind;
  f.wide_immediate = code.wide_immediate;
  f.unit = t.unit;
  f.reusable = code.kind != ReuseKind::none && !f.divergent;
  // The rules for loads go by what the warp and its CTA have done at issue. The tag is built in place: copying one that
  // has just been assembled would make the host wait for its parts.
  if (f.reusable) {
    f.tag.opcode = code.signature;
    f.tag.block = 0;
    f.tag.barriers = 0;
    if (code.kind != ReuseKind::arithmetic) f.reusable = loads_ && rules_.tag_load(d, code.kind, f.tag);
  }
  if (code.effect != MemoryEffect::none) rules_.renamed(d, code);
  // Without registers there is nothing to ask; such an instruction may retire before an answer comes.
  f.renamed = t.read_count + t.write_count == 0;
  if (f.renamed) {
    f.held = 0;
    f.reusable = false;
    return;
  }
  if (ask(d, f)) return;
  halves_[d.scheduler].refused = &d;
  again_.request(clock_.now() + 1);
}

/// Asks the tables for the registers of an issued instruction; false if they are busy.
bool RenameStage::ask(const DynamicInstruction& d, InFlight& f) {
  const protocol::InstructionTraits& t = *d.traits;
  RenameRequest request;
  request.warp = d.warp;
  request.scheduler = d.scheduler;
  request.sources = t.read_count;
  request.destinations = t.write_count;
  request.registers = t.reads;
  RenamedSources sources;
  const LookupReply reply = tables.requests->look_up(request, d.pool_index, sources);
  if (reply == LookupReply::answered) take(f, sources);
  return reply != LookupReply::busy;
}

/// The half's scheduler issues nothing meanwhile, so the tables are still as they were at issue.
void RenameStage::ask_again() {
  bool left = false;
  for (Half& half : halves_) {
    if (half.refused == nullptr) continue;
    if (ask(*half.refused, in_flight_.of(*half.refused))) {
      half.refused = nullptr;
    } else {
      left = true;
    }
  }
  if (left) again_.request(clock_.now() + 1);
}

void RenameStage::take(InFlight& f, const RenamedSources& sources) {
  const protocol::InstructionTraits& t = *f.instruction->traits;
  bool known = true;
  bool pinned = false;
  unsigned held = 0;
  for (unsigned i = 0; i < t.read_count; ++i) {
    const RenameEntry e = sources.entries[i];
    f.sources[i] = e.reg;
    pinned = pinned || e.pinned;
    if (!e.valid()) {
      known = false;
    } else {
      held |= 1u << i;
    }
  }
  registers_->fetch_ahead(f.sources.data(), t.read_count);
  f.held = static_cast<std::uint16_t>(held);
  f.renamed = true;
  if (sources.further_cycles != 0) {
    const std::uint64_t now = clock_.now();
    f.renamed_at = now + front_delay_ + sources.further_cycles;
    halves_[f.instruction->scheduler].busy_until = now + 1 + sources.further_cycles;
  }
  // A pinned register is overwritten in place: its number says nothing about its value (section V-D; README.md,
  // "Choices where the paper is silent").
  f.reusable = f.reusable && known && !pinned;
  if (!f.reusable) return;
  const StaticCode& code = code_[t.index];
  f.tag.sources.fill(no_register);
  for (unsigned i = 0; i < code.sources; ++i) f.tag.sources[i] = f.sources[code.source[i]];
  f.fold = f.tag.fold();
  reuse_->fetch_ahead(f.fold);
}

void RenameStage::register_stats(support::StatGroup& g) {
  g.counter("instructions", instructions_, "warp instructions", "renamed");
  g.counter("refused_issues", refused_issues_, "attempts",
            "to issue an instruction that would overwrite a register which is still to be read");
}

}  // namespace regatta::models::wir

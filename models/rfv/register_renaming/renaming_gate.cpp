// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/renaming_gate.h>

#include <regatta/support/energy.h>
#include <regatta/trace/rfv.h>

#include <algorithm>
#include <utility>

namespace regatta::models {

using protocol::DynamicInstruction;
using protocol::RegisterId;
using protocol::WarpSlot;

namespace {

constexpr unsigned flag_bits = trace::use_slots;
constexpr std::uint64_t all_flags = (std::uint64_t{1} << (flag_bits * trace::rfv_flags_per_word)) - 1;

RegisterId id(unsigned reg) { return RegisterId(static_cast<RegisterId::rep>(reg)); }
WarpSlot slot(unsigned warp) { return WarpSlot(static_cast<WarpSlot::rep>(warp)); }
protocol::CtaSlot cta_slot(unsigned cta) { return protocol::CtaSlot(static_cast<protocol::CtaSlot::rep>(cta)); }

}  // namespace

RenamingGate::RenamingGate(const sc_core::sc_module_name& name, const RenamingConfig& config,
                           support::ClockDomain& clock)
    : sc_module(name),
      entries("entries"),
      rows("rows"),
      flags("flags"),
      reads("reads"),
      room_for_ctas("room_for_ctas"),
      config_(config),
      clock_(clock),
      changed_("changed", &clock),
      launch_changed_("launch_changed", &clock) {
  reads.bind(*this);
  room_for_ctas.bind(*this);
}

void RenamingGate::end_of_elaboration() {
  entries_ = entries.operator->();
  pool_ = rows.operator->();
  flags_ = flags.operator->();
}

void RenamingGate::kernel_started(const protocol::KernelContext& context) {
  plan_ = renaming_plan(context, config_, context.resident_ctas);
  throttle_.begin(plan_, cta_rows(plan_));
  renamed_ = ~plan_.section.exempt;
  const unsigned warps = context.resident_ctas * context.warps_per_cta;
  warps_.assign(warps, Warp{});
  for (unsigned w = 0; w < warps; ++w) {
    warps_[w].cta = static_cast<std::uint16_t>(w / context.warps_per_cta);
    warps_[w].part = static_cast<std::uint16_t>(plan_.part_of(slot(w)));
  }
  held_.assign(std::size_t{warps} * config_.words, Held{});
  reads_.assign(at(slot(warps), 0), 0);
  waiting_.clear();
  launch_refused_ = false;
  read_words(*context.kernel);
  read_instructions(context);
  entries_->begin(plan_, warps);
  pool_->begin(context.warp_size);
  flags_->begin(context.kernel->inserted.size());
  reserve_exempt(context);
}

std::uint64_t RenamingGate::word_of(const trace::Kernel& kernel, std::uint32_t inserted) const {
  return kernel.inserted[inserted].instruction.operands[0].value;
}

void RenamingGate::read_words(const trace::Kernel& kernel) {
  // Refuses a kernel whose words are malformed.
  trace::read_rfv_words(kernel, plan_.section);
  words_.assign(kernel.inserted.size(), Word{});
  for (std::uint32_t i = 0; i < words_.size(); ++i) {
    const trace::StaticInstruction& instruction = kernel.inserted[i].instruction;
    if (instruction.scheme != trace::rfv_scheme) continue;
    const std::uint64_t word = word_of(kernel, i);
    words_[i].pir = instruction.opcode == trace::rfv_pir;
    if (words_[i].pir) {
      words_[i].flags = word & all_flags;
      continue;
    }
    for (unsigned n = 0; n < trace::rfv_numbers_per_word; ++n) {
      const unsigned reg = static_cast<unsigned>(word >> (6 * n)) & 63u;
      if (reg != 63) words_[i].released |= Registers{1} << reg;
    }
  }
}

void RenamingGate::read_instructions(const protocol::KernelContext& context) {
  static_.assign(context.kernel->instructions.size(), Static{});
  for (std::size_t i = 0; i < static_.size(); ++i) {
    const trace::StaticInstruction& instruction = context.kernel->instructions[i];
    static_[i].written = trace::written_by(instruction) & renamed_;
    const std::array<trace::UseSlot, trace::use_slots> slots = trace::use_slots_of(instruction);
    for (unsigned s = 0; s < trace::use_slots; ++s) {
      if (trace::is_source(slots[s])) static_[i].slots[s] = trace::registers_of(slots[s]) & renamed_;
    }
  }
}

/// The rows of exempt registers follow from the warp's slot alone.
void RenamingGate::reserve_exempt(const protocol::KernelContext& context) {
  direct_rows_.clear();
  if (plan_.exempt == 0) return;
  direct_rows_.assign(reads_.size(), 0);
  for (unsigned w = 0; w < context.resident_ctas * context.warps_per_cta; ++w) {
    for_each(plan_.section.exempt, [&](unsigned reg) {
      const std::uint32_t row = pool_->reserve(slot(w), id(reg));
      direct_rows_[at(slot(w), reg)] = row;
      entries_->enter(slot(w), reg, row);
    });
  }
}

void RenamingGate::warp_started(const protocol::WarpInfo& info) {
  Warp& w = warps_[info.warp.value()];
  w.issued = 0;
  w.first_word = w.words = 0;
  if (plan_.exempt != 0) {
    for_each(plan_.section.exempt, [&](unsigned reg) { pool_->occupy(direct_rows_[at(info.warp, reg)], true); });
  }
  const Registers start = plan_.section.at_start & renamed_;
  at_start_ += count(start);
  take_at_start(info.warp, start);
}

void RenamingGate::warp_finished(const protocol::WarpInfo& info) {
  Warp& w = warps_[info.warp.value()];
  if (plan_.exempt != 0) {
    for_each(plan_.section.exempt, [&](unsigned reg) { pool_->occupy(direct_rows_[at(info.warp, reg)], false); });
  }
  end_releases_ += count(w.owned);
  const bool any = w.owned != 0;
  for_each(w.owned, [&](unsigned reg) { give_back(info.warp, w, reg); });
  w.releasing = w.writing = 0;
  if (any) rows_came_back();
}

void RenamingGate::take(WarpSlot warp, Registers registers) {
  get_rows(warp, warps_[warp.value()], registers);
  allocations_ += count(registers);
}

void RenamingGate::get_rows(WarpSlot warp, Warp& w, Registers registers) {
  for_each(registers, [&](unsigned reg) { entries_->enter(warp, reg, pool_->take(warp, id(reg))); });
  w.owned |= registers;
  throttle_.took(cta_slot(w.cta), w.part, count(registers));
}

bool RenamingGate::may_take(const DynamicInstruction& d, unsigned n) {
  const Warp& w = warps_[d.warp.value()];
  return throttle_.may_take(cta_slot(w.cta), w.part, n);
}

bool RenamingGate::may_issue(const DynamicInstruction& d) {
  if (d.injected) return true;
  Warp& w = warps_[d.warp.value()];
  const Registers missing = static_[d.traits->index].written & ~w.owned;
  if (missing == 0) return true;
  const unsigned n = count(missing);
  if (may_take(d, n)) return true;
  close(d.warp, w, n);
  return false;
}

void RenamingGate::close(WarpSlot warp, Warp& w, unsigned n) {
  ++refusals_;
  w.waits_for = n;
  wait_for_rows(warp);
  listener_->closed(warp, true);
  // Another warp may be active in its place from the next cycle on.
  listener_->reconsider(protocol::Cycle(clock_.now() + 1));
}

void RenamingGate::wait_for_rows(WarpSlot warp) {
  if (waiting_.empty()) throttled_since_ = clock_.now();
  waiting_.push_back(warp);
}

void RenamingGate::keep_waiting(std::size_t kept) {
  if (kept == 0 && !waiting_.empty()) throttled_cycles_ += clock_.now() - throttled_since_;
  waiting_.resize(kept);
}

void RenamingGate::open(WarpSlot warp) {
  warps_[warp.value()].waits_for = 0;
  listener_->closed(warp, false);
}

void RenamingGate::issued(const DynamicInstruction& d) {
  if (d.injected) return;
  Warp& w = warps_[d.warp.value()];
  const Static& s = static_[d.traits->index];
  w.issued = d.sequence;
  if (const Registers missing = s.written & ~w.owned; missing != 0) take(d.warp, missing);
  if (const Registers again = s.written & w.releasing; __builtin_expect(static_cast<int>(again != 0), 0) != 0) {
    w.releasing &= ~again;
    cancelled_ += count(again);
  }
  w.writing |= s.written;
  for (unsigned r = 0; r < d.traits->read_count; ++r) ++reads_[at(d.warp, d.traits->reads[r].value())];
  if (w.words != 0) obey_words(d.warp, w, d);
}

/// The words in front of the instruction behind this one are those of pbr; a pir word leaves with its last flag.
void RenamingGate::obey_words(WarpSlot warp, Warp& w, const DynamicInstruction& d) {
  const Held* const ring = &held_[std::size_t{warp.value()} * config_.words];
  if (const Held& front = ring[w.first_word]; words_[front.word].pir && front.sequence <= d.sequence) {
    const std::uint64_t flags = words_[front.word].flags >> (flag_bits * (d.sequence - front.sequence));
    if ((flags & 7) != 0) {
      Registers registers = 0;
      for (unsigned s = 0; s < trace::use_slots; ++s) {
        if ((flags >> s & 1) != 0) registers |= static_[d.traits->index].slots[s];
      }
      flag_releases_ += release(warp, registers);
    }
    if (flags >> flag_bits == 0) pop_word(w);
  }
  while (w.words != 0) {
    const Held& front = ring[w.first_word];
    if (words_[front.word].pir || front.sequence > d.sequence + 1) return;
    block_releases_ += release(warp, words_[front.word].released);
    pop_word(w);
  }
}

void RenamingGate::pop_word(Warp& w) {
  if (w.words-- == config_.words) changed_.notify();
  if (++w.first_word == config_.words) w.first_word = 0;
}

void RenamingGate::decoded(const protocol::WarpInfo& info, std::uint32_t inserted, std::uint64_t sequence) {
  Warp& w = warps_[info.warp.value()];
  const Word& word = words_[inserted];
  ++(word.pir ? pir_ : pbr_);
  if (word.pir) {
    if (!config_.words_are_free()) flags_->fill(inserted);
  } else if (w.words == 0 && w.issued + 1 == sequence) {
    // All older instructions have issued: the warp is at the start of the block.
    block_releases_ += release(info.warp, word.released);
    return;
  }
  unsigned place = w.first_word + w.words++;
  if (place >= config_.words) place -= config_.words;
  held_[std::size_t{info.warp.value()} * config_.words + place] = Held{sequence, inserted};
}

bool RenamingGate::held(WarpSlot /*warp*/, std::uint32_t inserted) {
  if (config_.words_are_free()) return true;
  return words_[inserted].pir && flags_->find(inserted);
}

unsigned RenamingGate::release(WarpSlot warp, Registers registers) {
  Warp& w = warps_[warp.value()];
  const Registers live = w.owned | w.away;
  without_row_ += count(registers & ~live);
  bool any = false;
  const Registers released = registers & live & ~w.releasing;
  // One in memory is released when it has come back.
  w.releasing |= released & w.away;
  for_each(released & w.owned, [&](unsigned reg) {
    if (in_use(warp, reg)) {
      w.releasing |= Registers{1} << reg;
    } else {
      give_back(warp, w, reg);
      any = true;
    }
  });
  if (any) rows_came_back();
  return count(released);
}

void RenamingGate::served(WarpSlot warp, RegisterId reg) {
  Warp& w = warps_[warp.value()];
  const unsigned r = reg.value();
  std::uint8_t& left = reads_[at(warp, r)];
  --left;
  if ((w.releasing >> r & 1) == 0 || in_use(warp, r)) return;
  give_back(warp, w, r);
  rows_came_back();
}

void RenamingGate::written_back(const DynamicInstruction& d) {
  if (d.injected) return;
  const Registers written = static_[d.traits->index].written;
  if (written == 0) return;
  Warp& w = warps_[d.warp.value()];
  w.writing &= ~written;
  const Registers dead = w.releasing & written;
  if (__builtin_expect(static_cast<int>(dead == 0), 1) != 0) return;
  for_each(dead, [&](unsigned reg) {
    if (in_use(d.warp, reg)) return;
    ++delayed_;
    give_back(d.warp, w, reg);
  });
  rows_came_back();
}

void RenamingGate::give_back(WarpSlot warp, Warp& w, unsigned reg) {
  const Registers bit = Registers{1} << reg;
  w.owned &= ~bit;
  w.releasing &= ~bit;
  pool_->give_back(entries_->remove(warp, reg));
  throttle_.gave_back(cta_slot(w.cta), w.part);
}

void RenamingGate::rows_came_back() {
  if (!waiting_.empty()) open_warps();
  if (!launch_refused_) return;
  launch_refused_ = false;
  launch_changed_.notify();
}

/// Only rows that come back change a refusal: when others take rows, a CTA that is not safe does not become so. Opens
/// the warps of CTAs that are safe, which may take what they need, and of the others as many as there are rows for, in
/// the order in which they were closed.
void RenamingGate::open_warps() {
  std::array<unsigned, 64> promised{};
  std::uint64_t full = 0;  // parts, as bits
  std::size_t kept = 0;
  for (const WarpSlot warp : waiting_) {
    const Warp& w = warps_[warp.value()];
    const protocol::CtaSlot cta = cta_slot(w.cta);
    const unsigned part = w.part % 64;
    if (throttle_.is_safe(cta) && throttle_.free_rows(w.part) >= w.waits_for) {
      open(warp);
    } else if ((full >> part & 1) == 0 && throttle_.may_take(cta, w.part, w.waits_for, promised[part])) {
      promised[part] += w.waits_for;
      open(warp);
    } else {
      if (w.waits_for == 1) full |= std::uint64_t{1} << part;
      waiting_[kept++] = warp;
    }
  }
  keep_waiting(kept);
}

bool RenamingGate::may_launch(protocol::CtaSlot cta) {
  if (throttle_.may_launch(cta, plan_)) return true;
  ++launches_refused_;
  launch_refused_ = true;
  return false;
}

std::string RenamingGate::describe_stuck() const {
  std::string text;
  for (const WarpSlot warp : waiting_) {
    const Warp& w = warps_[warp.value()];
    text += "  " + std::string(sc_module::name()) + ": warp " + std::to_string(warp.value()) + " (CTA slot " +
            std::to_string(w.cta) + ") waits for " + std::to_string(w.waits_for) + " rows of part " +
            std::to_string(w.part) + ", which has " + std::to_string(throttle_.free_rows(w.part)) +
            " free; its CTA has " + std::to_string(throttle_.taken(cta_slot(w.cta), w.part)) + " of at most " +
            std::to_string(throttle_.cta_rows()) + "\n";
  }
  return text;
}

void RenamingGate::register_stats(support::StatGroup& g) {
  const char* const regs = "warp registers";
  g.counter("pir_words", pir_, "words", "of release flags, from the flag cache or decoded");
  g.counter("pbr_words", pbr_, "words", "of registers that are released where a block starts");
  g.counter("allocations", allocations_, regs, "that got a row, by a write or at the start of their warp");
  g.counter("at_start", at_start_, regs, "of these, at the start of their warp");
  g.counter("flag_releases", flag_releases_, regs, "with a row that a flag released");
  g.counter("block_releases", block_releases_, regs, "with a row that were released where a block starts");
  g.counter("end_releases", end_releases_, regs, "given back at the end of their warp");
  g.counter("delayed_releases", delayed_, regs, "whose release waited for an older write in flight");
  g.counter("cancelled_releases", cancelled_, regs, "written again before their release took effect");
  g.counter("void_releases", without_row_, regs, "released that had no row on the path to the release");
  g.counter("refusals", refusals_, "attempts", "of instructions to take rows that are kept for a CTA");
  g.counter("launches_refused", launches_refused_, "attempts", "to launch a CTA whose warps have registers at start");
  g.derived(
      "throttled_cycles",
      [this] { return double(throttled_cycles_ + (waiting_.empty() ? 0 : clock_.now() - throttled_since_)); }, "cycles",
      "in which a warp waited for rows");
}

void RenamingGate::register_energy(support::EnergyGroup& g) {
  g.event("register_renaming", "register_renaming.word", pbr_);
  g.event("register_renaming", "register_renaming.word", pir_);
}

}  // namespace regatta::models

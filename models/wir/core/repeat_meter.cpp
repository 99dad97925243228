// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/repeat_meter.h>

#include <regatta/support/energy.h>

#include <algorithm>
#include <functional>

namespace regatta::models::wir {

namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h = (h ^ v) * 0xff51afd7ed558ccd;
  return h ^ h >> 32;
}

std::uint64_t digest_of(const trace::StaticInstruction& i) {
  using trace::OpClass;
  const bool never = i.op_class == OpClass::branch || i.op_class == OpClass::barrier || i.op_class == OpClass::exit ||
                     i.op_class == OpClass::fence || i.op_class == OpClass::nop || i.writes_memory;
  if (never) return 0;
  std::uint64_t h = std::hash<std::string>{}(i.opcode);
  for (const trace::Operand& o : i.operands) {
    h = mix(h, static_cast<std::uint64_t>(o.kind));
    if (o.kind == trace::Operand::Kind::immediate || o.kind == trace::Operand::Kind::constant_bank) h = mix(h, o.value);
  }
  return h | 1;
}

bool has_special(const trace::StaticInstruction& i) {
  return std::any_of(i.operands.begin(), i.operands.end(),
                     [](const trace::Operand& o) { return o.kind == trace::Operand::Kind::special; });
}

}  // namespace

std::vector<protocol::Event> RepeatMeter::interests() const {
  using protocol::Event;
  return {Event::kernel_started, Event::warp_started, Event::issued};
}

void RepeatMeter::kernel_started(protocol::Cycle, const protocol::KernelContext& context) {
  registers_ = std::max(1u, context.kernel->registers_per_thread);
  lanes_ = context.warp_size;
  text_.clear();
  for (const protocol::InstructionTraits& t : *context.traits) text_.push_back(digest_of(*t.info));
  values_.clear();
  predicates_.clear();
  barriers_.clear();
}

void RepeatMeter::warp_started(protocol::Cycle, const protocol::WarpInfo& warp) {
  const std::size_t slot = warp.warp.value();
  if (values_.size() < (slot + 1) * registers_) {
    values_.resize((slot + 1) * registers_);
    predicates_.resize((slot + 1) * trace::max_predicates);
    barriers_.resize(slot + 1);
  }
  barriers_[slot] = 0;
  std::fill_n(values_.begin() + static_cast<std::ptrdiff_t>(slot * registers_), registers_, 0);
  std::fill_n(predicates_.begin() + static_cast<std::ptrdiff_t>(slot * trace::max_predicates), trace::max_predicates,
              0);
}

std::uint64_t RepeatMeter::value_of(const protocol::DynamicInstruction& d, unsigned destination) const {
  std::uint64_t h = 1;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    h = mix(h, (d.active >> lane & 1) != 0 ? d.results[destination].lane[lane] : 0);
  }
  return h;
}

bool RepeatMeter::repeated(std::uint64_t key) {
  for (unsigned i = 0; i < buckets; ++i) {
    Seen& s = seen_[(key + i) % buckets];
    if (s.in_window == windows_ && s.key == key) {
      // The first occurrence beyond `often` also counts all earlier ones.
      if (++s.times > often) counters_.often += s.times == often + 1 ? s.times : 1;
      return true;
    }
    if (s.in_window == windows_) continue;
    s = Seen{key, windows_, 1};
    return false;
  }
  return false;
}

ReuseBar RepeatMeter::bar_of(const protocol::DynamicInstruction& d) const {
  const trace::StaticInstruction& info = *d.info;
  const InFlight& f = in_flight_.of(d);  // renamed before observers hear of it
  if (f.reusable) return ReuseBar::none;
  if (text_[d.traits->index] == 0 || info.destination_count + info.destination_predicate_count == 0) {
    return ReuseBar::effect;
  }
  if (f.kind == ReuseKind::none) {
    if (has_special(info)) return ReuseBar::special;
    if (info.source_predicate_count + info.destination_predicate_count != 0) return ReuseBar::predicate;
    return info.destination_count > 1 ? ReuseBar::wide : ReuseBar::kind;
  }
  if (f.divergent) return ReuseBar::divergent;
  bool written = true;
  for (unsigned i = 0; i < d.traits->read_count; ++i) {
    const RenameEntry& e = tables_.view().of(d.warp)[d.traits->reads[i].value()];
    if (e.pinned) return ReuseBar::pinned;
    written = written && e.valid();
  }
  return written ? ReuseBar::load : ReuseBar::unwritten;
}

void RepeatMeter::issued(protocol::Cycle, const protocol::DynamicInstruction& d) {
  std::uint64_t* const values = &values_[std::size_t{d.warp.value()} * registers_];
  protocol::LaneMask* const predicates = &predicates_[std::size_t{d.warp.value()} * trace::max_predicates];
  const trace::StaticInstruction& info = *d.info;
  const auto bar = static_cast<std::size_t>(bar_of(d));
  ++counters_.barred[bar];
  if (protocol::reaches_barrier(d)) {
    counters_.barriers_max = std::max(counters_.barriers_max, ++barriers_[d.warp.value()]);
  }
  std::uint64_t key = text_[d.traits->index];
  if (key != 0) {
    key = mix(key, d.active);
    for (unsigned i = 0; i < info.source_count; ++i) key = mix(key, values[info.sources[i]]);
    for (unsigned i = 0; i < info.source_predicate_count; ++i) key = mix(key, predicates[info.source_predicates[i]]);
    if (info.reads_memory && d.traits->has_addresses && d.active != 0) {
      key = mix(key, d.addresses[static_cast<unsigned>(__builtin_ctzll(d.active))]);
    }
    // A special register's value is the instruction's result.
    if (has_special(info) && info.destination_count != 0) key = mix(key, value_of(d, 0));
    if (repeated(key)) {
      ++counters_.found;
      ++counters_.barred_repeats[bar];
      if (info.reads_memory) ++counters_.loads;
    }
  }
  ++counters_.sampled;
  if (++in_window_ == window) {
    in_window_ = 0;
    ++windows_;
  }
  const bool all = d.active == trace::all_lanes(lanes_);
  for (unsigned i = 0; i < info.destination_count; ++i) {
    std::uint64_t& value = values[info.destinations[i]];
    value = all ? value_of(d, i) : mix(mix(value, d.active), value_of(d, i));
  }
  for (unsigned i = 0; i < info.destination_predicate_count; ++i) {
    protocol::LaneMask& p = predicates[info.destination_predicates[i]];
    p = (p & ~d.active) | (d.predicate_results[i] & d.active);
  }
}

void RepeatMeter::register_stats(support::StatGroup& g) {
  const char* const insns = "warp instructions";
  g.counter("sampled", counters_.sampled, insns, "in windows of 1,000");
  g.counter("found", counters_.found, insns, "sampled that repeat a computation of their window");
  g.counter("loads", counters_.loads, insns, "sampled that read memory and repeat a computation of their window");
  g.counter("often", counters_.often, insns, "sampled whose computation appears more than 10 times in its window");
}

void RepeatMeter::register_energy(support::EnergyGroup& g) { g.costs_nothing("an observer"); }

}  // namespace regatta::models::wir

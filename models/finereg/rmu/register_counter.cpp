// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/register_counter.h>

#include <regatta/support/energy.h>

#include <string>

namespace regatta::models {

using protocol::CtaSlot;
using protocol::LookupReply;
using protocol::WarpSlot;

RegisterCounter::RegisterCounter(const sc_core::sc_module_name& name, support::ClockDomain& clock)
    : sc_module(name),
      counts("counts", *this),
      vectors("vectors", *this),
      live_sets("live_sets"),
      clock_(clock),
      wakeup_(
          clock, [](void* c) { static_cast<RegisterCounter*>(c)->work(); }, this),
      changed_("changed", &clock) {
  live_sets.bind(*this);
}

void RegisterCounter::kernel_started(const protocol::KernelContext& context) {
  warps_per_cta_ = context.warps_per_cta;
  instructions_ = static_cast<std::uint32_t>(context.kernel->instructions.size());
  ctas_.assign(context.resident_ctas, Cta{});
  warps_.assign(std::size_t{context.resident_ctas} * warps_per_cta_, Warp{});
  counting_ = waiting_ = false;
}

void RegisterCounter::cta_launched(const protocol::CtaInfo& cta) {
  ctas_[cta.cta.value()] = Cta{};
  ctas_[cta.cta.value()].resident = true;
}

void RegisterCounter::cta_finished(const protocol::CtaInfo& cta) { ctas_[cta.cta.value()] = Cta{}; }

bool RegisterCounter::counted(CtaSlot cta) const {
  const Cta& c = ctas_[cta.value()];
  return c.valid && c.progress == control_->progress(cta);
}

// The PCs at which lanes of the CTA are. It may run on meanwhile; counted() finds out.
void RegisterCounter::gather(CtaSlot cta) {
  place_count_ = next_ = 0;
  for (unsigned i = 0; i < warps_per_cta_; ++i) {
    const auto w = static_cast<std::uint16_t>(cta.value() * warps_per_cta_ + i);
    if (!warps_[w].alive) continue;
    warps_[w].live = 0;
    control_->context(WarpSlot(w), context_);
    for (const std::uint32_t pc : context_.resume) {
      if (pc >= instructions_) continue;  // the exit: nothing is live
      std::size_t p = 0;
      while (p < place_count_ && places_[p].pc != pc) ++p;
      if (p == place_count_) {
        if (places_.size() == p) places_.emplace_back();
        places_[p].pc = pc;
        places_[p].warps.clear();
        ++place_count_;
      }
      places_[p].warps.push_back(w);
    }
  }
}

LookupReply RegisterCounter::look_up(const CtaSlot& cta, std::uint32_t tag, unsigned&) {
  if (counting_) return LookupReply::busy;
  counting_ = true;
  cta_ = cta;
  tag_ = tag;
  ctas_[cta.value()].valid = false;
  ctas_[cta.value()].progress = control_->progress(cta);
  gather(cta);
  wakeup_.request(clock_.now() + 1);
  return LookupReply::later;
}

void RegisterCounter::take(std::uint64_t vector) {
  for (const std::uint16_t w : places_[next_].warps) {
    std::uint64_t& live = warps_[w].live;
    live = with_twin(twin_, RmuOperation::join(live, vector), RmuResult::of_set(live | vector)).vector;
  }
  ++next_;
}

void RegisterCounter::work() {
  if (!counting_ || waiting_) return;
  if (next_ == place_count_) return finish();
  std::uint64_t vector = 0;
  switch (vectors.requests->look_up(places_[next_].pc, static_cast<std::uint32_t>(next_), vector)) {
    case LookupReply::answered:
      ++lookups_;
      take(vector);
      break;
    case LookupReply::later:
      ++lookups_;
      waiting_ = true;
      return;
    case LookupReply::busy:
      break;
  }
  wakeup_.request(clock_.now() + 1);
}

void RegisterCounter::answered(std::uint32_t tag, const std::uint64_t& vector) {
  if (!waiting_ || tag != next_) protocol::unexpected_answer(name(), clock_.now(), tag);
  waiting_ = false;
  take(vector);
  wakeup_.request(clock_.now() + 1);
}

void RegisterCounter::finish() {
  counting_ = false;
  Cta& c = ctas_[cta_.value()];
  c.count = 0;
  for (unsigned i = 0; i < warps_per_cta_; ++i) {
    const std::uint64_t live = warps_[cta_.value() * warps_per_cta_ + i].live;
    c.count += with_twin(twin_, RmuOperation::join(live, 0), RmuResult::of_set(live)).count;
  }
  c.valid = c.resident;  // it may have ended
  ++ctas_counted_;
  registers_counted_ += c.count;
  changed_.notify();
  counts.answers->answered(tag_, c.count);
}

void RegisterCounter::register_stats(support::StatGroup& g) {
  g.counter("ctas", ctas_counted_, "CTAs", "whose live registers were counted");
  g.counter("live_registers", registers_counted_, "warp registers", "live in these CTAs, summed");
  g.counter("lookups", lookups_, "lookups", "of PCs");
}

void RegisterCounter::register_energy(support::EnergyGroup& g) {
  g.event("cta_switching", "cta_switching.decode", registers_counted_);
}

}  // namespace regatta::models

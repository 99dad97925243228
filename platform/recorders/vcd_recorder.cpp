// SPDX-License-Identifier: Apache-2.0
#include <regatta/recorders/vcd_recorder.h>

#include <algorithm>

namespace regatta::recorders {

using protocol::Cycle;
using protocol::DynamicInstruction;
using protocol::Event;
using protocol::Stall;
using protocol::Unit;
using protocol::WarpState;

namespace {

/// Bits for numbers up to `most`.
unsigned bits_for(std::uint64_t most) { return most == 0 ? 1 : 64 - static_cast<unsigned>(__builtin_clzll(most)); }

std::string numbered(const std::string& name, unsigned index, unsigned count) {
  return count == 1 ? name : name + std::to_string(index);
}

}  // namespace

VcdFile::VcdFile(const std::string& path, std::uint64_t period_ps, Window window)
    : writer_(path, "1 ps"), period_ps_(period_ps), window_(window), next_(window.first) {
  std::string reasons = "stall:";
  for (unsigned s = 0; s < protocol::stall_count; ++s) {
    reasons += " " + std::to_string(s) + " " + (s == 0 ? "issued" : protocol::to_string(static_cast<Stall>(s)));
  }
  reasons += "\n  request_class:";
  for (unsigned c = 0; c < protocol::access_class_count; ++c) {
    reasons += " " + std::to_string(c) + " " + protocol::to_string(static_cast<protocol::AccessClass>(c));
  }
  writer_.comment("cycle n begins at n x " + std::to_string(period_ps) + " ps, with the rising edge of clock\n  " +
                  reasons);
  writer_.scope("clock_generator");
  clock_ = writer_.add("clock");
  writer_.up();
}

void VcdFile::run_to(std::uint64_t cycle) {
  cycle = std::min(cycle, window_.last == UINT64_MAX ? window_.last : window_.last + 1);
  for (; next_ < cycle; ++next_) {
    writer_.set(clock_, 1);
    writer_.write(next_ * period_ps_);
    writer_.set(clock_, 0);
    writer_.write(next_ * period_ps_ + period_ps_ / 2);
  }
}

void VcdFile::advance(std::uint64_t now) {
  while (!pending_.empty() && pending_.begin()->first < now) {
    const auto& [cycle, changes] = *pending_.begin();
    run_to(cycle);
    for (const Signal s : changes.clears) writer_.set(s, 0);
    for (const Assignment& a : changes.sets) writer_.set(a.signal, a.value);
    if (window_.contains(cycle)) run_to(cycle + 1);
    pending_.erase(pending_.begin());
  }
}

void VcdFile::finish(std::uint64_t now) {
  advance(now + 1);
  run_to(now + 1);
  // A window that the run did not reach shows what held at its end, and no time beyond.
  writer_.finish((window_.first > now ? now : std::max(next_, window_.first)) * period_ps_);
}

VcdRecorder::Port VcdRecorder::port(const std::string& prefix, const std::string& what, unsigned width) {
  support::VcdWriter& w = file_.declare();
  Port p;
  p.valid = w.add(prefix + "_valid");
  quiet_.push_back(p.valid);
  p.warp = w.add(prefix + "_warp", 10);
  p.what = w.add(prefix + "_" + what, width);
  return p;
}

VcdRecorder::VcdRecorder(VcdFile& file, unsigned sm, const VcdShape& shape, const support::ClockDomain& clock)
    : file_(file), clock_(clock), period_(clock.period().value()), shape_(shape) {
  support::VcdWriter& w = file.declare();
  w.scope("sm" + std::to_string(sm));
  resident_ctas_.signal = w.add("resident_ctas", std::max(8u, bits_for(shape.ctas)));
  resident_warps_.signal = w.add("resident_warps", std::max(10u, bits_for(shape.warps)));
  at_barrier_.signal = w.add("warps_at_barrier", std::max(10u, bits_for(shape.warps)));
  for (unsigned s = 0; s < shape.schedulers; ++s) {
    w.scope("scheduler" + std::to_string(s));
    auto& slots = issue_.emplace_back();
    for (unsigned i = 0; i < shape.issue_width; ++i)
      slots.push_back(port(numbered("issue", i, shape.issue_width), "pc", 32));
    stall_.push_back(w.add("stall", 4));
    w.up();
  }
  issues_.resize(shape.schedulers);
  stall_value_.assign(shape.schedulers, UINT64_MAX);
  w.scope("operands");
  collecting_.signal = w.add("collecting", 16);
  for (unsigned b = 0; b < shape.banks; ++b) {
    auto& ports = read_.emplace_back();
    const std::string bank = "read_bank" + std::to_string(b);
    for (unsigned p = 0; p < shape.read_ports; ++p) {
      ports.push_back(port(shape.read_ports == 1 ? bank : bank + "_port" + std::to_string(p), "register", 8));
    }
  }
  reads_at_.resize(shape.banks);
  write_count_ = w.add("write_count", 8);
  for (unsigned p = 0; p < shape.write_ports; ++p) write_.push_back(port("write" + std::to_string(p), "register", 8));
  w.up();
  w.scope("units");
  for (const Unit u : {Unit::sp, Unit::sfu, Unit::dp, Unit::tensor, Unit::lsu}) {
    dispatched_.push_back(
        w.add(std::string(protocol::to_string(u)) + "_count", std::max(4u, bits_for(shape.dispatches))));
    dispatch_.push_back(port(protocol::to_string(u), "pc", 32));
  }
  dispatches_.resize(dispatched_.size());
  w.up();
  w.scope("memory");
  request_valid_ = w.add("request_valid");
  request_write_ = w.add("request_write");
  request_class_ = w.add("request_class", 4);
  request_address_ = w.add("request_address", 64);
  request_warp_ = w.add("request_warp", 10);
  response_valid_ = w.add("response_valid");
  response_count_ = w.add("response_count", 8);
  w.up();
  w.up();
  quiet_.insert(quiet_.end(), dispatched_.begin(), dispatched_.end());
  for (const Counted* c : {&resident_ctas_, &resident_warps_, &at_barrier_, &collecting_}) quiet_.push_back(c->signal);
  quiet_.insert(quiet_.end(), {request_valid_, response_valid_, response_count_, write_count_});
}

std::vector<Event> VcdRecorder::interests() const {
  return {Event::kernel_started,     Event::cta_launched, Event::cta_finished, Event::warp_started,
          Event::warp_finished,      Event::warp_state,   Event::issued,       Event::bypassed,
          Event::operands_delivered, Event::cycles};
}

void VcdRecorder::kernel_started(Cycle now, const protocol::KernelContext&) {
  for (const Signal s : quiet_) file_.set(now.value(), s, 0);
  quiet_.clear();
}

void VcdRecorder::pass(std::uint64_t cycle, const Port& p, std::uint64_t warp, std::uint64_t what) {
  file_.pulse(cycle, p.valid);
  file_.set(cycle, p.warp, warp);
  file_.set(cycle, p.what, what);
}

void VcdRecorder::count(Cycle now, Counted& c, int change) {
  c.value += static_cast<std::uint64_t>(std::int64_t{change});
  file_.advance(now.value());
  file_.set(now.value(), c.signal, c.value);
}

void VcdRecorder::warp_started(Cycle now, const protocol::WarpInfo& warp) {
  if (barrier_.size() <= warp.warp.value()) barrier_.resize(warp.warp.value() + 1u);
  barrier_[warp.warp.value()] = false;
  count(now, resident_warps_, 1);
}

void VcdRecorder::warp_finished(Cycle now, const protocol::WarpInfo&) { count(now, resident_warps_, -1); }

void VcdRecorder::warp_state(Cycle now, const protocol::WarpInfo& warp, WarpState state) {
  const bool waits = state == WarpState::barrier;
  if (barrier_[warp.warp.value()] == waits) return;
  barrier_[warp.warp.value()] = waits;
  count(now, at_barrier_, waits ? 1 : -1);
}

void VcdRecorder::issued(Cycle now, const DynamicInstruction& d) {
  if (d.traits->unit != Unit::none) count(now, collecting_, 1);
  if (file_.over(now.value())) return;
  file_.advance(now.value());
  const unsigned slot = issues_[d.scheduler].next(now.value());
  pass(now.value(), issue_[d.scheduler][std::min<std::size_t>(slot, issue_[d.scheduler].size() - 1)], d.warp.value(),
       d.traits->index * trace::bytes_per_instruction);
}

void VcdRecorder::bypassed(Cycle now, const DynamicInstruction&) { count(now, collecting_, -1); }

void VcdRecorder::operands_delivered(Cycle now, const DynamicInstruction& d) {
  count(now, collecting_, -1);
  if (file_.over(now.value())) return;
  const unsigned u = static_cast<unsigned>(d.traits->unit) - static_cast<unsigned>(Unit::sp);
  pass(now.value(), dispatch_[u], d.warp.value(), d.traits->index * trace::bytes_per_instruction);
  file_.pulse(now.value(), dispatched_[u], dispatches_[u].next(now.value()) + 1);
}

void VcdRecorder::cycles(Cycle from, std::uint64_t, const std::vector<Stall>& stall) {
  for (std::size_t s = 0; s < stall.size(); ++s) {
    const auto value = static_cast<std::uint64_t>(stall[s]);
    if (value == stall_value_[s]) continue;
    stall_value_[s] = value;
    file_.advance(from.value());
    file_.set(from.value(), stall_[s], value);
  }
}

unsigned VcdRecorder::ordinal(Ordinals& counts, std::uint64_t cycle) const {
  counts.erase(counts.begin(), counts.lower_bound(clock_.now()));
  return counts[cycle]++;
}

void VcdRecorder::watch(SocketTap<1024>& reads, SocketTap<1024>& writes, SocketTap<256>& memory) {
  reads.answered = [this](tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
    if (file_.over(clock_.now())) return;
    const protocol::WarpAccess& access = protocol::warp_access(payload);
    const std::uint64_t cycle = when(delay);
    const std::size_t bank = access.origin.index % read_.size();
    const unsigned slot = ordinal(reads_at_[bank], cycle);
    pass(cycle, read_[bank][std::min<std::size_t>(slot, read_[bank].size() - 1)], access.warp.value(),
         access.reg.value());
  };
  writes.answered = [this](tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
    if (file_.over(clock_.now())) return;
    const protocol::WarpAccess& access = protocol::warp_access(payload);
    const std::uint64_t cycle = when(delay);
    const unsigned slot = ordinal(writes_at_, cycle);
    file_.pulse(cycle, write_count_, slot + 1);
    if (slot < write_.size()) pass(cycle, write_[slot], access.warp.value(), access.reg.value());
  };
  memory.requested = [this](tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay) {
    if (file_.over(clock_.now())) return;
    const std::uint64_t cycle = when(delay);
    file_.pulse(cycle, request_valid_);
    file_.set(cycle, request_write_, payload.is_write() ? 1 : 0);
    file_.set(cycle, request_address_, payload.get_address());
    const protocol::MemoryAccess& access = protocol::memory_access(payload);
    file_.set(cycle, request_class_, static_cast<std::uint64_t>(access.access));
    // The tag of the load-store unit's own requests is the warp; other initiators have tags of their own.
    using protocol::AccessClass;
    if (access.access == AccessClass::data_load || access.access == AccessClass::data_store ||
        access.access == AccessClass::atomic) {
      file_.set(cycle, request_warp_, access.tag);
    }
  };
  memory.answered = [this](tlm::tlm_generic_payload&, const sc_core::sc_time& delay) {
    if (file_.over(clock_.now())) return;
    const std::uint64_t cycle = when(delay);
    file_.pulse(cycle, response_valid_);
    file_.pulse(cycle, response_count_, ordinal(responses_at_, cycle) + 1);
  };
}

}  // namespace regatta::recorders

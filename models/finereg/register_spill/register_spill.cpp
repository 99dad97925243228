// SPDX-License-Identifier: Apache-2.0
#include <regatta/finereg/register_spill.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace regatta::models {

using protocol::AccessClass;
using protocol::DynamicInstruction;
using protocol::RegisterId;
using protocol::WarpSlot;

namespace {

// Tags of memory requests: a kind, and a number.
constexpr std::uint32_t kind_shift = 28;
enum Kind : std::uint32_t { leaves = 0, comes = 1, merge_read = 2, merge_write = 3 };
constexpr std::uint32_t number_mask = (1U << kind_shift) - 1;
constexpr WarpSlot not_begun(0xffff);
constexpr std::uint64_t space_of_sm = std::uint64_t{1} << 32;  ///< bytes of address space

}  // namespace

RegisterSpill::RegisterSpill(const sc_core::sc_module_name& name, const RegisterSpillConfig& config,
                             const LineMemory& memory, support::ClockDomain& clock)
    : sc_module(name),
      transfer("transfer"),
      file_reads("file_reads"),
      file_writes("file_writes"),
      places("places"),
      config_(config),
      line_bytes_(memory.line_bytes),
      clock_(clock),
      memory_("memory", memory, clock, *this),
      wakeup_(
          clock, [](void* s) { static_cast<RegisterSpill*>(s)->work(); }, this),
      changed_("changed", &clock),
      ended_("ended", &clock),
      base_(base::first_address(base::Window::registers) + memory.sm * space_of_sm),
      results_(config.results) {
  transfer.bind(*this);
  file_reads.bind(*this);
  file_writes.bind(*this);
}

void RegisterSpill::kernel_started(const protocol::KernelContext& context) {
  warps_per_cta_ = context.warps_per_cta;
  registers_ = context.kernel->registers_per_thread;
  warp_size_ = context.warp_size;
  whereabouts_.assign(context.resident_ctas, Where::scheduled);
  alive_.assign(std::size_t{context.resident_ctas} * warps_per_cta_, false);
  moved_ = alive_;
  merging_.assign(context.resident_ctas, 0);
  restored_.assign(std::size_t{warps_per_cta_} * 4, 0);
  away_ = 0;
}

// A CTA may end while it is away: its last instruction was a load.
void RegisterSpill::cta_finished(const protocol::CtaInfo& cta) {
  Where& where = whereabouts_[cta.cta.value()];
  if (where == Where::away || where == Where::entering) --away_;
  if (out_ == cta.cta) out_.reset();
  if (in_ == cta.cta) in_.reset();
  where = Where::scheduled;
  ended_.notify();
}

void RegisterSpill::move(std::optional<CtaSlot> out, std::optional<CtaSlot> in) {
  out_ = out;
  in_ = in;
  begun_ = done_ = clock_.now();
  ++moves_;
  step_ = Step::settling;
  if (out) {
    whereabouts_[out->value()] = Where::leaving;
    // A warp that only waits for its last results needs no register any more, and may end at any time.
    for (unsigned i = 0; i < warps_per_cta_; ++i) {
      const WarpSlot w(static_cast<std::uint16_t>(out->value() * warps_per_cta_ + i));
      moved_[w.value()] = false;
      if (!alive_[w.value()]) continue;
      control_->context(w, context_);
      moved_[w.value()] = !context_.exited;
    }
    next_ = Place{WarpSlot(static_cast<std::uint16_t>(out->value() * warps_per_cta_)), 0};
  }
  wakeup_.request(clock_.now() + 1);
}

bool RegisterSpill::next_of(CtaSlot cta, Place& place) const {
  const unsigned end = (cta.value() + 1) * warps_per_cta_;
  while (place.warp.value() < end) {
    if (place.reg < registers_ && moved_[place.warp.value()]) return true;
    place = Place{WarpSlot(static_cast<std::uint16_t>(place.warp.value() + 1)), 0};
  }
  return false;
}

// ---- results that arrive ----

protocol::WritebackPoint::Decision RegisterSpill::steer(DynamicInstruction& d, unsigned destination, Where where) {
  const Place place{d.warp, d.traits->writes[destination].value()};
  if (where != Where::in_file && !moved_[d.warp.value()]) return Decision::drop;  // nobody will read it
  switch (where) {
    case Where::scheduled:
    case Where::in_file:
      return Decision::write;
    case Where::leaving:
      // Not read from the file yet: the result goes there first.
      if (reading_ == place) break;  // it cannot be told which of them the bank takes first
      return passed(place, next_) ? keep(d, destination, Result::State::queued) : Decision::write;
    case Where::away:
      return keep(d, destination, Result::State::queued);
    case Where::entering: {
      const unsigned w = place.warp.value() % warps_per_cta_;
      if ((restored_[w * 4 + place.reg / 64] >> (place.reg % 64)) & 1) return Decision::write;
      if (write_held_ && arrived_.front().place == place) break;
      return keep(d, destination, Result::State::held);
    }
  }
  ++waits_;
  result_waits_ = true;
  wakeup_.request(clock_.now() + 1);
  return Decision::wait;
}

protocol::WritebackPoint::Decision RegisterSpill::keep(const DynamicInstruction& d, unsigned destination,
                                                       Result::State state) {
  for (Result& r : results_) {
    if (r.state != Result::State::free) continue;
    r.state = state;
    r.place = Place{d.warp, d.traits->writes[destination].value()};
    r.lanes = d.active;
    r.value = d.results[destination];
    ++(state == Result::State::queued ? merged_ : held_results_);
    if (state == Result::State::queued) ++merging_[d.cta.value()];
    wakeup_.request(clock_.now() + 1);
    return Decision::drop;
  }
  ++waits_;
  result_waits_ = true;
  wakeup_.request(clock_.now() + 1);
  return Decision::wait;
}

void RegisterSpill::merge(const Result& result, std::uint32_t* lanes) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    if ((result.lanes >> lane) & 1) lanes[lane] = result.value.lane[lane];
  }
}

// A line with a result is read, then written. Requests are sent in order, so what left the file earlier is there first.
void RegisterSpill::serve_results() {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    Result& r = results_[i];
    if (r.state != Result::State::queued) continue;
    r.state = Result::State::reading;
    memory_.read(address(r.place), AccessClass::register_read, 0xf, Kind::merge_read << kind_shift | std::uint32_t(i));
  }
}

// ---- the move ----

void RegisterSpill::work() {
  const std::uint64_t now = clock_.now();
  if (std::exchange(result_waits_, false)) changed_.notify();
  serve_results();
  switch (step_) {
    case Step::none:
      return;
    case Step::settling:
      // The lines may be those of a CTA that had the slot before, with a result on its way to one of them.
      if (!out_ || merging_[out_->value()] == 0) step_ = Step::leaving;
      break;
    case Step::leaving:
      leave(now);
      break;
    case Step::entering:
      enter(now);
      break;
  }
  if (step_ != Step::none) wakeup_.request(now + 1);
}

void RegisterSpill::leave(std::uint64_t now) {
  const bool more = out_ && next_of(*out_, next_);
  if (more && !reading_ && under_way_ < config_.requests && places_->settled(*out_)) {
    reading_ = next_;
    read_.prepare(tlm::TLM_READ_COMMAND, next_.warp, RegisterId(next_.reg), trace::all_lanes(warp_size_), warp_size_,
                  evicted_);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    if (file_reads->nb_transport_fw(read_.payload(), phase, delay) == tlm::TLM_COMPLETED) {
      done_ = std::max(done_, now + clock_.cycles(delay));
      landed();
    }
    return;
  }
  if (more || reading_ || under_way_ != 0 || now < done_) return;
  if (out_) {
    whereabouts_[out_->value()] = Where::away;
    ++away_;
    places_->leave(*out_);
  }
  if (!in_) return finish(now);
  step_ = Step::entering;
  next_ = Place{not_begun, 0};
  out_.reset();
}

// The register that leaves has been read: its line goes to memory.
void RegisterSpill::landed() {
  const Place place = *reading_;
  reading_.reset();
  memory_.write(address(place), AccessClass::register_write,
                reinterpret_cast<const unsigned char*>(evicted_.lane.data()), Kind::leaves << kind_shift);
  ++under_way_;
  ++written_;
  ++next_.reg;
}

void RegisterSpill::enter(std::uint64_t now) {
  if (!in_) {  // it has ended
    if (under_way_ == 0 && !write_held_) {
      while (!arrived_.empty()) arrived_.pop();
      finish(now);
    }
    return;
  }
  if (next_.warp == not_begun) {
    if (merging_[in_->value()] != 0) return;  // results on their way to its lines come first
    whereabouts_[in_->value()] = Where::entering;
    std::fill(restored_.begin(), restored_.end(), 0);
    places_->enter(*in_);
    next_ = Place{WarpSlot(static_cast<std::uint16_t>(in_->value() * warps_per_cta_)), 0};
  }
  write_next(now);
  if (next_of(*in_, next_)) {
    if (under_way_ + arrived_.size() >= config_.requests) return;
    memory_.read(address(next_), AccessClass::register_read, 0xf,
                 Kind::comes << kind_shift | std::uint32_t{next_.warp.value()} << 8 | next_.reg, true);
    ++under_way_;
    ++next_.reg;
    return;
  }
  if (under_way_ == 0 && arrived_.empty() && now >= done_) {
    whereabouts_[in_->value()] = Where::in_file;
    --away_;
    finish(now);
  }
}

void RegisterSpill::write_next(std::uint64_t now) {
  if (arrived_.empty() || write_held_) return;
  const Arrived& a = arrived_.front();
  returned_ = a.value;  // more lines may come, and move those that wait, while the file does not take this one
  for (Result& r : results_) {
    if (r.state != Result::State::held || !(r.place == a.place)) continue;
    merge(r, returned_.lane.data());
    r.state = Result::State::free;
  }
  write_.prepare(tlm::TLM_WRITE_COMMAND, a.place.warp, RegisterId(a.place.reg), trace::all_lanes(warp_size_),
                 warp_size_, returned_);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const unsigned w = a.place.warp.value() % warps_per_cta_;
  if (file_writes->nb_transport_fw(write_.payload(), phase, delay) != tlm::TLM_COMPLETED) {
    write_held_ = true;
    return;
  }
  restored_[w * 4 + a.place.reg / 64] |= std::uint64_t{1} << (a.place.reg % 64);
  ++read_back_;
  arrived_.pop();
  done_ = std::max(done_, now + clock_.cycles(delay));
}

void RegisterSpill::finish(std::uint64_t now) {
  step_ = Step::none;
  out_.reset();
  in_.reset();
  move_cycles_ += now - begun_;
  ended_.notify();
}

void RegisterSpill::memory_answered(std::uint32_t tag, const unsigned char* data, std::uint64_t when) {
  const std::uint32_t number = tag & number_mask;
  switch (tag >> kind_shift) {
    case Kind::leaves:
      --under_way_;
      break;
    case Kind::comes: {
      --under_way_;
      Arrived a;
      a.place = Place{WarpSlot(static_cast<std::uint16_t>(number >> 8)), static_cast<std::uint8_t>(number & 0xff)};
      std::memcpy(a.value.lane.data(), data, std::size_t{warp_size_} * trace::bytes_per_lane);
      arrived_.push(a);
      break;
    }
    case Kind::merge_read: {
      Result& r = results_[number];
      trace::WarpValue line;
      std::memcpy(line.lane.data(), data, std::size_t{warp_size_} * trace::bytes_per_lane);
      merge(r, line.lane.data());
      r.state = Result::State::writing;
      memory_.write(address(r.place), AccessClass::register_write,
                    reinterpret_cast<const unsigned char*>(line.lane.data()), Kind::merge_write << kind_shift | number);
      break;
    }
    default: {
      Result& r = results_[number];
      r.state = Result::State::free;
      --merging_[cta_of(r.place.warp).value()];
      break;
    }
  }
  wakeup_.request(clock_.now(), when);
}

tlm::tlm_sync_enum RegisterSpill::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                  sc_core::sc_time& delay) {
  if (!answer_rules_.answers(payload, phase, delay, clock_)) return tlm::TLM_ACCEPTED;
  done_ = std::max(done_, clock_.now() + clock_.cycles(delay));
  if (payload.is_read()) {
    landed();
  } else {
    const Place place = arrived_.front().place;
    restored_[place.warp.value() % warps_per_cta_ * 4 + place.reg / 64] |= std::uint64_t{1} << (place.reg % 64);
    ++read_back_;
    arrived_.pop();
    write_held_ = false;
  }
  wakeup_.request(clock_.now() + 1);
  phase = tlm::END_RESP;
  return tlm::TLM_COMPLETED;
}

}  // namespace regatta::models

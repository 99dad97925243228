// SPDX-License-Identifier: Apache-2.0
//
// The GPU's CTA dispatcher: hands out the CTAs of the running launch in grid order to whichever SM asks.
#pragma once

#include <regatta/sm/cta_source.h>
#include <regatta/support/clock_domain.h>
#include <regatta/trace/file.h>

#include <deque>
#include <memory>

namespace regatta::assembly {

/// Several SMs get one CTA each in a cycle, so that a launch spreads over all of them; a single SM, which shares with
/// nobody, gets all it asks for.
/// Without a trace (nullptr) there are no launches.
class CtaDispatcher : public sc_core::sc_module {
 public:
  CtaDispatcher(const sc_core::sc_module_name& name, const trace::Reader* trace, unsigned sms)
      : sc_module(name), trace_(trace) {
    for (unsigned i = 0; i < sms; ++i) ports_.emplace_back(*this, i);
  }

  /// What SM `i`, whose clock this is, asks.
  sm::CtaSource& port(unsigned i, const support::ClockDomain& clock) {
    ports_[i].clock = &clock;
    return ports_[i];
  }
  /// Hands out `count` CTAs of the trace, from position `first` on. `last`: the position behind those of the launches
  /// that run without one left out in between, so that they share a stream.
  void begin(std::size_t first, std::size_t count, std::size_t last) {
    if (stream_ == nullptr || next_ != first) stream_ = trace_->stream(first, last - first);
    next_ = first + count;
    waiting_ = count;
    count_ = count;
    for (Port& port : ports_) port.ended = 0;
  }
  std::uint64_t unfinished() const {
    std::uint64_t left = count_;
    for (const Port& port : ports_) left -= port.ended;
    return left;
  }

 private:
  class Port : public sm::CtaSource {
   public:
    Port(CtaDispatcher& dispatcher, unsigned index) : dispatcher_(dispatcher), index_(index) {}
    std::uint64_t waiting() const override { return dispatcher_.waiting_; }
    bool none_waited(std::uint64_t cycle) const override {
      const CtaDispatcher& d = dispatcher_;
      return d.waiting_ == 0 && (d.emptied_at_ != cycle ? d.emptied_at_ < cycle : d.emptied_by_ < index_);
    }
    std::shared_ptr<const trace::Cta> take() override {
      CtaDispatcher& d = dispatcher_;
      const std::uint64_t now = clock->now();
      if (d.waiting_ == 0 || (d.ports_.size() > 1 && taken_ == now)) return nullptr;
      taken_ = now;
      if (--d.waiting_ == 0) {
        d.emptied_at_ = now;
        d.emptied_by_ = index_;
      }
      return d.stream_->next();
    }
    void finished() override { ++ended; }

    const support::ClockDomain* clock = nullptr;
    std::uint64_t ended = 0;  ///< CTAs of the launch; of this SM alone, since SMs may run on several threads

   private:
    CtaDispatcher& dispatcher_;
    unsigned index_;
    std::uint64_t taken_ = support::no_cycle;  ///< the cycle in which it got its last one
  };

  const trace::Reader* trace_;
  std::unique_ptr<trace::Reader::Stream> stream_;
  std::size_t next_ = 0;  ///< position in the trace of the launch that follows in the stream
  std::deque<Port> ports_;
  std::uint64_t waiting_ = 0;
  std::uint64_t count_ = 0;       ///< CTAs of the launch
  std::uint64_t emptied_at_ = 0;  ///< the cycle in which the last of them was handed out, and to whom
  unsigned emptied_by_ = 0;
};

}  // namespace regatta::assembly

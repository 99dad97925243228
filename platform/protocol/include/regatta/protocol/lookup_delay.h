// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/protocol/lookup.h>

#include <map>
#include <random>

namespace regatta::protocol {

/// Stands between a block and the user of its lookups, and delays each answer by a random number of cycles, so that
/// answers also overtake each other. It refuses one request in eight as busy. A pipelined block, or one in RTL, may do
/// the same. For tests, and for the question
/// what a slower block would cost.
template <class Request, class Answer>
class LookupDelay : public sc_core::sc_module, public Lookup<Request, Answer>, public LookupClient<Answer> {
 public:
  LookupTarget<Request, Answer> in;
  LookupInitiator<Request, Answer> out;

  /// Answers come 1 to `most` cycles of `clock_period` later.
  LookupDelay(const sc_core::sc_module_name& name, sc_core::sc_time clock_period, unsigned most, unsigned seed)
      : sc_module(name), in("in", *this), out("out", *this), period_(clock_period), most_(most), random_(seed) {
    SC_HAS_PROCESS(LookupDelay);
    SC_METHOD(deliver);
    sensitive << due_;
    dont_initialize();
  }
  LookupReply look_up(const Request& request, std::uint32_t tag, Answer&) override {
    if (random_() % 8 == 0) return LookupReply::busy;
    Answer early{};
    const LookupReply reply = out.requests->look_up(request, tag, early);
    if (reply != LookupReply::answered) return reply;
    hold(tag, early);
    return LookupReply::later;
  }
  const sc_core::sc_event& changed() const override { return out.requests->changed(); }
  void answered(std::uint32_t tag, const Answer& answer) override { hold(tag, answer); }
  // What it refuses itself needs no notification: it accepts in the next cycle.
  /// Answers delayed so far.
  std::uint64_t delayed() const { return delayed_; }

 private:
  struct Held {
    std::uint32_t tag;
    Answer answer;
  };
  void hold(std::uint32_t tag, const Answer& answer) {
    ++delayed_;
    const sc_core::sc_time due = sc_core::sc_time_stamp() + (1 + random_() % most_) * period_;
    held_.emplace(due, Held{tag, answer});
    due_.notify(held_.begin()->first - sc_core::sc_time_stamp());
  }
  void deliver() {
    while (!held_.empty() && held_.begin()->first <= sc_core::sc_time_stamp()) {
      const Held h = held_.begin()->second;
      held_.erase(held_.begin());
      in.answers->answered(h.tag, h.answer);
    }
    if (!held_.empty()) due_.notify(held_.begin()->first - sc_core::sc_time_stamp());
  }

  sc_core::sc_time period_;
  unsigned most_;
  std::mt19937 random_;
  sc_core::sc_event due_;
  std::multimap<sc_core::sc_time, Held> held_;
  std::uint64_t delayed_ = 0;
};

}  // namespace regatta::protocol

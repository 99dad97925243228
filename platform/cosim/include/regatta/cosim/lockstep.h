// SPDX-License-Identifier: Apache-2.0
//
// A model and its twin in RTL on the same requests. The user gets the model's answer at once, so the platform behaves
// as with the model alone. The first difference of the twin's answer ends the run.
#pragma once

#include <regatta/cosim/transactor.h>
#include <regatta/support/clock_domain.h>

#include <functional>
#include <string>
#include <vector>

namespace regatta::cosim {

struct LockstepConfig {
  unsigned latency = 0;  ///< cycles from request to answer that the twin must have; 0: any
  unsigned open = 64;    ///< requests that the twin may not have answered; then `busy`
  std::string waveform;  ///< path for the waveform of a difference
};

/// `describe(Request)` and `describe(Answer)`, found with the types, return one line of text. Answers are compared
/// with ==. The model must answer at once. The twin must answer in the order of the requests, as a transactor does.
template <class Request, class Answer>
class Lockstep final : public sc_core::sc_module,
                       public protocol::Lookup<Request, Answer>,
                       public protocol::LookupClient<Answer>,
                       public support::StatProvider {
 public:
  protocol::LookupTarget<Request, Answer> lookups;
  protocol::LookupInitiator<Request, Answer> twin;
  sc_core::sc_port<protocol::Lookup<Request, Answer>> model;

  /// `of` and `transactor` outlive the block.
  Lockstep(const sc_core::sc_module_name& name, const LockstepConfig& config, support::ClockDomain& clock,
           protocol::LookupTarget<Request, Answer>& of, Transactor<Request, Answer>& transactor)
      : sc_module(name),
        lookups("lookup", *this),
        twin("twin", *this),
        model("model"),
        config_(config),
        clock_(clock),
        transactor_(transactor) {
    twin.bind(transactor.lookups);
    model.bind(of.requests);
  }

  protocol::LookupReply look_up(const Request& request, std::uint32_t, Answer& answer) override {
    using protocol::LookupReply;
    if (expected_.size() >= config_.open) return LookupReply::busy;
    const LookupReply reply = twin.requests->look_up(request, next_tag_, answer);
    if (reply == LookupReply::busy) return reply;
    Expected e;
    e.request = request;
    e.tag = next_tag_++;
    e.cycle = clock_.now();
    if (model->look_up(request, e.tag, e.answer) != LookupReply::answered) {
      complain("the model does not answer at once, which lockstep expects of it");
    }
    answer = e.answer;
    expected_.push(e);
    return LookupReply::answered;
  }
  const sc_core::sc_event& changed() const override { return transactor_.changed(); }

  void answered(std::uint32_t tag, const Answer& answer) override {
    if (expected_.empty() || expected_.front().tag != tag) {
      protocol::unexpected_answer(this->name(), clock_.now(), tag);
    }
    const Expected& e = expected_.front();
    const std::uint64_t latency = clock_.now() - e.cycle;
    if (!(answer == e.answer)) {
      differs("another answer", e, answer, latency);
    } else if (config_.latency != 0 && latency != config_.latency) {
      differs("another latency", e, answer, latency);
    }
    ++compared_;
    expected_.pop();
  }
  std::uint64_t compared() const { return compared_; }

  void register_stats(support::StatGroup& g) override {
    g.counter("lockstep_compared", compared_, "answers", "of the RTL that agree with the model's");
  }
  void register_energy(support::EnergyGroup& g) override { g.costs_nothing("compares, no hardware"); }

 private:
  struct Expected {
    Request request{};
    Answer answer{};
    std::uint32_t tag = 0;
    std::uint64_t cycle = 0;
  };
  [[gnu::noinline, gnu::cold]] void complain(const std::string& what) const {
    SC_REPORT_ERROR("regatta/cosim",
                    (std::string(this->name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
  }
  [[gnu::noinline, gnu::cold]] void differs(const std::string& what, const Expected& e, const Answer& answer,
                                            std::uint64_t latency) {
    std::string text = what + " of the RTL to the request of cycle " + std::to_string(e.cycle) + ", after " +
                       std::to_string(compared_) + " equal ones\n  request " + describe(e.request) + "\n  model   " +
                       describe(e.answer) + "\n  RTL     " + describe(answer) + "\n  latency " +
                       std::to_string(latency) + " cycles";
    if (config_.latency != 0) text += ", expected " + std::to_string(config_.latency);
    complain(text + "\n  " + transactor_.write_waveform(config_.waveform));
  }

  const LockstepConfig config_;
  support::ClockDomain& clock_;
  Transactor<Request, Answer>& transactor_;
  support::Ring<Expected> expected_;  ///< the twin's answers to come
  std::uint32_t next_tag_ = 0;
  std::uint64_t compared_ = 0;
};

}  // namespace regatta::cosim

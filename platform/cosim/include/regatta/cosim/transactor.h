// SPDX-License-Identifier: Apache-2.0
//
// Puts a block in RTL behind a lookup port: requests become transfers on its pins, one clock edge per cycle of the
// platform. platform/cosim/README.md has the timing.
#pragma once

#include <regatta/cosim/pin_recorder.h>
#include <regatta/protocol/lookup.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/energy.h>
#include <regatta/support/ring.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::cosim {

struct TransactorConfig {
  unsigned queue = 4;           ///< requests that wait for req_ready; then `busy`
  unsigned patience = 10000;    ///< cycles until a request without an answer ends the run
  unsigned reset_cycles = 2;    ///< edges with rst_n low
  unsigned window = 0;          ///< cycles of a waveform, at least; 0: write_waveform() has none
  std::string waveform;         ///< with a window: path for that of a broken protocol
  unsigned refuse_answers = 0;  ///< of 1000 cycles, those with rsp_ready low, at random; for tests
  unsigned seed = 1;
};

/// Answers every request `later`, in the order of the requests. A block that is offered a request in cycle c and has
/// L registers answers in cycle c + L. The clock stops a cycle after the last answer: an idle block costs nothing.
/// Construct a transactor before the user of its answers: parts run in the order of their construction, and the user
/// then has the answers of a cycle before it works in that cycle.
template <class Request, class Answer>
class Transactor final : public sc_core::sc_module,
                         public protocol::Lookup<Request, Answer>,
                         public support::StatProvider {
 public:
  protocol::LookupTarget<Request, Answer> lookups;

  Transactor(const sc_core::sc_module_name& name, const TransactorConfig& config, support::ClockDomain& clock,
             PinsFactory<Request, Answer> factory)
      : sc_module(name),
        lookups("lookup", *this),
        config_(config),
        clock_(clock),
        recorder_(std::move(factory), config.window, config.reset_cycles),
        pins_(recorder_.make(false)),
        changed_("changed"),
        random_(config.seed),
        client_(
            clock, [](void* t) { static_cast<Transactor*>(t)->work(); }, this) {}

  protocol::LookupReply look_up(const Request& request, std::uint32_t tag, Answer& /*answer*/) override {
    if (resetting_ != 0 || waiting_.size() >= config_.queue) {
      ++refused_;
      return protocol::LookupReply::busy;
    }
    const std::uint64_t now = clock_.now();
    waiting_.push(Waiting{request, tag, now});
    ++requests_;
    client_.request(now, now + 1);
    return protocol::LookupReply::later;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

  /// Asserts the reset for `reset_cycles`. All requests inside are dropped and never answered; requests are refused
  /// until it is over.
  void reset() {
    while (!waiting_.empty()) waiting_.pop();
    while (!open_.empty()) open_.pop();
    resetting_ = config_.reset_cycles;
    const std::uint64_t now = clock_.now();
    client_.request(now, now + 1);
  }
  bool idle() const { return waiting_.empty() && open_.empty() && resetting_ == 0; }
  std::uint64_t edges() const { return recorder_.edges(); }
  std::uint64_t answers() const { return answers_; }

  /// Writes the waveform of the last `window` cycles or more. Returns what to tell the user.
  std::string write_waveform(const std::string& path) const { return recorder_.write(path); }

  void register_stats(support::StatGroup& g) override {
    g.counter("rtl_requests", requests_, "requests", "sent to the RTL");
    g.counter("rtl_answers", answers_, "answers", "of the RTL");
    g.derived(
        "rtl_clock_edges", [this] { return static_cast<double>(edges()); }, "cycles", "in which the RTL was clocked");
    g.counter("rtl_request_stalls", stalls_, "cycles", "in which a request waited for req_ready");
    g.counter("rtl_refused", refused_, "requests", "that found the transactor's queue full");
  }
  void register_energy(support::EnergyGroup& g) override {
    g.costs_nothing("stands for a model, whose user counts the energy");
  }

 private:
  struct Waiting {
    Request request{};
    std::uint32_t tag = 0;
    std::uint64_t since = 0;
  };
  struct Open {
    std::uint32_t tag = 0;
    std::uint64_t since = 0;
  };
  [[gnu::noinline, gnu::cold]] void complain(const std::string& what) const {
    const std::string seen = config_.window == 0 ? "" : "\n  " + write_waveform(config_.waveform);
    SC_REPORT_ERROR(
        "regatta/cosim",
        (std::string(this->name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what + seen).c_str());
  }

  // The edge between the last cycle and this one, then what the block shows in this cycle.
  void work() {
    const std::uint64_t now = clock_.now();
    const bool reset = resetting_ != 0;
    const bool offered = !waiting_.empty() && waiting_.front().since < now;
    const Request* const request = offered ? &waiting_.front().request : nullptr;
    pins_->drive_reset(reset);
    pins_->drive_request(request);
    pins_->drive_answer_ready(ready_);
    pins_->settle();
    const bool taken = offered && pins_->request_ready();
    recorder_.note(*pins_, now, reset, request, ready_);
    pins_->edge();
    if (reset) {
      if (--resetting_ == 0) changed_.notify(sc_core::SC_ZERO_TIME);
    } else if (taken) {
      open_.push(Open{waiting_.front().tag, waiting_.front().since});
      if (waiting_.size() == config_.queue) changed_.notify(sc_core::SC_ZERO_TIME);
      waiting_.pop();
    } else if (offered) {
      ++stalls_;
    }
    const bool was_busy = !idle();  // a last edge takes the last answer from the block
    ready_ = config_.refuse_answers == 0 || next_random() % 1000 >= config_.refuse_answers;
    if (!reset && ready_ && pins_->answer_valid()) take_answer();
    if (was_busy || !idle()) {
      const std::uint64_t oldest = !open_.empty()      ? open_.front().since
                                   : !waiting_.empty() ? waiting_.front().since
                                                       : now;
      if (now - oldest > config_.patience) {
        complain("no answer to the request of cycle " + std::to_string(oldest) + " (" + std::to_string(open_.size()) +
                 " in the block, " + std::to_string(waiting_.size()) + " before it); expected one within " +
                 std::to_string(config_.patience) + " cycles");
      }
      client_.request(now, now + 1);
    }
  }

  void take_answer() {
    if (open_.empty()) {
      complain("rsp_valid without an open request; expected one answer to each request");
      return;
    }
    const std::uint32_t tag = open_.front().tag;
    open_.pop();
    ++answers_;
    pins_->read_answer(answer_);
    lookups.answers->answered(tag, answer_);
  }
  std::uint32_t next_random() { return random_ = random_ * 1664525u + 1013904223u, random_ >> 8; }

  const TransactorConfig config_;
  support::ClockDomain& clock_;
  PinRecorder<Request, Answer> recorder_;
  std::unique_ptr<Pins<Request, Answer>> pins_;
  support::Ring<Waiting> waiting_;  ///< for req_ready
  support::Ring<Open> open_;        ///< inside the block
  Answer answer_{};
  bool ready_ = true;       ///< rsp_ready in this cycle
  unsigned resetting_ = 0;  ///< edges of the reset to come
  sc_core::sc_event changed_;
  std::uint32_t random_;
  std::uint64_t requests_ = 0, answers_ = 0, stalls_ = 0, refused_ = 0;
  support::CycleClient client_;
};

}  // namespace regatta::cosim

// SPDX-License-Identifier: Apache-2.0
//
// A block in RTL as the twin of a model's state. The cycles of an operation are the model's; within the call the RTL
// gets as many clock edges as it needs. platform/cosim/README.md has the protocol of its pins.
#pragma once

#include <regatta/cosim/pin_recorder.h>
#include <regatta/cosim/twin.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>

namespace regatta::cosim {

struct DirectConfig {
  bool compare = false;       ///< the model's results count, and the RTL's must be equal; otherwise the RTL's count
  unsigned edges = 0;         ///< that each operation must take from request to answer; 0: any, or `EdgesOf`
  unsigned patience = 10000;  ///< edges until an operation without an answer ends the run
  unsigned reset_cycles = 2;  ///< edges with rst_n low at the beginning
};

/// The edges that an operation must take if it has this answer, where they are not the same for all.
template <class Operation, class Result>
using EdgesOf = std::function<unsigned(const Operation& operation, const Result& of_rtl)>;

/// `describe(Operation)` and `describe(Result)`, found with the types, return a line of text. Results are compared
/// with ==. Operations follow one another: the RTL has answered one before it gets the next. Its clock stands between
/// them. In a waveform, cycle c is the c-th edge; the report of a difference says which edges are whose.
template <class Operation, class Result>
class DirectTransactor final : public sc_core::sc_module,
                               public OperationTwin<Operation, Result>,
                               public support::StatProvider {
 public:
  DirectTransactor(const TwinConfig& twin, const DirectConfig& config, PinsFactory<Operation, Result> factory,
                   EdgesOf<Operation, Result> edges_of = {})
      : sc_module(sc_core::sc_module_name(twin.name.c_str())),
        twin_(twin),
        config_(config),
        edges_of_(std::move(edges_of)),
        clock_(*twin.clock),
        recorder_(std::move(factory), config.compare ? twin.options.waveform_cycles : 0, config.reset_cycles),
        pins_(recorder_.make(false)) {}

  Result operate(const Operation& operation, const Result& of_model) override {
    const std::uint64_t first = recorder_.edges();
    bool open = false;
    for (;;) {
      const Operation* const request = open ? nullptr : &operation;
      pins_->drive_reset(false);
      pins_->drive_request(request);
      pins_->drive_answer_ready(true);
      pins_->settle();
      const bool taken = !open && pins_->request_ready();
      recorder_.note(*pins_, recorder_.edges(), false, request, true);
      pins_->edge();
      open = open || taken;
      if (open && pins_->answer_valid()) break;
      if (recorder_.edges() - first >= config_.patience) {
        complain("no answer to an operation within " + std::to_string(config_.patience) + " edges (" +
                 (open ? "it was taken" : "it was not taken") + ")\n  operation " + describe(operation));
        return of_model;
      }
    }
    pins_->read_answer(answer_);
    const std::uint64_t edges = recorder_.edges() - first;
    ++operations_;
    const unsigned expected = edges_of_ ? edges_of_(operation, answer_) : config_.edges;
    if (expected != 0 && edges != expected) {
      differs("another number of edges", operation, of_model, first, edges, expected);
    }
    if (!config_.compare) return answer_;
    if (!(answer_ == of_model)) differs("another result", operation, of_model, first, edges, expected);
    ++compared_;
    return of_model;
  }
  std::uint64_t compared() const { return compared_; }

  void register_stats(support::StatGroup& g) override {
    g.counter("rtl_operations", operations_, "operations", "of the RTL");
    g.derived(
        "rtl_clock_edges", [this] { return static_cast<double>(recorder_.edges()); }, "cycles",
        "in which the RTL was clocked");
    g.counter("lockstep_compared", compared_, "operations", "of the RTL that agree with the model's");
  }
  void register_energy(support::EnergyGroup& g) override {
    g.costs_nothing("stands beside a model, which counts the energy");
  }

 private:
  [[gnu::noinline, gnu::cold]] void complain(const std::string& what) const {
    SC_REPORT_ERROR("regatta/cosim",
                    (std::string(this->name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
  }
  [[gnu::noinline, gnu::cold]] void differs(const std::string& what, const Operation& operation, const Result& of_model,
                                            std::uint64_t first, std::uint64_t edges, unsigned expected) {
    std::string text = what + " of the RTL, after " + std::to_string(compared_) + " equal ones\n  operation " +
                       describe(operation) + "\n  model     " + describe(of_model) + "\n  RTL       " +
                       describe(answer_) + "\n  edges     " + std::to_string(first) + " to " +
                       std::to_string(first + edges - 1);
    if (expected != 0) text += " (" + std::to_string(edges) + ", expected " + std::to_string(expected) + ")";
    if (twin_.state) text += "\n  state of the model behind it: " + twin_.state();
    complain(text + "\n  " + recorder_.write(twin_.options.waveform));
  }

  const TwinConfig twin_;
  const DirectConfig config_;
  const EdgesOf<Operation, Result> edges_of_;  ///< empty: config_.edges
  support::ClockDomain& clock_;
  PinRecorder<Operation, Result> recorder_;
  std::unique_ptr<Pins<Operation, Result>> pins_;
  Result answer_{};
  std::uint64_t operations_ = 0, compared_ = 0;
};

/// Adds "rtl" and "lockstep" to the kinds of twins of a block. `pins(shape)` makes the factory; `validate(shape)`
/// throws ConfigError for a shape that the RTL is not built for. `edges`: DirectConfig, or a function `edges_of`.
template <class Operation, class Result, class Shape, class Validate, class PinsOf>
void add_rtl_twins(TwinKinds<Operation, Result, Shape>& kinds, Validate validate, PinsOf pins, unsigned edges = 0,
                   const std::string& prefix = "", EdgesOf<Operation, Result> edges_of = {}) {
  for (const bool compare : {false, true}) {
    typename TwinKinds<Operation, Result, Shape>::Kind kind;
    kind.validate = validate;
    kind.make = [pins, compare, edges, edges_of](const TwinConfig& config, const Shape& shape) {
      DirectConfig direct;
      direct.compare = compare;
      direct.edges = edges;
      auto module = std::make_unique<DirectTransactor<Operation, Result>>(config, direct, pins(shape), edges_of);
      auto* const twin = module.get();
      return typename TwinKinds<Operation, Result, Shape>::Made{std::move(module), twin};
    };
    kinds.add(prefix + (compare ? "lockstep" : "rtl"), std::move(kind));
  }
}

}  // namespace regatta::cosim

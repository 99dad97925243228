// SPDX-License-Identifier: Apache-2.0
//
// A twin of a block's state: a table, lists, a memory of tags. The block does each operation on its own state first and
// then passes it to its twin, if it has one. Without a twin this costs the test of a pointer.
#pragma once

#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>

namespace regatta::cosim {

/// Gets the operations on a block's state in their order.
template <class Operation, class Result>
class OperationTwin {
 public:
  virtual ~OperationTwin() = default;
  /// `of_model`: the result of the block's own state. The result that is returned counts.
  virtual Result operate(const Operation& operation, const Result& of_model) = 0;
};

/// The options of a block with twins, as knobs of its scheme.
struct TwinOptions {
  std::string implementation = "model";  ///< model, or the name of a kind of twin
  std::string waveform;                  ///< where lockstep writes the waveform of a difference
  unsigned waveform_cycles = 200;        ///< clock cycles in it, at least

  /// The waveform's path if a run may write one, else "".
  std::string written() const { return implementation == "model" ? "" : waveform; }
  /// Knobs `<block>.implementation`, `.waveform` and `.waveform_cycles`; `what` names the block.
  void declare(support::OptionSet& options, const std::string& block, const std::string& what) {
    if (waveform.empty()) waveform = block + "_difference.fst";
    options.add(block + ".implementation", implementation,
                what + ": model, rtl, or lockstep, which compares both (the latter two need a build with Verilator)");
    options.add(block + ".waveform", waveform, "file for the waveform (FST) of the first difference under lockstep");
    options.add(block + ".waveform_cycles", waveform_cycles, "cycles",
                "clock cycles of the RTL in that waveform, at least", 1, 1000000);
  }
};

/// Throws ConfigError: a program has no implementation of that name. `known`: those that it has besides.
template <class Map>
[[noreturn]] void no_implementation(const std::string& block, const std::string& name, const Map& known,
                                    std::string text = "") {
  for (const auto& [other, of] : known) text += (text.empty() ? "" : ", ") + other;
  throw support::ConfigError(
      "configuration: " + block + ".implementation = " + name +
      ": this program has no such implementation; expected one of: " + text +
      " (make cosim builds a regatta-sim that has rtl and lockstep, see platform/cosim/README.md)");
}

/// What a twin is made from.
struct TwinConfig {
  std::string name;  ///< of its module
  TwinOptions options;
  support::ClockDomain* clock = nullptr;
  std::function<std::string()> state;  ///< the block's state as text, for the report of a difference; may be empty
};

/// The kinds of twins that a program has for a block of the given shape (its sizes), by the name that
/// `<block>.implementation` selects. "model" is none. A program adds its own before it reads options.
template <class Operation, class Result, class Shape>
class TwinKinds {
 public:
  using Twin = OperationTwin<Operation, Result>;
  /// The module, which is the twin.
  struct Made {
    std::unique_ptr<sc_core::sc_module> module;
    Twin* twin = nullptr;
  };
  struct Kind {
    std::function<void(const Shape&)> validate;  ///< throws ConfigError for a shape that it cannot have
    std::function<Made(const TwinConfig&, const Shape&)> make;
  };

  /// `block`: as in `<block>.implementation`.
  explicit TwinKinds(std::string block) : block_(std::move(block)) {}

  void add(const std::string& name, Kind kind) { kinds_[name] = std::move(kind); }
  /// Throws ConfigError if the program has no such kind, or not for this shape.
  void validate(const TwinOptions& options, const Shape& shape) const {
    if (const Kind* const kind = find(options.implementation)) kind->validate(shape);
  }
  /// Nothing for "model".
  Made make(const TwinConfig& config, const Shape& shape) const {
    const Kind* const kind = find(config.options.implementation);
    return kind == nullptr ? Made{} : kind->make(config, shape);
  }

 private:
  const Kind* find(const std::string& name) const {
    if (name == "model") return nullptr;
    const auto found = kinds_.find(name);
    if (found != kinds_.end()) return &found->second;
    no_implementation(block_, name, kinds_, "model");
  }

  const std::string block_;
  std::map<std::string, Kind> kinds_;
};

}  // namespace regatta::cosim

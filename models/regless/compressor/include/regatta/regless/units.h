// SPDX-License-Identifier: Apache-2.0
//
// The two units that a compressor asks: one matches a value against the patterns, one expands a slot. Both are blocks
// of their own, so that RTL can stand in for them.
#pragma once

#include <regatta/protocol/lookup.h>
#include <regatta/regless/patterns.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/config.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// The lanes of a warp register.
struct WarpValue : std::array<std::uint32_t, pattern_lanes> {};
/// What the matcher answers and the expander is asked. The slot is 0 for Pattern::none, which is not expanded.
struct CompressedValue {
  Pattern pattern = Pattern::none;
  std::array<unsigned char, slot_bytes> slot{};
  bool operator==(const CompressedValue& o) const { return pattern == o.pattern && slot == o.slot; }
};
/// As one line of text.
std::string describe(const WarpValue& value);
std::string describe(const CompressedValue& value);

/// Models of the units, which answer at once; the compressor counts their latency.
class PatternMatcher final : public sc_core::sc_module,
                             public protocol::Lookup<WarpValue, CompressedValue>,
                             public support::StatProvider {
 public:
  protocol::LookupTarget<WarpValue, CompressedValue> lookups;
  explicit PatternMatcher(const sc_core::sc_module_name& name) : sc_module(name), lookups("lookup", *this) {}
  protocol::LookupReply look_up(const WarpValue& value, std::uint32_t, CompressedValue& answer) override {
    answer.pattern = match(value.data());
    if (answer.pattern == Pattern::none) {
      answer.slot.fill(0);
    } else {
      compress(answer.pattern, value.data(), answer.slot.data());
    }
    return protocol::LookupReply::answered;
  }
  const sc_core::sc_event& changed() const override { return changed_; }
  void register_stats(support::StatGroup&) override {}
  void register_energy(support::EnergyGroup& g) override { g.costs_nothing("the compressor counts its requests"); }

 private:
  sc_core::sc_event changed_;
};
class PatternExpander final : public sc_core::sc_module,
                              public protocol::Lookup<CompressedValue, WarpValue>,
                              public support::StatProvider {
 public:
  protocol::LookupTarget<CompressedValue, WarpValue> lookups;
  explicit PatternExpander(const sc_core::sc_module_name& name) : sc_module(name), lookups("lookup", *this) {}
  protocol::LookupReply look_up(const CompressedValue& value, std::uint32_t, WarpValue& answer) override {
    expand(value.pattern, value.slot.data(), answer.data());
    return protocol::LookupReply::answered;
  }
  const sc_core::sc_event& changed() const override { return changed_; }
  void register_stats(support::StatGroup&) override {}
  void register_energy(support::EnergyGroup& g) override { g.costs_nothing("the compressor counts its requests"); }

 private:
  sc_core::sc_event changed_;
};

/// What the units of one compressor are made from.
struct CompressorUnitsConfig {
  unsigned shard = 0;           ///< part of their names: "matcher0", "expander0"
  unsigned match_latency = 2;   ///< cycles
  unsigned expand_latency = 2;  ///< cycles
  unsigned window = 200;        ///< clock cycles in a waveform
  std::string waveform;         ///< its path
  unsigned refuse_answers = 0;  ///< of 1000 cycles, those in which RTL's answers are not taken
  support::ClockDomain* clock = nullptr;
};
/// The modules, and where the compressor is bound.
struct CompressorUnits {
  std::vector<std::unique_ptr<sc_core::sc_module>> modules;
  protocol::LookupTarget<WarpValue, CompressedValue>* matcher = nullptr;
  protocol::LookupTarget<CompressedValue, WarpValue>* expander = nullptr;
};
/// An implementation of the units.
struct CompressorImplementation {
  /// Throws ConfigError for latencies that it cannot have.
  std::function<void(const CompressorUnitsConfig&)> validate;
  std::function<CompressorUnits(const CompressorUnitsConfig&)> make;
};
/// By the name that --compressor.implementation selects. A program adds its own before it reads options; there is
/// "model" from the beginning.
std::map<std::string, CompressorImplementation>& compressor_implementations();
/// Throws ConfigError if the program has none of that name.
const CompressorImplementation& compressor_implementation(const std::string& name);

}  // namespace regatta::models

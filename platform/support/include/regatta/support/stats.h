// SPDX-License-Identifier: Apache-2.0
//
// Statistics: a module owns plain counters and registers them by name, unit and description. Counting is
// an increment of an integer; everything else happens at the end of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace regatta::support {

/// One named, described, unit-bearing number. Counters are warp-level unless the name or unit says threads.
struct Stat {
  std::string name;  ///< lower case, words joined by '_'
  std::string unit;  ///< "accesses", "cycles", "bytes", "warp instructions", "ratio" ...
  std::string description;
  const std::uint64_t* counter = nullptr;  ///< either a counter
  std::function<double()> value;           ///< or a derived value
};

/// The statistics of one module instance; `path` is its SystemC name ("sm0.l1").
class StatGroup {
 public:
  StatGroup() = default;
  explicit StatGroup(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }
  void counter(const std::string& name, const std::uint64_t& value, const std::string& unit,
               const std::string& description);
  void derived(const std::string& name, std::function<double()> value, const std::string& unit,
               const std::string& description);
  const std::vector<Stat>& stats() const { return stats_; }

 private:
  std::string path_;
  std::vector<Stat> stats_;
};

class EnergyGroup;

/// A module with statistics, and with the energy that some of them stand for. The walk over the sc_object tree finds
/// providers by dynamic_cast; the order of the output is the order of names, so it does not depend on construction
/// order.
class StatProvider {
 public:
  virtual ~StatProvider() = default;
  /// Adds this module's statistics. Called once, after elaboration; registered references must stay valid.
  virtual void register_stats(StatGroup& group) = 0;
  /// Says which counters are which events of the energy table, and what leaks (energy.h). Called before and after each
  /// launch, so that what depends on the kernel (lanes of a warp) may be part of it; always the same events in the same
  /// order. A block that costs nothing says so with EnergyGroup::costs_nothing(); one that says nothing is told of.
  virtual void register_energy(EnergyGroup&) {}
};

}  // namespace regatta::support

// SPDX-License-Identifier: Apache-2.0
//
// Statistics: a module owns plain counters and registers them with name, unit and description. Counting increments an
// integer; everything else happens at the end of a run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::support {

/// One number with name, unit and description. Counters are per warp unless name or unit mention threads.
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
  void counter(std::string_view name, const std::uint64_t& value, std::string_view unit, std::string_view description);
  void derived(std::string_view name, std::function<double()> value, std::string_view unit,
               std::string_view description);
  const std::vector<Stat>& stats() const { return stats_; }

 private:
  std::string path_;
  std::vector<Stat> stats_;
};

class EnergyGroup;

/// A module with statistics, and with the energy of the events that they count. The walk over the sc_object tree finds
/// providers by dynamic_cast. The output is ordered by name, so it does not depend on the order of construction.
class StatProvider {
 public:
  virtual ~StatProvider() = default;
  /// Adds this module's statistics. Called once, after elaboration; registered references must stay valid.
  virtual void register_stats(StatGroup& group) = 0;
  /// Declares which counters are which events of the energy table, and which parts leak (energy.h). Called before and
  /// after each launch, so it may depend on the kernel (lanes of a warp), but always with the same events in the same
  /// order. A block without energy calls EnergyGroup::costs_nothing(); a block that declares nothing is reported.
  virtual void register_energy(EnergyGroup&) {}
};

}  // namespace regatta::support

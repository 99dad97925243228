// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/stats.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::assembly {

/// What no run may create or lose, checked at the end of every launch from the counters of different modules: a sum of
/// counters on one side equals a sum on the other. A law whose modules a scheme has replaced does not apply.
class ConservationLaws {
 public:
  /// The laws that apply to modules with these statistics. The groups must outlive the laws. `storages`: per SM, the
  /// path of what its collectors and its write-back are bound to; a register file behind another block owes them
  /// nothing.
  ConservationLaws(const std::vector<support::StatGroup>& groups, const std::vector<std::string>& storages);

  /// Before a launch.
  void begin();
  /// After it: a sentence for the first law that does not hold since begin(); empty when all hold.
  std::string broken() const;
  std::size_t size() const { return laws_.size(); }
  using Names = std::vector<std::string>;
  /// Adds a law unless one of its counters is missing: "sm0.register_file.reads". A path ending in '*' stands for all
  /// modules that begin so and have the counter.
  void add(const std::string& what, const Names& left, const Names& right);
  /// Whether there is such a counter.
  bool knows(const std::string& name) const;

 private:
  struct Term {
    std::string name;  ///< "sm0.register_file.reads"
    const std::uint64_t* counter;
    std::uint64_t before = 0;
  };
  struct Law {
    std::string what;
    std::vector<Term> left, right;
  };
  bool find(const std::string& name, std::vector<Term>& terms) const;

  const std::vector<support::StatGroup>& groups_;
  std::vector<Law> laws_;
};

}  // namespace regatta::assembly

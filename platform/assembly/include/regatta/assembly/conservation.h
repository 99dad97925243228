// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/stats.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::assembly {

/// What no run may create or lose, checked at the end of every launch from the counters of different modules: a sum of
/// counters on one side equals a sum on the other.
class ConservationLaws {
 public:
  /// No laws yet, about modules with these statistics. The groups must outlive the laws.
  explicit ConservationLaws(const std::vector<support::StatGroup>& groups) : groups_(groups) {}
  /// The laws of every platform. `storages`: per SM, the path of what its collectors and its write-back are bound to;
  /// a register file behind another block owes them nothing.
  void add_platform(const std::vector<std::string>& storages);

  /// Before a launch.
  void begin();
  /// After it: a sentence for the first law that does not hold since begin(); empty when all hold.
  std::string broken() const;
  std::size_t size() const { return laws_.size(); }
  using Names = std::vector<std::string>;
  /// Adds a law. A name is a counter's or a derived value's, which must be whole: "sm0.register_file.reads". A path
  /// ending in '*' stands for all modules that begin so and have it, "32*sm0.pipeline.lsu.load_sectors" for 32 times
  /// the counter. Throws std::logic_error naming law and name when no module has it.
  void add(const std::string& what, const Names& left, const Names& right);
  /// Adds a law unless one of its counters is missing: for a part that may be another's, with counters of its own.
  void add_optional(const std::string& what, const Names& left, const Names& right);
  /// Whether there is such a counter.
  bool knows(const std::string& name) const;

 private:
  struct Term {
    std::string name;  ///< "sm0.register_file.reads"
    const support::Stat* stat;
    std::uint64_t factor = 1;
    std::uint64_t before = 0;
    std::uint64_t now() const {
      return factor * (stat->counter != nullptr ? *stat->counter : static_cast<std::uint64_t>(stat->value()));
    }
  };
  struct Law {
    std::string what;
    std::vector<Term> left, right;
  };
  void add_l1(const std::string& sm);
  void add_dram();
  bool find(std::string name, std::vector<Term>& terms) const;
  std::string unknown(const std::string& what, const std::string& name) const;

  const std::vector<support::StatGroup>& groups_;
  std::vector<Law> laws_;
};

}  // namespace regatta::assembly

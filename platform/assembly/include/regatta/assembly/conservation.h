// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/stat_query.h>

#include <cstdint>
#include <string>
#include <vector>

namespace regatta::assembly {

/// Conservation laws, checked at the end of every launch from the counters of different modules: a sum of counters on
/// one side equals a sum on the other.
class ConservationLaws {
 public:
  /// Starts without laws, for modules with these statistics. The groups must outlive the laws.
  explicit ConservationLaws(const std::vector<support::StatGroup>& groups) : groups_(groups) {}
  /// Adds the laws of every platform. `storages`: per SM, the path of the storage that its collectors and write-back
  /// are bound to; a register file behind another block is not compared with them.
  void add_platform(const std::vector<std::string>& storages);

  /// Before a launch.
  void begin();
  /// After a launch: a message for the first law that does not hold since begin(); empty if all hold.
  std::string broken() const;
  std::size_t size() const { return laws_.size(); }
  using Side = std::vector<support::StatQuery>;
  /// Adds a law: the statistics found by the queries of one side add up to those of the other side. Derived values must
  /// be integers. Throws std::logic_error with law and query if a query finds nothing.
  void add(const std::string& what, const Side& left, const Side& right);
  /// Adds a law unless one of its queries finds nothing: for a part that another one with other counters may replace.
  void add_optional(const std::string& what, const Side& left, const Side& right);
  /// Whether such a statistic exists.
  bool knows(const support::StatQuery& query) const { return query.finds_any(groups_); }
  /// The module between issue and the operand storage of an SM ("sm0"): its path, for the counters `instructions` and
  /// `reads`.
  std::string operand_path(const std::string& sm) const;

 private:
  struct Term {
    support::StatTerm stat;
    std::uint64_t before = 0;  ///< at begin()
  };
  struct Law {
    std::string what;
    std::vector<Term> left, right;
  };
  void add_l1(const std::string& sm);
  void add_dram();
  std::vector<Term> find(const std::string& what, const Side& side) const;

  const std::vector<support::StatGroup>& groups_;
  std::vector<Law> laws_;
};

}  // namespace regatta::assembly

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/support/stats.h>

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
  using Names = std::vector<std::string>;
  /// Adds a law. A name is that of a counter or of a derived integer value: "sm0.register_file.reads". A path ending in
  /// '*' stands for all modules with this prefix that have the counter; "32*sm0.pipeline.lsu.load_sectors" is 32 times
  /// the counter. Throws std::logic_error with law and name if no module has it.
  void add(const std::string& what, const Names& left, const Names& right);
  /// Adds a law unless one of its counters is missing: for a part that another one with other counters may replace.
  void add_optional(const std::string& what, const Names& left, const Names& right);
  /// Whether such a counter exists.
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

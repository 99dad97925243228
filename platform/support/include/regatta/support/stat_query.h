// SPDX-License-Identifier: Apache-2.0
//
// Statistics by name: the one way to look them up.
//
//   sm0.register_file.reads             module path, dot, statistic
//   sm*.osu.shard*.bank*.reads          '*' in the path: any characters of one part, so it stands for no dot
//   32*sm0.pipeline.lsu.load_sectors    counted 32 times
#pragma once

#include <regatta/support/stats.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::support {

/// A statistic that a query found. Valid as long as the module that counts.
struct StatTerm {
  std::string name;  ///< path and statistic: "sm0.l1.reads"
  std::uint64_t weight = 1;
  const std::uint64_t* counter = nullptr;  ///< either a counter
  std::function<double()> value;           ///< or a derived value, which is taken as a whole number

  /// Its value now, times the weight.
  std::uint64_t now() const { return weight * (counter != nullptr ? *counter : static_cast<std::uint64_t>(value())); }
};

/// Which statistics are meant. A statistic's own name may contain dots, and is compared as it stands.
class StatQuery {
 public:
  /// Throws std::logic_error when `text` has no dot, or its weight is 0 or has more than 18 digits.
  StatQuery(std::string text);  // NOLINT(google-explicit-constructor): a name is a query
  StatQuery(const char* text) : StatQuery(std::string(text)) {}  // NOLINT(google-explicit-constructor)

  const std::string& text() const { return text_; }
  std::uint64_t weight() const { return weight_; }
  bool matches(std::string_view path, std::string_view name) const;
  /// What it finds, in the order of the groups; empty: nothing has such a name.
  std::vector<StatTerm> find(const std::vector<StatGroup>& groups) const;
  bool finds_any(const std::vector<StatGroup>& groups) const;

 private:
  /// The statistic's name, if the path is one that is meant; else empty.
  std::string_view name_in(std::string_view path) const;

  std::string text_;
  std::string pattern_;  ///< without the weight
  std::uint64_t weight_ = 1;
};

/// The statistics that queries find, together. A query that finds nothing adds nothing.
class StatSum {
 public:
  StatSum(const std::vector<StatGroup>& groups, const std::vector<StatQuery>& queries);
  std::uint64_t total() const;
  /// The largest of them.
  std::uint64_t largest() const;
  bool empty() const { return terms_.empty(); }

 private:
  std::vector<StatTerm> terms_;
};

}  // namespace regatta::support

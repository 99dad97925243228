// SPDX-License-Identifier: Apache-2.0
//
// Output of the modules' statistics: collection over the module hierarchy, JSON, a table, and a list that explains each
// number.
#pragma once

#include <regatta/support/stats.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::support {

/// The groups of all StatProviders among the SystemC objects, by path; with `root` only of those below it, whose paths
/// begin there. Numbers within names sort numerically, so sm2 comes before sm10. Providers without statistics are
/// omitted. Call once, after elaboration.
std::vector<StatGroup> collect_stats(const sc_core::sc_object* root = nullptr);

/// The values of the counters at one moment, to compute differences (statistics of one launch among several).
using CounterSnapshot = std::vector<std::uint64_t>;
CounterSnapshot snapshot(const std::vector<StatGroup>& groups);

/// {"sm0.l1": {"reads": 0}}. A derived value that is not finite (0 / 0) is null.
nlohmann::ordered_json stats_json(const std::vector<StatGroup>& groups);
/// Counters only, as differences since `since`, a snapshot of the same groups.
nlohmann::ordered_json stats_json(const std::vector<StatGroup>& groups, const CounterSnapshot& since);
/// {"sm0.l1": {"reads": {"unit": "accesses", "description": "..."}}}.
nlohmann::ordered_json stats_description_json(const std::vector<StatGroup>& groups);

/// A readable table: path, name, value, unit. With `skip_zero`, counters at zero are omitted.
std::string stats_table(const std::vector<StatGroup>& groups, bool skip_zero = false);
/// A table of names, units and descriptions.
std::string describe_stats(const std::vector<StatGroup>& groups);

}  // namespace regatta::support

// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/stats.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::support {
namespace {

void insert(std::vector<Stat>& stats, Stat stat, const std::string& path) {
  const bool known =
      std::any_of(stats.begin(), stats.end(), [&](const Stat& other) { return other.name == stat.name; });
  if (known) throw std::logic_error("statistic '" + stat.name + "' of '" + path + "' is registered twice");
  stats.push_back(std::move(stat));
}

}  // namespace

void StatGroup::counter(std::string_view name, const std::uint64_t& value, std::string_view unit,
                        std::string_view description) {
  insert(stats_, Stat{std::string(name), std::string(unit), std::string(description), &value, nullptr}, path_);
}

void StatGroup::derived(std::string_view name, std::function<double()> value, std::string_view unit,
                        std::string_view description) {
  insert(stats_, Stat{std::string(name), std::string(unit), std::string(description), nullptr, std::move(value)},
         path_);
}

}  // namespace regatta::support

// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/stat_report.h>
#include <regatta/support/table.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <systemc>

namespace regatta::support {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// Order of names in which a run of digits compares as a number.
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      std::size_t i_end = i;
      std::size_t j_end = j;
      while (i_end < a.size() && is_digit(a[i_end])) ++i_end;
      while (j_end < b.size() && is_digit(b[j_end])) ++j_end;
      while (i + 1 < i_end && a[i] == '0') ++i;
      while (j + 1 < j_end && b[j] == '0') ++j;
      if (i_end - i != j_end - j) return i_end - i < j_end - j;
      const int order = a.compare(i, i_end - i, b, j, j_end - j);
      if (order != 0) return order < 0;
      i = i_end;
      j = j_end;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;
}

/// `above`: length of the part of the objects' names that is left out.
void walk(const std::vector<sc_core::sc_object*>& objects, std::size_t above, std::vector<StatGroup>& groups) {
  for (sc_core::sc_object* object : objects) {
    if (auto* provider = dynamic_cast<StatProvider*>(object)) {
      StatGroup group(object->name() + above);
      provider->register_stats(group);
      if (!group.stats().empty()) groups.push_back(std::move(group));
    }
    walk(object->get_child_objects(), above, groups);
  }
}

std::string number(double value) {
  if (!std::isfinite(value)) return "-";
  return fixed(value, std::abs(value) < 10.0 ? 4 : 2);
}

}  // namespace

std::vector<StatGroup> collect_stats(const sc_core::sc_object* root) {
  std::vector<StatGroup> groups;
  if (root == nullptr) {
    walk(sc_core::sc_get_top_level_objects(), 0, groups);
  } else {
    walk(root->get_child_objects(), std::string(root->name()).size() + 1, groups);
  }
  std::sort(groups.begin(), groups.end(),
            [](const StatGroup& a, const StatGroup& b) { return natural_less(a.path(), b.path()); });
  return groups;
}

CounterSnapshot snapshot(const std::vector<StatGroup>& groups) {
  CounterSnapshot values;
  for (const StatGroup& group : groups) {
    for (const Stat& stat : group.stats()) {
      if (stat.counter != nullptr) values.push_back(*stat.counter);
    }
  }
  return values;
}

nlohmann::ordered_json stats_json(const std::vector<StatGroup>& groups) {
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  for (const StatGroup& group : groups) {
    auto& entry = document[group.path()];
    for (const Stat& stat : group.stats()) {
      if (stat.counter != nullptr) {
        entry[stat.name] = *stat.counter;
      } else {
        const double value = stat.value();
        entry[stat.name] = std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
      }
    }
  }
  return document;
}

nlohmann::ordered_json stats_json(const std::vector<StatGroup>& groups, const CounterSnapshot& since) {
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  auto before = since.begin();
  for (const StatGroup& group : groups) {
    for (const Stat& stat : group.stats()) {
      if (stat.counter == nullptr) continue;
      if (before == since.end()) throw std::logic_error("stats_json: the snapshot is of other statistics");
      document[group.path()][stat.name] = *stat.counter - *before++;
    }
  }
  if (before != since.end()) throw std::logic_error("stats_json: the snapshot is of other statistics");
  return document;
}

nlohmann::ordered_json stats_description_json(const std::vector<StatGroup>& groups) {
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  for (const StatGroup& group : groups) {
    for (const Stat& stat : group.stats()) {
      document[group.path()][stat.name] = {{"unit", stat.unit}, {"description", stat.description}};
    }
  }
  return document;
}

std::string stats_table(const std::vector<StatGroup>& groups, bool skip_zero) {
  Table table({{"module"}, {"statistic"}, {"value", Table::Align::right}, {"unit"}});
  for (const StatGroup& group : groups) {
    std::string path = group.path();
    for (const Stat& stat : group.stats()) {
      if (skip_zero && stat.counter != nullptr && *stat.counter == 0) continue;
      table.row(
          {path, stat.name, stat.counter != nullptr ? with_thousands(*stat.counter) : number(stat.value()), stat.unit});
      path.clear();  // once per module
    }
  }
  return table.str();
}

std::string describe_stats(const std::vector<StatGroup>& groups) {
  Table table({{"module"}, {"statistic"}, {"unit"}, {"description"}});
  for (const StatGroup& group : groups) {
    std::string path = group.path();
    for (const Stat& stat : group.stats()) {
      table.row({path, stat.name, stat.unit, stat.description});
      path.clear();
    }
  }
  return table.str();
}

}  // namespace regatta::support

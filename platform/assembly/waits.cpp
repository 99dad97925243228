// SPDX-License-Identifier: Apache-2.0
#include <regatta/assembly/waits.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <variant>

namespace regatta::assembly {

namespace {

const char* to_string(Wait::Of of) {
  switch (of) {
    case Wait::Of::warps:
      return "warps";
    case Wait::Of::ctas:
      return "ctas";
    case Wait::Of::module:
      return "module";
    case Wait::Of::residents:
      return "residents";
  }
  return "";
}

/// Cycles by which a knob is longer than it may be.
std::uint64_t spare_cycles(const support::OptionSet& options, const std::string& knob) {
  const support::Option* const option = options.find(knob);
  if (option == nullptr) return 0;
  const support::OptionValue value = option->get();
  const std::int64_t* const cycles = std::get_if<std::int64_t>(&value);
  return cycles != nullptr && *cycles > option->minimum ? static_cast<std::uint64_t>(*cycles - option->minimum) : 0;
}

}  // namespace

void Waits::add(const support::StatQuery& statistic, Wait::Of of, std::vector<std::string> knobs) {
  waits_.push_back({statistic, of, std::move(knobs), false});
}

void Waits::add_latency(const support::StatQuery& statistic, const std::string& knob) {
  waits_.push_back({statistic, Wait::Of::warps, {knob}, true});
}

Waits Waits::of(const std::vector<support::StatGroup>& groups) const {
  Waits found;
  for (const Wait& w : waits_) {
    if (w.statistic.finds_any(groups)) found.waits_.push_back(w);
  }
  return found;
}

nlohmann::ordered_json Waits::json(const support::OptionSet& options) const {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Wait& w : waits_) {
    for (const std::string& knob : w.knobs) {
      if (options.find(knob) == nullptr) {
        throw std::logic_error("waits of '" + w.statistic.text() + "': there is no knob '" + knob + "'");
      }
    }
    nlohmann::ordered_json& entry = all.emplace_back();
    entry = {{"statistic", w.statistic.text()}, {"of", to_string(w.of)}, {"knobs", w.knobs}};
    if (w.is_latency) entry["latency_at_least"] = options.find(w.knobs.front())->minimum;
  }
  return all;
}

std::vector<std::string> Waits::knobs_of(const std::string& path, const std::string& name) const {
  std::vector<std::string> knobs;
  for (const Wait& w : waits_) {
    if (!w.statistic.matches(path, name)) continue;
    for (const std::string& knob : w.knobs) {
      if (std::find(knobs.begin(), knobs.end(), knob) == knobs.end()) knobs.push_back(knob);
    }
  }
  return knobs;
}

std::string Waits::knobs_of_longest(const std::vector<support::StatGroup>& groups,
                                    const support::OptionSet& options) const {
  std::uint64_t most = 0;
  std::string knobs;
  for (const Wait& wait : waits_) {
    if (wait.of == Wait::Of::residents) continue;
    std::uint64_t cycles = support::StatSum(groups, {wait.statistic}).total();
    if (wait.is_latency) cycles *= spare_cycles(options, wait.knobs.front());
    if (cycles <= most) continue;
    most = cycles;
    knobs.clear();
    for (const std::string& knob : wait.knobs) knobs += (knobs.empty() ? "" : ", ") + knob;
  }
  return knobs;
}

}  // namespace regatta::assembly

// SPDX-License-Identifier: Apache-2.0
#include "launch_plan.h"

#include <regatta/assembly/launch_list.h>
#include <regatta/support/config.h>

#include <algorithm>

namespace regatta::assembly {

std::size_t first_cta_of(const trace::Reader& trace, std::size_t launch) {
  const auto& ctas = trace.ctas();
  const auto first = std::lower_bound(ctas.begin(), ctas.end(), launch,
                                      [](const trace::Reader::CtaEntry& c, std::size_t n) { return c.launch < n; });
  return static_cast<std::size_t>(first - ctas.begin());
}

LaunchPlan::LaunchPlan(const trace::Reader& trace, const std::vector<std::uint32_t>& selected) {
  std::vector<std::uint32_t> launches = selected;
  if (launches.empty()) {
    for (std::uint32_t i = 0; i < trace.launches().size(); ++i) launches.push_back(i);
  }
  std::uint32_t next = 0;
  for (const std::uint32_t launch : launches) {
    steps_.push_back({launch, launch - next, first_cta_of(trace, launch), 0});
    next = launch + 1;
  }
  std::size_t end = 0;
  for (std::size_t i = steps_.size(); i-- > 0;) {
    Step& step = steps_[i];
    if (i + 1 == steps_.size() || steps_[i + 1].skipped_before != 0) {
      end = step.first_cta + trace.launches()[step.launch].cta_count;
    }
    step.stream_end = end;
  }
}

namespace {

std::uint32_t launch_number(const std::string& text, const std::string& item, const std::string& option,
                            std::size_t count) {
  constexpr std::size_t most_digits = 9;
  if (text.empty() || text.size() > most_digits || text.find_first_not_of("0123456789") != std::string::npos) {
    throw support::ConfigError(option + ": found '" + item + "', expected the number of a launch or FIRST:LAST");
  }
  const auto number = static_cast<std::uint32_t>(std::stoul(text));
  if (number >= count) {
    throw support::ConfigError(option + ": found launch " + text + ", the trace has launches 0 to " +
                               std::to_string(count - 1));
  }
  return number;
}

}  // namespace

std::vector<std::uint32_t> parse_launches(const std::string& text, std::size_t count, const std::string& option) {
  std::vector<std::uint32_t> launches;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, comma - at);
    at = comma + 1;
    const std::size_t colon = item.find(':');
    const std::uint32_t first = launch_number(item.substr(0, colon), item, option, count);
    const std::uint32_t last =
        colon == std::string::npos ? first : launch_number(item.substr(colon + 1), item, option, count);
    if (last < first) {
      throw support::ConfigError(option + ": found '" + item + "', expected FIRST:LAST with LAST not below FIRST");
    }
    if (!launches.empty() && first <= launches.back()) {
      throw support::ConfigError(option + ": found launch " + std::to_string(first) + " after launch " +
                                 std::to_string(launches.back()) + ", expected ascending numbers, each once");
    }
    for (std::uint32_t n = first; n <= last; ++n) launches.push_back(n);
  }
  return launches;
}

std::string launches_text(const std::vector<std::uint32_t>& launches) {
  std::string text;
  for (std::size_t i = 0; i < launches.size();) {
    std::size_t last = i;
    while (last + 1 < launches.size() && launches[last + 1] == launches[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(launches[i]);
    if (last > i) text += ":" + std::to_string(launches[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace regatta::assembly

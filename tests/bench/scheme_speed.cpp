// SPDX-License-Identifier: Apache-2.0
#include "scheme_speed.h"

#include <regatta/base/input_file.h>
#include <regatta/support/table.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "bench.h"

namespace regatta::bench {

SchemeSpeed measure_schemes(const std::string& kernel, const std::string& machine,
                            const std::vector<std::string>& schemes, unsigned rounds) {
  const std::string trace = trace_of(kernel, {"--max-registers", "63", "--regmutex-base", "0", "--rfh", "3", "--rfv"});
  const std::string stats = scratch_file("stats.json");
  std::vector<std::string> all{"baseline"};
  all.insert(all.end(), schemes.begin(), schemes.end());
  std::vector<double> cycles(all.size()), seconds(all.size());
  for (unsigned round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      show_progress(kernel + " " + all[i] + " round " + std::to_string(round + 1) + " of " + std::to_string(rounds));
      run({REGATTA_SIM, trace, "--machine", machine, "--sms", "1", "--scheme", all[i], "--stats", stats});
      const auto document = nlohmann::json::parse(base::read_text(stats));
      cycles[i] += document.at("cycles").get<double>();
      seconds[i] += document.at("host").at("seconds").get<double>();
    }
  }
  show_progress("");
  SchemeSpeed s;
  s.kernel = kernel;
  s.baseline = cycles[0] / seconds[0];
  for (std::size_t i = 1; i < all.size(); ++i) s.relative.push_back(cycles[i] / seconds[i] / s.baseline);
  return s;
}

void print(const std::vector<SchemeSpeed>& all, const std::string& machine, const std::vector<std::string>& schemes) {
  using support::fixed;
  const auto right = support::Table::Align::right;
  std::vector<support::Table::Column> columns{{"kernel"}, {"baseline", right}};
  for (const std::string& scheme : schemes) columns.push_back({scheme, right});
  support::Table table(columns);
  std::vector<double> lowest(schemes.size(), 1e9);
  for (const SchemeSpeed& s : all) {
    std::vector<std::string> row{s.kernel, fixed(s.baseline / 1e6, 2)};
    for (std::size_t i = 0; i < schemes.size(); ++i) {
      row.push_back(fixed(s.relative[i], 2));
      lowest[i] = std::min(lowest[i], s.relative[i]);
    }
    table.row(row);
  }
  std::vector<std::string> row{"lowest", ""};
  for (const double l : lowest) row.push_back(fixed(l, 2));
  table.row(row);
  std::cout << machine << ", one SM; baseline: million cycles per second; schemes: relative to it\n\n" << table.str();
}

}  // namespace regatta::bench

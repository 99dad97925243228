// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/suggestion.h>

#include <algorithm>

namespace regatta::base {

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(name.size() > 3 ? 2 : 1, name.size() / 3) + 1;
  for (const std::string& k : known) {
    std::vector<std::size_t> row(k.size() + 1);
    for (std::size_t j = 0; j <= k.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= name.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= k.size(); ++j) {
        const std::size_t above = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (name[i - 1] == k[j - 1] ? 0 : 1)});
        diagonal = above;
      }
    }
    if (row[k.size()] < best_distance) {
      best_distance = row[k.size()];
      best = k;
    }
  }
  return best;
}

std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

}  // namespace regatta::base

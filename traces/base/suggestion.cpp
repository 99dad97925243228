// SPDX-License-Identifier: Apache-2.0
#include <regatta/base/suggestion.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace regatta::base {

namespace {

/// Capitals and small letters are no difference: "GTX980" is gtx980.
bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// Insertions, deletions, substitutions and swaps of neighbours (the four slips of typing) that turn a into b.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitution = last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitution});
      if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest(const std::string& name, const std::vector<std::string>& known) {
  std::string best;
  if (name.empty()) return best;
  std::size_t best_distance = ~std::size_t{0};
  for (const std::string& candidate : known) {
    const std::size_t limit = std::max<std::size_t>(1, std::max(name.size(), candidate.size()) / 3);
    const std::size_t distance = edit_distance(name, candidate);
    if (distance > limit || distance >= best_distance) continue;
    best_distance = distance;
    best = candidate;
  }
  return best;
}

std::vector<std::string> beginning_with(const std::string& name, const std::vector<std::string>& known) {
  std::vector<std::string> found;
  if (name.size() < 2) return found;
  for (const std::string& candidate : known) {
    if (candidate.size() >= name.size() && std::equal(name.begin(), name.end(), candidate.begin(), same_letter)) {
      found.push_back(candidate);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  return found;
}

std::string did_you_mean(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  const std::size_t count = std::min(names.size(), most);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "; did you mean '" : i + 1 == count ? " or '" : ", '") + names[i] + "'";
  }
  return text.empty() ? text : text + "?";
}

std::string suggestion(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = nearest(name, known);
  return near.empty() ? "" : did_you_mean({near});
}

std::string suggestion_and_known(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = suggestion(name, known);
  std::string text = (near.empty() ? "." : near) + " Known: ";
  for (std::size_t i = 0; i < known.size(); ++i) text += (i == 0 ? "" : ", ") + known[i];
  return text;
}

}  // namespace regatta::base

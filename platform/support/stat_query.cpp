// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/stat_query.h>

#include <algorithm>
#include <stdexcept>

namespace regatta::support {

namespace {

/// One part of a path, without dots, against a pattern.
bool part_matches(std::string_view pattern, std::string_view part) {
  std::size_t p = 0;
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;  // the last '*', and where what it stands for ends so far
  std::size_t taken = 0;
  while (at < part.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = at;
    } else if (p < pattern.size() && pattern[p] == part[at]) {
      ++p;
      ++at;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      at = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace

StatQuery::StatQuery(std::string text) : text_(std::move(text)), pattern_(text_) {
  const auto refuse = [this](const char* expected) {
    throw std::logic_error("'" + text_ + "' names no statistic: expected " + expected);
  };
  const std::size_t digits = text_.find_first_not_of("0123456789");
  if (digits != 0 && digits != std::string::npos && text_[digits] == '*') {
    constexpr std::size_t longest = 18;  // digits that fit 64 bits
    if (digits > longest) refuse("a weight of at most 18 digits");
    weight_ = std::stoull(text_);
    if (weight_ == 0) refuse("a weight that is not 0");
    pattern_.erase(0, digits + 1);
  }
  if (pattern_.find('.') == std::string::npos) refuse("a module's path, a dot and a name");
}

std::string_view StatQuery::name_in(std::string_view path) const {
  std::string_view pattern = pattern_;
  while (true) {
    const std::size_t dot = pattern.find('.');
    if (dot == std::string_view::npos) return {};
    const std::size_t end = std::min(path.find('.'), path.size());
    if (!part_matches(pattern.substr(0, dot), path.substr(0, end))) return {};
    pattern.remove_prefix(dot + 1);
    if (end == path.size()) return pattern;
    path.remove_prefix(end + 1);
  }
}

bool StatQuery::matches(std::string_view path, std::string_view name) const {
  return !name.empty() && name_in(path) == name;
}

std::vector<StatTerm> StatQuery::find(const std::vector<StatGroup>& groups) const {
  std::vector<StatTerm> terms;
  for (const StatGroup& group : groups) {
    const std::string_view name = name_in(group.path());
    if (name.empty()) continue;
    for (const Stat& stat : group.stats()) {
      if (stat.name == name) {
        terms.push_back(StatTerm{group.path() + "." + stat.name, weight_, stat.counter, stat.value});
      }
    }
  }
  return terms;
}

bool StatQuery::finds_any(const std::vector<StatGroup>& groups) const {
  return std::any_of(groups.begin(), groups.end(), [this](const StatGroup& group) {
    const std::string_view name = name_in(group.path());
    return !name.empty() && std::any_of(group.stats().begin(), group.stats().end(),
                                        [name](const Stat& stat) { return stat.name == name; });
  });
}

StatSum::StatSum(const std::vector<StatGroup>& groups, const std::vector<StatQuery>& queries) {
  for (const StatQuery& query : queries) {
    for (StatTerm& term : query.find(groups)) terms_.push_back(std::move(term));
  }
}

std::uint64_t StatSum::total() const {
  std::uint64_t total = 0;
  for (const StatTerm& term : terms_) total += term.now();
  return total;
}

std::uint64_t StatSum::largest() const {
  std::uint64_t largest = 0;
  for (const StatTerm& term : terms_) largest = std::max(largest, term.now());
  return largest;
}

}  // namespace regatta::support

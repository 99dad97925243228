// SPDX-License-Identifier: Apache-2.0
#include "vcd_check.h"

#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace regatta::test {

namespace {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Signal {
  std::string name;
  unsigned width = 1;
  std::int64_t value = -1;
  bool dumped = false;
};

class Checker {
 public:
  Checker(std::string clock, VcdFacts& facts) : clock_(std::move(clock)), facts_(facts) {}

  void line(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> w;
    for (std::string word; in >> word;) w.push_back(word);
    if (in_block_) {
      in_block_ = w.empty() || w.back() != "$end";
      return;
    }
    if (w.empty()) throw Wrong("an empty line");
    defined_ ? change(w) : declare(w);
  }

  void end() {
    if (!defined_) throw Wrong("no $enddefinitions");
    if (!dumped_) throw Wrong("no $dumpvars");
    edge();
  }

 private:
  void declare(const std::vector<std::string>& w) {
    if (w[0] == "$timescale") {
      timescale_ = true;
      in_block_ = w.back() != "$end";
    } else if (w[0] == "$version" || w[0] == "$comment" || w[0] == "$date") {
      in_block_ = w.back() != "$end";
    } else if (w[0] == "$scope") {
      if (w.size() != 4 || w[1] != "module" || w[3] != "$end") throw Wrong("a scope is $scope module NAME $end");
      scopes_.push_back(w[2]);
    } else if (w[0] == "$upscope") {
      if (scopes_.empty() || w.size() != 2) throw Wrong("no scope to leave");
      scopes_.pop_back();
    } else if (w[0] == "$var") {
      variable(w);
    } else if (w[0] == "$enddefinitions") {
      if (!scopes_.empty()) throw Wrong("a scope is open");
      if (!timescale_) throw Wrong("no $timescale");
      defined_ = true;
    } else {
      throw Wrong("unknown declaration " + w[0]);
    }
  }

  void variable(const std::vector<std::string>& w) {
    if (w.size() < 6 || w[1] != "wire" || w.back() != "$end")
      throw Wrong("a variable is $var wire WIDTH ID NAME [MSB:0] $end");
    Signal s;
    s.width = static_cast<unsigned>(std::stoul(w[2]));
    if (s.width == 0 || s.width > 64) throw Wrong("a width of " + w[2]);
    for (const char c : w[3]) {
      if (c < '!' || c > '~') throw Wrong("an identifier has a character that cannot be printed");
    }
    for (const std::string& scope : scopes_) s.name += scope + ".";
    s.name += w[4];
    if (s.width > 1 && w[5] != "[" + std::to_string(s.width - 1) + ":0]")
      throw Wrong("the range is not that of the width");
    if (!facts_.widths.emplace(s.name, s.width).second) throw Wrong(s.name + " declared twice");
    if (!signals_.emplace(w[3], s).second) throw Wrong("identifier " + w[3] + " used twice");
  }

  void change(const std::vector<std::string>& w) {
    const std::string& first = w[0];
    if (first[0] == '#') {
      const std::uint64_t time = std::stoull(first.substr(1));
      if (timed_ && time <= facts_.last_time) throw Wrong("time does not move forward");
      edge();
      if (!timed_) facts_.first_time = time;
      timed_ = true;
      facts_.last_time = time;
    } else if (first == "$dumpvars") {
      if (!timed_ || dumped_) throw Wrong("$dumpvars in the wrong place");
      dumping_ = true;
    } else if (first == "$end") {
      if (!dumping_) throw Wrong("$end of nothing");
      dumping_ = false;
      dumped_ = true;
      for (const auto& [id, s] : signals_) {
        if (!s.dumped) throw Wrong("$dumpvars leaves out " + s.name);
      }
    } else {
      value(w);
    }
  }

  void value(const std::vector<std::string>& w) {
    if (!dumping_ && !dumped_) throw Wrong("a value before $dumpvars");
    const bool vector = w[0][0] == 'b';
    if (w.size() != (vector ? 2u : 1u)) throw Wrong("a malformed value");
    const std::string bits = vector ? w[0].substr(1) : w[0].substr(0, 1);
    const std::string id = vector ? w[1] : w[0].substr(1);
    const auto entry = signals_.find(id);
    if (entry == signals_.end()) throw Wrong("identifier " + id + " is not declared");
    Signal& s = entry->second;
    if (bits.empty() || bits.size() > s.width || vector != (s.width > 1))
      throw Wrong("a value of another width: " + s.name);
    if (bits.find_first_not_of(bits[0] == 'x' ? "x" : "01") != std::string::npos)
      throw Wrong("a value of other digits");
    const std::int64_t v = bits[0] == 'x' ? -1 : static_cast<std::int64_t>(std::stoull(bits, nullptr, 2));
    if (!dumping_ && v == s.value) throw Wrong(s.name + " is written without a change");
    if (s.name == clock_ && v == 1) rose_ = true;
    s.value = v;
    s.dumped = true;
  }

  /// The end of a time step.
  void edge() {
    if (!rose_) return;
    rose_ = false;
    ++facts_.edges;
    for (const auto& [id, s] : signals_) ++facts_.samples[s.name][s.value];
  }

  std::string clock_;
  VcdFacts& facts_;
  std::vector<std::string> scopes_;
  std::map<std::string, Signal> signals_;
  bool in_block_ = false, timescale_ = false, defined_ = false, timed_ = false, dumping_ = false, dumped_ = false;
  bool rose_ = false;
};

}  // namespace

std::uint64_t VcdFacts::sum(const std::string& name) const {
  std::uint64_t total = 0;
  for (const auto& [value, count] : samples.at(name))
    total += value > 0 ? static_cast<std::uint64_t>(value) * count : 0;
  return total;
}

std::uint64_t VcdFacts::ones(const std::string& begin, const std::string& end) const {
  std::uint64_t total = 0;
  for (const auto& [name, values] : samples) {
    if (name.size() < begin.size() + end.size() || name.compare(0, begin.size(), begin) != 0) continue;
    if (name.compare(name.size() - end.size(), end.size(), end) != 0) continue;
    const auto one = values.find(1);
    total += one == values.end() ? 0 : one->second;
  }
  return total;
}

VcdFacts check_vcd(const std::string& text, const std::string& clock) {
  VcdFacts facts;
  Checker checker(clock, facts);
  std::uint64_t at = 0;
  try {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
      ++at;
      checker.line(line);
    }
    checker.end();
  } catch (const std::exception& e) {
    facts.error = "line " + std::to_string(at) + ": " + e.what();
  }
  return facts;
}

}  // namespace regatta::test

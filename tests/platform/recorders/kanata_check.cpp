// SPDX-License-Identifier: Apache-2.0
#include "kanata_check.h"

#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace regatta::test {

namespace {

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::vector<std::string> fields(const std::string& line) {
  std::vector<std::string> all(1);
  for (const char c : line) {
    if (c == '\t') {
      all.emplace_back();
    } else {
      all.back() += c;
    }
  }
  return all;
}

std::uint64_t number(const std::string& text) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos) {
    throw Wrong("'" + text + "' is no number");
  }
  return std::stoull(text);
}

struct Instruction {
  bool labelled = false;
  bool ended = false;
  std::map<std::uint64_t, std::pair<std::string, std::uint64_t>> open;  ///< stage by lane, and since when
  std::string last;
};

class Checker {
 public:
  KanataFacts facts;

  void line(const std::vector<std::string>& f) {
    const std::string& command = f[0];
    const std::map<std::string, std::size_t> arguments{{"C=", 1}, {"C", 1}, {"I", 3}, {"L", 3},
                                                       {"S", 3},  {"E", 3}, {"R", 3}, {"W", 3}};
    const auto known = arguments.find(command);
    if (known == arguments.end()) throw Wrong("unknown command '" + command + "'");
    if (f.size() - 1 != known->second) throw Wrong(command + " takes " + std::to_string(known->second) + " arguments");
    if (command == "C=") {
      if (begun_) throw Wrong("C= a second time");
      begun_ = true;
      facts.first_cycle = cycle_ = number(f[1]);
    } else if (!begun_) {
      throw Wrong(command + " before C=");
    } else if (command == "C") {
      if (number(f[1]) == 0) throw Wrong("the cycle stands still");
      cycle_ += number(f[1]);
    } else if (command == "I") {
      number(f[2]);
      number(f[3]);
      if (!all_.emplace(number(f[1]), Instruction{}).second) throw Wrong("id " + f[1] + " declared twice");
      ++facts.instructions;
    } else {
      instruction(f);
    }
    facts.last_cycle = cycle_;
  }

  void end() const {
    for (const auto& [id, i] : all_) {
      if (!i.ended) throw Wrong("id " + std::to_string(id) + " neither retired nor flushed");
    }
  }

 private:
  void instruction(const std::vector<std::string>& f) {
    const auto entry = all_.find(number(f[1]));
    if (entry == all_.end()) throw Wrong("id " + f[1] + " is not declared");
    Instruction& i = entry->second;
    if (i.ended) throw Wrong("id " + f[1] + " has ended");
    const std::string& command = f[0];
    if (command == "L") {
      if (number(f[2]) > 2) throw Wrong("labels are of type 0, 1 or 2");
      if (f[3].empty()) throw Wrong("an empty label");
      i.labelled = i.labelled || f[2] == "0";
    } else if (command == "S") {
      if (!i.labelled) throw Wrong("id " + f[1] + " has no label");
      if (f[3].empty()) throw Wrong("a stage without a name");
      if (!i.open.emplace(number(f[2]), std::make_pair(f[3], cycle_)).second) {
        throw Wrong("id " + f[1] + ": stage " + f[3] + " opens in a lane where another is open");
      }
      // The order of the pipeline; W may come without X. P is that of a pending CTA, and alone.
      static const std::string order = "FDIOXMWP";
      if (order.find(f[3]) == std::string::npos) throw Wrong("unknown stage " + f[3]);
      if (!i.last.empty() && order.find(f[3]) <= order.find(i.last)) {
        throw Wrong("id " + f[1] + ": stage " + f[3] + " after " + i.last);
      }
      if (i.last.empty() && f[3] != "F" && f[3] != "P") throw Wrong("id " + f[1] + " does not begin with F");
      i.last = f[3];
      ++facts.stages[f[3]];
    } else if (command == "E") {
      const auto open = i.open.find(number(f[2]));
      if (open == i.open.end() || open->second.first != f[3]) throw Wrong("id " + f[1] + ": " + f[3] + " is not open");
      facts.cycles[f[3]] += cycle_ - open->second.second;
      i.open.erase(open);
    } else if (command == "R") {
      if (!i.open.empty()) throw Wrong("id " + f[1] + " ends with an open stage");
      if (!retirements_.insert(number(f[2])).second) throw Wrong("retirement " + f[2] + " a second time");
      if (number(f[3]) > 1) throw Wrong("an end is of type 0 or 1");
      i.ended = true;
      ++(f[3] == "0" ? facts.retired : facts.flushed);
    } else if (all_.count(number(f[2])) == 0) {  // W
      throw Wrong("id " + f[2] + " is not declared");
    }
  }

  std::map<std::uint64_t, Instruction> all_;
  std::set<std::uint64_t> retirements_;
  std::uint64_t cycle_ = 0;
  bool begun_ = false;
};

}  // namespace

KanataFacts check_kanata(const std::string& text) {
  Checker checker;
  std::uint64_t at = 0;
  try {
    std::istringstream in(text);
    std::string line;
    while (std::getline(in, line)) {
      ++at;
      if (at == 1) {
        if (line != "Kanata\t0004") throw Wrong("not Kanata 0004");
        continue;
      }
      checker.line(fields(line));
    }
    if (at == 0) throw Wrong("an empty file");
    if (!text.empty() && text.back() != '\n') throw Wrong("the last line is cut off");
    checker.end();
  } catch (const Wrong& e) {
    checker.facts.error = "line " + std::to_string(at) + ": " + e.what();
  }
  return checker.facts;
}

}  // namespace regatta::test

// SPDX-License-Identifier: Apache-2.0
//
// Works on the tokens of the modules' outermost level: bodies are copied, with names and file numbers changed.
#include "lexer.h"

#include <regatta/ptx/link.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>

namespace regatta::ptx {
namespace {

/// What a name of one unit means for the others.
enum class Linkage : std::uint8_t {
  internal,
  visible,
  weak,  ///< or an alias: units may have the same
  declaration
};

/// One declaration or definition of the outermost level: tokens [first, end).
struct Item {
  std::size_t first = 0, end = 0;
  Linkage linkage = Linkage::internal;
  std::vector<std::string_view> names;
};

struct Unit {
  const LinkUnit* source = nullptr;
  std::vector<Token> tokens;
  std::vector<Item> items;
  std::map<std::string_view, std::string> renamed;
  std::string version, target, address_size;
  std::uint64_t first_file = 0;  ///< added to its .file numbers
  std::uint64_t last_file = 0;   ///< the highest of its .file numbers
};

std::uint64_t number(const Token& t) {
  std::uint64_t value = 0;
  std::from_chars(t.text.data(), t.text.data() + t.text.size(), value);
  return value;
}

class Reader {
 public:
  explicit Reader(Unit& unit) : unit_(unit), tokens_(unit.tokens) {}

  void run() {
    while (!at_end()) {
      if (peek().is(';')) {
        ++next_;
      } else if (peek().is(".version")) {
        ++next_;
        unit_.version = text_of_next("a PTX version number such as 8.0");
      } else if (peek().is(".target")) {
        target();
      } else if (peek().is(".address_size")) {
        ++next_;
        unit_.address_size = text_of_next("32 or 64");
      } else if (peek().is(".file")) {
        file();
      } else if (peek().is(".section")) {
        while (!at_end() && !peek().is('{')) ++next_;
        skip_group();
      } else if (peek().is_directive()) {
        item();
      } else {
        unexpected("a directive such as .version, .global, .entry or .func");
      }
    }
  }

 private:
  bool at_end() const { return tokens_[next_].kind == Token::Kind::end; }
  const Token& peek() const { return tokens_[next_]; }

  [[noreturn]] void unexpected(const std::string& expected) const {
    const std::string found = at_end() ? "the end of the file" : "'" + std::string(peek().text) + "'";
    fail(unit_.source->file, peek().at, "found " + found + ", expected " + expected);
  }

  std::string text_of_next(const char* what) {
    if (peek().kind != Token::Kind::number) unexpected(what);
    return std::string(tokens_[next_++].text);
  }

  void target() {
    ++next_;
    const std::size_t first = next_;
    while (peek().is_identifier() || peek().is(',')) ++next_;
    if (next_ == first) unexpected("a target name such as sm_75");
    unit_.target = std::string(tokens_[first].text);
  }

  void file() {
    Item i;
    i.first = next_++;
    unit_.last_file = std::max(unit_.last_file, number(peek()));
    text_of_next("a file number");
    if (peek().kind != Token::Kind::string) unexpected("a file name in quotes");
    ++next_;
    while (peek().is(',')) next_ += 2;
    i.end = next_;
    unit_.items.push_back(i);
  }

  /// From an opening bracket to behind its closing one.
  void skip_group() {
    const std::size_t first = next_;
    const Position open = peek().at;
    unsigned depth = 0;
    do {
      if (at_end()) fail(unit_.source->file, open, "'" + std::string(tokens_[first].text) + "' is never closed");
      if (peek().is('{') || peek().is('(') || peek().is('[')) ++depth;
      if (peek().is('}') || peek().is(')') || peek().is(']')) --depth;
      ++next_;
    } while (depth > 0);
  }

  void item() {
    Item i;
    i.first = next_;
    bool is_function = false, is_alias = false, takes_name = true;
    while (!at_end() && !peek().is(';')) {
      const Token& t = peek();
      if (t.is(".visible")) i.linkage = Linkage::visible;
      if (t.is(".weak") || t.is(".common")) i.linkage = Linkage::weak;
      if (t.is(".extern")) i.linkage = Linkage::declaration;
      is_function = is_function || t.is(".func") || t.is(".entry");
      is_alias = is_alias || t.is(".alias");
      if (t.is('{') || t.is('(') || t.is('[')) {
        const bool is_body = is_function && t.is('{');
        skip_group();
        if (is_body) return finish(i);
        continue;
      }
      if (t.is_identifier() && takes_name) {
        i.names.push_back(t.text);
        takes_name = false;
      }
      // Another name may follow a comma, but for initial values and what a function's head states.
      takes_name = takes_name || (t.is(',') && !is_function && !is_alias);
      ++next_;
    }
    if (at_end()) unexpected("';' after a declaration");
    ++next_;
    // A function without a body is declared here and defined elsewhere.
    if (is_function) i.linkage = Linkage::declaration;
    if (is_alias) i.linkage = Linkage::weak;
    finish(i);
  }

  void finish(Item i) {
    i.end = next_;
    unit_.items.push_back(std::move(i));
  }

  Unit& unit_;
  const std::vector<Token>& tokens_;
  std::size_t next_ = 0;
};

/// Behind the last byte of a token.
const char* end_of(const Token& t) { return t.text.data() + t.text.size(); }

/// The item's text, with other names and file numbers where the unit has them.
void append(std::string& out, const Unit& unit, const Item& item) {
  const auto& tokens = unit.tokens;
  const char* copied = tokens[item.first].text.data();
  const auto replace = [&](const Token& t, const std::string& by) {
    out.append(copied, t.text.data());
    out += by;
    copied = end_of(t);
  };
  for (std::size_t i = item.first; i < item.end; ++i) {
    const Token& t = tokens[i];
    const bool names_file = i > item.first && t.kind == Token::Kind::number &&
                            (tokens[i - 1].is(".loc") || tokens[i - 1].is(".file") || tokens[i - 1].is("inlined_at"));
    if (names_file && unit.first_file != 0) {
      replace(t, std::to_string(number(t) + unit.first_file));
    } else if (t.is_identifier() && !unit.renamed.empty()) {
      const auto found = unit.renamed.find(t.text);
      if (found != unit.renamed.end()) replace(t, found->second);
    }
  }
  out.append(copied, end_of(tokens[item.end - 1]));
  out += '\n';
}

bool is_newer(const std::string& a, const std::string& b) {
  const auto value = [](const std::string& s) {
    const std::size_t digits = std::min(s.find_first_of("0123456789"), s.size());
    return std::strtod(s.c_str() + digits, nullptr);
  };
  return value(a) > value(b);
}

/// Which definition of each name stays, as the unit's and the item's numbers.
using Definitions = std::map<std::string_view, std::pair<std::size_t, std::size_t>>;

Definitions choose(const std::vector<Unit>& units) {
  Definitions chosen;
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (std::size_t i = 0; i < units[u].items.size(); ++i) {
      const Item& item = units[u].items[i];
      if (item.linkage != Linkage::visible && item.linkage != Linkage::weak) continue;
      for (const std::string_view name : item.names) {
        const auto [at, is_new] = chosen.try_emplace(name, u, i);
        if (is_new || item.linkage == Linkage::weak) continue;
        const Unit& other = units[at->second.first];
        const Item& known = other.items[at->second.second];
        if (known.linkage == Linkage::visible && at->second.first != u) {
          fail(units[u].source->file, units[u].tokens[item.first].at,
               "'" + std::string(name) + "' is defined in " + other.source->file + " too");
        }
        at->second = {u, i};
      }
    }
  }
  return chosen;
}

/// Names of its own that another unit has too get the unit's number.
void rename_internal(std::vector<Unit>& units) {
  std::map<std::string_view, std::set<std::size_t>> users;
  for (std::size_t u = 0; u < units.size(); ++u) {
    for (const Item& item : units[u].items) {
      for (const std::string_view name : item.names) users[name].insert(u);
    }
  }
  for (std::size_t u = 0; u < units.size(); ++u) {
    std::set<std::string_view> taken;
    for (const Token& t : units[u].tokens) {
      if (t.is_identifier()) taken.insert(t.text);
    }
    for (const Item& item : units[u].items) {
      if (item.linkage != Linkage::internal) continue;
      for (const std::string_view name : item.names) {
        if (users[name].size() < 2) continue;
        std::string fresh = std::string(name) + "$" + std::to_string(u);
        while (taken.count(fresh) != 0 || users.count(fresh) != 0) fresh += "$";
        units[u].renamed[name] = fresh;
      }
    }
  }
}

}  // namespace

std::string link(const std::vector<LinkUnit>& units) {
  if (units.size() == 1) return units.front().text;
  std::vector<Unit> read(units.size());
  std::string version, target, address_size;
  std::uint64_t files = 0;
  for (std::size_t u = 0; u < units.size(); ++u) {
    Unit& unit = read[u];
    unit.source = &units[u];
    unit.tokens = lex(units[u].text, units[u].file);
    Reader(unit).run();
    if (version.empty() || is_newer(unit.version, version)) version = unit.version;
    if (target.empty() || is_newer(unit.target, target)) target = unit.target;
    if (!unit.address_size.empty() && !address_size.empty() && unit.address_size != address_size) {
      fail(unit.source->file, {}, ".address_size " + unit.address_size + ", other units have " + address_size);
    }
    if (address_size.empty()) address_size = unit.address_size;
    unit.first_file = files;
    files += unit.last_file;
  }
  rename_internal(read);
  const Definitions chosen = choose(read);

  std::string out = ".version " + version + "\n.target " + target + "\n";
  if (!address_size.empty()) out += ".address_size " + address_size + "\n";
  std::set<std::string_view> declared;
  for (std::size_t u = 0; u < read.size(); ++u) {
    out += "// " + read[u].source->file + "\n";
    for (std::size_t i = 0; i < read[u].items.size(); ++i) {
      const Item& item = read[u].items[i];
      const auto is_elsewhere = [&](std::string_view name) {
        const auto found = chosen.find(name);
        if (item.linkage == Linkage::declaration) return found != chosen.end() || !declared.insert(name).second;
        return found != chosen.end() && found->second != std::make_pair(u, i);
      };
      const bool is_shared_with_others = item.linkage != Linkage::internal && !item.names.empty();
      if (is_shared_with_others && std::all_of(item.names.begin(), item.names.end(), is_elsewhere)) continue;
      append(out, read[u], item);
    }
  }
  return out;
}

}  // namespace regatta::ptx

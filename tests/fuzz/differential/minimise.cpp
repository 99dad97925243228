// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "compare.h"

namespace regatta::test::differential {
namespace {

/// Tries changes one after the other and keeps those under which the program still fails.
class Minimiser {
 public:
  Minimiser(Program program, const std::function<bool(const Program&)>& fails)
      : program_(std::move(program)), fails_(fails) {}

  Program run() {
    do {
      changed_ = false;
      list(program_.body);
      for (Function& f : program_.functions) list(f.body);
    } while (changed_);
    return std::move(program_);
  }

 private:
  /// Whether the program as it is now still fails.
  bool fails() const { return fails_(program_); }

  void list(std::vector<Statement>& body) {
    // Halves, quarters ..., then one by one.
    for (std::size_t size = body.size(); size > 0; size /= 2) {
      for (std::size_t at = 0; at < body.size();) {
        const std::size_t end = std::min(body.size(), at + size);
        std::vector<Statement> without(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(at));
        without.insert(without.end(), body.begin() + static_cast<std::ptrdiff_t>(end), body.end());
        std::swap(body, without);
        if (fails()) {
          changed_ = true;
        } else {
          std::swap(body, without);
          at = end;
        }
      }
    }
    for (std::size_t i = 0; i < body.size(); ++i) {
      open(body, i);
      if (i < body.size()) simplify(body[i]);
    }
  }

  /// A branch becomes its body.
  void open(std::vector<Statement>& body, std::size_t i) {
    if (body[i].kind != Statement::Kind::branch) return;
    std::vector<Statement> opened = body;
    const std::vector<Statement> inner = body[i].body;
    opened.erase(opened.begin() + static_cast<std::ptrdiff_t>(i));
    opened.insert(opened.begin() + static_cast<std::ptrdiff_t>(i), inner.begin(), inner.end());
    std::swap(body, opened);
    if (fails()) {
      changed_ = true;
    } else {
      std::swap(body, opened);
    }
  }

  template <class Change>
  void attempt(Statement& s, Change&& change) {
    Statement before = s;
    change(s);
    if (fails()) {
      changed_ = true;
    } else {
      s = std::move(before);
    }
  }

  void simplify(Statement& s) {
    const bool needs_guard = s.kind == Statement::Kind::branch || s.kind == Statement::Kind::leave;
    if (s.guard >= 0 && !needs_guard) attempt(s, [](Statement& t) { t.guard = -1; });
    if (s.kind == Statement::Kind::loop && s.trips != 1) attempt(s, [](Statement& t) { t.trips = 1; });
    if (s.copies.size() > 1) attempt(s, [](Statement& t) { t.copies.pop_back(); });
    list(s.body);
    list(s.other);
  }

  Program program_;
  const std::function<bool(const Program&)>& fails_;
  bool changed_ = false;
};

}  // namespace

Program minimise(Program program, const std::function<bool(const Program&)>& fails) {
  return Minimiser(std::move(program), fails).run();
}

}  // namespace regatta::test::differential

// SPDX-License-Identifier: Apache-2.0
#include "lexer.h"

#include <regatta/trace/types.h>

#include <cstdio>

namespace regatta::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_name(char c) { return is_alpha(c) || is_digit(c) || c == '_' || c == '$'; }
bool starts_name(char c) { return is_alpha(c) || c == '_' || c == '$' || c == '%'; }

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 5 + 16);
    for (;;) {
      skip_blank();
      Token t = next();
      tokens.push_back(t);
      if (t.kind == Token::Kind::end) return tokens;
    }
  }

 private:
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  Position position(std::size_t i) const { return {line_, static_cast<std::uint32_t>(i - line_start_ + 1)}; }
  void new_line(std::size_t newline) {
    ++line_;
    line_start_ = newline + 1;
  }

  void skip_blank() {
    for (;;) {
      const char c = at(i_);
      if (i_ >= text_.size()) return;
      if (c == '\n') {
        new_line(i_++);
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++i_;
      } else if (c == '/' && at(i_ + 1) == '/') {
        while (i_ < text_.size() && text_[i_] != '\n') ++i_;
      } else if (c == '/' && at(i_ + 1) == '*') {
        const Position start = position(i_);
        for (i_ += 2; !(at(i_) == '*' && at(i_ + 1) == '/'); ++i_) {
          if (i_ >= text_.size()) fail(file_, start, "comment is never closed, expected '*/'");
          if (text_[i_] == '\n') new_line(i_);
        }
        i_ += 2;
      } else if (c == '#' || (c == '@' && at(i_ + 1) == '@')) {
        // A preprocessor line marker, or "@@DWARF" of before PTX 2.
        while (i_ < text_.size() && text_[i_] != '\n') ++i_;
      } else {
        return;
      }
    }
  }

  Token next() {
    Token t;
    t.at = position(i_);
    if (i_ >= text_.size()) {
      t.text = text_.substr(text_.size());
      return t;
    }
    const std::size_t start = i_;
    const char c = text_[i_];
    if (starts_name(c)) {
      t.kind = Token::Kind::identifier;
      ++i_;
      while (is_name(at(i_))) ++i_;
    } else if (c == '.' && (is_name(at(i_ + 1)))) {
      t.kind = Token::Kind::directive;
      ++i_;
      while (is_name(at(i_)) || (at(i_) == ':' && at(i_ + 1) == ':' && is_name(at(i_ + 2))))
        i_ += at(i_) == ':' ? 2 : 1;
    } else if (is_digit(c)) {
      t.kind = Token::Kind::number;
      number();
    } else if (c == '"') {
      t.kind = Token::Kind::string;
      for (++i_; at(i_) != '"'; ++i_)
        if (i_ >= text_.size() || text_[i_] == '\n') fail(file_, t.at, "string is never closed, expected '\"'");
      ++i_;
    } else if (std::string_view("{}()[]<>,;:@!|+-=*~&^?/").find(c) != std::string_view::npos) {
      t.kind = Token::Kind::punctuation;
      ++i_;
    } else {
      char text[16];
      if (c > ' ' && c < 127) {
        std::snprintf(text, sizeof text, "'%c'", c);
      } else {
        std::snprintf(text, sizeof text, "byte 0x%02x", static_cast<unsigned char>(c));
      }
      fail(file_, t.at, std::string(text) + " starts no PTX token");
    }
    t.text = text_.substr(start, i_ - start);
    return t;
  }

  void number() {
    const bool prefixed = text_[i_] == '0' && is_alpha(at(i_ + 1));
    while (is_name(at(i_))) {
      const char c = text_[i_++];
      if (!prefixed && (c == 'e' || c == 'E') && (at(i_) == '+' || at(i_) == '-') && is_digit(at(i_ + 1))) ++i_;
      if (!prefixed && at(i_) == '.' && is_digit(at(i_ + 1))) ++i_;
    }
    // "1." without digits behind the point is a number too.
    if (!prefixed && at(i_) == '.' && !is_name(at(i_ + 1))) ++i_;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t i_ = 0;
  std::size_t line_start_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace

std::string message_at(const std::string& file, Position at, const std::string& message) {
  return file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": error: " + message;
}

void fail(const std::string& file, Position at, const std::string& message) {
  throw trace::InputError(message_at(file, at, message));
}

std::vector<Token> lex(std::string_view text, const std::string& file) { return Lexer(text, file).run(); }

}  // namespace regatta::ptx

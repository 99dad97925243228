// SPDX-License-Identifier: Apache-2.0
//
// Splits PTX text into tokens with exact positions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace regatta::ptx {

/// 1-based; a column counts bytes.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// "file:line:column: error: message".
std::string message_at(const std::string& file, Position at, const std::string& message);
/// Throws trace::InputError("file:line:column: error: message").
[[noreturn]] void fail(const std::string& file, Position at, const std::string& message);

struct Token {
  enum class Kind : std::uint8_t {
    identifier,   ///< mov, %r1, $L__BB0_1
    directive,    ///< .reg, .u32, .shared::cta (with the leading dot)
    number,       ///< 12, 0x1F, 0f3F800000, 9.0, 16U
    string,       ///< "text" (with the quotes)
    punctuation,  ///< one character
    end
  };
  Kind kind = Kind::end;
  std::string_view text;  ///< into the lexed text
  Position at;

  bool is(char c) const { return kind == Kind::punctuation && text.front() == c; }
  bool is(std::string_view s) const { return kind != Kind::string && text == s; }
  bool is_identifier() const { return kind == Kind::identifier; }
  bool is_directive() const { return kind == Kind::directive; }
  /// True when no space lies between this token and `next`.
  bool adjacent(const Token& next) const { return text.data() + text.size() == next.text.data(); }
};

/// All tokens of `text`, an end token last. `text` must outlive them. Throws trace::InputError on a character that
/// starts no token, and on an unterminated comment or string.
std::vector<Token> lex(std::string_view text, const std::string& file);

}  // namespace regatta::ptx

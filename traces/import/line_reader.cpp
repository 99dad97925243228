// SPDX-License-Identifier: Apache-2.0
#include "line_reader.h"

#include <regatta/trace/types.h>

#include <algorithm>
#include <cstring>

namespace regatta::import {

void fail(const std::string& path, Place place, const std::string& what) {
  const std::string at = place.line == 0 ? "" : std::to_string(place.line) + ":" + std::to_string(place.column) + ": ";
  throw trace::InputError(path + ":" + (at.empty() ? " " : at) + "error: " + what);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string out = "'";
  for (const char c : text.substr(0, most)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > most ? "...'" : "'");
}

LineReader::LineReader(std::string path, std::unique_ptr<ByteSource> source)
    : path_(std::move(path)), source_(std::move(source)), buffer_(std::size_t{1} << 17, '\0') {}

bool LineReader::fill() {
  if (over_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::size_t got = source_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  over_ = got == 0;
  return got != 0;
}

bool LineReader::next(std::string_view& line) {
  ++number_;
  std::size_t looked = 0;
  for (;;) {
    const char* const from = buffer_.data() + begin_;
    const void* const found = std::memchr(from + looked, '\n', end_ - begin_ - looked);
    const std::size_t size =
        found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - from) : end_ - begin_;
    if (size > max_line) fail(max_line, "a line of more than " + std::to_string(max_line) + " bytes");
    if (found == nullptr) {
      looked = size;
      if (fill()) continue;
      if (size == 0) return false;
    }
    line = std::string_view(buffer_.data() + begin_, size);
    begin_ += size + (found != nullptr ? 1 : 0);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (const std::size_t zero = line.find('\0'); zero != std::string_view::npos) {
      fail(zero + 1, "a byte of value 0, expected text");
    }
    return true;
  }
}

std::string_view Words::next(const char* what) {
  while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  const std::size_t from = at_;
  column_ = from + 1;
  while (at_ < line_.size() && line_[at_] != ' ' && line_[at_] != '\t') ++at_;
  if (at_ == from) fail(std::string("found the end of the line, expected ") + what);
  return line_.substr(from, at_ - from);
}

bool Words::more() {
  while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t')) ++at_;
  return at_ < line_.size();
}

void Words::end() {
  if (!more()) return;
  const std::string_view word = next("");
  fail("found " + quoted(word) + ", expected the end of the line");
}

bool parse_number(std::string_view text, unsigned base, std::uint64_t& value) {
  if (base == 16 && text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) text.remove_prefix(2);
  if (text.empty()) return false;
  value = 0;
  for (const char c : text) {
    unsigned digit = 99;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A') + 10;
    if (digit >= base || value > (~std::uint64_t{0} - digit) / base) return false;
    value = value * base + digit;
  }
  return true;
}

std::uint64_t Words::number(const char* what, unsigned base, std::uint64_t most) {
  const std::string_view word = next(what);
  std::uint64_t value = 0;
  if (!parse_number(word, base, value)) {
    fail("found " + quoted(word) + ", expected " + what + (base == 16 ? " in hexadecimal" : ""));
  }
  if (value > most) fail("found " + quoted(word) + ", expected " + what + " of at most " + std::to_string(most));
  return value;
}

std::int64_t Words::signed_number(const char* what) {
  const std::string_view word = next(what);
  const bool negative = word[0] == '-';
  std::uint64_t value = 0;
  if (!parse_number(word.substr(negative ? 1 : 0), 10, value) || value > std::uint64_t{1} << 62) {
    fail("found " + quoted(word) + ", expected " + what);
  }
  return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

}  // namespace regatta::import

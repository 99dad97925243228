// SPDX-License-Identifier: Apache-2.0
#include "mutate.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace regatta::test {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}

/// Words, runs of white space, and single characters; together they are the text.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (is_word(text[at])) {
      while (end < text.size() && is_word(text[end])) ++end;
    } else if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) != 0) ++end;
    }
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

bool is_space(const std::string& token) { return std::isspace(static_cast<unsigned char>(token.front())) != 0; }

constexpr std::string_view numbers[] = {"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "3",
                                        "7",
                                        "16",
                                        "31",
                                        "32",
                                        "33",
                                        "63",
                                        "64",
                                        "127",
                                        "128",
                                        "255",
                                        "256",
                                        "1023",
                                        "1024",
                                        "1025",
                                        "4096",
                                        "65535",
                                        "65536",
                                        "1048576",
                                        "2147483647",
                                        "2147483648",
                                        "4294967295",
                                        "4294967296",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "0x7fffffff",
                                        "0xffffffffffffffff",
                                        "0f7F800000",
                                        "0fFFC00000",
                                        "0d7FF0000000000000",
                                        "1e308",
                                        "1e400",
                                        "-0.0",
                                        "nan",
                                        "inf"};

/// Another number in place of the digits at the end of a word: %r12 -> %r255, 4 -> -1.
std::string with_number(const std::string& word, MutationRandom& random) {
  std::size_t digits = word.size();
  while (digits > 0 && std::isdigit(static_cast<unsigned char>(word[digits - 1])) != 0) --digits;
  return word.substr(0, digits) + std::string(numbers[random() % std::size(numbers)]);
}

class TokenMutation {
 public:
  TokenMutation(std::vector<std::string> tokens, MutationRandom& random) : tokens_(std::move(tokens)), random_(random) {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is_space(tokens_[i])) continue;
      words_.push_back(i);
      if (std::isdigit(static_cast<unsigned char>(tokens_[i].back())) != 0) numbers_.push_back(i);
    }
  }

  void apply() {
    if (words_.empty()) return;
    const std::size_t at = any(words_);
    switch (random_() % 8) {
      case 0:
        tokens_[at].clear();
        break;
      case 1:
        tokens_[at] += tokens_[at];
        break;
      case 2:
        std::swap(tokens_[at], tokens_[any(words_)]);
        break;
      case 3:
      case 4:
        if (const std::string other = tokens_[any(words_)]; !other.empty()) tokens_[at] = other;
        break;
      case 5:
      case 6:
        if (!numbers_.empty()) {
          const std::size_t number = any(numbers_);
          tokens_[number] = with_number(tokens_[number], random_);
        }
        break;
      default:
        line(at);
    }
  }

  std::string text() const {
    std::string joined;
    for (const std::string& token : tokens_) joined += token;
    return joined;
  }

 private:
  std::size_t any(const std::vector<std::size_t>& of) { return of[random_() % of.size()]; }

  /// The line around a token is lost, doubled, or put before another token.
  void line(std::size_t at) {
    const auto ends = [](const std::string& t) { return t.find('\n') != std::string::npos; };
    std::size_t first = at;
    std::size_t last = at;
    while (first > 0 && !ends(tokens_[first - 1])) --first;
    while (last + 1 < tokens_.size() && !ends(tokens_[last])) ++last;
    std::string text;
    for (std::size_t i = first; i <= last; ++i) text += tokens_[i];
    const unsigned kind = random_() % 3;
    if (kind != 1) {
      for (std::size_t i = first; i <= last; ++i) tokens_[i].clear();
    }
    if (kind == 1) tokens_[first].insert(0, text);
    if (kind == 2) tokens_[any(words_)].insert(0, text);
  }

  std::vector<std::string> tokens_;
  std::vector<std::size_t> words_;
  std::vector<std::size_t> numbers_;
  MutationRandom& random_;
};

}  // namespace

std::string mutate_tokens(const std::string& text, MutationRandom& random) {
  TokenMutation mutation(split(text), random);
  for (std::uint64_t edits = 1 + random() % 3; edits > 0; --edits) mutation.apply();
  return mutation.text();
}

std::string mutate_bytes(const std::string& bytes, MutationRandom& random) {
  if (bytes.empty()) return bytes;
  std::string out = bytes;
  const std::size_t at = random() % bytes.size();
  const std::size_t length = 1 + random() % 64;
  switch (random() % 7) {
    case 0:
      out[at] = static_cast<char>(out[at] ^ (1 << random() % 8));
      break;
    case 1:
      out.resize(at);
      break;
    case 2:
      out.erase(at, length);
      break;
    case 3:
      out.insert(at, length, static_cast<char>(random()));
      break;
    case 4:
      out.insert(random() % out.size(), bytes.substr(at, length));
      break;
    case 5:
      for (std::size_t i = at; i < std::min(out.size(), at + length); ++i) out[i] = random() % 2 == 0 ? '\0' : '\xff';
      break;
    default:
      for (std::size_t i = at; i < std::min(out.size(), at + length); ++i) out[i] = static_cast<char>(random());
  }
  return out;
}

}  // namespace regatta::test

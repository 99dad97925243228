// SPDX-License-Identifier: Apache-2.0
//
// What a kernel says: vprintf, and the message of a failed assertion.
#include "print.h"

#include "cta.h"
#include "diagnostics.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace regatta::emulator {

using trace::LaneMask;

namespace {

constexpr int max_field = 4095;
/// Longest string that is read from device memory, bytes; one without an end would go on through all of an allocation.
constexpr std::size_t max_string = std::size_t{1} << 16;

/// One conversion: "%-8.3lld".
struct Conversion {
  std::string flags;
  int width = -1;
  int precision = -1;
  std::string length;
  char letter = '\0';
};

/// A number or '*'; `at` moves behind it.
int field(const std::string& format, std::size_t& at, const PrintArguments& arguments) {
  if (at < format.size() && format[at] == '*') {
    ++at;
    const auto value = static_cast<std::int32_t>(arguments.next(4));
    return std::max(-max_field, std::min(value, max_field));
  }
  int value = 0;
  while (at < format.size() && format[at] >= '0' && format[at] <= '9') {
    value = std::min(value * 10 + (format[at++] - '0'), max_field);
  }
  return value;
}

Conversion conversion(const std::string& format, std::size_t& at, const PrintArguments& arguments) {
  const auto one_of = [&](const char* set) {
    return at < format.size() && format[at] != '\0' && std::strchr(set, format[at]) != nullptr;
  };
  Conversion c;
  while (one_of("-+ #0")) {
    if (c.flags.find(format[at]) == std::string::npos) c.flags += format[at];
    ++at;
  }
  if (one_of("*123456789")) {
    c.width = field(format, at, arguments);
    if (c.width < 0) {
      c.flags += '-';
      c.width = -c.width;
    }
  }
  if (one_of(".")) {
    ++at;
    c.precision = field(format, at, arguments);
  }
  while (one_of("hljztLq") && c.length.size() < 2) c.length += format[at++];
  if (at < format.size()) c.letter = format[at++];
  return c;
}

template <class T>
std::string shown(const Conversion& c, const char* length, T value) {
  std::string format = "%" + c.flags;
  if (c.width >= 0) format += std::to_string(c.width);
  if (c.precision >= 0) format += "." + std::to_string(c.precision);
  format += length;
  format += c.letter;
  std::string text(static_cast<std::size_t>(std::max(0, std::snprintf(nullptr, 0, format.c_str(), value))), '\0');
  std::snprintf(text.data(), text.size() + 1, format.c_str(), value);
  return text;
}

std::string integer(const Conversion& c, const PrintArguments& arguments) {
  const bool wide = !c.length.empty() && c.length[0] != 'h';
  std::uint64_t value = arguments.next(wide ? 8 : 4);
  const bool is_signed = c.letter == 'd' || c.letter == 'i';
  const unsigned shift = wide ? 0 : c.length == "hh" ? 56 : c.length == "h" ? 48 : 32;
  value <<= shift;
  if (is_signed) return shown(c, "ll", static_cast<long long>(value) >> shift);
  return shown(c, "ll", static_cast<unsigned long long>(value >> shift));
}

double as_double(std::uint64_t bits) {
  double d = 0;
  std::memcpy(&d, &bits, sizeof d);
  return d;
}

}  // namespace

std::string format_print(const std::string& format, const PrintArguments& arguments, std::uint32_t& count) {
  std::string text;
  count = 0;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      text += format[at++];
      continue;
    }
    const std::size_t begin = at++;
    const Conversion c = conversion(format, at, arguments);
    switch (c.letter) {
      case '%':
        text += '%';
        continue;
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        text += integer(c, arguments);
        break;
      case 'c':
        text += shown(c, "", static_cast<int>(arguments.next(4)));
        break;
      case 's':
        text += shown(c, "", arguments.string_at(arguments.next(8)).c_str());
        break;
      case 'p': {
        Conversion hex = c;
        hex.flags += '#';
        hex.letter = 'x';
        text += shown(hex, "ll", static_cast<unsigned long long>(arguments.next(8)));
        break;
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        text += shown(c, "", as_double(arguments.next(8)));
        break;
      default:
        text += format.substr(begin, at - begin);
        continue;
    }
    ++count;
  }
  return text;
}

std::uint64_t CtaRunner::read_bytes(Warp& w, const Op& op, unsigned lane, std::uint64_t address, unsigned bytes) {
  std::uint64_t value = 0;
  for (unsigned b = 0; b < bytes; ++b) {
    w.regs.addresses.lane[lane] = address + b;
    value |= static_cast<std::uint64_t>(*resolve(w, op, lane, Use::read).data) << (8 * b);
  }
  return value;
}

std::string CtaRunner::read_string(Warp& w, const Op& op, unsigned lane, std::uint64_t address) {
  std::string text;
  while (text.size() < max_string) {
    const auto c = static_cast<char>(read_bytes(w, op, lane, address + text.size(), 1));
    if (c == '\0') return text;
    text += c;
  }
  fail(w, op, lane, "a string of more than " + std::to_string(max_string) + " bytes");
}

void CtaRunner::print(Warp& w, const Op& op, LaneMask active) {
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(rest));
    const std::string format = read_string(w, op, lane, get(w, op.values[0], lane, true));
    std::uint64_t next = get(w, op.values[1], lane, true);
    PrintArguments arguments;
    arguments.next = [&](unsigned bytes) {
      next = (next + bytes - 1) / bytes * bytes;
      const std::uint64_t value = read_bytes(w, op, lane, next, bytes);
      next += bytes;
      return value;
    };
    arguments.string_at = [&](std::uint64_t address) { return read_string(w, op, lane, address); };
    std::uint32_t count = 0;
    const std::string text = format_print(format, arguments, count);
    if (options_.print) {
      options_.print(text);
    } else {
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
    put(w, op.destinations[0], op.destination_words[0], lane, count);
  }
}

void CtaRunner::trap(Warp& w, const Op& op, LaneMask active) {
  const auto lane = static_cast<unsigned>(__builtin_ctzll(active));
  if (op.value_count == 0) {
    const auto& specials = program_.specials;
    const bool wants_grid =
        std::find(specials.begin(), specials.end(), ir::Special::grid_barrier_low) != specials.end();
    if (!wants_grid || request_.cooperative) fail(w, op, lane, "trap", FaultKind::trap);
    fail(w, op, lane,
         "trap; the kernel looks for the barrier of its grid (%envreg1 and %envreg2; cooperative_groups::this_grid()), "
         "and the launch is not cooperative",
         FaultKind::trap);
  }
  check_reads(w, op, active);
  if (op.value_count == 2) {
    std::string text = f_.trap_texts.at(get(w, op.values[1], lane, false));
    const std::size_t at = text.find('%');
    if (at != std::string::npos) {
      const bool wide = op.instruction->sources[0].words == 2;
      const std::uint64_t value = get(w, op.values[0], lane, wide);
      text.replace(at, 1, wide ? hex_text(value) : std::to_string(value));
    }
    fail(w, op, lane, text, FaultKind::trap);
  }
  const auto text = [&](unsigned n) { return read_string(w, op, lane, get(w, op.values[n], lane, true)); };
  const std::string condition = text(0), file = text(1);
  fail(w, op, lane,
       "assertion '" + condition + "' failed at " + file + ":" + std::to_string(get(w, op.values[2], lane, false)),
       FaultKind::assertion);
}

}  // namespace regatta::emulator

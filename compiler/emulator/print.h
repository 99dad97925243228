// SPDX-License-Identifier: Apache-2.0
//
// The formatting of a device printf.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace regatta::emulator {

/// Where the values of a format come from.
struct PrintArguments {
  /// The next argument of 4 or 8 bytes, zero-extended.
  std::function<std::uint64_t(unsigned bytes)> next;
  /// The string at a generic address.
  std::function<std::string(std::uint64_t address)> string_at;
};

/// The text of `format` (C printf: flags, width, precision, length, d i u o x X c s p e E f F g G a A %). A conversion
/// that is none of these is printed as it stands, as on the device. `count` is the number of conversions that took
/// arguments. Width and precision are at most 4095 each; larger ones are taken as that.
std::string format_print(const std::string& format, const PrintArguments& arguments, std::uint32_t& count);

}  // namespace regatta::emulator

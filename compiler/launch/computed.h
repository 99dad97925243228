// SPDX-License-Identifier: Apache-2.0
//
// Numbers of launches and parameters that expressions give, when the file is read and when the program runs.
#pragma once

#include <regatta/launch/launch_file.h>

#include <cstdint>

namespace regatta::launch {

inline constexpr std::array<std::uint32_t, 3> grid_limit{0x7fffffffu, 65535, 65535};
inline constexpr std::array<std::uint32_t, 3> block_limit{1024, 1024, 64};

struct IntegerRange {
  std::int64_t low = 0, high = 0;
};
/// What an integer type holds, of either sign for types of bits; at most what 64 bits with sign hold.
IntegerRange integer_range(ir::Type type);

/// Refuses names that are neither constants nor counters of the loops around. `what` runs there: "launch 'k'", "" of
/// what is outside of loops.
void check_names(const LaunchFile& file, const Formula& formula, const std::string& what,
                 const std::vector<std::string>& counters);
/// The expression's value. Throws trace::InputError with its place and what its names stand for, likewise below.
std::int64_t value_of(const LaunchFile& file, const Formula& formula, const Expression::Counters& counters);
/// As value_of, in a range. `what`: "'repeat'".
std::uint64_t value_in(const LaunchFile& file, const Formula& formula, const Expression::Counters& counters,
                       const std::string& what, std::int64_t high);
/// Puts a number where it belongs in the launch, if it is in range there.
void compute(const LaunchFile& file, Launch& launch, const Computed& computed, const Expression::Counters& counters);
/// Refuses blocks of more than 1024 threads.
void check_threads(const LaunchFile& file, const Launch& launch, const Position& where, const std::string& values);
/// The launch with the numbers that its expressions have now.
Launch computed_launch(const LaunchFile& file, const Launch& launch, const Expression::Counters& counters);
/// The bits of a parameter that is an expression.
std::uint64_t expression_bits(const LaunchFile& file, const Parameter& parameter, const Expression::Counters& counters);

}  // namespace regatta::launch

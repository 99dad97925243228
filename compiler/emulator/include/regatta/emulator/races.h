// SPDX-License-Identifier: Apache-2.0
//
// Data races of an emulated launch: what --check-races looks for. README.md of this folder states the rules.
#pragma once

#include <cstdint>
#include <string>

namespace regatta::emulator {

/// What orders the lanes of one warp among each other.
enum class RaceRule : std::uint8_t {
  off,          ///< races are not looked for
  independent,  ///< bar.warp.sync and barriers alone: lanes have program counters of their own (sm_70 and later)
  lockstep,     ///< instructions that lanes execute together are in order (before sm_70)
};

/// The rule that holds for code compiled for compute capability `target` / 10; 0, unknown, counts as recent.
inline RaceRule race_rule_of(std::uint32_t target) {
  return target == 0 || target >= 70 ? RaceRule::independent : RaceRule::lockstep;
}

/// Two instructions between which there is a race. Their threads, location and CTA are those of the first time.
struct Race {
  std::string message;      ///< "file:line:column: error: kernel 'k', CTA (x,y,z), thread (x,y,z): data race ..."
  std::uint64_t times = 0;  ///< accesses of a lane to a 32-bit word that raced
};

}  // namespace regatta::emulator

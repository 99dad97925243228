// SPDX-License-Identifier: Apache-2.0
//
// Spoils one transfer of an operand storage, to show that the value checker finds it, where, and after how long.
#pragma once

#include <regatta/protocol/payload.h>
#include <regatta/support/config.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace regatta::checker {

/// Selects one transfer: the first in or after `cycle` by the given warp slot, register and instruction in which the
/// lane is active.
struct FaultConfig {
  std::string at = "none";    ///< none | write | read
  std::string kind = "flip";  ///< flip: one bit of a lane; lost (a write), stale, swap (reads): all lanes
  std::uint64_t cycle = 0;
  unsigned sm = 0;
  std::string warp = "any";  ///< slot
  std::string reg = "any";
  std::string with = "any";  ///< the register that trades its value with `reg`, of a swap
  std::string pc = "any";
  unsigned lane = 0;
  unsigned bit = 0;

  /// Knobs fault.*.
  void declare(support::OptionSet& options);
  /// Throws ConfigError if no transfer on a machine with this many simulated SMs can match.
  void validate(unsigned sms) const;
  bool wanted() const { return at != "none"; }
};

/// Sits on the operand sockets of one SM and spoils one transfer: a write on its way to the storage, which then holds a
/// wrong value, or a read on its way from the storage, which makes one operand wrong. A swap makes two operands of one
/// instruction wrong.
class FaultInjector {
 public:
  /// `now`: the cycle. The configuration must be valid.
  FaultInjector(const FaultConfig& config, std::function<std::uint64_t()> now);

  /// A request passes to the storage.
  void requested(tlm::tlm_generic_payload& payload);
  /// Its answer passes back.
  void answered(tlm::tlm_generic_payload& payload);

  /// "SM 0 warp slot 3 register R5 lane 0 bit 7: 0x10 became 0x90 in a write of PC 0x1a8 at cycle 5001", or "SM 0 warp
  /// slot 3 register R5: stale value, other in lanes 0xff, in a read of PC 0x1a8 at cycle 5001"; empty until then.
  const std::string& planted() const { return planted_; }
  /// Whether some lane of the instruction got another value than the right one.
  bool changed_value() const { return changed_ != 0; }

 private:
  enum class Kind : std::uint8_t { flip, lost, stale, swap };
  /// The last two values that were written to a register of a warp.
  struct History {
    trace::WarpValue now{}, before{};
  };

  bool fits(const protocol::WarpAccess& access) const;
  /// Flips the bit in `data` and records it.
  void flip(unsigned char* data, const protocol::WarpAccess& access, const char* transfer);
  /// Replaces the active lanes of `data` and records it.
  void replace(tlm::tlm_generic_payload& payload, const trace::WarpValue& value, const std::string& what,
               const char* transfer);
  void swap(tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access);
  void remember(const tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access);
  History& history(const protocol::WarpAccess& access, std::uint64_t reg) {
    return histories_[std::uint64_t{access.warp.value()} << 8 | reg];
  }

  bool writes_;
  Kind kind_;
  std::uint64_t cycle_;
  unsigned sm_, lane_, bit_;
  std::optional<std::uint64_t> warp_, reg_, with_, pc_;
  std::function<std::uint64_t()> now_;
  std::string planted_;
  protocol::LaneMask changed_ = 0;
  tlm::tlm_generic_payload* spoilt_ = nullptr;  ///< a write in flight with modified data
  unsigned char* data_ = nullptr;               ///< the initiator's data
  std::vector<unsigned char> copy_;
  std::unordered_map<std::uint64_t, History> histories_;  ///< by warp slot and register; not for flips
  /// The instruction whose operands trade places, and which of both did.
  const protocol::DynamicInstruction* swapped_ = nullptr;
  std::uint64_t sequence_ = 0;
  std::uint64_t first_of_swap_ = 0;
};

}  // namespace regatta::checker

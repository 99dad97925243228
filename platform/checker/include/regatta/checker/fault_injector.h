// SPDX-License-Identifier: Apache-2.0
//
// Flips one bit in an operand storage, to show that the value checker finds it, where, and after how long.
#pragma once

#include <regatta/protocol/payload.h>
#include <regatta/support/config.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace regatta::checker {

/// Selects one bit of one transfer: the first transfer in or after `cycle` by the given warp slot, register and
/// instruction in which the lane is active.
struct FaultConfig {
  std::string at = "none";  ///< none | write | read
  std::uint64_t cycle = 0;
  unsigned sm = 0;
  std::string warp = "any";  ///< slot
  std::string reg = "any";
  std::string pc = "any";
  unsigned lane = 0;
  unsigned bit = 0;

  /// Knobs fault.*.
  void declare(support::OptionSet& options);
  /// Throws ConfigError if no transfer on a machine with this many simulated SMs can match.
  void validate(unsigned sms) const;
  bool wanted() const { return at != "none"; }
};

/// Sits on the operand sockets of one SM and flips the bit once: in a write on its way to the storage, which then holds
/// a wrong value, or in a read on its way from the storage, which makes one operand wrong.
class FaultInjector {
 public:
  /// `now`: the cycle. The configuration must be valid.
  FaultInjector(const FaultConfig& config, std::function<std::uint64_t()> now);

  /// A request passes to the storage.
  void requested(tlm::tlm_generic_payload& payload);
  /// Its answer passes back.
  void answered(tlm::tlm_generic_payload& payload);

  /// "SM 0 warp slot 3 register R5 lane 0 bit 7: 0x10 became 0x90 in a write of PC 0x1a8 at cycle 5001"; empty until
  /// then.
  const std::string& planted() const { return planted_; }

 private:
  bool fits(const protocol::WarpAccess& access) const;
  /// Flips the bit in `data` and records it.
  void plant(unsigned char* data, const protocol::WarpAccess& access, const char* transfer);

  bool writes_;
  std::uint64_t cycle_;
  unsigned sm_, lane_, bit_;
  std::optional<std::uint64_t> warp_, reg_, pc_;
  std::function<std::uint64_t()> now_;
  std::string planted_;
  tlm::tlm_generic_payload* flipped_ = nullptr;  ///< a write in flight with modified data
  unsigned char* data_ = nullptr;                ///< the initiator's data
  std::vector<unsigned char> copy_;
};

}  // namespace regatta::checker

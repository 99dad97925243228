// SPDX-License-Identifier: Apache-2.0
//
// The verify cache (WIR section VI-C): values of physical registers that verify-reads have fetched, so that the next
// verify-read of them needs no bank. Fully associative, least recently used out first; filled by verify-reads only.
#pragma once

#include <regatta/models/wir/physical_register.h>
#include <regatta/protocol/warp_registers.h>

#include <cstdint>
#include <vector>

namespace regatta::models::wir {

class VerifyCache {
 public:
  /// 0 to 65535 values (the paper: 8; 0: none) of `lanes` x 4 bytes.
  VerifyCache(unsigned entries, unsigned lanes);

  /// The value of a register, used now; null when it is not there.
  const std::uint32_t* find(PhysicalRegister reg);
  void fill(PhysicalRegister reg, const std::uint32_t* value);
  /// The register is written: its value here is old.
  void written(PhysicalRegister reg);
  void clear();

 private:
  struct Tag {
    PhysicalRegister reg = no_register;
    std::uint64_t used = 0;
  };
  std::vector<Tag> tags_;
  protocol::WarpRegisters values_;
  unsigned lanes_;
  std::uint64_t uses_ = 0;
};

}  // namespace regatta::models::wir

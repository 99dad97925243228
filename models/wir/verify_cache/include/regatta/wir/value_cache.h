// SPDX-License-Identifier: Apache-2.0
//
// The verify cache (WIR section VI-C): values of physical registers fetched by verify-reads, so the next verify-read of
// them needs no bank. Fully associative, LRU; filled only by verify-reads.
#pragma once

#include <regatta/protocol/warp_registers.h>
#include <regatta/wir/physical_register.h>

#include <cstdint>
#include <vector>

namespace regatta::models::wir {

class ValueCache {
 public:
  /// 0 to 65535 values (the paper: 8; 0: none) of `lanes` x 4 bytes.
  ValueCache(unsigned entries, unsigned lanes);

  /// The value of a register, which counts as used; null if it is not cached.
  const std::uint32_t* find(PhysicalRegister reg) { return may_have(reg) ? search(reg) : nullptr; }
  void fill(PhysicalRegister reg, const std::uint32_t* value);
  /// The register is written: its cached value is stale.
  void written(PhysicalRegister reg) {
    if (may_have(reg)) forget(reg);
  }
  void clear();

 private:
  bool may_have(PhysicalRegister reg) const { return (kept_ >> reg.value() % 64 & 1) != 0; }
  const std::uint32_t* search(PhysicalRegister reg);
  void forget(PhysicalRegister reg);
  void note();
  struct Tag {
    PhysicalRegister reg = no_register;
    std::uint64_t used = 0;
  };
  std::vector<Tag> tags_;
  protocol::WarpRegisters values_;
  unsigned lanes_;
  std::uint64_t uses_ = 0;
  std::uint64_t kept_ = 0;  ///< a bit for each register in the cache, by its number's low bits: most are told from it
};

}  // namespace regatta::models::wir

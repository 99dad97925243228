// SPDX-License-Identifier: Apache-2.0
//
// The shared memory of scratchpad sharing (Jatala, thesis, section 2.2.2): a pair of CTAs has bytes in common.
#pragma once

#include <regatta/sharing/divided_scratchpad.h>

#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::models {

/// The bytes of one SM:
///
///   CTAs that share nothing | per pair: private part of side 0, of side 1, common part
class SharedScratchpad final : public DividedScratchpad {
 public:
  sc_core::sc_port<CtaPairs> pairs;

  SharedScratchpad(const sc_core::sc_module_name& name, unsigned bytes)
      : DividedScratchpad(name, bytes), pairs("pairs") {}

  void end_of_elaboration() override;

 private:
  Parts parts_of(protocol::CtaSlot cta) const override;
  std::uint64_t used_bytes() const override;
  std::string ctas_text() const override;

  const CtaPairs* pairs_ = nullptr;
};

}  // namespace regatta::models

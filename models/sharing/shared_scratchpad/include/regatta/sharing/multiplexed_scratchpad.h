// SPDX-License-Identifier: Apache-2.0
//
// The shared memory of shared memory multiplexing: CTAs have places in turn.
#pragma once

#include <regatta/sharing/divided_scratchpad.h>

#include <cstdint>
#include <string>
#include <systemc>

namespace regatta::models {

/// The bytes of one SM:
///
///   private part of every CTA | places, each as large as the common part of a CTA
class MultiplexedScratchpad final : public DividedScratchpad {
 public:
  sc_core::sc_port<Multiplex> multiplex;
  sc_core::sc_port<ScratchpadPlaces> places;

  MultiplexedScratchpad(const sc_core::sc_module_name& name, unsigned bytes)
      : DividedScratchpad(name, bytes), multiplex("multiplex"), places("places") {}

  void end_of_elaboration() override;

 private:
  Parts parts_of(protocol::CtaSlot cta) const override;
  std::uint64_t used_bytes() const override;
  std::string ctas_text() const override;

  const Multiplex* multiplex_ = nullptr;
  const ScratchpadPlaces* places_ = nullptr;
};

}  // namespace regatta::models

// SPDX-License-Identifier: Apache-2.0
//
// The contents of shared memory, for schemes in which it matters where they are kept. Without such a block the SM
// models the time of shared memory and no contents.
#pragma once

#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/time_keeper.h>

#include <array>
#include <cstdint>
#include <tlm>

namespace regatta::protocol {

/// Words of the lanes of a warp, in ascending address order.
using SharedWords = std::array<WarpValue, trace::max_stored_words>;

/// From the start of a CTA's shared memory, of an address of space `shared`, which is that already, or of one in the
/// window of generic space.
constexpr std::uint64_t shared_offset(std::uint64_t address) {
  return address & ((std::uint64_t{1} << base::window_shift) - 1);
}

/// Extension of shared-memory payloads: one access of a warp. The initiator sets everything.
class SharedAccess : public tlm::tlm_extension<SharedAccess> {
 public:
  CtaSlot cta;
  WarpSlot warp;
  LaneMask lanes = 0;                        ///< that access shared memory
  unsigned bytes = 0;                        ///< each lane moves, at most 16
  const std::uint64_t* addresses = nullptr;  ///< by lane: from the start of shared memory, or in its generic window
  DynamicInstruction* instruction = nullptr;

  unsigned words() const { return (bytes + 3) / 4; }
  /// First byte of a lane's access, from the start of the CTA's shared memory.
  std::uint64_t offset(unsigned lane) const { return shared_offset(addresses[lane]); }
  tlm::tlm_extension_base* clone() const override { return new SharedAccess(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const SharedAccess&>(other); }
};

/// The extension of a shared-memory payload; reports a SystemC error when it is missing.
inline SharedAccess& shared_access(tlm::tlm_generic_payload& payload) {
  auto* access = static_cast<SharedAccess*>(payload.get_extension(SharedAccess::ID));
  if (access == nullptr) missing_extension("SharedAccess");
  return *access;
}

using SharedTargetSocket = tlm::tlm_target_socket<32>;
/// One that need not be bound.
using OptionalSharedInitiatorSocket =
    tlm::tlm_initiator_socket<32, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;

/// Keeps the contents of shared memory.
///
/// Called by: the load-store unit, b_transport() for each access when its first addresses are made, in the order of the
/// address stage; an atomic is a read and then a write. The time of the banks is the load-store unit's: the call takes
/// none. Payload: address is that of the first active lane, from the start of the CTA's shared memory; data are
/// SharedAccess::words() values of a warp (SharedWords), of which the lanes in SharedAccess::lanes count. A word holds
/// the bytes of narrower accesses in its low bits; others read as zero. Two lanes that write one byte write the same.
/// The block answers TLM_OK_RESPONSE, or TLM_ADDRESS_ERROR_RESPONSE for an access outside the CTA's shared memory.
class SharedContents : public virtual TimeKeeper, public virtual LifecycleListener {
 public:
  virtual SharedTargetSocket& shared_socket() = 0;
};

}  // namespace regatta::protocol

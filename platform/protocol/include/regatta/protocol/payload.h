// SPDX-License-Identifier: Apache-2.0
//
// TLM-2.0 payloads of regatta: the generic payload plus one extension per kind of socket.
//
// Operand storage sockets (READ or WRITE of one warp register):
//   address      (warp slot << 8 | register) * bytes of a warp register; the extension has the same in fields
//   data         one warp register: lanes * 4 bytes
//   byte enable  the lane mask, 4 bytes a lane; null when every lane is enabled
// Memory sockets (L1, interconnect, L2, DRAM):
//   address      first byte of a line; data length: bytes of the line
//   data         no contents for data accesses (their values travel in the instruction);
//                the contents of the line for register traffic
#pragma once

#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/protocol/ids.h>

#include <memory>
#include <tlm>
#include <utility>
#include <vector>

namespace regatta::protocol {

/// Extension of operand storage payloads. The target sets `origin`, the initiator everything else.
class WarpAccess : public tlm::tlm_extension<WarpAccess> {
 public:
  WarpSlot warp;
  RegisterId reg;
  LaneMask lanes = 0;  ///< the same as the byte enables, in compact form
  /// The instruction served; null for traffic without an instruction (a transfer engine).
  DynamicInstruction* instruction = nullptr;
  std::uint8_t operand = 0;  ///< reads: index into traits->reads; writes: index into info->destinations
  bool planned = false;      ///< reads: the port is reserved (ReadPlanner)
  Origin origin;             ///< reads: where the value was found

  tlm::tlm_extension_base* clone() const override { return new WarpAccess(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const WarpAccess&>(other); }
};

/// The purpose of a memory request; caches select their policy and count by it.
enum class AccessClass : std::uint8_t {
  data_load,
  data_store,
  atomic,
  register_read,
  register_write,
  register_invalidate,
  instruction,
  metadata,
  local_load,  ///< local memory: private to a thread
  local_store,
  constant,
  texture  ///< texels: global memory, read only
};
inline constexpr unsigned access_class_count = 12;
const char* to_string(AccessClass c);
/// What traffic is caused by, more coarsely than by its class.
enum class TrafficCause : std::uint8_t {
  data,       ///< global and local memory
  registers,  ///< lines of registers
  code,       ///< instructions and constants
  metadata    ///< what a scheme reads: live-register vectors
};
inline constexpr unsigned traffic_cause_count = 4;
constexpr TrafficCause cause_of(AccessClass c) {
  switch (c) {
    case AccessClass::register_read:
    case AccessClass::register_write:
    case AccessClass::register_invalidate:
      return TrafficCause::registers;
    case AccessClass::instruction:
    case AccessClass::constant:
      return TrafficCause::code;
    case AccessClass::metadata:
      return TrafficCause::metadata;
    default:
      return TrafficCause::data;
  }
}
/// The level that had the requested line.
enum class Supplier : std::uint8_t { unknown, compressor, l1, l2, dram };
inline constexpr unsigned supplier_count = 5;
const char* to_string(Supplier s);

inline bool carries_data(AccessClass c) { return c == AccessClass::register_read || c == AccessClass::register_write; }

/// Extension of memory payloads. Set by the first initiator; caches read it, and copy it to what they forward.
class MemoryAccess : public tlm::tlm_extension<MemoryAccess> {
 public:
  AccessClass access = AccessClass::data_load;
  bool writeback = false;                 ///< sent by a cache, and answered to that cache
  bool last_read = false;                 ///< register_read: the line is not read again, a cache drops its copy
  bool bypass_l1 = false;                 ///< data and registers: an L1 neither answers nor keeps the line
  Supplier supplier = Supplier::unknown;  ///< reads: set by the target that had the line
  std::uint8_t port = 0;                  ///< private to an arbiter: the port of the request
  std::uint16_t sm = 0;
  std::uint8_t sectors = 0xf;                 ///< requested 32-byte sectors of the line, bit 0 first
  bool partial = false;                       ///< stores: some of the sectors is not written whole
  DynamicInstruction* instruction = nullptr;  ///< null for traffic without an instruction
  std::uint32_t tag = 0;                      ///< private to the initiator; targets do not change it

  unsigned sector_count() const { return static_cast<unsigned>(__builtin_popcount(sectors)); }
  tlm::tlm_extension_base* clone() const override { return new MemoryAccess(*this); }
  void copy_from(const tlm::tlm_extension_base& other) override { *this = static_cast<const MemoryAccess&>(other); }
};

inline constexpr unsigned sector_bytes = 32;

using OperandInitiatorSocket = tlm::tlm_initiator_socket<1024>;
using OperandTargetSocket = tlm::tlm_target_socket<1024>;
/// One that need not be bound.
using OptionalOperandTargetSocket =
    tlm::tlm_target_socket<1024, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>;
using MemoryInitiatorSocket = tlm::tlm_initiator_socket<256>;
using MemoryTargetSocket = tlm::tlm_target_socket<256>;

/// Copies the enabled bytes among `bytes` bytes (a multiple of 16: a row) from a write's data to `to`. Enables are
/// those of TLM: all ones or all zeros.
[[gnu::noinline]] inline void merge_enabled(unsigned char* to, const unsigned char* data, const unsigned char* enable,
                                            std::size_t bytes) {
  typedef std::uint64_t Vector __attribute__((vector_size(16)));
  for (std::size_t i = 0; i < bytes; i += sizeof(Vector)) {
    Vector was, value, mask;
    std::memcpy(&was, to + i, sizeof was);
    std::memcpy(&value, data + i, sizeof value);
    std::memcpy(&mask, enable + i, sizeof mask);
    was = (value & mask) | (was & ~mask);
    std::memcpy(to + i, &was, sizeof was);
  }
}

/// A payload for one warp register with its WarpAccess attached and its own byte-enable buffer. Its owner creates it
/// once and reuses it. It is not reference counted (no memory manager), so the owner must follow each transfer to its
/// end.
class OperandPayload {
 public:
  OperandPayload();
  ~OperandPayload();
  OperandPayload(const OperandPayload&) = delete;
  OperandPayload& operator=(const OperandPayload&) = delete;

  tlm::tlm_generic_payload& payload() { return payload_; }
  WarpAccess& access() { return access_; }
  /// Prepares a transfer of the lanes in `lanes` of a register of `warp_size` lanes. Cheapest if command, lanes and
  /// warp size are those of the previous transfer.
  void prepare(tlm::tlm_command command, WarpSlot warp, RegisterId reg, LaneMask lanes, unsigned warp_size,
               WarpValue& data) {
    if (command != command_ || lanes != access_.lanes || warp_size != warp_size_) shape(command, lanes, warp_size);
    payload_.set_address(((std::uint64_t{warp.value()} << 8) | reg.value()) * payload_.get_data_length());
    payload_.set_data_ptr(reinterpret_cast<unsigned char*>(data.lane.data()));
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    access_.warp = warp;
    access_.reg = reg;
    access_.instruction = nullptr;
    access_.operand = 0;
    access_.planned = false;
    access_.origin = Origin{};
  }

 private:
  void shape(tlm::tlm_command command, LaneMask lanes, unsigned warp_size);

  tlm::tlm_generic_payload payload_;
  WarpAccess access_;
  tlm::tlm_command command_ = tlm::TLM_IGNORE_COMMAND;
  unsigned warp_size_ = 0;
  std::vector<unsigned char> byte_enables_;
};

/// Operand payloads of one initiator. The last one returned is taken next, so an initiator whose target completes
/// immediately reuses the same payload while it is still cached.
class OperandPayloadPool {
 public:
  OperandPayload& take() {
    if (last_ != nullptr) return *std::exchange(last_, nullptr);
    if (free_.empty()) {
      all_.push_back(std::make_unique<OperandPayload>());
      return *all_.back();
    }
    OperandPayload& p = *free_.back();
    free_.pop_back();
    return p;
  }
  /// The payload no longer serves an instruction.
  void give_back(OperandPayload& payload) {
    payload.access().instruction = nullptr;
    if (last_ == nullptr) {
      last_ = &payload;
    } else {
      free_.push_back(&payload);
    }
  }
  /// By the generic payload, for a later response; this searches, because the case is rare.
  void give_back(const tlm::tlm_generic_payload& payload);
  /// Calls f(access) for every transfer in flight for an instruction.
  template <class F>
  void for_each_under_way(F&& f) const {
    for (const auto& payload : all_) {
      if (payload->access().instruction != nullptr) f(payload->access());
    }
  }

 private:
  std::vector<std::unique_ptr<OperandPayload>> all_;
  OperandPayload* last_ = nullptr;  ///< returned last: the common case avoids the list
  std::vector<OperandPayload*> free_;
};

[[noreturn]] void missing_extension(const char* name);

/// The extension of an operand payload; reports a SystemC error when it is missing.
inline WarpAccess& warp_access(tlm::tlm_generic_payload& payload) {
  auto* access = static_cast<WarpAccess*>(payload.get_extension(WarpAccess::ID));
  if (access == nullptr) missing_extension("WarpAccess");
  return *access;
}
/// The extension of a memory payload; reports a SystemC error when it is missing.
inline MemoryAccess& memory_access(tlm::tlm_generic_payload& payload) {
  auto* access = static_cast<MemoryAccess*>(payload.get_extension(MemoryAccess::ID));
  if (access == nullptr) missing_extension("MemoryAccess");
  return *access;
}

/// Pool of reference-counted memory payloads, each with a MemoryAccess and its own line buffer.
class MemoryPayloadPool : public tlm::tlm_mm_interface {
 public:
  explicit MemoryPayloadPool(unsigned line_bytes);
  ~MemoryPayloadPool() override;
  struct Taken {
    tlm::tlm_generic_payload* payload;
    MemoryAccess* access;  ///< its extension, to avoid a lookup in the payload
  };
  /// A payload with reference count 1, response status incomplete. Release with payload->release().
  Taken take_with_access(tlm::tlm_command command, std::uint64_t address);
  tlm::tlm_generic_payload* take(tlm::tlm_command command, std::uint64_t address) {
    return take_with_access(command, address).payload;
  }
  void free(tlm::tlm_generic_payload* payload) override;
  /// Payloads taken and not yet released: 0 at the end of a clean run.
  std::size_t outstanding() const { return outstanding_; }
  /// The payloads counted by outstanding().
  std::vector<const tlm::tlm_generic_payload*> under_way() const;

 private:
  /// A payload with its parts, so that free() needs no search.
  class Own;
  [[gnu::noinline, gnu::cold]] void make();

  unsigned line_bytes_;
  std::size_t outstanding_ = 0;
  std::vector<Own*> free_;
  std::vector<std::unique_ptr<Own>> all_;
  std::vector<std::unique_ptr<unsigned char[]>> buffers_;
};

}  // namespace regatta::protocol

// SPDX-License-Identifier: Apache-2.0
//
// The operations on the state of the value signature buffer, for a twin (platform/cosim): RTL in place of it, or
// beside.
#pragma once

#include <regatta/cosim/twin.h>
#include <regatta/trace/types.h>
#include <regatta/wir/h3_hash.h>
#include <regatta/wir/vsb_entries.h>

#include <array>
#include <cstdint>
#include <string>

namespace regatta::models::wir {

struct VsbOperation {
  enum class Kind : std::uint8_t {
    find,        ///< the hash of `value`, and the register entered for it
    insert,      ///< `reg` for `hash`
    evict,       ///< the entry in the place of `hash`, whatever it holds
    drop_first,  ///< the valid entry with the lowest number; repeated until there is none, it clears the buffer
  };
  Kind kind = Kind::find;
  std::array<std::uint32_t, trace::max_lanes> value{};  ///< by lane; 0 in lanes that the warp does not have
  std::uint32_t hash = 0;
  PhysicalRegister reg = no_register;

  static VsbOperation find(const std::uint32_t* value, unsigned lanes);
  static VsbOperation insert(std::uint32_t hash, PhysicalRegister reg) { return {Kind::insert, {}, hash, reg}; }
  static VsbOperation evict(std::uint32_t hash) { return {Kind::evict, {}, hash, no_register}; }
  static VsbOperation drop_first() { return {Kind::drop_first, {}, 0, no_register}; }
};

struct VsbResult {
  std::uint32_t hash = 0;              ///< of the value that was searched; otherwise the operation's
  PhysicalRegister reg = no_register;  ///< found, replaced or dropped; no_register: none
  friend bool operator==(const VsbResult& a, const VsbResult& b) { return a.hash == b.hash && a.reg == b.reg; }
};

std::string describe(const VsbOperation& operation);
std::string describe(const VsbResult& result);

/// The model's part of an operation.
VsbResult perform(const H3Hash& hash, VsbEntries& entries, const VsbOperation& operation);

/// The sizes for which a twin is made.
struct VsbShape {
  unsigned lanes = 32;
  unsigned entries = 256;  ///< 0: the configuration has no value signature buffer
  unsigned hash_bits = 32;
};
using VsbTwin = cosim::OperationTwin<VsbOperation, VsbResult>;
using VsbTwinKinds = cosim::TwinKinds<VsbOperation, VsbResult, VsbShape>;
/// Those of this program, by the name that vsb.implementation selects.
VsbTwinKinds& vsb_twin_kinds();

}  // namespace regatta::models::wir

// SPDX-License-Identifier: Apache-2.0
//
// The operations on the state of the value signature buffer, for a twin (platform/cosim): RTL in place of it, or
// beside.
#pragma once

#include <regatta/cosim/twin.h>
#include <regatta/models/wir/h3_hash.h>
#include <regatta/models/wir/signature_entries.h>
#include <regatta/trace/types.h>

#include <array>
#include <cstdint>
#include <string>

namespace regatta::models::wir {

struct SignatureOperation {
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

  static SignatureOperation find(const std::uint32_t* value, unsigned lanes);
  static SignatureOperation insert(std::uint32_t hash, PhysicalRegister reg) { return {Kind::insert, {}, hash, reg}; }
  static SignatureOperation evict(std::uint32_t hash) { return {Kind::evict, {}, hash, no_register}; }
  static SignatureOperation drop_first() { return {Kind::drop_first, {}, 0, no_register}; }
};

struct SignatureResult {
  std::uint32_t hash = 0;              ///< of the value that was searched; otherwise the operation's
  PhysicalRegister reg = no_register;  ///< found, replaced or dropped; no_register: none
  friend bool operator==(const SignatureResult& a, const SignatureResult& b) {
    return a.hash == b.hash && a.reg == b.reg;
  }
};

std::string describe(const SignatureOperation& operation);
std::string describe(const SignatureResult& result);

/// The model's part of an operation.
SignatureResult perform(const H3Hash& hash, SignatureEntries& entries, const SignatureOperation& operation);

/// The sizes for which a twin is made.
struct SignatureShape {
  unsigned lanes = 32;
  unsigned entries = 256;  ///< 0: the configuration has no value signature buffer
  unsigned hash_bits = 32;
};
using SignatureTwin = cosim::OperationTwin<SignatureOperation, SignatureResult>;
using SignatureTwinKinds = cosim::TwinKinds<SignatureOperation, SignatureResult, SignatureShape>;
/// Those of this program, by the name that value_signature_buffer.implementation selects.
SignatureTwinKinds& signature_twin_kinds();

}  // namespace regatta::models::wir

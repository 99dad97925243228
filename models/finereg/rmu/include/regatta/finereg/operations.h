// SPDX-License-Identifier: Apache-2.0
//
// The operations on the state of FineReg's register management unit, for a twin of it (platform/cosim). rtl/README.md
// says what each of them does and answers.
#pragma once

#include <regatta/cosim/twin.h>
#include <regatta/finereg/pending_entries.h>
#include <regatta/protocol/ids.h>

#include <cstdint>
#include <string>

namespace regatta::models {

/// The upper two bits are the part: the cache of bit vectors, the register index decoder, the free space monitor, the
/// chains.
enum class RmuOperationKind : std::uint8_t {
  lookup = 0x00,
  fill,
  clear,
  join = 0x10,
  load,
  next,
  remove,
  take = 0x20,
  give_back,
  limit,
  begin = 0x30,
  append,
  close,
  pointer,
  walk,
  step,
  end_walk,
  peek,
  drop
};

/// "append"; "" for a value that is none.
const char* name_of(RmuOperationKind kind);

struct RmuOperation {
  using Kind = RmuOperationKind;
  Kind kind = Kind::clear;
  std::uint8_t warp = 0;     ///< in the CTA, 0 to 31
  std::uint8_t reg = 0;      ///< 0 to 63
  std::uint32_t index = 0;   ///< a PC (static instruction), an entry, a number of entries, or a CTA slot
  std::uint64_t set = 0;     ///< a bit per register
  std::uint64_t vector = 0;  ///< a bit per register

  static RmuOperation lookup(std::uint32_t pc) { return on(Kind::lookup, pc); }
  static RmuOperation fill(std::uint32_t pc, std::uint64_t vector) { return {Kind::fill, 0, 0, pc, 0, vector}; }
  static RmuOperation clear() { return on(Kind::clear, 0); }
  static RmuOperation join(std::uint64_t set, std::uint64_t vector) { return {Kind::join, 0, 0, 0, set, vector}; }
  static RmuOperation load(std::uint64_t set) { return {Kind::load, 0, 0, 0, set, 0}; }
  static RmuOperation next() { return on(Kind::next, 0); }
  static RmuOperation remove(unsigned reg) { return {Kind::remove, 0, static_cast<std::uint8_t>(reg), 0, 0, 0}; }
  static RmuOperation take() { return on(Kind::take, 0); }
  static RmuOperation give_back(unsigned entry) { return on(Kind::give_back, entry); }
  static RmuOperation limit(unsigned entries) { return on(Kind::limit, entries); }
  static RmuOperation begin(protocol::CtaSlot cta) { return on(Kind::begin, cta.value()); }
  static RmuOperation append(unsigned entry, unsigned warp, unsigned reg) {
    return {Kind::append, static_cast<std::uint8_t>(warp), static_cast<std::uint8_t>(reg), entry, 0, 0};
  }
  static RmuOperation close() { return on(Kind::close, 0); }
  static RmuOperation pointer(protocol::CtaSlot cta) { return on(Kind::pointer, cta.value()); }
  static RmuOperation walk(protocol::CtaSlot cta) { return on(Kind::walk, cta.value()); }
  static RmuOperation step() { return on(Kind::step, 0); }
  static RmuOperation end_walk() { return on(Kind::end_walk, 0); }
  static RmuOperation peek(unsigned entry) { return on(Kind::peek, entry); }
  static RmuOperation drop(protocol::CtaSlot cta) { return on(Kind::drop, cta.value()); }

  friend bool operator==(const RmuOperation& a, const RmuOperation& b) {
    return a.kind == b.kind && a.warp == b.warp && a.reg == b.reg && a.index == b.index && a.set == b.set &&
           a.vector == b.vector;
  }

 private:
  static RmuOperation on(Kind kind, std::uint32_t index) { return {kind, 0, 0, index, 0, 0}; }
};

/// What an operation does not answer is 0.
struct RmuResult {
  bool ok = false;
  std::uint8_t reg = 0;      ///< the lowest of `vector`
  std::uint16_t entry = 0;   ///< of the pending file
  std::uint16_t count = 0;   ///< of registers or entries
  std::uint64_t vector = 0;  ///< a bit per register
  PendingTag tag;

  /// Of join, load, next and remove: a set of registers, their number, the lowest.
  static RmuResult of_set(std::uint64_t set) {
    RmuResult r;
    r.ok = set != 0;
    r.reg = static_cast<std::uint8_t>(set != 0 ? __builtin_ctzll(set) : 0);
    r.count = static_cast<std::uint16_t>(__builtin_popcountll(set));
    r.vector = set;
    return r;
  }
  static RmuResult of_entry(bool ok, unsigned entry, unsigned count, const PendingTag& tag = {}) {
    RmuResult r;
    r.ok = ok;
    r.entry = static_cast<std::uint16_t>(entry);
    r.count = static_cast<std::uint16_t>(count);
    r.tag = tag;
    return r;
  }
  static RmuResult of_vector(bool ok, std::uint64_t vector) {
    RmuResult r;
    r.ok = ok;
    r.vector = vector;
    return r;
  }

  friend bool operator==(const RmuResult& a, const RmuResult& b) {
    return a.ok == b.ok && a.reg == b.reg && a.entry == b.entry && a.count == b.count && a.vector == b.vector &&
           a.tag.valid == b.tag.valid && a.tag.end == b.tag.end && a.tag.next == b.tag.next &&
           a.tag.warp == b.tag.warp && a.tag.reg == b.tag.reg;
  }
};

/// A line of text.
std::string describe(const RmuOperation& operation);
std::string describe(const RmuResult& result);

/// The sizes that a twin is built for.
struct RmuShape {
  unsigned vectors = 32;    ///< entries of the cache of bit vectors
  unsigned entries = 1024;  ///< of the pending file
  unsigned ctas = 128;      ///< CTA slots
};

using RmuTwin = cosim::OperationTwin<RmuOperation, RmuResult>;
using RmuTwins = cosim::TwinKinds<RmuOperation, RmuResult, RmuShape>;

/// The kinds of twins of this program (rmu.implementation).
RmuTwins& rmu_twins();

/// Most runs have no twin, and their hot paths must not pay for one: not even for operations and results.
inline bool has_twin(const RmuTwin* twin) { return __builtin_expect(static_cast<int>(twin != nullptr), 0) != 0; }
/// The twin's result if there is one, else the model's.
inline RmuResult with_twin(RmuTwin* twin, const RmuOperation& operation, const RmuResult& of_model) {
  return has_twin(twin) ? twin->operate(operation, of_model) : of_model;
}

}  // namespace regatta::models

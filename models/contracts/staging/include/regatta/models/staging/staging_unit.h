// SPDX-License-Identifier: Apache-2.0
//
// Between a capacity manager and the operand staging unit that it manages (RegLess, MICRO 2017, sections 5.1 and 5.2).
// The capacity manager counts: it lets a region start only when every bank has as many lines unreserved as the region
// may hold at a time. The staging unit holds: values, tags, which lines a warp's region owns, and the lists of the
// others (free, clean, dirty). One pair per warp scheduler.
#pragma once

#include <regatta/protocol/dynamic_instruction.h>
#include <regatta/protocol/extension_points.h>
#include <regatta/protocol/payload.h>
#include <regatta/trace/region_words.h>

#include <array>
#include <cstdint>

namespace regatta::models {

using trace::LastUse;

/// What becomes of the registers of an instruction after it has read and written them.
struct UseMarks {
  std::array<LastUse, trace::max_source_registers> reads{};        ///< parallel to traits->reads
  std::array<LastUse, trace::max_destination_registers> writes{};  ///< parallel to traits->writes
};

/// Who had a register that was asked for.
enum class PreloadSource : std::uint8_t { staged, compressor, l1, l2, dram };
inline constexpr unsigned preload_source_count = 5;

/// Told by the staging unit what has been done.
class StagingClient {
 public:
  virtual ~StagingClient() = default;
  /// A preload of the warp's next region is in its line, owned by the region.
  virtual void preloaded(protocol::WarpSlot warp, protocol::RegisterId reg, PreloadSource source) = 0;
  /// An invalidation of the warp's next region is on its way to every copy.
  virtual void invalidated(protocol::WarpSlot warp, protocol::RegisterId reg) = 0;
  /// In cycle `at`, later than the present one, can_issue() may turn to yes for a warp that it was no for.
  virtual void lines_available(std::uint64_t at) = 0;
};

/// The control side of an operand staging unit; operands themselves move over the sockets of OperandStorage.
class StagingUnit : public virtual protocol::TimeKeeper {
 public:
  virtual unsigned banks() const = 0;
  virtual unsigned lines_per_bank() const = 0;
  /// Bank of a register: the low bits of warp + register (section 5.2), the warp by its number in the shard, so that
  /// neighbouring warps of a shard differ. bank_of(warp, R0) is how far the warp's registers are rotated.
  virtual unsigned bank_of(protocol::WarpSlot warp, protocol::RegisterId reg) const = 0;
  virtual void connect(StagingClient& client) = 0;

  /// Places left in a bank's queue of requests, which has one per line: a region's preloads always fit (section 5.1),
  /// its invalidations, which take no line, may have to follow as acknowledgements come.
  virtual unsigned request_room(unsigned bank) const = 0;
  /// Queue requests at the register's bank, where there must be room. `last`: the value is not wanted in memory any
  /// more.
  virtual void preload(protocol::WarpSlot warp, protocol::RegisterId reg, bool last) = 0;
  virtual void invalidate(protocol::WarpSlot warp, protocol::RegisterId reg) = 0;

  /// Whether every destination that has no line yet could have one now: there is a free or clean line in its bank, or a
  /// dirty one and room to write it back. What a region reserved is enough lines, so no is a matter of time.
  virtual bool can_issue(const protocol::DynamicInstruction& instruction) const = 0;
  /// The instruction issued: its destinations get lines; its reads and writes are about to come over the sockets, and
  /// the marks are acted upon when they do.
  virtual void issued(const protocol::DynamicInstruction& instruction, const UseMarks& marks) = 0;
  /// The warp's region has issued its last instruction. Registers in `erase` are dead; every other line that it owns
  /// may be evicted. What is still to be written follows when it is.
  virtual void region_ended(protocol::WarpSlot warp, const protocol::GeneralRegisters& erase) = 0;
};

/// Stands between a staging unit and memory and keeps something per register.
class BackingStore {
 public:
  virtual ~BackingStore() = default;
  /// The slot's registers are another warp's from now on: what is known of them is void.
  virtual void warp_started(protocol::WarpSlot warp) = 0;
};

}  // namespace regatta::models

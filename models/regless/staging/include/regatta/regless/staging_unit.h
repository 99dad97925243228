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

/// For each register of an instruction: whether the access is the region's last (evict, erase) or not.
struct UseMarks {
  std::array<LastUse, trace::max_source_registers> reads{};        ///< parallel to traits->reads
  std::array<LastUse, trace::max_destination_registers> writes{};  ///< parallel to traits->writes
};

/// The level at which a preloaded register was found.
enum class PreloadSource : std::uint8_t { staged, compressor, l1, l2, dram };
inline constexpr unsigned preload_source_count = 5;

/// Notified by the staging unit of completed requests.
class StagingClient {
 public:
  virtual ~StagingClient() = default;
  /// A preload of the warp's next region is in its line, owned by the region.
  virtual void preloaded(protocol::WarpSlot warp, protocol::RegisterId reg, PreloadSource source) = 0;
  /// An invalidation of the warp's next region is on its way to every copy.
  virtual void invalidated(protocol::WarpSlot warp, protocol::RegisterId reg) = 0;
  /// From cycle `at` on, the present one or a later one, can_issue() may be true for a warp for which it was false.
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

  /// Free entries of a bank's request queue, which has one per line. Preloads alone always fit, because each has a
  /// reserved line (section 5.1). Invalidations have no line, so a request may have to wait for a free entry.
  virtual unsigned request_room(unsigned bank) const = 0;
  /// Queues a request at the register's bank, which must have room. `last`: memory need not keep the value after this
  /// preload.
  virtual void preload(protocol::WarpSlot warp, protocol::RegisterId reg, bool last) = 0;
  virtual void invalidate(protocol::WarpSlot warp, protocol::RegisterId reg) = 0;

  /// True if every destination without a line could get one now: its bank has a free or clean line, or a dirty one and
  /// room to write it back. The region has reserved enough lines, so the answer becomes true eventually.
  virtual bool can_issue(const protocol::DynamicInstruction& instruction) const = 0;
  /// The instruction issued: its destinations get lines. Its reads and writes follow over the sockets, and the marks
  /// take effect at these accesses.
  virtual void issued(const protocol::DynamicInstruction& instruction, const UseMarks& marks) = 0;
  /// The warp's region has issued its last instruction. Registers in `erase` are dead; every other line that it owns
  /// may be evicted; a line with a pending result may be evicted once the result is written.
  virtual void region_ended(protocol::WarpSlot warp, const protocol::GeneralRegisters& erase) = 0;
};

/// A block between a staging unit and memory that keeps state per register.
class BackingStore {
 public:
  virtual ~BackingStore() = default;
  /// The slot now belongs to another warp: discard all state of its registers.
  virtual void warp_started(protocol::WarpSlot warp) = 0;
};

}  // namespace regatta::models

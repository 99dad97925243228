// SPDX-License-Identifier: Apache-2.0
//
// The state of one warp: registers, predicates, what of them was ever written, and the SIMT stack.
#pragma once

#include "decode.h"

#include <regatta/trace/warp_stream.h>

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <vector>

namespace regatta::emulator {

/// Lanes that go on at `pc` and wait for the others at `reconvergence`.
struct StackEntry {
  std::uint32_t pc = 0;
  std::uint32_t reconvergence = exit_position;
  trace::LaneMask mask = 0;
  bool operator==(const StackEntry& o) const {
    return pc == o.pc && reconvergence == o.reconvergence && mask == o.mask;
  }
};

/// Of a 32-bit register, byte by byte, the lanes in which it was written.
using WrittenBytes = std::array<trace::LaneMask, 4>;

/// Where lanes without a value come from: the first instruction that computed with what was never written. For
/// messages; of several, the latest.
struct Unwritten {
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  enum class Kind : std::uint8_t {
    reg,
    predicate,
    outside_mask,   ///< a shuffle took the value of a lane that its member mask does not name
    inactive_lane,  ///< ... or that does not execute it
  };
  std::uint32_t op = nowhere;  ///< its position; nowhere: the register or predicate itself was never written
  std::uint8_t number = 0;     ///< of the register or predicate that it read
  Kind kind = Kind::reg;
  std::int8_t byte = -1;  ///< of that register, -1: all of it
};

enum class WarpState : std::uint8_t { ready, at_barrier, at_cluster_barrier, at_mbarrier, waits_for_registers, done };

/// A block of words aligned for vector loads.
struct alignas(64) AlignedWords {
  std::uint32_t word[16];
};

/// Where a warp stands in the launch, for special registers.
struct WarpPlace {
  std::array<std::uint32_t, 3> grid, block, cta;
  std::uint32_t dynamic_shared_bytes = 0;
  std::uint32_t total_shared_bytes = 0;
  std::uint64_t grid_barrier = 0;  ///< address, of a cooperative launch
  bool undefined_zero = false;     ///< EmulatorOptions::undefined_zero
};

/// Registers, by their numbers, and predicates, bit by bit.
struct RegisterSet {
  std::bitset<256> registers;
  std::uint32_t predicates = 0;
  bool carry = false;
  bool operator==(const RegisterSet& o) const {
    return registers == o.registers && predicates == o.predicates && carry == o.carry;
  }
};

/// What a warp does next depends on this and on memory.
struct WarpSnapshot {
  std::vector<StackEntry> stack;
  trace::LaneMask live = 0;
  WarpState state = WarpState::ready;
  std::vector<AlignedWords> registers;
  std::vector<trace::LaneMask> written;
  std::vector<WrittenBytes> parts;
  std::array<trace::LaneMask, 8> predicates{}, predicate_written{};
  std::array<std::uint32_t, 64> carry{};
};

class Warp {
 public:
  /// `program` must outlive the warp; its constants are shared by all warps.
  Warp(Program& program, unsigned number);
  Warp(const Warp&) = delete;
  Warp& operator=(const Warp&) = delete;

  /// Back to the kernel's entry, for the next CTA of the same launch.
  void reset(const WarpPlace& place);
  /// Until the next reset(), into columns with the memory of `storage`.
  void record(const trace::Kernel& kernel, trace::WarpColumns&& storage);

  unsigned number() const { return number_; }
  unsigned first_thread() const { return number_ * program_.lanes; }
  StackEntry& top() { return stack_.back(); }
  bool finished() const { return stack_.empty(); }
  trace::LaneMask live() const { return live_; }
  trace::LaneMask running() const { return stack_.back().mask; }  ///< of a warp that has not finished
  std::uint32_t position() const { return stack_.back().pc; }
  /// The instruction at which a live lane goes on. Lanes of the top entry go on behind its present instruction.
  std::uint32_t resume_position(unsigned lane) const;
  /// Of the lanes of `absent`, which are not at the barrier that the others have come to, those that can come to one
  /// yet. The rest has left, as far as barriers are concerned.
  trace::LaneMask can_reach_barrier(trace::LaneMask absent) const;

  /// Sends the lanes of `taken` (a part of `active`, both within the top entry) to `target` and the rest of the top
  /// entry to the next instruction. Returns whether the warp split.
  bool branch(const Op& op, trace::LaneMask taken);
  /// Lanes leave the kernel.
  void exit(trace::LaneMask lanes);
  /// Moves to the next instruction, or joins the lanes waiting there.
  void advance() {
    ++stack_.back().pc;
    if (stack_.back().pc == stack_.back().reconvergence) settle();
  }
  // Divergence::barriers (warp_groups.cpp). A group is an entry of lanes that none above it has; other entries wait for
  // lanes above. The order of groups in the stack says which runs first, and nothing else.

  /// The lanes of all entries above this one.
  trace::LaneMask lanes_above(std::size_t entry) const;
  bool is_group(std::size_t entry) const {
    return stack_[entry].mask != 0 && (stack_[entry].mask & lanes_above(entry)) == 0;
  }
  /// The topmost entry that has the lane, which is live.
  std::size_t entry_of(unsigned lane) const;
  const std::vector<StackEntry>& stack() const { return stack_; }
  /// Puts a group on top.
  void bring_up(std::size_t entry);
  /// Lanes that wait to meet others go ahead without them, as a group on top. False if none waits.
  bool release_waiting();
  /// Groups at one instruction become one, on top, until split_up().
  void unite(trace::LaneMask lanes);
  /// Behind that instruction.
  void split_up();

  /// Drops entries that are empty or have reached their reconvergence point.
  void settle();

  /// The lanes in which each byte of a register was ever written.
  WrittenBytes written_bytes(unsigned reg) const {
    WrittenBytes all = parts_[reg];
    for (trace::LaneMask& byte : all) byte |= written[reg];
    return all;
  }
  /// In `lanes`, these bytes of a register have been written, and no others.
  void set_written(unsigned reg, trace::LaneMask lanes, const WrittenBytes& bytes, const Unwritten& others = {}) {
    const trace::LaneMask whole = bytes[0] & bytes[1] & bytes[2] & bytes[3];
    written[reg] = (written[reg] & ~lanes) | (whole & lanes);
    for (unsigned b = 0; b < 4; ++b) parts_[reg][b] = (parts_[reg][b] & ~lanes) | (bytes[b] & lanes);
    if ((lanes & ~whole) != 0) unwritten[reg] = others;
  }

  void save(WarpSnapshot& to) const;
  /// Same instruction, lanes, and lanes that wait.
  bool at_same_place(const WarpSnapshot& then) const;
  bool holds_same(const WarpSnapshot& then, const RegisterSet& which) const;

  /// Writes the clocks into their slots.
  void refresh_clocks();

  WarpRegs regs;
  std::array<trace::LaneMask, 8> predicates{};
  std::array<trace::LaneMask, 8> predicate_written{};
  std::vector<trace::LaneMask> written;  ///< per register, lanes ever written, all bytes of them
  std::vector<Unwritten> unwritten;      ///< per register, of the lanes that are not in `written`
  std::array<Unwritten, 8> predicate_unwritten{};
  WarpState state = WarpState::ready;
  std::uint32_t barrier = 0;          ///< number, while at_barrier
  std::uint32_t barrier_threads = 0;  ///< expected there, 0 = all
  std::uint32_t barrier_op = 0;       ///< position of the bar, setmaxnreg or mbarrier wait that it waits at
  std::uint64_t cluster_phase = 0;    ///< of the cluster's barrier: the one that it has arrived in, until it has waited
  std::uint32_t registers = 0;        ///< of a thread, where the kernel changes it; a multiple of 8
  std::uint32_t budgets_set = 0;      ///< setmaxnreg executed
  trace::LaneMask barrier_lanes = 0;  ///< that came to it
  trace::LaneMask barrier_vote = 0;   ///< bar.red: the predicate, in those lanes
  std::uint64_t executed = 0;         ///< warp instructions
  trace::LaneMask held = 0;           ///< of groups that wait at an instruction for other lanes of the warp
  trace::LaneMask spun = 0;           ///< of groups that have polled in vain: others go first
  trace::LaneMask tried = 0;          ///< of groups that have had a turn since nothing has changed any more ...
  std::uint64_t tried_epoch = 0;      ///< ... in this epoch
  bool polls_in_vain = false;         ///< the group on top
  bool left_stack_order = false;
  /// What the last strong reads have found, to tell that nothing changes.
  struct Poll {
    std::uint32_t position = UINT32_MAX;
    std::uint32_t times = 0;
    std::uint64_t found = 0;  ///< hash of lanes, addresses and values
  };
  std::array<Poll, 4> polls{};
  unsigned next_poll = 0;
  std::unique_ptr<trace::WarpEncoder> encoder;

 private:
  void restack(std::vector<StackEntry> next);
  void push(std::uint32_t pc, std::uint32_t reconvergence, trace::LaneMask mask, bool parked);
  void fill_special(std::size_t slot, const WarpPlace& place);
  std::uint32_t* special_slot(std::size_t slot) { return regs.bank[2] + slot * 2 * program_.lanes; }

  Program& program_;
  unsigned number_;
  bool specials_are_filled_ = false;  ///< those that are the same for every CTA of the launch
  trace::LaneMask live_ = 0;
  std::vector<StackEntry> stack_;
  std::vector<StackEntry> united_;   ///< the groups that the top consists of
  std::vector<WrittenBytes> parts_;  ///< per register, of lanes that are not in `written`
  std::vector<AlignedWords> registers_;
  std::vector<AlignedWords> specials_;
};

}  // namespace regatta::emulator

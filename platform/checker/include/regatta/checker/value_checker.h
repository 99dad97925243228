// SPDX-License-Identifier: Apache-2.0
//
// The value checker keeps every warp's architectural registers, taken from the trace, and compares every operand that
// an execution unit receives. If a storage scheme loses, corrupts or returns a stale register, the first instruction
// that reads it exposes the error. The same for shared memory, if its contents are modelled and in the trace.
#pragma once

#include <regatta/protocol/observer.h>
#include <regatta/protocol/warp_registers.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regatta::checker {

/// The first difference found.
struct Mismatch {
  protocol::Cycle cycle;
  std::uint32_t launch = 0;
  protocol::WarpInfo warp;
  std::uint64_t pc = 0;  ///< bytes
  std::string opcode;
  unsigned reg = 0;
  std::string operand;  ///< of a matrix product: the register's place in a fragment, "A1"; else empty
  /// Of a word of shared memory instead of a register: its first byte, from the start of the CTA's shared memory.
  std::optional<std::uint32_t> shared_offset;
  protocol::LaneMask lanes = 0;  ///< active lanes that differ
  unsigned lane = 0;             ///< the first of them, with its values
  std::uint32_t expected = 0;
  std::uint32_t got = 0;
  /// The registers that a thread of the warp had, if `reg` is none of them (setmaxnreg): it has no value there. Else 0.
  unsigned budget = 0;
  std::string origin;  ///< where the value came from: "bank 3", "sm0.wir.reuse_buffer, physical register 17"
  std::uint32_t ptx_line = 0;
  std::string kernel;
  /// The value belongs to a load that was not executed: it is another warp's result, which may differ if the program
  /// races. The message then states what the trace knows about races.
  bool reused_load = false;
  trace::RaceCheck races = trace::RaceCheck::unchecked;
  /// All of the above in one paragraph.
  std::string message() const;
};

class ValueChecker : public protocol::Observer {
 public:
  /// `on_mismatch` is called once, at the first mismatch; it is expected to stop the run.
  explicit ValueChecker(std::function<void(const Mismatch&)> on_mismatch);
  /// Asked for the origin of a bypassed instruction's wrong result.
  using ResultOrigin = std::function<std::string(const protocol::DynamicInstruction&, unsigned destination)>;
  void set_result_origin(ResultOrigin origin) { result_origin_ = std::move(origin); }

  std::vector<protocol::Event> interests() const override;
  bool keeps_cycle_time() const override { return true; }
  void kernel_started(protocol::Cycle, const protocol::KernelContext& context) override;
  void warp_started(protocol::Cycle, const protocol::WarpInfo& warp) override;
  void issued(protocol::Cycle, const protocol::DynamicInstruction& d) override;
  void operands_delivered(protocol::Cycle, const protocol::DynamicInstruction& d) override;
  void bypassed(protocol::Cycle, const protocol::DynamicInstruction& d) override;
  void cta_launched(protocol::Cycle, const protocol::CtaInfo& cta) override;
  void shared_accessed(protocol::Cycle, const protocol::SharedAccess& access, bool write,
                       const protocol::SharedWords& words) override;

  /// Warp registers compared, and mismatches.
  std::uint64_t operands_checked() const { return operands_checked_; }
  /// Words of shared memory that lanes read and that were compared: those that the CTA had written.
  std::uint64_t shared_words_checked() const { return shared_words_checked_; }
  std::uint64_t mismatches() const { return mismatches_; }
  const std::vector<Mismatch>& found() const { return found_; }

 private:
  std::size_t architectural(protocol::WarpSlot warp, unsigned reg) const {
    return warp.value() * std::size_t{registers_per_warp_} + reg;
  }
  static std::size_t expected(const protocol::DynamicInstruction& d, unsigned operand) {
    return std::size_t{d.pool_index} * trace::max_source_registers + operand;
  }
  void note_written(const protocol::DynamicInstruction& d);
  /// Of a kernel with setmaxnreg: reports a register that the warp does not have.
  void follow_budget(protocol::Cycle cycle, const protocol::DynamicInstruction& d);
  /// The message's parts that do not depend on where the value was.
  Mismatch describe(protocol::Cycle cycle, const protocol::DynamicInstruction& d) const;
  void tell(const Mismatch& mismatch);
  void report(protocol::Cycle cycle, const protocol::DynamicInstruction& d, unsigned reg, protocol::LaneMask lanes,
              const std::uint32_t* expected, const std::uint32_t* got, const std::string& origin, bool bypassed);

  std::function<void(const Mismatch&)> on_mismatch_;
  ResultOrigin result_origin_;
  unsigned registers_per_warp_ = 1;
  unsigned warp_size_ = 32;
  std::size_t value_bytes_ = 128;
  std::uint32_t launch_ = 0;
  std::string kernel_;
  trace::RaceCheck races_ = trace::RaceCheck::unchecked;
  protocol::LaneMask all_lanes_ = 0;
  protocol::WarpRegisters registers_;
  std::vector<protocol::WarpInfo> warps_;
  protocol::WarpRegisters expected_;  ///< by pool index and operand: sources at issue
  /// For kernels that may read lanes that they never wrote, which have no value to compare: the lanes written since the
  /// warp's start, by register, and at issue, by pool index and operand.
  bool reads_unwritten_ = false;
  std::vector<protocol::LaneMask> written_, expected_written_;
  std::vector<unsigned> budgets_;  ///< by warp slot, registers of a thread; of a kernel with setmaxnreg
  unsigned launch_budget_ = 0;     ///< 0: the kernel has none
  /// Shared memory of a resident CTA as its accesses leave it, in the order in which they are made, and which of its
  /// bytes it has written: others have no value to compare.
  struct SharedMemory {
    std::vector<std::uint8_t> bytes;
    std::vector<bool> written;
  };
  std::vector<SharedMemory> shared_;  ///< by CTA slot
  bool shared_values_ = false;        ///< the trace has what writes of shared memory leave there
  std::vector<Mismatch> found_;
  std::uint64_t operands_checked_ = 0;
  std::uint64_t shared_words_checked_ = 0;
  std::uint64_t mismatches_ = 0;
};

}  // namespace regatta::checker

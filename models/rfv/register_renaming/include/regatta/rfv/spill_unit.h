// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regatta/baseline/memory_requester.h>
#include <regatta/protocol/lifecycle.h>
#include <regatta/protocol/payload.h>
#include <regatta/protocol/request_rules.h>
#include <regatta/rfv/renaming_config.h>
#include <regatta/support/clock_domain.h>
#include <regatta/support/ring.h>
#include <regatta/support/stats.h>
#include <regatta/trace/rfv.h>

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Commands for moves between the register file and memory, each for registers of one warp. The unit works at one
/// command in each direction.
class RegisterMoves : public virtual sc_core::sc_interface {
 public:
  /// Whether a command to spill may be given, and one to refill.
  virtual bool may_spill() const = 0;
  virtual bool may_refill() const = 0;
  /// Reads the registers, which have rows, from the file and writes them to memory.
  virtual void spill(protocol::WarpSlot warp, trace::RfvRegisters registers) = 0;
  /// Reads the lines of registers that were spilled from memory and writes them to the file, where they have rows.
  virtual void refill(protocol::WarpSlot warp, trace::RfvRegisters registers) = 0;
  /// The state of the unit, a line for the report of a deadlock; empty if it is idle.
  virtual std::string describe() const = 0;
};

/// What has become of the registers of a command.
class MovedRegisters : public virtual sc_core::sc_interface {
 public:
  /// The register has been read from the file. False: its value is not needed any more, and not written to memory.
  virtual bool left(protocol::WarpSlot warp, protocol::RegisterId reg) = 0;
  /// The register has been written to the file.
  virtual void returned(protocol::WarpSlot warp, protocol::RegisterId reg) = 0;
};

/// Moves registers between the file and lines of memory (RFV, MICRO 2015: the last resort of a small file).
///
/// One register is read from the file per cycle at most, and one written; both yield to operands and results at its
/// bank. A buffer entry holds a register from its read, or from the request of its lines, until memory, or the file,
/// has taken it. A register has lines of its own at a fixed address, which pass the L1: as many as its lanes fill.
class SpillUnit : public sc_core::sc_module,
                  public RegisterMoves,
                  public protocol::LifecycleListener,
                  public support::StatProvider,
                  tlm::tlm_bw_transport_if<>,
                  MemoryRequesterClient {
 public:
  sc_core::sc_export<RegisterMoves> moves;
  sc_core::sc_port<MovedRegisters> moved;
  protocol::OperandInitiatorSocket file_reads;
  protocol::OperandInitiatorSocket file_writes;

  SpillUnit(const sc_core::sc_module_name& name, const RenamingConfig& config, const LineMemory& memory,
            support::ClockDomain& clock);

  protocol::MemoryInitiatorSocket& memory() { return memory_.socket; }

  void end_of_elaboration() override { moved_ = moved.operator->(); }
  void kernel_started(const protocol::KernelContext& context) override;

  bool may_spill() const override { return out_.registers == 0 && !reading_; }
  bool may_refill() const override { return in_.registers == 0 && incoming_ == 0; }
  void spill(protocol::WarpSlot warp, trace::RfvRegisters registers) override;
  void refill(protocol::WarpSlot warp, trace::RfvRegisters registers) override;
  std::string describe() const override;

  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

 protected:
  struct Place {
    protocol::WarpSlot warp;
    protocol::RegisterId reg;
  };
  /// Of the first line of a register that is written to memory, or read. Replaced by tests that plant a fault.
  virtual std::uint64_t address(const Place& place, bool is_read) const;

 private:
  struct Command {
    protocol::WarpSlot warp;
    trace::RfvRegisters registers = 0;  ///< still to be begun
    unsigned next() const { return static_cast<unsigned>(__builtin_ctzll(registers)); }
  };
  /// A register between the file and memory.
  struct Entry {
    Place place;
    unsigned lines = 0;       ///< that memory has not answered
    std::uint64_t ready = 0;  ///< cycle from which the value is here
    bool from_memory = false;
    trace::WarpValue value;
  };
  using EntryNumber = std::uint32_t;

  void work();
  bool needs_cycle() const;
  void read_file();
  /// The register has been read; its value is in the buffer in cycle `ready`.
  void read_done(std::uint64_t ready);
  void write_memory(std::uint64_t now);
  void read_memory();
  void write_file(std::uint64_t now);
  void write_done();
  EntryNumber take_entry(Command& command, bool from_memory);
  void free_entry(EntryNumber entry);
  void account();

  void memory_answered(std::uint32_t tag, const unsigned char* data, std::uint64_t when) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  const protocol::AnswerRules answer_rules_{file_reads, file_writes};
  support::ClockDomain& clock_;
  MemoryRequester memory_;
  support::CycleClient wakeup_;
  MovedRegisters* moved_ = nullptr;
  const unsigned line_bytes_;
  const std::uint64_t base_;  ///< address of the first register of the first warp
  unsigned warp_size_ = 32;
  unsigned lines_ = 1;  ///< of a register

  Command out_, in_;
  std::vector<Entry> entries_;
  std::vector<EntryNumber> free_;
  support::Ring<EntryNumber> to_memory_;  ///< read from the file
  support::Ring<EntryNumber> to_file_;    ///< all their lines have come
  std::optional<EntryNumber> reading_;    ///< whose register the file is to deliver
  bool writing_ = false;                  ///< the front of to_file_ waits for its bank
  unsigned incoming_ = 0;                 ///< entries of the refill
  protocol::OperandPayload read_, write_;

  bool busy_ = false;
  std::uint64_t busy_since_ = 0;
  std::uint64_t spilled_ = 0, refilled_ = 0, dropped_ = 0, lines_written_ = 0, lines_read_ = 0, busy_cycles_ = 0;
};

}  // namespace regatta::models

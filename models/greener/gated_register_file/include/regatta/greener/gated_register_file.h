// SPDX-License-Identifier: Apache-2.0
//
// The banked register file with a window of rows per warp, rows that sleep transistors switch, and room for a codec
// between its ports and its rows. With every row on, fixed windows and no codec it is the conventional file, to the
// cycle.
#pragma once

#include <regatta/baseline/row_power.h>
#include <regatta/baseline/windowed_file.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/support/clock_domain.h>

#include <cstdint>
#include <map>
#include <memory>
#include <systemc>
#include <vector>

namespace regatta::models {

/// Sockets, timing and back-pressure: BankedFile. An access to a row that is waking is done when it could be accessed,
/// plus the latency. A row that sleeps must not be accessed: a fault, reported with warp, register and row. A row that
/// is off gives the complement of what it held, so that a value wrongly lost is a value mismatch, and takes no writes.
///
/// Moves of registers (move_reads, move_writes) wake the rows that they access; a register that its listeners know to
/// be dead is moved without its row, and arrives with any value.
///
/// Banks are those of the register's number, as in the conventional file, wherever its row is: moving windows cost no
/// conflicts (aging paper, section 5.2: RAR has no effect on time).
class GatedRegisterFile : public WindowedFile<GatedRegisterFile>,
                          public RowCells,
                          public RowCodecClient,
                          public RowAccounts {
 public:
  sc_core::sc_port<RowPower> power;    ///< the controller of its rows
  sc_core::sc_export<RowCells> cells;  ///< what the controller tells

  GatedRegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
                    std::unique_ptr<WindowPolicy> windows, support::ClockDomain& clock);

  /// The codec outlives the file. `partial_read`: of the energy of a row's read, what one of a register that the codec
  /// keeps elsewhere takes.
  void set_codec(RowCodec& codec, double partial_read);
  /// Told in this order; they outlive the file.
  void add_listener(RowListener& listener) { listeners_.push_back(&listener); }
  /// The same, and the file owns it.
  void own_listener(std::unique_ptr<RowListener> listener);
  void add_observer(RowObserver& observer) { observers_.push_back(&observer); }

  void kernel_started(const protocol::KernelContext& context) override;
  void warp_started(const protocol::WarpInfo& warp) override;
  void warp_finished(const protocol::WarpInfo& warp) override;
  void window_entered(protocol::WarpSlot warp) override;
  void window_shared(protocol::WarpSlot from, protocol::WarpSlot to) override;
  void window_leaves(protocol::WarpSlot warp) override;
  bool stored_all(protocol::WarpSlot first, unsigned warps) const override;
  void lost(Row row, unsigned from, unsigned to) override;
  void codec_ready(const protocol::WarpAccess& access) override;
  void register_stats(support::StatGroup& group) override;
  void register_energy(support::EnergyGroup& group) override;

  std::uint64_t accesses() const override { return row_reads_ + elsewhere_reads_ + writes_; }
  std::uint64_t row_reads() const { return row_reads_; }
  std::uint64_t row_writes() const { return row_writes_; }
  double allocated_row_cycles() const override;

 private:
  friend class BankedFile<GatedRegisterFile>;
  void end_of_elaboration() override {
    WindowedFile::end_of_elaboration();
    power_ = power.operator->();
  }
  static constexpr bool answers_late = true;
  unsigned bank(const tlm::tlm_generic_payload&, const protocol::WarpAccess& access) const {
    return bank_of(access.warp, access.reg);
  }
  /// An access that waits for the codec, or a write that waits for such reads of its row: the accesses to a row stay in
  /// order, as at a bank that answers at once.
  struct Deferred {
    tlm::tlm_generic_payload* payload = nullptr;
    unsigned bank = 0;
    Row row;
    std::uint64_t done = 0;  ///< if the codec had answered at once
    bool behind_reads = false;
  };
  std::uint64_t defer(tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access, unsigned bank, Row row,
                      std::uint64_t done, bool behind_reads);
  bool read_waits(Row row) const;
  void retry(const protocol::WarpAccess& access);
  std::uint64_t transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank,
                         std::uint64_t done);
  void debug_transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank);
  std::uint64_t wait_for(Row row, const protocol::WarpAccess& access, bool write, std::uint64_t done);
  /// Two warps with the same window, while registers are exchanged.
  struct Shared {
    protocol::WarpSlot from, to;
    protocol::GeneralRegisters written{};  ///< registers of `to` that are in their rows
  };
  [[gnu::noinline]] void note_written(const protocol::WarpAccess& access);
  /// Tells the listeners of a move's access; whether the register holds a value.
  [[gnu::noinline]] bool announce_move(Row row, const protocol::WarpAccess& access, bool into_file);
  std::uint64_t read(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, Row row, std::uint64_t done);
  std::uint64_t write(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, Row row, std::uint64_t done);
  void account_rows(int change);
  /// Tells the listeners of the rows that the launch's warps can have at once.
  void reserve_rows(const protocol::KernelContext& context);

  RowPower* power_ = nullptr;
  RowCodec* codec_ = nullptr;
  std::map<const protocol::WarpAccess*, Deferred> deferred_;
  double partial_read_ = 0;
  std::vector<RowListener*> listeners_;
  std::vector<std::unique_ptr<RowListener>> owned_;
  std::vector<RowObserver*> observers_;
  std::vector<Shared> shared_;
  protocol::WarpRegisters rows_;

  std::uint64_t row_reads_ = 0, elsewhere_reads_ = 0, writes_ = 0, row_writes_ = 0;
  std::uint64_t late_accesses_ = 0, late_cycles_ = 0, reads_of_lost_ = 0, writes_lost_ = 0, dead_moves_ = 0;
  std::uint64_t allocated_rows_ = 0, allocated_since_ = 0, allocated_row_cycles_ = 0;
};

}  // namespace regatta::models

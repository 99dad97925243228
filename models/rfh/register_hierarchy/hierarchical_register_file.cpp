// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfh/hierarchical_register_file.h>

#include <regatta/support/energy.h>

#include <algorithm>

namespace regatta::models {

using protocol::LaneMask;
using protocol::Origin;
using protocol::WarpAccess;

HierarchicalRegisterFile::HierarchicalRegisterFile(const sc_core::sc_module_name& name,
                                                   const RegisterFileConfig& config, support::ClockDomain& clock)
    : WindowedFile(name, config, std::make_unique<FixedWindows>(), clock), slots("slots"), orf("orf"), lrf("lrf") {
  rows_.resize(config.registers, 32);
}

void HierarchicalRegisterFile::end_of_elaboration() {
  WindowedFile::end_of_elaboration();
  slots_ = slots.operator->();
  orf_ = orf.operator->();
  lrf_ = lrf.operator->();
}

void HierarchicalRegisterFile::kernel_started(const protocol::KernelContext& context) {
  WindowedFile::kernel_started(context);
  rows_.resize(config_.registers, context.warp_size);
  levels_ = operand_levels(rfh_plan_of(*context.kernel), context);
}

std::uint64_t HierarchicalRegisterFile::read(Payload& payload, WarpAccess& access, unsigned level, unsigned bank,
                                             std::uint64_t done) {
  auto* const data = reinterpret_cast<std::uint32_t*>(payload.get_data_ptr());
  if ((level & level_main) == 0) {
    done = read_entry(data, access, level, done - config_.latency - config_.arbitration);
  } else {
    ++main_reads_;
    copy_row(payload, rows_[row_of(access)]);
    access.origin = Origin{"bank", bank};
    if (names_entry(level)) copies_[access.operand] = {data, done};
  }
  if (access.instruction == nullptr || access.instruction->injected) return done;
  const OperandLevels& l = levels_[access.instruction->traits->index];
  if (__builtin_expect(static_cast<int>(l.copies != 0), 0) != 0 && access.operand == l.last_read) {
    copy_to_entries(access, l);
  }
  return done;
}

std::uint64_t HierarchicalRegisterFile::read_entry(std::uint32_t* data, WarpAccess& access, unsigned level,
                                                   std::uint64_t at) {
  const unsigned slot = slots_->slot(access.warp);
  const bool last = (level & level_last) != 0;
  ThreadEntries& file = last ? *lrf_ : *orf_;
  const unsigned entry = last ? lrf_entry_of(level) : level & level_orf_entry;
  if (__builtin_expect(static_cast<int>(slot == EntrySlots::none), 0) != 0) {
    // A warp outside of the active set has no entry: what it gets is not the register.
    access.origin = Origin{"no entry of slot", access.warp.value()};
    const std::uint32_t* const row = rows_[row_of(access)];
    std::transform(row, row + warp_size_, data, [](std::uint32_t lane) { return ~lane; });
    ++homeless_reads_;
    return at + file.cycles();
  }
  access.origin = Origin{last ? "last-result file, slot" : "operand register file, slot", slot};
  return file.read(slot, entry, access.instruction->active, data, at);
}

void HierarchicalRegisterFile::copy_to_entries(const WarpAccess& access, const OperandLevels& levels) {
  for (unsigned m = levels.copies; m != 0; m &= m - 1) {
    const auto operand = static_cast<unsigned>(__builtin_ctz(m));
    const Copy& copy = copies_[operand];
    ++copied_;
    write_entries(access, levels.reads[operand], access.instruction->active, copy.data, copy.done);
  }
}

void HierarchicalRegisterFile::write_entries(const WarpAccess& access, unsigned level, LaneMask lanes,
                                             const std::uint32_t* data, std::uint64_t ready) {
  const unsigned slot = slots_->slot(access.warp);
  if ((level & level_last) != 0) {
    slot == EntrySlots::none ? void(++dropped_) : lrf_->write(slot, lrf_entry_of(level), lanes, data, ready);
  }
  if ((level & level_orf) != 0) {
    slot == EntrySlots::none ? void(++dropped_) : orf_->write(slot, level & level_orf_entry, lanes, data, ready);
  }
}

std::uint64_t HierarchicalRegisterFile::write(Payload& payload, WarpAccess& access, unsigned level,
                                              std::uint64_t done) {
  const bool main = (level & level_main) != 0;
  if (main) {
    ++main_writes_;
    copy_row(payload, rows_[row_of(access)]);
    if (!names_entry(level)) return done;
  }
  // Without a bank the access is done after the latency of one.
  const std::uint64_t now = main ? clock_.now() : done - config_.latency;
  const bool last = (level & level_last) != 0, operand = (level & level_orf) != 0;
  std::uint64_t written = main ? done : 0;
  if (last) written = std::max(written, now + lrf_->cycles());
  if (operand) written = std::max(written, now + orf_->cycles());
  further_writes_ += (main ? 1u : 0u) + (last ? 1u : 0u) + (operand ? 1u : 0u) - 1;
  // Whoever reads the register waits for the scoreboard, which waits for `written`.
  write_entries(access, level, access.lanes, reinterpret_cast<const std::uint32_t*>(payload.get_data_ptr()), now);
  return written;
}

void HierarchicalRegisterFile::register_stats(support::StatGroup& g) {
  WindowedFile::register_stats(g);
  g.counter("main_reads", main_reads_, "warp registers", "read from the main file");
  g.counter("main_writes", main_writes_, "warp registers", "written to the main file");
  g.counter("copies", copied_, "warp registers", "read from the main file that were written to an entry");
  g.counter("further_writes", further_writes_, "warp registers", "of results that are written to more than one level");
  g.counter("homeless_reads", homeless_reads_, "warp registers",
            "of an entry, by a warp outside of the active set: the annotation is wrong");
  g.counter("dropped", dropped_, "warp registers",
            "that came for an entry when the warp had left the active set: no strand reads them");
}

void HierarchicalRegisterFile::register_energy(support::EnergyGroup& g) {
  // As in the conventional file, an access moves a whole row.
  const double rows = warp_size_ / 32.0;
  const support::ArrayGeometry size{double(config_.registers) * warp_size_ * trace::bytes_per_lane,
                                    double(config_.banks)};
  g.event("register_structures", "register_file.read", main_reads_, rows, size);
  g.event("register_structures", "register_file.write", main_writes_, rows, size);
  register_move_energy(g, rows, size);
  if (!rows_switched()) g.leakage("register_structures", "register_file.leakage", size);
}

}  // namespace regatta::models

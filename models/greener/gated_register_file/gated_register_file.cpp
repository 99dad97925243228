// SPDX-License-Identifier: Apache-2.0
#include <regatta/greener/gated_register_file.h>

#include <regatta/support/energy.h>

#include <algorithm>

namespace regatta::models {

using protocol::Cycle;
using protocol::RegisterId;

GatedRegisterFile::GatedRegisterFile(const sc_core::sc_module_name& name, const RegisterFileConfig& config,
                                     std::unique_ptr<WindowPolicy> windows, support::ClockDomain& clock)
    : WindowedFile(name, config, std::move(windows), clock), power("power"), cells("cells") {
  cells.bind(*this);
  rows_.resize(config.registers, 32);
}

void GatedRegisterFile::set_codec(RowCodec& codec, double partial_read) {
  codec_ = &codec;
  codec.set_client(*this);
  partial_read_ = partial_read;
}

void GatedRegisterFile::own_listener(std::unique_ptr<RowListener> listener) {
  add_listener(*listener);
  owned_.push_back(std::move(listener));
}

void GatedRegisterFile::kernel_started(const protocol::KernelContext& context) {
  WindowedFile::kernel_started(context);
  rows_.resize(config_.registers, context.warp_size);
  account_rows(-static_cast<int>(allocated_rows_));
  shared_.clear();
  for (RowObserver* o : observers_) {
    o->kernel_started(Cycle(clock_.now()), config_.registers, context.warp_size);
  }
  for (RowListener* l : listeners_) l->rows_started(config_.registers, context.warp_size);
  reserve_rows(context);
}

void GatedRegisterFile::reserve_rows(const protocol::KernelContext& context) {
  const unsigned warps = context.resident_ctas * context.warps_per_cta;
  if (warps == 0) return;
  std::vector<Row> rows;
  for (unsigned slot = 0; slot < warps; ++slot) {
    const auto window = windows_->first_window(protocol::WarpSlot(static_cast<std::uint16_t>(slot)));
    if (!window) break;
    for (unsigned r = 0; r < registers_per_warp_; ++r) {
      rows.push_back(window->row(RegisterId(static_cast<std::uint8_t>(r))));
    }
  }
  for (RowListener* l : listeners_) l->rows_reserved(rows);
}

void GatedRegisterFile::warp_started(const protocol::WarpInfo& warp) {
  WindowedFile::warp_started(warp);
  window_entered(warp.warp);
}

void GatedRegisterFile::warp_finished(const protocol::WarpInfo& warp) {
  if (mapping_.mapped(warp.warp)) window_leaves(warp.warp);
  WindowedFile::warp_finished(warp);
}

void GatedRegisterFile::window_entered(protocol::WarpSlot warp) {
  account_rows(static_cast<int>(registers_per_warp_));
  for (RowListener* l : listeners_) l->window_taken(warp, mapping_.window(warp), registers_per_warp_);
}

void GatedRegisterFile::window_shared(protocol::WarpSlot from, protocol::WarpSlot to) {
  shared_.push_back(Shared{from, to, {}});
  for (RowListener* l : listeners_) l->window_shared(from, to, mapping_.window(to));
}

void GatedRegisterFile::window_leaves(protocol::WarpSlot warp) {
  const RegisterWindow& window = mapping_.window(warp);
  const auto shared =
      std::find_if(shared_.begin(), shared_.end(), [&](const Shared& s) { return s.from == warp || s.to == warp; });
  if (shared == shared_.end()) {
    account_rows(-static_cast<int>(registers_per_warp_));
    for (RowListener* l : listeners_) l->window_left(warp, window, registers_per_warp_);
    return;
  }
  const Shared s = *shared;
  shared_.erase(shared);
  constexpr std::uint64_t all = ~std::uint64_t{0};
  const protocol::GeneralRegisters held = s.from == warp ? s.written : protocol::GeneralRegisters{all, all, all, all};
  const protocol::WarpSlot owner = s.from == warp ? s.to : s.from;
  for (RowListener* l : listeners_) l->window_kept(owner, warp, window, registers_per_warp_, held);
}

bool GatedRegisterFile::stored_all(protocol::WarpSlot first, unsigned warps) const {
  return std::none_of(deferred_.begin(), deferred_.end(), [&](const auto& d) {
    const protocol::WarpAccess& access = *d.first;
    return d.second.payload->is_write() && access.instruction != nullptr && access.warp.value() >= first.value() &&
           access.warp.value() < first.value() + warps;
  });
}

void GatedRegisterFile::note_written(const protocol::WarpAccess& access) {
  for (Shared& s : shared_) {
    if (s.to == access.warp) protocol::add(s.written, access.reg);
  }
}

bool GatedRegisterFile::announce_move(Row row, const protocol::WarpAccess& access, bool into_file) {
  bool holds_value = true;
  for (RowListener* l : listeners_) holds_value = l->moves(access, row, into_file) && holds_value;
  dead_moves_ += holds_value ? 0 : 1;
  return holds_value;
}

void GatedRegisterFile::account_rows(int change) {
  const std::uint64_t now = clock_.now();
  allocated_row_cycles_ += allocated_rows_ * (now - allocated_since_);
  allocated_since_ = now;
  allocated_rows_ += static_cast<std::uint64_t>(static_cast<std::int64_t>(change));
}

double GatedRegisterFile::allocated_row_cycles() const {
  return static_cast<double>(allocated_row_cycles_ + allocated_rows_ * (clock_.now() - allocated_since_));
}

void GatedRegisterFile::lost(Row row, unsigned from, unsigned to) {
  constexpr unsigned word_bits = 32;
  std::uint32_t* cells = rows_[row.value()];
  while (from < to) {
    const unsigned bit = from % word_bits;
    const unsigned count = std::min(word_bits - bit, to - from);
    const std::uint32_t mask = count == word_bits ? ~0u : ((1u << count) - 1) << bit;
    cells[from / word_bits] ^= mask;
    from += count;
  }
}

/// Completion cycle of an access to the row; `done` is the cycle in which it would complete if the row were on.
std::uint64_t GatedRegisterFile::wait_for(Row row, const protocol::WarpAccess& access, bool write, std::uint64_t done) {
  const bool is_move = access.instruction == nullptr;
  const bool holds_value = !is_move || announce_move(row, access, write);
  const Cycle ready = power_->ready(row);
  if (ready == protocol::never) {
    // Nobody uses the operands of an instruction without active lanes.
    const bool wanted = is_move ? holds_value : access.instruction->active != 0;
    if (wanted && power_->state(row) == PowerState::sleep) {
      SC_REPORT_ERROR("regatta/gated_register_file",
                      ("row " + std::to_string(row.value()) + ", register R" + std::to_string(access.reg.value()) +
                       " of warp " + std::to_string(access.warp.value()) + ", is accessed in cycle " +
                       std::to_string(clock_.now()) + " while it sleeps")
                          .c_str());
    }
    return done;
  }
  const std::uint64_t at = done - config_.latency;
  if (ready.value() <= at) return done;
  ++late_accesses_;
  late_cycles_ += ready.value() - at;
  return ready.value() + config_.latency;
}

std::uint64_t GatedRegisterFile::read(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, Row row,
                                      std::uint64_t done) {
  std::uint32_t* cells = rows_[row.value()];
  auto* const values = reinterpret_cast<std::uint32_t*>(payload.get_data_ptr());
  const RowCodec::Read how = codec_ == nullptr ? RowCodec::Read::row : codec_->read(access, row, cells, values);
  if (__builtin_expect(static_cast<int>(how == RowCodec::Read::later), 0) != 0) return later;
  if (codec_ == nullptr || codec_->needs_row(row)) {
    done = wait_for(row, access, false, done);
    ++row_reads_;
    if (power_->ready(row) == protocol::never) ++reads_of_lost_;
  } else {
    ++elsewhere_reads_;
  }
  if (how == RowCodec::Read::row) copy_row(payload, cells);
  for (RowListener* l : listeners_) l->was_read(access, row, Cycle(done));
  return done;
}

std::uint64_t GatedRegisterFile::write(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, Row row,
                                       std::uint64_t done) {
  std::uint32_t* cells = rows_[row.value()];
  bool stored = true;
  if (codec_ != nullptr) {
    const RowCodec::Stored s =
        codec_->write(access, row, reinterpret_cast<const std::uint32_t*>(payload.get_data_ptr()), cells, Cycle(done));
    if (__builtin_expect(static_cast<int>(s.later), 0) != 0) return later;
    stored = s.row_written;
    if (stored) done = wait_for(row, access, true, done);
    done += s.extra_cycles;
  } else {
    done = wait_for(row, access, true, done);
    stored = power_->ready(row) != protocol::never;
    if (stored) {
      copy_row(payload, cells);
    } else {
      ++writes_lost_;
    }
  }
  ++writes_;
  if (__builtin_expect(static_cast<int>(!shared_.empty()), 0) != 0) note_written(access);
  if (stored) {
    ++row_writes_;
    for (RowObserver* o : observers_) o->written(Cycle(done), row, cells, access.lanes);
  }
  for (RowListener* l : listeners_) l->was_written(access, row, Cycle(done));
  return done;
}

std::uint64_t GatedRegisterFile::transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access,
                                          unsigned bank, std::uint64_t done) {
  const Row row(row_of(access));
  if (payload.is_read()) {
    access.origin = protocol::Origin{"bank", bank};
    const std::uint64_t at = read(payload, access, row, done);
    return __builtin_expect(static_cast<int>(at == later), 0) != 0 ? defer(payload, access, bank, row, done, false)
                                                                   : at;
  }
  if (__builtin_expect(static_cast<int>(!deferred_.empty()), 0) != 0 && read_waits(row)) {
    return defer(payload, access, bank, row, done, true);
  }
  const std::uint64_t at = write(payload, access, row, done);
  return __builtin_expect(static_cast<int>(at == later), 0) != 0 ? defer(payload, access, bank, row, done, false) : at;
}

std::uint64_t GatedRegisterFile::defer(tlm::tlm_generic_payload& payload, const protocol::WarpAccess& access,
                                       unsigned bank, Row row, std::uint64_t done, bool behind_reads) {
  deferred_[&access] = Deferred{&payload, bank, row, done, behind_reads};
  return later;
}

bool GatedRegisterFile::read_waits(Row row) const {
  return std::any_of(deferred_.begin(), deferred_.end(),
                     [&](const auto& d) { return d.second.row == row && d.second.payload->is_read(); });
}

void GatedRegisterFile::retry(const protocol::WarpAccess& access) {
  const auto found = deferred_.find(&access);
  if (found == deferred_.end()) return;
  const Deferred d = found->second;
  deferred_.erase(found);
  const std::uint64_t done = std::max(d.done, clock_.now() + config_.latency);
  const std::uint64_t at = transfer(*d.payload, protocol::warp_access(*d.payload), d.bank, done);
  if (at != later) complete(*d.payload, at);
}

void GatedRegisterFile::codec_ready(const protocol::WarpAccess& access) {
  const auto found = deferred_.find(&access);
  if (found == deferred_.end()) return;
  const Row row = found->second.row;
  const bool was_read = found->second.payload->is_read();
  retry(access);
  if (!was_read || read_waits(row)) return;
  std::vector<const protocol::WarpAccess*> next;
  for (const auto& [other, d] : deferred_) {
    if (d.row == row && d.behind_reads) next.push_back(other);
  }
  for (const protocol::WarpAccess* const other : next) retry(*other);
}

void GatedRegisterFile::debug_transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank) {
  const Row row(row_of(access));
  std::uint32_t* cells = rows_[row.value()];
  access.origin = protocol::Origin{"bank", bank};
  if (payload.is_read() && codec_ != nullptr &&
      codec_->read(access, row, cells, reinterpret_cast<std::uint32_t*>(payload.get_data_ptr())) !=
          RowCodec::Read::row) {
    return;
  }
  copy_row(payload, cells);
}

void GatedRegisterFile::register_stats(support::StatGroup& g) {
  WindowedFile::register_stats(g);
  g.counter("row_reads", row_reads_, "warp registers", "read from their row");
  g.counter("elsewhere_reads", elsewhere_reads_, "warp registers", "read without their row: the codec had them");
  g.counter("row_writes", row_writes_, "warp registers", "written to their row");
  g.counter("late_accesses", late_accesses_, "warp registers", "that waited for their row to wake");
  g.counter("late_cycles", late_cycles_, "cycles", "that accesses waited for their row to wake, summed");
  g.counter("reads_of_lost", reads_of_lost_, "warp registers",
            "read from a row that is off, by instructions that no lane executes or by moves of dead registers");
  g.counter("writes_lost", writes_lost_, "warp registers", "written to a row that is off, or asleep by a move");
  if (move_reads.size() != 0) {
    g.counter("dead_moves", dead_moves_, "warp registers",
              "moved into the file or out of it, for which no row was woken: they are dead");
  }
  g.derived(
      "allocated_row_cycles", [this] { return allocated_row_cycles(); }, "row-cycles", "of rows of resident warps");
}

void GatedRegisterFile::register_energy(support::EnergyGroup& g) {
  // An access moves a whole row, whatever lanes are active: banks are not gated by lane. What leaks is the sleep
  // transistors' account.
  const double rows = warp_size_ / 32.0;
  const support::ArrayGeometry size{double(config_.registers) * warp_size_ * trace::bytes_per_lane,
                                    double(config_.banks)};
  g.event("register_structures", "register_file.read", row_reads_, rows, size);
  g.event("register_structures", "register_file.read", elsewhere_reads_, rows * partial_read_, size);
  g.event("register_structures", "register_file.write", row_writes_, rows, size);
}

}  // namespace regatta::models

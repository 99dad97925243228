// SPDX-License-Identifier: Apache-2.0
#include <regatta/rfv/spill_unit.h>

#include <regatta/base/address_map.h>
#include <regatta/support/energy.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace regatta::models {

using protocol::AccessClass;
using protocol::RegisterId;
using protocol::WarpSlot;

namespace {

constexpr std::uint64_t space_of_sm = std::uint64_t{1} << 32;  ///< bytes of address space
constexpr unsigned registers_of_warp = 64;                     ///< with a place in memory
/// A request's tag: a buffer entry, and which of its lines.
constexpr unsigned line_bits = 8;

}  // namespace

SpillUnit::SpillUnit(const sc_core::sc_module_name& name, const RenamingConfig& config, const LineMemory& memory,
                     support::ClockDomain& clock)
    : sc_module(name),
      moves("moves"),
      moved("moved"),
      file_reads("file_reads"),
      file_writes("file_writes"),
      clock_(clock),
      memory_("memory", memory, clock, *this),
      wakeup_(
          clock, [](void* s) { static_cast<SpillUnit*>(s)->work(); }, this),
      line_bytes_(memory.line_bytes),
      base_(base::first_address(base::Window::registers) + memory.sm * space_of_sm),
      entries_(config.spill_entries) {
  moves.bind(*this);
  file_reads.bind(*this);
  file_writes.bind(*this);
  for (EntryNumber e = config.spill_entries; e-- > 0;) free_.push_back(e);
}

void SpillUnit::kernel_started(const protocol::KernelContext& context) {
  warp_size_ = context.warp_size;
  lines_ = std::max(1u, warp_size_ * trace::bytes_per_lane / line_bytes_);
}

std::uint64_t SpillUnit::address(const Place& place, bool /*is_read*/) const {
  return base_ + (std::uint64_t{place.warp.value()} * registers_of_warp + place.reg.value()) * lines_ * line_bytes_;
}

void SpillUnit::spill(WarpSlot warp, trace::RfvRegisters registers) {
  out_ = Command{warp, registers};
  account();
  wakeup_.request(clock_.now() + 1);
}

void SpillUnit::refill(WarpSlot warp, trace::RfvRegisters registers) {
  in_ = Command{warp, registers};
  account();
  wakeup_.request(clock_.now() + 1);
}

SpillUnit::EntryNumber SpillUnit::take_entry(Command& command, bool from_memory) {
  const EntryNumber number = free_.back();
  free_.pop_back();
  Entry& e = entries_[number];
  e.place = Place{command.warp, RegisterId(static_cast<RegisterId::rep>(command.next()))};
  e.from_memory = from_memory;
  e.lines = lines_;
  command.registers &= command.registers - 1;
  return number;
}

void SpillUnit::free_entry(EntryNumber entry) {
  free_.push_back(entry);
  account();
}

/// Cycles of work, from the first command to the last answer of memory.
void SpillUnit::account() {
  const bool busy = out_.registers != 0 || in_.registers != 0 || free_.size() != entries_.size();
  if (busy == busy_) return;
  busy_ = busy;
  if (busy) {
    busy_since_ = clock_.now();
  } else {
    busy_cycles_ += clock_.now() - busy_since_;
  }
}

void SpillUnit::work() {
  const std::uint64_t now = clock_.now();
  // What came first leaves the buffer first.
  write_file(now);
  write_memory(now);
  read_file();
  read_memory();
  if (needs_cycle()) wakeup_.request(now + 1);
}

/// What waits for the file, for memory or for an entry is woken by them.
bool SpillUnit::needs_cycle() const {
  if (!to_memory_.empty() || (!to_file_.empty() && !writing_)) return true;
  return !free_.empty() && ((out_.registers != 0 && !reading_) || in_.registers != 0);
}

void SpillUnit::read_file() {
  if (out_.registers == 0 || reading_ || free_.empty()) return;
  reading_ = take_entry(out_, false);
  Entry& e = entries_[*reading_];
  read_.prepare(tlm::TLM_READ_COMMAND, e.place.warp, e.place.reg, trace::all_lanes(warp_size_), warp_size_, e.value);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (file_reads->nb_transport_fw(read_.payload(), phase, delay) == tlm::TLM_COMPLETED) {
    read_done(clock_.now() + clock_.cycles(delay));
  }
}

void SpillUnit::read_done(std::uint64_t ready) {
  const EntryNumber number = *reading_;
  reading_.reset();
  Entry& e = entries_[number];
  if (!moved_->left(e.place.warp, e.place.reg)) {
    ++dropped_;
    free_entry(number);
    return;
  }
  ++spilled_;
  e.ready = ready;
  to_memory_.push(number);
}

void SpillUnit::write_memory(std::uint64_t now) {
  if (to_memory_.empty() || entries_[to_memory_.front()].ready > now) return;
  const EntryNumber number = to_memory_.front();
  to_memory_.pop();
  const Entry& e = entries_[number];
  const auto* const bytes = reinterpret_cast<const unsigned char*>(e.value.lane.data());
  for (unsigned line = 0; line < lines_; ++line) {
    memory_.write(address(e.place, false) + std::uint64_t{line} * line_bytes_, AccessClass::register_write,
                  bytes + std::size_t{line} * line_bytes_, number << line_bits | line);
    ++lines_written_;
  }
}

/// Requests are sent in order, so the lines hold what was written to them earlier.
void SpillUnit::read_memory() {
  if (in_.registers == 0 || free_.empty()) return;
  const EntryNumber number = take_entry(in_, true);
  ++incoming_;
  for (unsigned line = 0; line < lines_; ++line) {
    memory_.read(address(entries_[number].place, true) + std::uint64_t{line} * line_bytes_, AccessClass::register_read,
                 static_cast<std::uint8_t>((1u << line_bytes_ / protocol::sector_bytes) - 1),
                 number << line_bits | line, true);
    ++lines_read_;
  }
}

void SpillUnit::write_file(std::uint64_t now) {
  if (to_file_.empty() || writing_) return;
  Entry& e = entries_[to_file_.front()];
  if (e.ready > now) return;
  write_.prepare(tlm::TLM_WRITE_COMMAND, e.place.warp, e.place.reg, trace::all_lanes(warp_size_), warp_size_, e.value);
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  if (file_writes->nb_transport_fw(write_.payload(), phase, delay) == tlm::TLM_COMPLETED) {
    write_done();
  } else {
    writing_ = true;
  }
}

void SpillUnit::write_done() {
  const EntryNumber number = to_file_.front();
  to_file_.pop();
  writing_ = false;
  --incoming_;
  ++refilled_;
  const Place place = entries_[number].place;
  free_entry(number);
  moved_->returned(place.warp, place.reg);
}

void SpillUnit::memory_answered(std::uint32_t tag, const unsigned char* data, std::uint64_t when) {
  const EntryNumber number = tag >> line_bits;
  const unsigned line = tag & ((1u << line_bits) - 1);
  Entry& e = entries_[number];
  if (e.from_memory) {
    const std::size_t bytes = std::min<std::size_t>(line_bytes_, std::size_t{warp_size_} * trace::bytes_per_lane);
    std::memcpy(reinterpret_cast<unsigned char*>(e.value.lane.data()) + std::size_t{line} * line_bytes_, data, bytes);
    e.ready = std::max(e.ready, when);
  }
  if (--e.lines != 0) return;
  if (e.from_memory) {
    to_file_.push(number);
  } else {
    free_entry(number);
  }
  wakeup_.request(clock_.now(), when);
}

tlm::tlm_sync_enum SpillUnit::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  if (!answer_rules_.answers(payload, phase, delay, clock_)) return tlm::TLM_ACCEPTED;
  if (payload.is_read()) {
    read_done(clock_.now() + clock_.cycles(delay));
  } else {
    write_done();
  }
  wakeup_.request(clock_.now() + 1);
  phase = tlm::END_RESP;
  return tlm::TLM_COMPLETED;
}

std::string SpillUnit::describe() const {
  if (!busy_) return {};
  const auto left = [](const Command& c, const char* what) {
    if (c.registers == 0) return std::string();
    return ", " + std::to_string(__builtin_popcountll(c.registers)) + " registers of warp " +
           std::to_string(c.warp.value()) + " still to be " + what;
  };
  return "  " + std::string(sc_module::name()) + ": " + std::to_string(entries_.size() - free_.size()) + " of " +
         std::to_string(entries_.size()) + " buffer entries in use (" + std::to_string(to_memory_.size()) +
         " for memory, " + std::to_string(to_file_.size()) + " for the file)" + left(out_, "spilled") +
         left(in_, "refilled") + "\n";
}

void SpillUnit::register_stats(support::StatGroup& g) {
  const char* const regs = "warp registers";
  g.counter("spilled", spilled_, regs, "read from the register file and written to memory");
  g.counter("refilled", refilled_, regs, "read from memory and written to the register file");
  g.counter("dropped", dropped_, regs, "released before the file had delivered them, and not written to memory");
  g.counter("lines_written", lines_written_, "lines", "of registers written to memory");
  g.counter("lines_read", lines_read_, "lines", "of registers read from memory");
  g.derived(
      "busy_cycles", [this] { return double(busy_cycles_ + (busy_ ? clock_.now() - busy_since_ : 0)); }, "cycles",
      "from a command to the last access for it");
}

void SpillUnit::register_energy(support::EnergyGroup& g) {
  // The file and the memory count their own accesses.
  const double rows = warp_size_ / 32.0;
  g.event("register_renaming", "cta_switching.buffer", spilled_, rows);
  g.event("register_renaming", "cta_switching.buffer", refilled_, rows);
}

}  // namespace regatta::models

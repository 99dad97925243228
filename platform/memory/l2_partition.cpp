// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/l2_partition.h>

#include <algorithm>

namespace regatta::memory {

using protocol::AccessClass;

L2Partition::L2Partition(const sc_core::sc_module_name& name, const MemorySystemConfig& config,
                         support::ClockDomain& clock)
    : sc_module(name),
      upstream("upstream"),
      downstream("downstream"),
      rules_(upstream, config.l2.line_bytes),
      answer_rules_(downstream),
      clock_(clock),
      line_(config.l2.line_bytes),
      banks_(config.l2.banks),
      access_cycles_(static_cast<std::uint64_t>(config.l2_access_cycles())),
      all_sectors_(line_sectors(config.l2.line_bytes)),
      sector_merge_(config.l2.sector_merge),
      write_through_(config.l2.store == "write_through"),
      allocates_(config.l2.store_miss == "allocate"),
      capacity_bytes_(config.partition_sets() * config.l2.ways * config.l2.line_bytes),
      tags_(config.partition_sets(), config.l2.ways, config.l2.line_bytes,
            {config.l2.interleave_bytes, config.l2.partitions}),
      mshrs_(config.l2.mshrs, config.l2.merge_limit),
      store_(config.l2.line_bytes),
      pool_(config.l2.line_bytes),
      bank_free_(config.l2.banks),
      requests_(config.l2.queue),
      hits_(config.l2.response_queue + access_cycles_),
      done_(config.l2.response_queue),
      fetches_(config.l2.dram_queue),
      writebacks_(config.l2.dram_queue + config.l2.mshrs),
      fills_(config.l2.mshrs),
      writeback_pressure_(config.l2.dram_queue) {
  upstream.bind(*this);
  downstream.bind(*this);
}

tlm::tlm_sync_enum L2Partition::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = clock_.arrival(now, delay);
  if (rules_.begin(payload, phase, delay, clock_) == nullptr) {  // END_RESP
    if (!responder_.end_response(payload, at)) protocol_error(upstream.name(), "END_RESP for no response under way");
    payload.release();
    // The next answer, if there is one; requests that wait for room among the answers go on with it.
    const std::uint64_t due = std::min(done_.next(), hits_.next());
    if (due != no_cycle) wakeup_.request(now, std::max(at, due));
    return tlm::TLM_COMPLETED;
  }
  if (held_ != nullptr) protocol_error(upstream.name(), "BEGIN_REQ before END_REQ of the previous request");
  payload.acquire();
  if (!requests_.has_room(now)) {
    held_ = &payload;
    held_at_ = at;
    wakeup_.request(now, at);
    ++refusals_;
    return tlm::TLM_ACCEPTED;
  }
  if (requests_.empty()) wakeup_.request(now, at);  // behind others, it has to wait for them
  requests_.push({&payload, at});
  phase = tlm::END_REQ;
  delay = clock_.time(at - now);
  return tlm::TLM_UPDATED;
}

tlm::tlm_sync_enum L2Partition::nb_transport_bw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  const std::uint64_t at = clock_.arrival(now, delay);
  const bool answer = answer_rules_.answers(payload, phase, delay, clock_);
  requester_.end_request(payload, at);  // END_REQ, or BEGIN_RESP which implies it
  if (!answer) {
    if (!fetches_.empty() || !writebacks_.empty()) wakeup_.request(now, at);
    return tlm::TLM_ACCEPTED;
  }
  wakeup_.request(now, at);
  if (payload.is_write()) {  // a write-back is through
    payload.release();
    return tlm::TLM_COMPLETED;
  }
  if (held_fill_ != nullptr) protocol_error(downstream.name(), "BEGIN_RESP before END_RESP of the previous response");
  if (fills_.has_room(now)) {
    fills_.push({&payload, at});
    return tlm::TLM_COMPLETED;
  }
  held_fill_ = &payload;
  held_fill_at_ = at;
  return tlm::TLM_ACCEPTED;
}

bool L2Partition::serve(std::uint64_t now) {
  Payload& payload = *requests_.front().payload;
  protocol::MemoryAccess& access = access_of(payload);
  const std::uint64_t address = payload.get_address();
  const std::uint8_t sectors = access.sectors & all_sectors_;
  std::uint64_t& bank = bank_of(address);
  if (bank > now) return false;
  const AccessClass c = access.access;
  bool served = false;
  head_waits_for_answers_ = !done_.has_room(now) || !hits_.has_room(now);
  if (is_store(c) || c == AccessClass::register_write) {
    served = serve_write(payload, access, sectors, now);
  } else if (c == AccessClass::register_invalidate) {  // nothing to do here: the L1 has dropped the line
    served = done_.has_room(now);
    if (served) answer(payload, now);
  } else {
    served = serve_read(payload, access, sectors, now);
  }
  if (!served) {
    if (!head_counted_) ++failures_;
    head_counted_ = true;
    return false;
  }
  head_counted_ = false;
  bank_conflicts_ += bank > std::max(requests_.front().ready, head_since_);
  head_since_ = now + 1;
  const unsigned cycles = std::max(count_sectors(sectors), 1u) * (c == AccessClass::atomic ? 2 : 1);
  bank = now + cycles;
  busy_cycles_ += cycles;
  requests_.pop(now);
  return true;
}

bool L2Partition::serve_read(Payload& payload, const protocol::MemoryAccess& access, std::uint8_t sectors,
                             std::uint64_t now) {
  const std::uint64_t address = payload.get_address();
  const bool atomic = access.access == AccessClass::atomic;
  const std::size_t index = tags_.find(address);
  std::uint8_t missing = sectors;
  if (index != CacheArray::none) missing &= static_cast<std::uint8_t>(~tags_.line(index).valid);
  if (missing == 0) {
    if (!hits_.has_room(now)) return false;
    if (index != CacheArray::none) {
      tags_.touch(index);
      if (atomic) make_dirty(tags_.line(index), sectors);
    }
    hits_.push({&payload, now + access_cycles_});
    access_of(payload).supplier = protocol::Supplier::l2;
    if (access.last_read && index != CacheArray::none) {
      bytes_discarded_ += count_sectors(tags_.line(index).dirty) * protocol::sector_bytes;
      tags_.line(index) = CacheArray::Line{};
      ++last_reads_;
    }
    ++read_hits_;
  } else {
    std::uint32_t entry = mshrs_.to_join(address, missing, sector_merge_);
    if (entry != MshrTable::none) {
      if (!mshrs_.can_merge(entry)) return false;
      ++merges_;
    } else {
      if (mshrs_.full() || !fetches_.has_room(now) || !writeback_reserved()) return false;
      // The request itself goes on to DRAM when it is a read of just the missing sectors.
      Payload* fetch = &payload;
      const bool own = missing != sectors || atomic || !payload.is_read();
      if (own) {
        fetch = pool_.take(tlm::TLM_READ_COMMAND, address);
        protocol::MemoryAccess& to = access_of(*fetch);
        to.access = atomic ? AccessClass::data_load : access.access;
        to.sm = access.sm;
        to.sectors = missing;
        to.instruction = access.instruction;
      }
      entry = mshrs_.allocate(address, missing, fetch);
      mshrs_.entry(entry).own = own;
      if (access.last_read) mshrs_.entry(entry).install = false;
      ++fetches_count_;
      bytes_fetched_ += count_sectors(missing) * protocol::sector_bytes;
      mshrs_.add_waiter(entry, &payload);
      dispatch(fetches_, *fetch, now);
      entry = MshrTable::none;
    }
    if (entry != MshrTable::none) mshrs_.add_waiter(entry, &payload);
    access_of(payload).supplier = protocol::Supplier::dram;
    ++read_misses_;
  }
  if (access.access == AccessClass::register_read && payload.get_data_ptr() != nullptr) {
    store_.read(address, payload.get_data_ptr(), payload.get_data_length());
  }
  atomic ? ++atomics_ : ++reads_;
  bytes_read_ += count_sectors(sectors) * protocol::sector_bytes;
  return true;
}

bool L2Partition::serve_write(Payload& payload, const protocol::MemoryAccess& access, std::uint8_t sectors,
                              std::uint64_t now) {
  if (!done_.has_room(now)) return false;
  const std::uint64_t address = payload.get_address();
  const bool registers = access.access == AccessClass::register_write;
  const bool through = write_through_ && !registers;
  std::size_t index = tags_.find(address);
  const bool found = index != CacheArray::none;
  const bool keeps = found || registers || allocates_;
  const std::size_t places = (through || !keeps ? 1 : 0) + (keeps && !found ? 1 : 0);
  if (places != 0 && !writeback_reserved(places)) return false;
  write_hits_ += found;
  if (through || !keeps) {
    write_to_dram(address, access.access, sectors, now);
    bytes_passed_ += count_sectors(sectors) * protocol::sector_bytes;
  }
  if (!keeps) {
    answer(payload, now);
    ++writes_;
    bytes_written_ += count_sectors(sectors) * protocol::sector_bytes;
    return true;
  }
  if (!found) index = allocate(address, now);
  CacheArray::Line& line = tags_.line(index);
  line.valid |= sectors;
  if (!through) make_dirty(line, sectors);
  line.registers = registers;
  tags_.touch(index);
  if (line.registers && payload.get_data_ptr() != nullptr) {
    store_.write(address, payload.get_data_ptr(), payload.get_data_length());
  }
  answer(payload, now);
  ++writes_;
  bytes_written_ += count_sectors(sectors) * protocol::sector_bytes;
  return true;
}

// A free line for the address; what was in it is written back when dirty. There is a slot for that.
std::size_t L2Partition::allocate(std::uint64_t address, std::uint64_t now) {
  const std::size_t index = tags_.victim(address);
  CacheArray::Line& line = tags_.line(index);
  if (line.valid != 0 && line.dirty != 0) {
    write_to_dram(line.address, line.registers ? AccessClass::register_write : AccessClass::data_store, line.dirty,
                  now);
  }
  line = CacheArray::Line{};
  line.address = address;
  return index;
}

// There is a slot for it.
void L2Partition::write_to_dram(std::uint64_t address, AccessClass c, std::uint8_t sectors, std::uint64_t now) {
  Payload* out = pool_.take(tlm::TLM_WRITE_COMMAND, address);
  protocol::MemoryAccess& access = access_of(*out);
  access.access = c;
  access.sectors = sectors;
  ++writebacks_count_;
  bytes_written_back_ += count_sectors(sectors) * protocol::sector_bytes;
  dispatch(writebacks_, *out, now);
}

// Counted from the lines themselves, so that the conservation laws can account for sectors that were made dirty.
std::uint64_t L2Partition::dirty_bytes() const {
  std::uint64_t sectors = 0;
  for (std::size_t i = 0; i < tags_.size(); ++i) sectors += count_sectors(tags_.line(i).dirty);
  return sectors * protocol::sector_bytes;
}

bool L2Partition::idle() const {
  return requests_.empty() && hits_.empty() && done_.empty() && fetches_.empty() && writebacks_.empty() &&
         fills_.empty() && held_ == nullptr && held_fill_ == nullptr && mshrs_.in_use() == 0 && !requester_.blocked() &&
         !responder_.blocked() && pool_.outstanding() == 0;
}

void L2Partition::register_stats(support::StatGroup& g) {
  g.derived(
      "capacity", [this] { return double(capacity_bytes_); }, "bytes",
      "whole sets of the simulated SMs' share of l2.size_bytes");
  g.counter("reads", reads_, "accesses", "loads and register reads served");
  g.counter("read_hits", read_hits_, "accesses", "reads and atomics that hit in all sectors");
  g.counter("read_misses", read_misses_, "accesses", "reads and atomics with a missing sector, including merged ones");
  g.counter("mshr_merges", merges_, "accesses", "misses that joined a fetch in flight");
  g.counter("reservation_failures", failures_, "accesses", "requests that waited for an MSHR or a queue");
  g.counter("last_reads", last_reads_, "lines", "lines dropped when read: register values that are not read again");
  g.counter("bank_conflicts", bank_conflicts_, "accesses", "requests that waited for their bank");
  g.counter("writes", writes_, "accesses", "stores and register writes served");
  g.counter("write_hits", write_hits_, "accesses", "writes that hit");
  g.counter("atomics", atomics_, "accesses", "atomics performed");
  g.counter("fetches", fetches_count_, "accesses", "reads sent to DRAM");
  g.counter("writebacks", writebacks_count_, "accesses", "dirty lines and forwarded stores, sent to DRAM");
  g.counter("bytes_fetched", bytes_fetched_, "bytes", "sectors requested from DRAM");
  g.counter("bytes_written_back", bytes_written_back_, "bytes", "sectors sent to DRAM");
  g.counter("bytes_dirtied", bytes_dirtied_, "bytes", "sectors that a store, a register write or an atomic made dirty");
  g.counter("bytes_passed", bytes_passed_, "bytes", "sectors of the stores forwarded to DRAM");
  g.counter("bytes_discarded", bytes_discarded_, "bytes", "dirty sectors of registers dropped at their last read");
  g.derived(
      "dirty_bytes", [this] { return double(dirty_bytes()); }, "bytes", "sectors that are dirty now");
  g.counter("bytes_read", bytes_read_, "bytes", "sectors requested by reads and atomics");
  g.counter("bytes_written", bytes_written_, "bytes", "sectors carried by writes");
  g.counter("busy_cycles", busy_cycles_, "cycles", "bank cycles spent; up to the number of banks in one cycle");
  g.counter("refusals", refusals_, "accesses", "requests that waited for room in the request queue");
  g.counter("mshrs_max", mshrs_.max_in_use_counter(), "entries", "most MSHRs in use at a time");
  g.counter("queue_max", requests_.max_arrived_counter(), "entries", "most requests queued at a time");
  g.counter("writeback_queue_max", writebacks_.max_size_counter(), "entries", "most write-backs queued at a time");
}

}  // namespace regatta::memory

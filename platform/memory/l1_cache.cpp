// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/l1_cache.h>

#include <algorithm>
#include <cstring>

namespace regatta::memory {

using protocol::AccessClass;

L1Cache::L1Cache(const sc_core::sc_module_name& name, const L1Config& config, support::ClockDomain& clock)
    : sc_module(name),
      upstream("upstream"),
      downstream("downstream"),
      rules_(upstream, config.line_bytes),
      answer_rules_(downstream),
      config_(config),
      clock_(clock),
      data_(policy(config.enabled ? config.data_policy : "bypass", config.data_store, config.data_store_miss)),
      local_(policy(config.enabled ? config.local_policy : "bypass", config.local_store, config.local_store_miss)),
      texture_cached_(config.enabled && config.texture_policy == "cache"),
      sectored_(config.fill == "sector"),
      all_sectors_(line_sectors(config.line_bytes)),
      tags_(config.size_bytes / config.line_bytes / config.ways, config.ways, config.line_bytes),
      bytes_(tags_.size() * config.line_bytes),
      mshrs_(config.mshrs, config.merge_limit),
      pool_(config.line_bytes),
      tlb_(config.tlb),
      misses_(config.miss_queue),
      fills_(config.fill_queue),
      responses_(config.response_queue),
      late_hits_(config.response_queue),
      own_answers_from_(data_.cached || local_.cached ? 0 : no_cycle),
      ports_(config.tags, config.sectors, config.tag_banks, config.line_bytes) {
  responder_.set_width(config.tags);
  config_.check();
  upstream.bind(*this);
  downstream.bind(*this);
}

L1Cache::Policy L1Cache::policy(const std::string& loads, const std::string& stores, const std::string& store_miss) {
  Policy p;
  p.cached = loads == "cache";
  p.store = stores == "write_back" ? Store::back : stores == "write_through" ? Store::through : Store::evict;
  p.allocate = store_miss == "allocate";
  return p;
}

tlm::tlm_sync_enum L1Cache::nb_transport_fw(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
  const std::uint64_t now = clock_.now();
  protocol::MemoryAccess* const access = rules_.begin(payload, phase, delay, clock_);
  if (access == nullptr) {  // END_RESP
    const std::uint64_t at = clock_.arrival(now, delay);
    if (!responder_.end_response(payload, at)) protocol_error(upstream.name(), "END_RESP for no response under way");
    payload.release();
    wakeup_.request(now, at);
    return tlm::TLM_COMPLETED;
  }
  if (held_ != nullptr) protocol_error(upstream.name(), "BEGIN_REQ before END_REQ of the previous request");
  catch_up(now);
  const std::uint64_t start = now + clock_.cycles(delay);
  const std::uint64_t address = payload.get_address();
  const unsigned sectors = count_sectors(access->sectors & all_sectors_);
  const std::uint64_t looked_up = start == now ? ports_.earliest(now, address, sectors) : LookupPorts::never;
  if (looked_up != LookupPorts::never) {
    switch (admit(payload, *access, now)) {
      case Admission::completed:
        ports_.take(now, looked_up, address, sectors);
        delay += clock_.time(config_.hit_latency + (looked_up - now));
        return tlm::TLM_COMPLETED;
      case Admission::taken:
        ports_.take(now, looked_up, address, sectors);
        payload.acquire();
        phase = tlm::END_REQ;
        if (!ports_.open(now)) delay += clock_.one();
        return tlm::TLM_UPDATED;
      case Admission::refused:
        count_failure(now);
        held_counted_ = true;
        break;
    }
  } else {
    held_counted_ = false;
  }
  payload.acquire();
  held_ = &payload;
  held_at_ = std::max(start, now + 1);
  wakeup_.request(now, held_at_);
  return tlm::TLM_ACCEPTED;
}

L1Cache::Admission L1Cache::admit(Payload& payload, protocol::MemoryAccess& access, std::uint64_t now) {
  if (!config_.enabled) {
    if (access.access != AccessClass::register_invalidate) return forward(payload, access, now);
    ++accesses_[static_cast<unsigned>(access.access)];
    ++invalidations_;
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return Admission::completed;
  }
  if (own_answers_from_ == no_cycle && !access.bypass_l1 &&
      (protocol::carries_data(access.access) || access.access == AccessClass::register_invalidate)) {
    own_answers_from_ = now + 1;
  }
  switch (access.access) {
    case AccessClass::data_load:
    case AccessClass::local_load:
      if (!policy_of(access.access).cached) break;
      if (access.bypass_l1) return admit_store(payload, access, Policy{}, now);
      return admit_read(payload, access, false, now);
    case AccessClass::texture:
      if (!texture_cached_) break;
      if (own_answers_from_ == no_cycle) own_answers_from_ = now + 1;
      return admit_read(payload, access, false, now);
    case AccessClass::data_store:
    case AccessClass::local_store:
      if (!policy_of(access.access).cached) break;
      return admit_store(payload, access, access.bypass_l1 ? Policy{} : policy_of(access.access), now);
    case AccessClass::atomic:
      if (!data_.cached) break;
      return admit_store(payload, access, Policy{}, now);
    case AccessClass::register_read:
      if (access.bypass_l1) break;
      return admit_read(payload, access, true, now);
    case AccessClass::register_write:
      if (access.bypass_l1) break;
      return admit_register_write(payload, now);
    case AccessClass::register_invalidate:
      ++invalidations_;
      count(access, 0);
      drop(payload.get_address(), true);
      payload.set_response_status(tlm::TLM_OK_RESPONSE);
      return Admission::completed;
    case AccessClass::instruction:
    case AccessClass::metadata:
    case AccessClass::constant:
      break;
  }
  return forward(payload, access, now);
}

L1Cache::Admission L1Cache::admit_read(Payload& payload, protocol::MemoryAccess& access, bool registers,
                                       std::uint64_t now) {
  const std::uint64_t address = payload.get_address();
  const auto wanted = static_cast<std::uint8_t>(registers ? all_sectors_ : access.sectors & all_sectors_);
  const std::size_t index = tags_.find(address);
  const std::uint8_t valid = index != CacheArray::none ? tags_.line(index).valid : 0;
  const bool hit = index != CacheArray::none && (wanted & ~valid) == 0;
  if (hit) {
    tags_.touch(index);
    if (registers) copy_line(index, payload);
    access.supplier = protocol::Supplier::l1;
    if (access.last_read) {
      discard(index);
      ++last_reads_;
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    ++read_hits_;
    texture_hits_ += access.access == AccessClass::texture ? 1 : 0;
  } else {
    auto missing = static_cast<std::uint8_t>((sectored_ && !registers ? wanted : all_sectors_) & ~valid);
    const std::uint32_t pending = mshrs_.to_join(address, missing, config_.sector_merge && !registers);
    if (pending != MshrTable::none) {
      if (!mshrs_.can_merge(pending)) return refuse(ReservationFailure::merge);
      mshrs_.add_waiter(pending, &payload);
      ++merges_;
    } else {
      if (mshrs_.full()) return refuse(ReservationFailure::mshr);
      if (!way_down(now)) return refuse(ReservationFailure::miss_queue);
      // The request itself goes down when it asks for all that the L1 fetches; otherwise a payload of our own.
      Payload* fetch = &payload;
      if (!registers && (access.sectors & all_sectors_) != missing) {
        fetch = pool_.take(tlm::TLM_READ_COMMAND, address);
        protocol::MemoryAccess& own = access_of(*fetch);
        own.access = access.access;
        own.sm = access.sm;
        own.sectors = missing;
        own.instruction = access.instruction;
      }
      const std::uint32_t entry = mshrs_.allocate(address, missing, fetch);
      mshrs_.entry(entry).own = fetch != &payload;
      if (access.last_read) mshrs_.entry(entry).install = false;
      mshrs_.add_waiter(entry, &payload);
      bytes_fetched_ += count_sectors(missing) * protocol::sector_bytes;
      send_down(*fetch, now);
    }
    ++read_misses_;
    texture_misses_ += access.access == AccessClass::texture ? 1 : 0;
    sector_misses_ += index != CacheArray::none;
  }
  const unsigned bytes = bytes_of(access);
  ++reads_;
  bytes_read_ += bytes;
  count(access, bytes);
  return hit ? Admission::completed : Admission::taken;
}

// Admits an access of a class whose loads are cached: a store, an atomic, or a load that the L1 must not answer. Such a
// load keeps no more of its line in the L1 than an atomic does.
L1Cache::Admission L1Cache::admit_store(Payload& payload, const protocol::MemoryAccess& access, const Policy& policy,
                                        std::uint64_t now) {
  const std::uint64_t address = payload.get_address();
  sm_ = access.sm;
  std::size_t index = tags_.find(address);
  const bool found = index != CacheArray::none;
  const bool keeps = policy.store != Store::evict && (found || policy.allocate);
  // Traffic to the L2: the store itself, and a dirty line that is dropped or makes room.
  const bool goes_down = !(policy.store == Store::back && keeps);
  const std::size_t gives_way = keeps && !found ? tags_.victim(address) : !keeps && found ? index : CacheArray::none;
  if (gives_way != CacheArray::none && tags_.line(gives_way).valid != 0 && tags_.line(gives_way).dirty != 0) {
    if (!way_down(now)) return refuse(ReservationFailure::miss_queue);
    write_back(gives_way, now);
    tags_.line(gives_way).dirty = 0;  // stays until the store has its own place
  }
  if (goes_down && !way_down(now)) return refuse(ReservationFailure::miss_queue);
  if (request_has_data(access.access)) write_hits_ += found;
  if (!keeps) {
    if (found) {
      tags_.line(index) = CacheArray::Line{};
      ++write_evicts_;
    }
    close_fetches(address);
    return forward(payload, access, now);
  }
  if (!found) {
    index = gives_way;
    tags_.line(index) = CacheArray::Line{};
    tags_.line(index).address = address;
  }
  CacheArray::Line& line = tags_.line(index);
  line.valid |= access.sectors & all_sectors_;
  line.local = access.access == AccessClass::local_store;
  tags_.touch(index);
  ++array_writes_;
  close_fetches(address);
  if (goes_down) return forward(payload, access, now);
  const unsigned bytes = bytes_of(access);
  make_dirty(line, access.sectors & all_sectors_);
  ++absorbed_;
  bytes_absorbed_ += bytes;
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  ++writes_;
  bytes_written_ += bytes;
  count(access, bytes);
  return Admission::completed;
}

L1Cache::Admission L1Cache::admit_register_write(Payload& payload, std::uint64_t now) {
  const std::uint64_t address = payload.get_address();
  const protocol::MemoryAccess& access = access_of(payload);
  sm_ = access.sm;
  std::size_t index = tags_.find(address);
  if (index == CacheArray::none) {
    index = tags_.victim(address);
    if (!make_room(index, now)) return refuse(ReservationFailure::miss_queue);
    CacheArray::Line& line = tags_.line(index);
    line.address = address;
    line.valid = all_sectors_;
  } else {
    ++write_hits_;
  }
  CacheArray::Line& line = tags_.line(index);
  make_dirty(line, all_sectors_);
  line.registers = true;
  tags_.touch(index);
  store_line(index, payload);
  close_fetches(address);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  ++writes_;
  ++array_writes_;
  ++absorbed_;
  bytes_absorbed_ += config_.line_bytes;
  bytes_written_ += config_.line_bytes;
  count(access, config_.line_bytes);
  return Admission::completed;
}

L1Cache::Admission L1Cache::forward(Payload& payload, const protocol::MemoryAccess& access, std::uint64_t now) {
  if (!way_down(now)) return refuse(ReservationFailure::miss_queue);
  const unsigned bytes = bytes_of(access);
  if (request_has_data(access.access)) {
    ++writes_;
    bytes_written_ += bytes;
  } else {
    ++reads_;
    ++bypassed_;
    bytes_read_ += bytes;
  }
  if (response_has_data(access.access)) bytes_bypassed_ += bytes;
  count(access, bytes);
  send_down(payload, now);
  return Admission::taken;
}

// Frees a way: a dirty line leaves as a write-back. False: no room for it.
bool L1Cache::make_room(std::size_t index, std::uint64_t now) {
  CacheArray::Line& line = tags_.line(index);
  if (line.valid != 0 && line.dirty != 0) {
    if (!way_down(now)) return false;
    write_back(index, now);
  }
  line = CacheArray::Line{};
  return true;
}

// There is room in the miss queue.
void L1Cache::write_back(std::size_t index, std::uint64_t now) {
  const CacheArray::Line& line = tags_.line(index);
  Payload* out = pool_.take(tlm::TLM_WRITE_COMMAND, line.address);
  protocol::MemoryAccess& access = access_of(*out);
  access.writeback = true;
  access.sectors = line.dirty;
  access.sm = sm_;
  if (line.registers) {
    access.access = AccessClass::register_write;
    std::memcpy(out->get_data_ptr(), &bytes_[index * config_.line_bytes], config_.line_bytes);
  } else {
    access.access = line.local ? AccessClass::local_store : AccessClass::data_store;
  }
  bytes_written_back_ += bytes_of(access);
  send_down(*out, now);
  ++writebacks_;
}

// Lines that were dirty when their kernel ended, as fast as they can go.
void L1Cache::flush(std::uint64_t now) {
  while (!flushed_.empty() && way_down(now)) {
    Payload* out = pool_.take(tlm::TLM_WRITE_COMMAND, flushed_.back().address);
    protocol::MemoryAccess& access = access_of(*out);
    access.writeback = true;
    access.access = AccessClass::data_store;
    access.sectors = flushed_.back().sectors;
    access.sm = sm_;
    flushed_.pop_back();
    bytes_written_back_ += bytes_of(access);
    send_down(*out, now);
    ++writebacks_;
  }
}

void L1Cache::drop(std::uint64_t address, bool registers_too) {
  const std::size_t index = tags_.find(address);
  if (index != CacheArray::none && (registers_too || !tags_.line(index).registers)) {
    discard(index);
    ++write_evicts_;
  }
  close_fetches(address);
}

void L1Cache::discard(std::size_t index) {
  bytes_discarded_ += count_sectors(tags_.line(index).dirty) * protocol::sector_bytes;
  tags_.line(index) = CacheArray::Line{};
}

void L1Cache::make_dirty(CacheArray::Line& line, std::uint8_t sectors) {
  bytes_dirtied_ += count_sectors(sectors & static_cast<std::uint8_t>(~line.dirty)) * protocol::sector_bytes;
  line.dirty |= sectors;
}

// Fetches in flight for the line bring data from before its latest change: they are not installed, and no request joins
// them.
void L1Cache::close_fetches(std::uint64_t address) {
  for (;;) {
    const std::uint32_t open = mshrs_.find(address, std::uint8_t{0});
    if (open == MshrTable::none) return;
    mshrs_.entry(open).install = false;
  }
}

void L1Cache::copy_line(std::size_t index, Payload& to) const {
  if (to.get_data_ptr() == nullptr) return;
  std::memcpy(to.get_data_ptr(), &bytes_[index * config_.line_bytes],
              std::min(to.get_data_length(), config_.line_bytes));
}

void L1Cache::store_line(std::size_t index, const Payload& from) {
  if (from.get_data_ptr() == nullptr) return;
  std::memcpy(&bytes_[index * config_.line_bytes], from.get_data_ptr(),
              std::min(from.get_data_length(), config_.line_bytes));
}

void L1Cache::invalidate_data() {
  const std::uint64_t now = clock_.now();
  catch_up(now);
  for (std::size_t i = 0; i < tags_.size(); ++i) {
    const CacheArray::Line& line = tags_.line(i);
    if (line.registers) continue;
    if (line.dirty != 0 && line.local) {
      discard(i);
      continue;
    }
    if (line.valid != 0 && line.dirty != 0) flushed_.push_back({line.address, line.dirty});
    tags_.line(i) = CacheArray::Line{};
  }
  if (!flushed_.empty()) wakeup_.request(now, now + 1);
  for (MshrTable::Entry& e : mshrs_.entries()) {
    if (e.fetch != nullptr && access_of(*e.fetch).access != AccessClass::register_read) e.install = false;
  }
}

void L1Cache::use_bytes(std::uint64_t bytes) {
  const std::uint64_t way = tags_.sets() * config_.line_bytes;
  const std::uint64_t most = way * tags_.ways();
  if (bytes == 0) bytes = most;
  if (bytes % way != 0 || bytes > most) {
    throw support::ConfigError("the residency policy leaves " + std::to_string(bytes) + " bytes to " + name() +
                               ", expected a multiple of one way's " + std::to_string(way) + " up to " +
                               std::to_string(most) + " (l1.size_bytes, l1.ways)");
  }
  tags_.use_ways(static_cast<unsigned>(bytes / way));
  for (std::size_t i = 0; i < tags_.size(); ++i) {
    if (!tags_.in_use(i) && tags_.line(i).valid != 0) discard(i);
  }
}

bool L1Cache::idle() const {
  return misses_.empty() && fills_.empty() && responses_.empty() && late_hits_.empty() && held_ == nullptr &&
         held_fill_ == nullptr && mshrs_.in_use() == 0 && !requester_.blocked() && !responder_.blocked() &&
         pool_.outstanding() == 0 && flushed_.empty() && translating_.empty();
}

}  // namespace regatta::memory

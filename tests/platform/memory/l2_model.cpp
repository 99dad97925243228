// SPDX-License-Identifier: Apache-2.0
#include "cache_model.h"

#include <algorithm>

namespace regatta::test {

L2Model::L2Model(const memory::MemorySystemConfig& c)
    : config_(c),
      all_(memory::line_sectors(c.l2.line_bytes)),
      lines_(c.partition_sets(), c.l2.ways, c.l2.line_bytes, c.l2.interleave_bytes, c.l2.partitions),
      bank_free_(c.l2.banks) {
  counters["capacity"] = c.partition_sets() * c.l2.ways * c.l2.line_bytes;
}

std::uint64_t& L2Model::bank(std::uint64_t address) {
  std::uint64_t n = address / config_.l2.line_bytes;
  n ^= (n >> 3) ^ (n >> 7) ^ (n >> 12) ^ (n >> 19) ^ (n >> 21);
  return bank_free_[n % bank_free_.size()];
}

bool L2Model::serve(const Request& r, std::size_t index, std::uint64_t arrived, std::uint64_t now) {
  std::uint64_t& free = bank(r.address);
  if (free > now) return false;
  const bool write_like = memory::is_store(r.access) || r.access == AccessClass::register_write;
  if (write_like) {
    write(r, now);
    answered[index] = now + 2;
  } else if (r.access == AccessClass::register_invalidate) {
    answered[index] = now + 2;
  } else if (!read(r, index, now)) {
    counters["reservation_failures"] += !head_failed_;
    head_failed_ = true;
    return false;
  }
  head_failed_ = false;
  counters["bank_conflicts"] += free > std::max(arrived, head_since_);
  head_since_ = now + 1;
  // A sector a cycle; an atomic reads and writes each.
  const unsigned sectors = std::max(1u, bytes_of(r.sectors & all_) / 32);
  const unsigned cycles = r.access == AccessClass::atomic ? 2 * sectors : sectors;
  free = now + cycles;
  counters["busy_cycles"] += cycles;
  return true;
}

void L2Model::write_down(std::uint64_t address, AccessClass access, std::uint8_t sectors, std::uint64_t now) {
  Sent s;
  s.access = access;
  s.address = address;
  s.sectors = sectors;
  s.write = true;
  s.cycle = now + 2;
  writes.push_back(s);
  ++counters["writebacks"];
  counters["bytes_written_back"] += bytes_of(sectors);
}

void L2Model::make_dirty(ModelLine& line, std::uint8_t sectors) {
  counters["bytes_dirtied"] += bytes_of(static_cast<std::uint8_t>(sectors & ~line.dirty));
  line.dirty |= sectors;
}

ModelLine& L2Model::place(std::uint64_t address, std::uint64_t now) {
  if (lines_.full(address)) {
    const ModelLine& victim = lines_.oldest(address);
    if (victim.dirty != 0) {
      write_down(victim.address, victim.registers ? AccessClass::register_write : AccessClass::data_store, victim.dirty,
                 now);
    }
    lines_.drop(victim.address);
  }
  return lines_.add(address);
}

bool L2Model::read(const Request& r, std::size_t index, std::uint64_t now) {
  const bool atomic = r.access == AccessClass::atomic;
  const std::uint8_t wanted = r.sectors & all_;
  ModelLine* line = lines_.find(r.address);
  auto missing = static_cast<std::uint8_t>(wanted & ~(line == nullptr ? 0 : line->valid));
  if (missing == 0) {
    ++counters["read_hits"];
    hit[index] = true;
    answered[index] = now + static_cast<std::uint64_t>(config_.l2_access_cycles()) + 1;
    if (atomic) make_dirty(*line, wanted);
    lines_.use(r.address);
    if (r.last) {
      counters["bytes_discarded"] += bytes_of(line->dirty);
      lines_.drop(r.address);
      ++counters["last_reads"];
    }
  } else {
    fetches_.wanted[index] = wanted;
    fetches_.dirtied[index] = atomic ? wanted : 0;
    if (ModelFetch* const joined = fetches_.to_join(r.address, missing, config_.l2.sector_merge)) {
      if (joined->waiters.size() >= config_.l2.merge_limit) return false;
      joined->waiters.push_back(index);
      if (atomic) joined->atomics |= wanted;
      ++counters["mshr_merges"];
    } else {
      if (fetches_.all.size() == config_.l2.mshrs) return false;
      ModelFetch f;
      f.address = r.address;
      f.sectors = missing;
      f.open = !r.last;
      f.sent = reads.size();
      f.waiters = {index};
      if (atomic) f.atomics = wanted;
      fetches_.all.push_back(f);
      counters["mshrs_max"] = std::max<std::uint64_t>(counters["mshrs_max"], fetches_.all.size());
      Sent s;
      s.address = r.address;
      s.sectors = missing;
      s.cycle = now + 2;
      reads.push_back(s);
      ++counters["fetches"];
      counters["bytes_fetched"] += bytes_of(missing);
    }
    ++counters["read_misses"];
    hit[index] = false;
  }
  ++counters[atomic ? "atomics" : "reads"];
  counters["bytes_read"] += bytes_of(wanted);
  return true;
}

void L2Model::write(const Request& r, std::uint64_t now) {
  const bool registers = r.access == AccessClass::register_write;
  const bool through = config_.l2.store == "write_through" && !registers;
  ModelLine* line = lines_.find(r.address);
  const bool kept = line != nullptr || registers || config_.l2.store_miss == "allocate";
  ++counters["writes"];
  counters["bytes_written"] += bytes_of(r.sectors & all_);
  counters["write_hits"] += line != nullptr;
  if (through || !kept) {
    write_down(r.address, r.access, r.sectors & all_, now);
    counters["bytes_passed"] += bytes_of(r.sectors & all_);
  }
  if (!kept) return;
  if (line == nullptr) line = &place(r.address, now);
  line->valid |= r.sectors & all_;
  if (!through) make_dirty(*line, r.sectors & all_);
  line->registers = registers;
  lines_.use(r.address);
}

void L2Model::fill(std::size_t number, std::uint64_t now) {
  auto& all = fetches_.all;
  const auto f = std::find_if(all.begin(), all.end(), [&](const ModelFetch& x) { return x.sent == number; });
  const ModelFetch fetch = *f;
  all.erase(f);
  const auto answer = [&](const ModelLine* line) {
    const std::uint8_t valid = line == nullptr ? 0 : line->valid;
    for (const std::size_t waiter : fetches_.answered(fetch, valid, config_.l2.sector_merge))
      answered[waiter] = now + 2;
  };
  if (!fetch.open) {
    answer(lines_.find(fetch.address));
    ++counters["last_reads"];
    return;
  }
  if (lines_.find(fetch.address) == nullptr) place(fetch.address, now);
  lines_.use(fetch.address);
  ModelLine& line = *lines_.find(fetch.address);
  line.valid |= fetch.sectors;
  make_dirty(line, fetch.atomics & line.valid);
  answer(&line);
}

}  // namespace regatta::test

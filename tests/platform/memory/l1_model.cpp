// SPDX-License-Identifier: Apache-2.0
#include "cache_model.h"

#include <algorithm>

namespace regatta::test {

L1Model::L1Model(const memory::L1Config& c)
    : config_(c),
      all_(memory::line_sectors(c.line_bytes)),
      lines_(c.size_bytes / c.line_bytes / c.ways, c.ways, c.line_bytes) {}

L1Model::Policy L1Model::policy(AccessClass c) const {
  if (!config_.enabled) return {false, "write_evict", false};
  if (c == AccessClass::local_load || c == AccessClass::local_store) {
    return {config_.local_policy == "cache", config_.local_store, config_.local_store_miss == "allocate"};
  }
  return {config_.data_policy == "cache", config_.data_store, config_.data_store_miss == "allocate"};
}

namespace {

bool looks_up(AccessClass c) {
  return c == AccessClass::data_load || c == AccessClass::local_load || c == AccessClass::register_read;
}

}  // namespace

std::uint8_t L1Model::missing(const Request& r) {
  const bool registers = r.access == AccessClass::register_read;
  const ModelLine* line = lines_.find(r.address);
  const std::uint8_t valid = line == nullptr ? 0 : line->valid;
  const std::uint8_t wanted = registers ? all_ : r.sectors & all_;
  if ((wanted & ~valid) == 0) return 0;
  return static_cast<std::uint8_t>((registers || config_.fill == "line" ? all_ : wanted) & ~valid);
}

ModelFetch* L1Model::joinable(const Request& r, std::uint8_t& need) {
  return fetches_.to_join(r.address, need, config_.sector_merge && r.access != AccessClass::register_read);
}

std::string L1Model::obstacle(const Request& r) {
  const bool registers = r.access == AccessClass::register_read;
  if (!config_.enabled || !looks_up(r.access) || (!registers && (!policy(r.access).cached || r.bypass_l1))) return "";
  std::uint8_t need = missing(r);
  if (need == 0) return "";
  if (const ModelFetch* f = joinable(r, need)) return f->waiters.size() < config_.merge_limit ? "" : "merge";
  return fetches_.all.size() < config_.mshrs ? "" : "mshr";
}

void L1Model::down(const Request& r) {
  Sent s;
  s.access = r.access;
  s.address = r.address;
  s.sectors = r.sectors & all_;
  s.write = memory::is_store(r.access) || r.access == AccessClass::register_write;
  if (r.access == AccessClass::register_write) {
    for (unsigned i = 0; i < config_.line_bytes; ++i) s.bytes[i] = byte_of(r.fill, i);
  }
  sent.push_back(s);
}

// Goes on to the L2, the L1 having nothing to say.
void L1Model::pass(const Request& r) {
  if (memory::response_has_data(r.access)) counters["bytes_bypassed"] += bytes_of(r.sectors & all_);
  down(r);
}

void L1Model::make_dirty(ModelLine& line, std::uint8_t sectors) {
  counters["bytes_dirtied"] += bytes_of(static_cast<std::uint8_t>(sectors & ~line.dirty));
  line.dirty |= sectors;
}

void L1Model::discard(std::uint64_t address) {
  if (const ModelLine* line = lines_.find(address)) counters["bytes_discarded"] += bytes_of(line->dirty);
  lines_.drop(address);
}

void L1Model::write_back(const ModelLine& line) {
  Sent s;
  s.access = line.registers ? AccessClass::register_write
             : line.local   ? AccessClass::local_store
                            : AccessClass::data_store;
  s.address = line.address;
  s.sectors = line.dirty;
  s.write = s.writeback = true;
  if (line.registers) s.bytes = line.bytes;
  sent.push_back(s);
  ++counters["writebacks"];
  counters["bytes_written_back"] += bytes_of(line.dirty);
}

void L1Model::make_room(std::uint64_t address) {
  if (!lines_.full(address)) return;
  const ModelLine& victim = lines_.oldest(address);
  if (victim.dirty != 0) write_back(victim);
  lines_.drop(victim.address);
}

// What is being fetched is older than what was just done to the line.
void L1Model::close(std::uint64_t address) {
  for (ModelFetch& f : fetches_.all) {
    if (f.address == address) f.open = false;
  }
}

void L1Model::take(Request& r, std::size_t index) {
  const AccessClass c = r.access;
  const bool store_or_atomic = memory::is_store(c) || c == AccessClass::atomic;
  ++counters["accesses_" + std::string(protocol::to_string(c))];
  if (c == AccessClass::register_invalidate) {
    ++counters["invalidations"];
    if (!config_.enabled) return;
    ++counters["busy_cycles"];
    counters["lines_dropped"] += lines_.find(r.address) != nullptr;
    discard(r.address);
    close(r.address);
    return;
  }
  ++counters["busy_cycles"];
  const bool carries = store_or_atomic || c == AccessClass::register_write;
  ++counters[carries ? "writes" : "reads"];
  counters[carries ? "bytes_written" : "bytes_read"] += bytes_of(r.sectors & all_);
  const bool data = store_or_atomic || (looks_up(c) && c != AccessClass::register_read);
  if (data) counters["data_bytes"] += bytes_of(r.sectors & all_);
  if (!config_.enabled) {
    if (!carries) ++counters["bypassed_reads"];
    pass(r);
    return;
  }
  if (c == AccessClass::register_write) {
    if (lines_.find(r.address) == nullptr) {
      make_room(r.address);
      lines_.add(r.address);
    } else {
      ++counters["write_hits"];
    }
    lines_.use(r.address);
    ModelLine& line = *lines_.find(r.address);
    line.valid = all_;
    make_dirty(line, all_);
    counters["bytes_absorbed"] += config_.line_bytes;
    line.registers = true;
    for (unsigned i = 0; i < config_.line_bytes; ++i) line.bytes[i] = byte_of(r.fill, i);
    close(r.address);
    ++counters["stores_absorbed"];
    ++counters["array_writes"];
  } else if (c == AccessClass::register_read || (looks_up(c) && policy(c).cached && !r.bypass_l1)) {
    read(r, index);
  } else if (store_or_atomic || looks_up(c)) {
    const Policy p = policy(c);
    if (!carries) ++counters["bypassed_reads"];
    if (!p.cached) {
      pass(r);
    } else if (c == AccessClass::atomic || r.bypass_l1) {
      store(r, "write_evict", false);
    } else {
      store(r, p.store, p.allocate);
    }
  } else {
    ++counters["bypassed_reads"];
    pass(r);
  }
}

void L1Model::read(Request& r, std::size_t index) {
  const bool registers = r.access == AccessClass::register_read;
  ModelLine* line = lines_.find(r.address);
  std::uint8_t need = missing(r);
  hit[index] = need == 0;
  if (need == 0) {
    ++counters["read_hits"];
    if (registers) read_bytes[index] = line->bytes;
    lines_.use(r.address);
    if (r.last) {
      discard(r.address);
      ++counters["last_reads"];
    }
    return;
  }
  ++counters["read_misses"];
  counters["sector_misses"] += line != nullptr;
  fetches_.wanted[index] = registers ? all_ : r.sectors & all_;
  if (ModelFetch* f = joinable(r, need)) {
    ++counters["mshr_merges"];
    f->waiters.push_back(index);
    return;
  }
  ModelFetch f;
  f.address = r.address;
  f.sectors = need;
  f.open = !r.last;
  f.registers = registers;
  f.local = r.access == AccessClass::local_load;
  f.sent = sent.size();
  f.waiters = {index};
  fetches_.all.push_back(f);
  counters["mshrs_max"] = std::max<std::uint64_t>(counters["mshrs_max"], fetches_.all.size());
  down(r);
  sent.back().sectors = need;
  counters["bytes_fetched"] += bytes_of(need);
}

// A store, an atomic, or a load that nothing here may answer, of a class whose loads are cached.
void L1Model::store(const Request& r, const std::string& policy, bool allocate) {
  const bool is_load = looks_up(r.access);
  ModelLine* line = lines_.find(r.address);
  if (!is_load) counters["write_hits"] += line != nullptr;
  const bool kept = policy != "write_evict" && (line != nullptr || allocate);
  if (!kept) {
    if (line != nullptr) {
      if (line->dirty != 0) write_back(*line);
      lines_.drop(r.address);
      ++counters["lines_dropped"];
    }
    close(r.address);
    pass(r);
    return;
  }
  if (line == nullptr) {
    make_room(r.address);
    line = &lines_.add(r.address);
  }
  lines_.use(r.address);
  line->valid |= r.sectors & all_;
  line->local = r.access == AccessClass::local_store;
  close(r.address);
  ++counters["array_writes"];
  if (policy == "write_through") {
    pass(r);
  } else {
    make_dirty(*line, r.sectors & all_);
    counters["bytes_absorbed"] += bytes_of(r.sectors & all_);
    ++counters["stores_absorbed"];
  }
}

std::vector<std::size_t> L1Model::fill(std::size_t number) {
  auto& all = fetches_.all;
  const auto f = std::find_if(all.begin(), all.end(), [&](const ModelFetch& x) { return x.sent == number; });
  if (f == all.end()) return {};  // it went past the L1, or was a write
  ++counters["fills"];
  const ModelFetch fetch = *f;
  all.erase(f);
  const bool parts = config_.sector_merge && !fetch.registers;
  if (!fetch.open) {
    const ModelLine* there = lines_.find(fetch.address);
    return fetches_.answered(fetch, there == nullptr ? 0 : there->valid, parts);
  }
  ++counters["fills_installed"];
  if (lines_.find(fetch.address) == nullptr) {
    make_room(fetch.address);
    ModelLine& line = lines_.add(fetch.address);
    line.registers = fetch.registers;
    line.local = fetch.local;
  }
  lines_.use(fetch.address);
  ModelLine& line = *lines_.find(fetch.address);
  line.valid |= fetch.sectors;
  if (fetch.registers) line.bytes = sent[number].bytes;
  return fetches_.answered(fetch, line.valid, parts);
}

void L1Model::kernel_boundary() {
  const std::size_t first = sent.size();
  for (auto& set : lines_.sets()) {
    for (const ModelLine& line : set) {
      if (line.registers || line.dirty == 0) continue;
      if (line.local) counters["bytes_discarded"] += bytes_of(line.dirty);
      if (!line.local) write_back(line);
    }
    set.remove_if([](const ModelLine& line) { return !line.registers; });
  }
  for (ModelFetch& f : fetches_.all) {
    if (!f.registers) f.open = false;
  }
  flushed.emplace_back(first, sent.size() - first);
}

}  // namespace regatta::test

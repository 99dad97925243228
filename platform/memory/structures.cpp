// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/cache_array.h>
#include <regatta/memory/line_store.h>
#include <regatta/memory/mshr_table.h>
#include <regatta/memory/transport.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace regatta::memory {

void protocol_error(const char* socket, const char* what) {
  const std::string message = std::string(socket) + ": " + what;
  SC_REPORT_ERROR("regatta/memory", message.c_str());
  throw std::logic_error(message);  // for report handlers that let an error pass
}

CacheArray::CacheArray(std::size_t sets, unsigned ways, unsigned line_bytes, Interleave interleave)
    : sets_(std::max<std::size_t>(sets, 1)),
      ways_(ways),
      used_ways_(ways),
      line_(line_bytes),
      chunk_lines_(std::max(1u, interleave.chunk_bytes / line_bytes)),
      round_(chunk_lines_.value() * line_bytes * interleave.partitions),
      set_(sets_),
      lines_(sets_ * ways) {}

std::size_t CacheArray::victim(std::uint64_t address) const {
  const std::size_t first = set_of(address) * ways_;
  std::size_t best = first;
  for (std::size_t i = first; i < first + used_ways_; ++i) {
    if (lines_[i].valid == 0) return i;
    if (lines_[i].used < lines_[best].used) best = i;
  }
  return best;
}

MshrTable::MshrTable(unsigned entries, unsigned merge_limit)
    : merge_limit_(merge_limit), entries_(entries), nodes_(std::size_t{entries} * merge_limit) {
  free_.reserve(entries);
  for (unsigned i = entries; i-- > 0;) free_.push_back(i);
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    nodes_[i].next = free_node_;
    free_node_ = static_cast<std::uint32_t>(i);
  }
  std::size_t buckets = 4;
  while (buckets < 2u * entries) buckets *= 2;
  buckets_.assign(buckets, none);
}

std::uint32_t MshrTable::find(std::uint64_t address, std::uint8_t sectors) const {
  for (std::uint32_t i = buckets_[bucket(address)]; i != none; i = entries_[i].chain) {
    const Entry& e = entries_[i];
    if (e.address == address && e.install && (sectors & ~e.sectors) == 0) return i;
  }
  return none;
}

std::uint32_t MshrTable::find(std::uint64_t address, const Payload* fetch) const {
  for (std::uint32_t i = buckets_[bucket(address)]; i != none; i = entries_[i].chain) {
    if (entries_[i].fetch == fetch) return i;
  }
  return none;
}

std::uint32_t MshrTable::find_any(std::uint64_t address, std::uint8_t sectors, bool only_open) const {
  for (std::uint32_t i = buckets_[bucket(address)]; i != none; i = entries_[i].chain) {
    const Entry& e = entries_[i];
    if (e.address == address && (e.install || !only_open) && (sectors & e.sectors) != 0) return i;
  }
  return none;
}

std::uint32_t MshrTable::to_join(std::uint64_t address, std::uint8_t& missing, bool parts) const {
  const std::uint32_t whole = find(address, missing);
  if (whole != none || !parts) return whole;
  std::uint8_t on_their_way = 0;
  for (std::uint32_t i = buckets_[bucket(address)]; i != none; i = entries_[i].chain) {
    const Entry& e = entries_[i];
    if (e.address == address && e.install) on_their_way |= e.sectors;
  }
  if ((missing & ~on_their_way) == 0) return find_any(address, missing, true);
  missing &= static_cast<std::uint8_t>(~on_their_way);
  return none;
}

std::uint32_t MshrTable::waits_next(std::uint32_t filled, std::uint8_t wanted, std::uint8_t valid) const {
  const Entry& e = entries_[filled];
  const auto rest = static_cast<std::uint8_t>(wanted & ~e.sectors & ~valid);
  return rest == 0 ? none : find_any(e.address, rest, false);
}

std::uint32_t MshrTable::allocate(std::uint64_t address, std::uint8_t sectors, Payload* fetch) {
  const std::uint32_t index = free_.back();
  free_.pop_back();
  std::uint32_t& head = buckets_[bucket(address)];
  Entry& e = entries_[index];
  e = Entry{};
  e.address = address;
  e.sectors = sectors;
  e.fetch = fetch;
  e.chain = head;
  head = index;
  max_in_use_ = std::max<std::uint64_t>(max_in_use_, in_use());
  return index;
}

void MshrTable::add_waiter(std::uint32_t index, Payload* waiter) {
  Entry& e = entries_[index];
  if (free_node_ == none) {  // requests that moved here left room for others where they were
    free_node_ = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  const std::uint32_t node = free_node_;
  free_node_ = nodes_[node].next;
  nodes_[node] = Node{waiter, none};
  if (e.last == none) {
    e.first = node;
  } else {
    nodes_[e.last].next = node;
  }
  e.last = node;
  ++e.waiters;
}

void MshrTable::pop_waiter(std::uint32_t index) {
  Entry& e = entries_[index];
  const std::uint32_t node = e.first;
  e.first = nodes_[node].next;
  if (e.first == none) e.last = none;
  nodes_[node].next = free_node_;
  nodes_[node].payload = nullptr;
  free_node_ = node;
  --e.waiters;
}

void MshrTable::release(std::uint32_t index) {
  std::uint32_t* link = &buckets_[bucket(entries_[index].address)];
  while (*link != index) link = &entries_[*link].chain;
  *link = entries_[index].chain;
  entries_[index].fetch = nullptr;
  free_.push_back(index);
}

void LineStore::read(std::uint64_t address, unsigned char* to, unsigned bytes) const {
  const auto found = index_.find(address);
  if (found == index_.end()) {
    std::memset(to, 0, bytes);
  } else {
    std::memcpy(to, found->second, std::min(bytes, line_bytes_));
  }
}

void LineStore::write(std::uint64_t address, const unsigned char* from, unsigned bytes) {
  unsigned char*& to = index_[address];
  if (to == nullptr) {
    const std::size_t position = (index_.size() - 1) % lines_per_block;
    if (position == 0) blocks_.push_back(std::make_unique<unsigned char[]>(lines_per_block * line_bytes_));
    to = blocks_.back().get() + position * line_bytes_;
  }
  std::memcpy(to, from, std::min(bytes, line_bytes_));
}

}  // namespace regatta::memory

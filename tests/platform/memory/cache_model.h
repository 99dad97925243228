// SPDX-License-Identifier: Apache-2.0
//
// Plain models of the L1 and of an L2 partition: what each request does to lines, and what goes down for it. Written
// from platform/memory/README.md, with lists in place of tags and stamps. They know no queues; limits are those of the
// MSHRs.
#pragma once

#include "recording_target.h"

#include <list>
#include <map>
#include <string>
#include <vector>

namespace regatta::test {

inline unsigned bytes_of(std::uint8_t sectors) { return 32 * static_cast<unsigned>(__builtin_popcount(sectors)); }

struct ModelLine {
  std::uint64_t address = 0;
  std::uint8_t valid = 0, dirty = 0;
  bool registers = false, local = false;
  LineBytes bytes{};
};

/// Sets of lines, each in order of use, the one used last at the end.
class ModelArray {
 public:
  /// Of `partitions` that share the addresses in chunks this is one: its own chunks follow one another.
  ModelArray(std::size_t sets, unsigned ways, unsigned line_bytes, unsigned chunk_bytes, unsigned partitions)
      : ways_(ways), line_(line_bytes), chunk_(chunk_bytes), partitions_(partitions), sets_(sets) {}
  ModelArray(std::size_t sets, unsigned ways, unsigned line_bytes)
      : ModelArray(sets, ways, line_bytes, line_bytes, 1) {}
  ModelLine* find(std::uint64_t address) {
    for (ModelLine& l : set(address)) {
      if (l.address == address) return &l;
    }
    return nullptr;
  }
  void use(std::uint64_t address) {
    auto& s = set(address);
    for (auto l = s.begin(); l != s.end(); ++l) {
      if (l->address != address) continue;
      s.splice(s.end(), s, l);
      return;
    }
  }
  bool full(std::uint64_t address) { return set(address).size() == ways_; }
  ModelLine& oldest(std::uint64_t address) { return set(address).front(); }
  void drop(std::uint64_t address) {
    set(address).remove_if([&](const ModelLine& l) { return l.address == address; });
  }
  ModelLine& add(std::uint64_t address) {
    set(address).push_back({});
    set(address).back().address = address;
    return set(address).back();
  }
  std::vector<std::list<ModelLine>>& sets() { return sets_; }
  std::uint64_t dirty_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& set : sets_) {
      for (const ModelLine& l : set) sum += bytes_of(l.dirty);
    }
    return sum;
  }

 private:
  std::list<ModelLine>& set(std::uint64_t address) {
    const std::uint64_t in_partition = address / chunk_ / partitions_ * chunk_ + address % chunk_;
    return sets_[in_partition / line_ % sets_.size()];
  }
  std::size_t ways_;
  unsigned line_, chunk_, partitions_;
  std::vector<std::list<ModelLine>> sets_;
};

/// A fetch under way.
struct ModelFetch {
  std::uint64_t address = 0;
  std::uint8_t sectors = 0;
  bool open = true;  ///< may be joined, and is installed when it comes
  bool registers = false, local = false;
  std::size_t sent = 0;      ///< index among what went down
  std::uint8_t atomics = 0;  ///< sectors that will be dirty
  std::vector<std::size_t> waiters;
};

/// Requests that wait for fetches, of which each may bring a part (sector_merge).
class ModelFetches {
 public:
  std::list<ModelFetch> all;
  std::map<std::size_t, std::uint8_t> wanted;   ///< sectors, by index of the request
  std::map<std::size_t, std::uint8_t> dirtied;  ///< sectors that it makes dirty
  /// An open fetch to wait for: one that brings all of `need`; with `parts`, if several do together, the youngest of
  /// these. Otherwise none, and `need` is what is not on its way.
  ModelFetch* to_join(std::uint64_t address, std::uint8_t& need, bool parts) {
    std::uint8_t coming = 0;
    for (auto f = all.rbegin(); f != all.rend(); ++f) {
      if (!f->open || f->address != address) continue;
      if ((need & ~f->sectors) == 0) return &*f;
      coming |= f->sectors;
    }
    if (!parts) return nullptr;
    if ((need & ~coming) != 0) {
      need &= static_cast<std::uint8_t>(~coming);
      return nullptr;
    }
    return with(address, need, true);
  }
  /// The youngest fetch that brings some of the sectors.
  ModelFetch* with(std::uint64_t address, std::uint8_t sectors, bool only_open) {
    for (auto f = all.rbegin(); f != all.rend(); ++f) {
      if (f->address == address && (f->open || !only_open) && (f->sectors & sectors) != 0) return &*f;
    }
    return nullptr;
  }
  /// Of those that waited for a fetch that is here, the ones that are answered; the others wait on. `valid`: sectors of
  /// the line.
  std::vector<std::size_t> answered(const ModelFetch& fetch, std::uint8_t valid, bool parts) {
    std::vector<std::size_t> done;
    for (const std::size_t w : fetch.waiters) {
      const auto rest = static_cast<std::uint8_t>(wanted[w] & ~fetch.sectors & ~valid);
      ModelFetch* const next = parts && rest != 0 ? with(fetch.address, rest, false) : nullptr;
      next != nullptr ? next->waiters.push_back(w) : done.push_back(w);
      if (next != nullptr) next->atomics |= dirtied[w];
    }
    return done;
  }
};

using Counters = std::map<std::string, std::uint64_t>;

class L1Model {
 public:
  explicit L1Model(const memory::L1Config& config);
  /// What keeps the request from being taken now: "", "mshr" or "merge".
  std::string obstacle(const Request& r);
  void take(Request& r, std::size_t index);
  /// The answer to what went down as number `sent` is here. Returns the requests that waited for it.
  std::vector<std::size_t> fill(std::size_t sent);
  void kernel_boundary();
  std::uint64_t dirty_bytes() const { return lines_.dirty_bytes(); }

  std::vector<Sent> sent;
  /// Groups of what leaves at a kernel boundary, in no order among themselves: first and count.
  std::vector<std::pair<std::size_t, std::size_t>> flushed;
  std::map<std::size_t, bool> hit;              ///< reads: by index of the request
  std::map<std::size_t, LineBytes> read_bytes;  ///< register reads answered by the L1
  Counters counters;

 private:
  struct Policy {
    bool cached;
    std::string store;
    bool allocate;
  };
  Policy policy(AccessClass c) const;
  std::uint8_t missing(const Request& r);
  ModelFetch* joinable(const Request& r, std::uint8_t& need);
  void down(const Request& r);
  void pass(const Request& r);
  void make_dirty(ModelLine& line, std::uint8_t sectors);
  void discard(std::uint64_t address);
  void write_back(const ModelLine& line);
  void make_room(std::uint64_t address);
  void close(std::uint64_t address);
  void read(Request& r, std::size_t index);
  void store(const Request& r, const std::string& policy, bool allocate);

  memory::L1Config config_;
  std::uint8_t all_;
  ModelArray lines_;
  ModelFetches fetches_;
};

/// The partition serves one request a cycle, in order, when its bank is free and an MSHR is there for it.
class L2Model {
 public:
  explicit L2Model(const memory::MemorySystemConfig& config);
  /// True when the head of the queue, which arrived in that cycle, is served in this one.
  bool serve(const Request& r, std::size_t index, std::uint64_t arrived, std::uint64_t now);
  /// The answer to fetch number `fetch` is here.
  void fill(std::size_t fetch, std::uint64_t now);
  std::uint64_t dirty_bytes() const { return lines_.dirty_bytes(); }

  std::vector<Sent> reads, writes;  ///< that go to DRAM; cycle: the earliest one in which they can be there
  std::map<std::size_t, std::uint64_t> answered;  ///< by request: the earliest cycle in which its answer can be there
  std::map<std::size_t, bool> hit;                ///< by request, where there is an answer to come from somewhere
  Counters counters;

 private:
  bool read(const Request& r, std::size_t index, std::uint64_t now);
  void write(const Request& r, std::uint64_t now);
  void write_down(std::uint64_t address, AccessClass access, std::uint8_t sectors, std::uint64_t now);
  void make_dirty(ModelLine& line, std::uint8_t sectors);
  ModelLine& place(std::uint64_t address, std::uint64_t now);
  std::uint64_t& bank(std::uint64_t address);

  memory::MemorySystemConfig config_;
  std::uint8_t all_;
  ModelArray lines_;
  ModelFetches fetches_;
  std::vector<std::uint64_t> bank_free_;
  std::uint64_t head_since_ = 0;
  bool head_failed_ = false;
};

}  // namespace regatta::test

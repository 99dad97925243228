// SPDX-License-Identifier: Apache-2.0
#include <regatta/memory/dram_banks.h>

#include <algorithm>

namespace regatta::memory {

DramMapping::DramMapping(const MemorySystemConfig& config)
    : kind_(config.dram.mapping == "xor"               ? Kind::permuted
            : config.dram.mapping == "row_bank_column" ? Kind::row_bank_column
                                                       : Kind::row_column_bank),
      map_(config.partition_map()),
      pieces_(std::max(1u, config.dram.row_bytes / config.l2.interleave_bytes)),
      banks_(config.dram.banks) {}

DramBanks::DramBanks(const MemorySystemConfig& config)
    : mapping_(config),
      timing_(config.dram.timing),
      turnaround_(config.dram.turnaround),
      limit_(config.dram.scheduler == "fcfs" ? 0 : config.dram.starvation_limit),
      bandwidth_(config.dram_bandwidth()),
      banks_(config.dram.banks),
      busy_((config.dram.banks + 63) / 64),
      entries_(config.dram.queue),
      arrivals_(config.dram.queue) {
  for (std::uint32_t i = config.dram.queue; i-- > 0;) {
    entries_[i].next = free_;
    free_ = i;
  }
  // An activate is scheduled at most this far ahead, since each bank has at most one pending.
  const std::uint64_t ahead =
      timing_.rp + timing_.rc + (std::uint64_t{timing_.rrd} + 1) * (std::uint64_t{config.dram.banks} + 1);
  std::size_t words = 4;
  while (words * 64 < ahead + 128) words *= 2;
  slots_.resize(words);
  slot_mask_ = words - 1;
}

std::uint64_t DramBanks::add(const DramRequest& request) {
  arrivals_.push(request);
  ++size_;
  const DramMapping::Place place = mapping_(request.address);
  const Bank& bank = banks_[place.bank];
  if (bank.row == place.row) {
    return std::max({request.ready, bank.column_at, request.write ? write_at_ : read_at_});
  }
  if (bank.first != none) return never;
  return std::max(request.ready, bank.row == no_row ? std::max(bank.activate_at, activate_at_) : bank.precharge_at);
}

void DramBanks::admit(const DramRequest& request) {
  const std::uint32_t index = free_;
  Entry& e = entries_[index];
  free_ = e.next;
  const DramMapping::Place place = mapping_(request.address);
  e.request = request;
  e.row = place.row;
  e.bank = place.bank;
  e.sequence = sequence_++;
  e.next = none;
  e.older = youngest_;
  e.younger = none;
  e.opened = e.conflict = false;
  if (youngest_ == none) {
    oldest_ = index;
    passed_ = 0;
  } else {
    entries_[youngest_].younger = index;
  }
  youngest_ = index;
  Bank& bank = banks_[place.bank];
  if (bank.first == none) {
    bank.first = index;
    busy_[place.bank / 64] |= std::uint64_t{1} << (place.bank % 64);
  } else {
    entries_[bank.last].next = index;
  }
  bank.last = index;
  // The bank's next command changes only if this is the first request to its open row.
  if (bank.chosen == none || (bank.want == Want::precharge && bank.row == e.row)) choose(bank);
}

// Chooses the request that the bank serves: the oldest one to its open row, or the oldest one of all when no request
// may overtake it.
void DramBanks::choose(Bank& bank) {
  bank.chosen = bank.first;
  if (bank.first == none) return;
  if (limit_ != 0 && !(urgent() && bank.first == oldest_)) {
    for (std::uint32_t i = bank.first; i != none; i = entries_[i].next) {
      if (entries_[i].row != bank.row) continue;
      bank.chosen = i;
      break;
    }
  }
  const Entry& e = entries_[bank.chosen];
  bank.want = e.row == bank.row    ? e.request.write ? Want::write : Want::read
              : bank.row == no_row ? Want::activate
                                   : Want::precharge;
}

// The bank whose command is next, and when; `at` stays never when there is none.
std::uint32_t DramBanks::pick(std::uint64_t begin, bool reads, std::uint64_t& at) const {
  std::uint32_t best = none;
  std::uint64_t best_order = never;
  const std::uint32_t only = urgent() ? oldest_ : none;
  // Earliest cycle of each kind of command, indexed by Want.
  const std::uint64_t channel[4] = {std::max(begin, read_at_), std::max(begin, write_at_),
                                    std::max(begin, activate_at_), begin};
  for (std::size_t word = 0; word < busy_.size(); ++word) {
    for (std::uint64_t bits = busy_[word]; bits != 0; bits &= bits - 1) {
      const auto b = static_cast<std::uint32_t>(word * 64 + static_cast<unsigned>(__builtin_ctzll(bits)));
      const Bank& bank = banks_[b];
      const bool column = bank.want <= Want::write;
      if (column && ((only != none && bank.chosen != only) || (!reads && bank.want == Want::read))) continue;
      std::uint64_t t = column ? bank.column_at : bank.want == Want::activate ? bank.activate_at : bank.precharge_at;
      // Closing a row long before the bank may open another one would reserve its activate far ahead, before those of
      // other banks.
      if (bank.want == Want::precharge && bank.activate_at > t + timing_.rp) t = bank.activate_at - timing_.rp;
      t = std::max(t, channel[static_cast<unsigned>(bank.want)]);
      if (t > at) continue;
      t = free_slot(t);
      // Column commands first, then the oldest.
      const std::uint64_t order = entries_[bank.chosen].sequence | (column ? 0 : std::uint64_t{1} << 63);
      if (t > at || (t == at && order > best_order)) continue;
      at = t;
      best = b;
      best_order = order;
    }
  }
  return best;
}

// Opens the row that the bank's request needs; the first command is in cycle `at`.
void DramBanks::open(std::uint32_t index, std::uint64_t at, Command& activate, bool& precharged) {
  Bank& bank = banks_[index];
  Entry& e = entries_[bank.chosen];
  precharged = bank.want == Want::precharge;
  take(at);
  std::uint64_t when = at;
  if (precharged) {
    ++precharges;
    when = free_slot(std::max({at + timing_.rp, bank.activate_at, activate_at_}));
    take(when);
  }
  ++activates;
  e.opened = true;
  e.conflict = precharged;
  bank.row = e.row;
  bank.column_at = when + timing_.rcd;
  bank.precharge_at = when + timing_.ras;
  bank.activate_at = when + timing_.rc;
  activate_at_ = when + timing_.rrd;
  choose(bank);
  activate.kind = Kind::activate;
  activate.bank = index;
  activate.row = e.row;
  activate.at = when;
}

// The column command of the bank's request.
DramBanks::Command DramBanks::serve(std::uint32_t index, std::uint64_t at) {
  Bank& bank = banks_[index];
  const std::uint32_t chosen = bank.chosen;
  const Entry& e = entries_[chosen];
  const bool write = e.request.write;
  take(at);
  (!e.opened ? row_hits : e.conflict ? row_conflicts : row_misses) += 1;
  Command c;
  c.kind = write ? Kind::write : Kind::read;
  c.bank = index;
  c.row = bank.row;
  c.at = at;
  c.request = e.request;
  // A burst follows the previous one without a gap, even if that one ends within a cycle.
  const std::uint64_t first = at + (write ? timing_.wl : timing_.cl);
  if (bus_cycle_ < first) {
    bus_cycle_ = first;
    bus_fraction_ = 0;
  }
  c.data_from = bus_cycle_;
  bus_fraction_ += e.request.bytes * bandwidth_.cycles;
  bus_cycle_ += bus_fraction_ / bandwidth_.bytes;
  bus_fraction_ %= bandwidth_.bytes;
  const std::uint64_t end = bus_cycle_ + (bus_fraction_ != 0 ? 1 : 0);
  c.data_until = end;
  const std::uint64_t column = at + timing_.ccd;
  const auto back = [](std::uint64_t from, std::uint64_t by) { return from > by ? from - by : 0; };
  if (write) {
    write_at_ = std::max(column, back(bus_cycle_, timing_.wl));
    read_at_ = std::max({column, end + timing_.cdlr, back(bus_cycle_, timing_.cl)});
    bank.precharge_at = std::max(bank.precharge_at, end + timing_.wr);
  } else {
    read_at_ = std::max(column, back(bus_cycle_, timing_.cl));
    write_at_ = std::max(column, back(end + turnaround_, timing_.wl));
    bank.precharge_at = std::max(bank.precharge_at, back(end, timing_.cl));
  }
  if (chosen != oldest_ && ++passed_ == limit_) {
    ++starved;
    remove(bank, chosen);
    choose(banks_[entries_[oldest_].bank]);
  } else {
    remove(bank, chosen);
  }
  choose(bank);
  if (bank.first == none) busy_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
  return c;
}

void DramBanks::remove(Bank& bank, std::uint32_t index) {
  Entry& e = entries_[index];
  if (bank.first == index) {
    bank.first = e.next;
    if (bank.first == none) bank.last = none;
  } else {
    std::uint32_t before = bank.first;
    while (entries_[before].next != index) before = entries_[before].next;
    entries_[before].next = e.next;
    if (bank.last == index) bank.last = before;
  }
  if (e.older != none) {
    entries_[e.older].younger = e.younger;
  } else {
    oldest_ = e.younger;
    passed_ = 0;
  }
  if (e.younger != none) {
    entries_[e.younger].older = e.older;
  } else {
    youngest_ = e.older;
  }
  e.next = free_;
  free_ = index;
  --size_;
}

// Clears the slots of cycles that have passed, so that the ring can go round.
void DramBanks::forget_before(std::uint64_t at) {
  std::uint64_t word = slots_from_ / 64;
  const std::uint64_t last = at / 64;
  if (last <= word) return;
  if (last - word > slot_mask_) word = last - slot_mask_ - 1;
  for (; word < last; ++word) slots_[word & slot_mask_] = 0;
  slots_from_ = at;
}

}  // namespace regatta::memory

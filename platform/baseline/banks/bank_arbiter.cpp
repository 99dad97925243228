// SPDX-License-Identifier: Apache-2.0
#include <regatta/baseline/bank_arbiter.h>

#include <algorithm>

namespace regatta::models {

BankArbiter::BankArbiter(unsigned banks, unsigned write_places, bool writes_first)
    : banks_(banks), occupied_((banks + 63) / 64), write_places_(write_places), writes_first_(writes_first) {}

void BankArbiter::add(bool write, unsigned bank, const Request& request) {
  Bank& b = banks_[bank];
  Queue& queue = write ? b.writes : b.reads;
  queue.push_back(request);
  queue.back().order = ++orders_;
  occupied_[bank / 64] |= std::uint64_t{1} << (bank % 64);
  ++waiting_;
}

bool BankArbiter::take(std::size_t bank, std::uint64_t cycle, Request& request, bool& write) {
  Bank& b = banks_[bank];
  auto may_go = [cycle](const Queue& queue, const Queue& others) {
    if (queue.empty() || queue.front().earliest > cycle) return false;
    const Request& r = queue.front();
    return std::none_of(others.begin(), others.end(),
                        [&](const Request& o) { return o.row == r.row && o.order < r.order; });
  };
  const bool can_read = may_go(b.reads, b.writes);
  const bool can_write = may_go(b.writes, b.reads);
  if (!can_read && !can_write) return false;
  write = can_write && (writes_first_ || !can_read);
  Queue& queue = write ? b.writes : b.reads;
  request = queue.front();
  queue.erase(queue.begin());
  if (write) b.write_served = cycle;
  if (b.reads.empty() && b.writes.empty()) occupied_[bank / 64] &= ~(std::uint64_t{1} << (bank % 64));
  --waiting_;
  return true;
}

}  // namespace regatta::models

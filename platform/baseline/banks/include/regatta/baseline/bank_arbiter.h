// SPDX-License-Identifier: Apache-2.0
//
// Arbitration between the reads and writes that wait for the shared port of a register bank, if one kind has priority.
// First come first served needs no arbiter: there the finishing time is known when a request arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tlm>
#include <vector>

namespace regatta::models {

/// A queue of reads and a queue of writes per bank. In a cycle a bank serves the oldest eligible request of the
/// preferred kind, otherwise the oldest of the other kind. No request overtakes an older one for the same row.
///
/// A request is served in a later cycle than it arrives, and the place of a served write becomes free in the next
/// cycle, so the order of arrivals and service within a cycle does not matter.
class BankArbiter {
 public:
  struct Request {
    tlm::tlm_generic_payload* payload = nullptr;
    std::size_t row = 0;
    std::uint64_t earliest = 0;  ///< first cycle in which it may be served, later than that of its arrival
    std::uint64_t late = 0;      ///< additional cycles of its row after its bank
    std::uint64_t order = 0;     ///< of arrival, given by add()
  };

  /// `write_places`: writes that may wait at a bank.
  BankArbiter(unsigned banks, unsigned write_places, bool writes_first);

  /// Whether a write that arrives in `cycle` finds a place.
  bool has_room(unsigned bank, std::uint64_t cycle) const {
    const Bank& b = banks_[bank];
    return b.writes.size() + (b.write_served == cycle ? 1 : 0) < write_places_;
  }
  /// The same for a held write that is admitted after the service of a cycle.
  bool has_room_now(unsigned bank) const { return banks_[bank].writes.size() < write_places_; }
  void add(bool write, unsigned bank, const Request& request);
  bool empty() const { return waiting_ == 0; }
  /// Serves at most one request of every bank in `cycle`: `done(request, write)`, in the order of banks.
  template <class Done>
  void serve(std::uint64_t cycle, Done&& done) {
    for (std::size_t word = 0; word < occupied_.size(); ++word) {
      for (std::uint64_t m = occupied_[word]; m != 0; m &= m - 1) {
        Request request;
        bool write = false;
        if (take(word * 64 + static_cast<std::size_t>(__builtin_ctzll(m)), cycle, request, write)) done(request, write);
      }
    }
  }

 private:
  using Queue = std::vector<Request>;
  struct Bank {
    Queue reads, writes;
    std::uint64_t write_served = ~std::uint64_t{0};  ///< the last cycle in which a write was
  };
  bool take(std::size_t bank, std::uint64_t cycle, Request& request, bool& write);

  std::vector<Bank> banks_;
  std::vector<std::uint64_t> occupied_;  ///< a bit per bank with something to serve
  unsigned write_places_;
  bool writes_first_;
  std::uint64_t orders_ = 0;
  std::size_t waiting_ = 0;
};

}  // namespace regatta::models

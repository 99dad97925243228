// SPDX-License-Identifier: Apache-2.0
#include "mbarrier.h"

namespace regatta::emulator {

Mbarrier Mbarrier::initial(std::uint32_t arrivals) {
  Mbarrier m(0);
  m.put(arrivals, arrivals, 0, false);
  return m;
}

void Mbarrier::put(std::uint32_t pending, std::uint32_t expected, std::int64_t bytes, bool parity) {
  word_ = pending | std::uint64_t{expected} << 20 | (static_cast<std::uint64_t>(bytes) & 0x1fffff) << 40 |
          std::uint64_t{parity} << 61 | std::uint64_t{1} << 62;
}

void Mbarrier::settle() {
  if (pending() == 0 && bytes() == 0) put(expected(), expected(), 0, !parity());
}

std::string Mbarrier::arrive(std::uint32_t count, bool drop, bool may_complete) {
  if (count == 0 || count > most_arrivals) {
    return std::to_string(count) + " arrivals at a mbarrier, expected 1 to " + std::to_string(most_arrivals);
  }
  if (count > pending()) {
    return std::to_string(count) + (count == 1 ? " arrival" : " arrivals") + " at a mbarrier that waits for " +
           std::to_string(pending()) + " (" + text() + ")";
  }
  if (!may_complete && count == pending() && bytes() == 0) {
    return "arrive.noComplete would complete the phase (" + text() + ")";
  }
  const std::uint32_t dropped = drop ? count : 0;
  if (dropped > expected()) return "more arrivals are dropped than phases expect (" + text() + ")";
  put(pending() - count, expected() - dropped, bytes(), parity());
  settle();
  return {};
}

std::string Mbarrier::add_pending() {
  if (pending() == most_arrivals) return "more than " + std::to_string(most_arrivals) + " pending arrivals";
  put(pending() + 1, expected(), bytes(), parity());
  return {};
}

std::string Mbarrier::put_bytes(std::int64_t now) {
  if (now > most_bytes || now < -most_bytes) {
    return "transaction count of " + std::to_string(now) + " bytes, expected at most " + std::to_string(most_bytes) +
           " either way (" + text() + ")";
  }
  put(pending(), expected(), now, parity());
  settle();
  return {};
}

std::string Mbarrier::expect(std::uint32_t count) { return put_bytes(bytes() + std::int64_t{count}); }

std::string Mbarrier::complete(std::uint32_t count) { return put_bytes(bytes() - std::int64_t{count}); }

std::string Mbarrier::text() const {
  return "phase " + std::to_string(parity() ? 1 : 0) + ", " + std::to_string(pending()) + " of " +
         std::to_string(expected()) + (expected() == 1 ? " arrival and " : " arrivals and ") + std::to_string(bytes()) +
         " bytes pending";
}

}  // namespace regatta::emulator

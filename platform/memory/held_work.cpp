// SPDX-License-Identifier: Apache-2.0
//
// What the memory's modules hold, for the report of a deadlock.
#include <regatta/memory/dram_channel.h>
#include <regatta/memory/interconnect.h>
#include <regatta/memory/l1_cache.h>
#include <regatta/memory/l2_partition.h>

#include <sstream>

namespace regatta::memory {

namespace {

std::string line_text(const Payload& payload) {
  std::ostringstream text;
  text << "line 0x" << std::hex << payload.get_address() << std::dec << " ("
       << protocol::to_string(payload.get_extension<protocol::MemoryAccess>()->access) << ")";
  return text.str();
}

/// The first lines that are being fetched, and how many there are.
std::string fetches_text(const MshrTable& mshrs) {
  constexpr std::size_t shown = 3;
  std::ostringstream text;
  text << mshrs.in_use() << " MSHRs in use";
  std::size_t count = 0;
  for (std::size_t i = 0; i < mshrs.entries().size() && count < shown; ++i) {
    const MshrTable::Entry& e = mshrs.entries()[i];
    if (e.fetch == nullptr || e.waiters == 0) continue;
    text << (count++ == 0 ? ": " : ", ") << "line 0x" << std::hex << e.address << std::dec << " for " << e.waiters
         << (e.waiters == 1 ? " request" : " requests");
  }
  return text.str();
}

/// What a cache holds.
std::string held_text(const MshrTable& mshrs, const Payload* request, std::uint64_t since, bool requester_blocked,
                      bool responder_blocked) {
  std::string text = fetches_text(mshrs);
  if (request != nullptr) text += "; has not accepted " + line_text(*request) + " since cycle " + std::to_string(since);
  if (requester_blocked) text += "; a request of its own is not accepted below";
  if (responder_blocked) text += "; an answer of its own is not taken above";
  return text;
}

}  // namespace

std::string L1Cache::held_work() const {
  return idle() ? "" : held_text(mshrs_, held_, held_at_, requester_.blocked(), responder_.blocked());
}

std::string L2Partition::held_work() const {
  return idle() ? "" : held_text(mshrs_, held_, held_at_, requester_.blocked(), responder_.blocked());
}

std::string Interconnect::held_work() const { return idle() ? "" : "packets on their way or not taken at their end"; }

std::string DramChannel::held_work() const {
  if (idle()) return "";
  return std::to_string(banks_ ? banks_->size() : 0) + " accesses queued" +
         (held_ != nullptr ? "; has not accepted " + line_text(*held_) : "") +
         (responder_.blocked() ? "; an answer of its own is not taken above" : "");
}

}  // namespace regatta::memory

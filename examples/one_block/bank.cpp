// SPDX-License-Identifier: Apache-2.0
//
// Another block in a bench: a bank of RegLess's operand staging unit. It has no clock; its user passes the cycles.
#include <regatta/regless/osu_bank.h>

#include <array>
#include <functional>
#include <iomanip>
#include <iostream>
#include <string>
#include <systemc>
#include <vector>

using regatta::models::BankList;
using regatta::models::no_line;
using regatta::models::OsuBank;
using regatta::models::OsuBankAccess;
using regatta::models::OsuBankConfig;
using regatta::models::OsuLine;
using regatta::models::SlotPorts;

namespace {

constexpr unsigned lines = 4;

/// In the place of a shard of the staging unit.
class User : public sc_core::sc_module {
 public:
  explicit User(const sc_core::sc_module_name& name) : sc_module(name) {}
  sc_core::sc_port<OsuBankAccess> bank{"bank"};
};

struct Step {
  std::uint64_t cycle;
  std::string request;
  std::function<std::string(OsuBankAccess&, std::uint64_t now)> make;
  // Expected:
  std::string reply;
  std::string lists;  ///< free, clean and dirty lines, the oldest first
};

std::string allocate(OsuBankAccess& bank, std::uint64_t now, unsigned reg, bool may_dirty) {
  const OsuBankAccess::Allocation taken = bank.allocate(0, reg, now, may_dirty);
  if (taken.line == no_line) return "none";
  std::string text = "line " + std::to_string(taken.line);
  if (taken.from != BankList::free) text += ", R" + std::to_string(taken.reg) + " leaves";
  return text;
}

/// Writes all lanes in the first free cycle of the data port.
std::string write(OsuBankAccess& bank, std::uint64_t now, unsigned reg, std::uint32_t value) {
  const std::uint64_t slot = bank.book_write(now, now);
  std::array<std::uint32_t, 32> lanes{};
  lanes.fill(value);
  bank.write(bank.look_up(0, reg), reinterpret_cast<const unsigned char*>(lanes.data()), nullptr, slot + 1);
  return "in cycle " + std::to_string(slot);
}

std::string read(OsuBankAccess& bank, std::uint64_t now, unsigned reg) {
  const std::uint64_t slot = bank.book_read(now, now);
  std::array<std::uint32_t, 32> lanes{};
  bank.read(bank.look_up(0, reg), lanes.data());
  return std::to_string(lanes[0]) + " in cycle " + std::to_string(slot);
}

/// A value from memory is written in the cycle before, if the data port was free then.
std::string fill(OsuBankAccess& bank, std::uint64_t now, unsigned reg, std::uint32_t value) {
  if (!bank.is_spare(SlotPorts::data, now)) return "port was busy";
  std::array<std::uint32_t, 32> lanes{};
  lanes.fill(value);
  const std::uint16_t line = bank.look_up(0, reg);
  bank.fill(line, lanes.data(), now);
  bank.mark(line, false, true, now);  // clean, defined
  return "in cycle " + std::to_string(now - 1);
}

/// The region that owns the register's line is over.
std::string release(OsuBankAccess& bank, std::uint64_t now, unsigned reg, bool erase) {
  const BankList to = bank.release(bank.look_up(0, reg), erase, now + 1);
  return std::string("to ") + name(to);
}

std::vector<Step> script() {
  using Bank = OsuBankAccess;
  const auto allocates = [](unsigned reg, bool may_dirty = true) {
    return [=](Bank& b, std::uint64_t now) { return allocate(b, now, reg, may_dirty); };
  };
  const auto writes = [](unsigned reg, std::uint32_t value) {
    return [=](Bank& b, std::uint64_t now) { return write(b, now, reg, value); };
  };
  const auto reads = [](unsigned reg) { return [=](Bank& b, std::uint64_t now) { return read(b, now, reg); }; };
  const auto fills = [](unsigned reg, std::uint32_t value) {
    return [=](Bank& b, std::uint64_t now) { return fill(b, now, reg, value); };
  };
  const auto releases = [](unsigned reg, bool erase) {
    return [=](Bank& b, std::uint64_t now) { return release(b, now, reg, erase); };
  };
  return {
      {1, "allocate R0", allocates(0), "line 0", "1 2 3 | - | -"},
      {1, "allocate R1", allocates(1), "line 1", "2 3 | - | -"},
      {1, "allocate R2", allocates(2), "line 2", "3 | - | -"},
      // Two writes and a read in one cycle: one access of the data port each.
      {2, "write R0 = 10", writes(0, 10), "in cycle 2", "3 | - | -"},
      {2, "write R0 = 20", writes(0, 20), "in cycle 3", "3 | - | -"},
      {2, "read R0", reads(0), "20 in cycle 4", "3 | - | -"},
      // A value from memory waits for a cycle that no access used.
      {5, "R1 = 11 from memory", fills(1, 11), "port was busy", "3 | - | -"},
      {6, "R1 = 11 from memory", fills(1, 11), "in cycle 5", "3 | - | -"},
      // Memory has the value of R1, not that of R0. R2 was never written.
      {7, "release R0", releases(0, false), "to dirty", "3 | - | 0"},
      {7, "release R1", releases(1, false), "to clean", "3 | 1 | 0"},
      {7, "release R2", releases(2, false), "to free", "3 2 | 1 | 0"},
      // Free, then clean, then dirty; the value of a dirty line needs a place in the write-back buffer.
      {8, "allocate R3", allocates(3), "line 3", "2 | 1 | 0"},
      {8, "allocate R4", allocates(4), "line 2", "- | 1 | 0"},
      {8, "allocate R5", allocates(5), "line 1, R1 leaves", "- | - | 0"},
      {8, "allocate R6, buffer full", allocates(6, false), "none", "- | - | 0"},
      {8, "allocate R6", allocates(6), "line 0, R0 leaves", "- | - | -"},
      {9, "write R3 = 13", writes(3, 13), "in cycle 9", "- | - | -"},
      {10, "release R3, erased", releases(3, true), "to free", "3 | - | -"},
  };
}

/// The lines of a list, the oldest first.
std::string members(OsuBankAccess& bank, BankList list) {
  std::string text;
  for (std::uint16_t line = 0; line < bank.lines(); ++line) {
    const OsuLine* l = &bank.line(line);
    if (l->list != list || l->previous != no_line) continue;
    text = std::to_string(line);
    for (; l->next != no_line; l = &bank.line(l->next)) text += " " + std::to_string(l->next);
  }
  return text.empty() ? "-" : text;
}

}  // namespace

int sc_main(int, char**) {
  OsuBankConfig config;
  config.lines = lines;
  config.banks = 1;  // all registers are this bank's
  OsuBank bank("bank0", config);
  User user("user");
  user.bank.bind(bank.access);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  OsuBankAccess& port = *user.bank.operator->();

  unsigned failures = 0;
  std::cout << "cycle  request                   reply               free | clean | dirty\n" << std::left;
  for (const Step& step : script()) {
    const std::string reply = step.make(port, step.cycle);
    std::string lists = members(port, BankList::free);
    for (const BankList list : {BankList::clean, BankList::dirty}) lists += " | " + members(port, list);
    std::cout << std::setw(7) << step.cycle << std::setw(26) << step.request << std::setw(20) << reply << lists << "\n";
    if (reply == step.reply && lists == step.lists) continue;
    std::cerr << "FAILED cycle " << step.cycle << ": expected " << step.reply << ", " << step.lists << "\n";
    ++failures;
  }
  std::cout << "\n" << (failures == 0 ? "ok" : "failed") << "\n";
  return failures == 0 ? 0 : 1;
}

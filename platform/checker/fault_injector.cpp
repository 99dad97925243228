// SPDX-License-Identifier: Apache-2.0
#include <regatta/checker/fault_injector.h>

#include <charconv>
#include <cstring>
#include <sstream>

namespace regatta::checker {
namespace {

/// "any", 416 or 0x1a0.
std::optional<std::uint64_t> number(const std::string& knob, const std::string& text, std::uint64_t maximum) {
  if (text == "any") return std::nullopt;
  const bool hex = text.rfind("0x", 0) == 0;
  const char* const first = text.data() + (hex ? 2 : 0);
  const char* const last = text.data() + text.size();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(first, last, value, hex ? 16 : 10);
  if (error != std::errc() || end != last || value > maximum) {
    throw support::ConfigError("configuration: " + knob + ": found '" + text +
                               "', expected any, or a number from 0 to " + std::to_string(maximum) +
                               " (decimal, or hexadecimal as 0x1a0)");
  }
  return value;
}

std::optional<std::uint64_t> warp_of(const FaultConfig& c) { return number("fault.warp", c.warp, UINT16_MAX); }
std::optional<std::uint64_t> register_of(const FaultConfig& c) {
  return number("fault.register", c.reg, trace::max_general_registers - 1);
}
std::optional<std::uint64_t> pc_of(const FaultConfig& c) { return number("fault.pc", c.pc, UINT32_MAX); }

}  // namespace

void FaultConfig::declare(support::OptionSet& o) {
  o.add("fault.at", at, "flip one bit on purpose: in a register when it is written, or in an operand when it is read",
        {"none", "write", "read"});
  o.add("fault.cycle", cycle, "cycles", "first cycle of the run in which the fault may occur");
  o.add("fault.sm", sm, "", "SM to hit", 0, 1023);
  o.add("fault.warp", warp, "warp slot to hit, or any");
  o.add("fault.register", reg, "register number to hit, as used by the storage, or any");
  o.add("fault.pc", pc, "PC of the instruction to hit, as messages print it (0x1a0), or any");
  o.add("fault.lane", lane, "", "lane to hit", 0, trace::max_lanes - 1);
  o.add("fault.bit", bit, "", "bit to flip, of the lane's 32", 0, 31);
}

void FaultConfig::validate(unsigned sms) const {
  warp_of(*this);
  register_of(*this);
  pc_of(*this);
  if (wanted() && sm >= sms) {
    throw support::ConfigError("configuration: fault.sm: found " + std::to_string(sm) + ", expected less than the " +
                               std::to_string(sms) + " simulated (--sms)");
  }
}

FaultInjector::FaultInjector(const FaultConfig& c, std::function<std::uint64_t()> now)
    : writes_(c.at == "write"),
      cycle_(c.cycle),
      sm_(c.sm),
      lane_(c.lane),
      bit_(c.bit),
      warp_(warp_of(c)),
      reg_(register_of(c)),
      pc_(pc_of(c)),
      now_(std::move(now)) {}

bool FaultInjector::fits(const protocol::WarpAccess& a) const {
  if (now_() < cycle_ || a.instruction == nullptr || a.instruction->injected) return false;
  if (warp_ && *warp_ != a.warp.value()) return false;
  if (reg_ && *reg_ != a.reg.value()) return false;
  if (pc_ && *pc_ != std::uint64_t{a.instruction->traits->index} * trace::bytes_per_instruction) return false;
  return ((a.instruction->active & a.lanes) >> lane_ & 1) != 0;
}

void FaultInjector::plant(unsigned char* data, const protocol::WarpAccess& a, const char* transfer) {
  unsigned char* const lane = data + std::size_t{lane_} * trace::bytes_per_lane;
  std::uint32_t value = 0;
  std::memcpy(&value, lane, sizeof value);
  const std::uint32_t wrong = value ^ (std::uint32_t{1} << bit_);
  std::memcpy(lane, &wrong, sizeof wrong);
  std::ostringstream out;
  out << "SM " << sm_ << " warp slot " << a.warp.value() << " register R" << unsigned{a.reg.value()} << " lane "
      << lane_ << " bit " << bit_ << std::hex << ": 0x" << value << " became 0x" << wrong << " in a " << transfer
      << " of PC 0x" << std::uint64_t{a.instruction->traits->index} * trace::bytes_per_instruction << std::dec
      << " at cycle " << now_();
  planted_ = out.str();
}

void FaultInjector::requested(tlm::tlm_generic_payload& payload) {
  if (!writes_ || !planted_.empty() || !payload.is_write()) return;
  const protocol::WarpAccess& access = protocol::warp_access(payload);
  if (!fits(access)) return;
  // The initiator's data is the instruction's result, which others look at: only the storage sees the wrong one.
  data_ = payload.get_data_ptr();
  copy_.assign(data_, data_ + payload.get_data_length());
  plant(copy_.data(), access, "write");
  payload.set_data_ptr(copy_.data());
  flipped_ = &payload;
}

void FaultInjector::answered(tlm::tlm_generic_payload& payload) {
  if (&payload == flipped_) {
    payload.set_data_ptr(data_);
    flipped_ = nullptr;
    return;
  }
  if (writes_ || !planted_.empty() || !payload.is_read()) return;
  const protocol::WarpAccess& access = protocol::warp_access(payload);
  if (fits(access)) plant(payload.get_data_ptr(), access, "read");
}

}  // namespace regatta::checker

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
std::optional<std::uint64_t> with_of(const FaultConfig& c) {
  return number("fault.with", c.with, trace::max_general_registers - 1);
}
std::optional<std::uint64_t> pc_of(const FaultConfig& c) { return number("fault.pc", c.pc, UINT32_MAX); }

}  // namespace

void FaultConfig::declare(support::OptionSet& o) {
  o.add("fault.at", at,
        "plant one fault on purpose: in a register when it is written, or in an operand when it is read",
        {"none", "write", "read"});
  o.add(
      "fault.kind", kind,
      "flip: one bit; lost: the register keeps its old value (a write); stale: the value before the last one (a read); "
      "swap: two operands of an instruction trade their values (reads)",
      {"flip", "lost", "stale", "swap"});
  o.add("fault.cycle", cycle, "cycles", "first cycle of the run in which the fault may occur");
  o.add("fault.sm", sm, "", "SM to hit", 0, 1023);
  o.add("fault.warp", warp, "warp slot to hit, or any");
  o.add("fault.register", reg, "register number to hit, as used by the storage, or any");
  o.add("fault.with", with, "register number that trades its value with fault.register (fault.kind = swap)");
  o.add("fault.pc", pc, "PC of the instruction to hit, as messages print it (0x1a0), or any");
  o.add("fault.lane", lane, "", "lane to hit", 0, trace::max_lanes - 1);
  o.add("fault.bit", bit, "", "bit to flip, of the lane's 32", 0, 31);
}

void FaultConfig::validate(unsigned sms) const {
  warp_of(*this);
  register_of(*this);
  pc_of(*this);
  with_of(*this);
  if (wanted() && kind != "flip" && (kind == "lost") != (at == "write")) {
    throw support::ConfigError("configuration: fault.kind: found " + kind + " with fault.at = " + at +
                               ", expected fault.at = " + (kind == "lost" ? "write" : "read"));
  }
  if (wanted() && kind == "swap" &&
      (!register_of(*this) || !with_of(*this) || *register_of(*this) == *with_of(*this))) {
    throw support::ConfigError("configuration: fault.kind: found swap of the registers '" + reg + "' and '" + with +
                               "', expected two numbers in fault.register and fault.with");
  }
  if (wanted() && sm >= sms) {
    throw support::ConfigError("configuration: fault.sm: found " + std::to_string(sm) + ", expected less than the " +
                               std::to_string(sms) + " simulated (--sms)");
  }
}

FaultInjector::FaultInjector(const FaultConfig& c, std::function<std::uint64_t()> now)
    : writes_(c.at == "write"),
      kind_(c.kind == "lost"    ? Kind::lost
            : c.kind == "stale" ? Kind::stale
            : c.kind == "swap"  ? Kind::swap
                                : Kind::flip),
      cycle_(c.cycle),
      sm_(c.sm),
      lane_(c.lane),
      bit_(c.bit),
      warp_(warp_of(c)),
      reg_(register_of(c)),
      with_(with_of(c)),
      pc_(pc_of(c)),
      now_(std::move(now)) {}

bool FaultInjector::fits(const protocol::WarpAccess& a) const {
  if (now_() < cycle_ || a.instruction == nullptr || a.instruction->injected) return false;
  if (warp_ && *warp_ != a.warp.value()) return false;
  const bool other = kind_ == Kind::swap && *with_ == a.reg.value();
  if (reg_ && *reg_ != a.reg.value() && !other) return false;
  if (pc_ && *pc_ != std::uint64_t{a.instruction->traits->index} * trace::bytes_per_instruction) return false;
  return ((a.instruction->active & a.lanes) >> lane_ & 1) != 0;
}

void FaultInjector::flip(unsigned char* data, const protocol::WarpAccess& a, const char* transfer) {
  unsigned char* const lane = data + std::size_t{lane_} * trace::bytes_per_lane;
  std::uint32_t value = 0;
  std::memcpy(&value, lane, sizeof value);
  const std::uint32_t wrong = value ^ (std::uint32_t{1} << bit_);
  std::memcpy(lane, &wrong, sizeof wrong);
  changed_ = protocol::LaneMask{1} << lane_;
  std::ostringstream out;
  out << "SM " << sm_ << " warp slot " << a.warp.value() << " register R" << unsigned{a.reg.value()} << " lane "
      << lane_ << " bit " << bit_ << std::hex << ": 0x" << value << " became 0x" << wrong << " in a " << transfer
      << " of PC 0x" << std::uint64_t{a.instruction->traits->index} * trace::bytes_per_instruction << std::dec
      << " at cycle " << now_();
  planted_ = out.str();
}

void FaultInjector::replace(tlm::tlm_generic_payload& payload, const trace::WarpValue& value, const std::string& what,
                            const char* transfer) {
  const protocol::WarpAccess& a = protocol::warp_access(payload);
  protocol::LaneMask changed = 0;
  for (protocol::LaneMask m = a.instruction->active & a.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
    unsigned char* const at = payload.get_data_ptr() + std::size_t{lane} * trace::bytes_per_lane;
    if (std::memcmp(at, &value.lane[lane], trace::bytes_per_lane) != 0) changed |= protocol::LaneMask{1} << lane;
    std::memcpy(at, &value.lane[lane], trace::bytes_per_lane);
  }
  changed_ |= changed;
  std::ostringstream out;
  if (planted_.empty()) {
    out << "SM " << sm_ << " warp slot " << a.warp.value() << ' ';
  } else {
    out << planted_ << "; ";
  }
  out << "register R" << unsigned{a.reg.value()} << ": " << what << ", other in lanes 0x" << std::hex << changed
      << ", in a " << transfer << " of PC 0x"
      << std::uint64_t{a.instruction->traits->index} * trace::bytes_per_instruction << std::dec << " at cycle "
      << now_();
  planted_ = out.str();
}

void FaultInjector::swap(tlm::tlm_generic_payload& payload, const protocol::WarpAccess& a) {
  if (swapped_ != nullptr && (swapped_ != a.instruction || sequence_ != a.instruction->sequence ||
                              first_of_swap_ == a.reg.value() || warp_ != a.warp.value())) {
    return;
  }
  swapped_ = a.instruction;
  sequence_ = a.instruction->sequence;
  warp_ = a.warp.value();
  first_of_swap_ = a.reg.value();
  const std::uint64_t other = a.reg.value() == *reg_ ? *with_ : *reg_;
  replace(payload, history(a, other).now, "value of R" + std::to_string(other), "read");
}

void FaultInjector::remember(const tlm::tlm_generic_payload& payload, const protocol::WarpAccess& a) {
  History& h = history(a, a.reg.value());
  h.before = h.now;
  for (protocol::LaneMask m = a.lanes; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctzll(m));
    std::memcpy(&h.now.lane[lane], payload.get_data_ptr() + std::size_t{lane} * trace::bytes_per_lane,
                trace::bytes_per_lane);
  }
}

void FaultInjector::requested(tlm::tlm_generic_payload& payload) {
  if (!payload.is_write()) return;
  const protocol::WarpAccess& access = protocol::warp_access(payload);
  const bool spoils = writes_ && planted_.empty() && fits(access);
  if (spoils) {
    // The initiator's data is the instruction's result, which others look at: only the storage sees the wrong one.
    data_ = payload.get_data_ptr();
    copy_.assign(data_, data_ + payload.get_data_length());
    payload.set_data_ptr(copy_.data());
    spoilt_ = &payload;
    if (kind_ == Kind::flip) {
      flip(copy_.data(), access, "write");
    } else {
      replace(payload, history(access, access.reg.value()).now, "lost value", "write");
    }
  }
  if (kind_ != Kind::flip && planted_.empty()) remember(payload, access);
}

void FaultInjector::answered(tlm::tlm_generic_payload& payload) {
  if (&payload == spoilt_) {
    payload.set_data_ptr(data_);
    spoilt_ = nullptr;
    return;
  }
  if (writes_ || !payload.is_read() || (!planted_.empty() && kind_ != Kind::swap)) return;
  const protocol::WarpAccess& access = protocol::warp_access(payload);
  if (!fits(access)) return;
  switch (kind_) {
    case Kind::swap:
      swap(payload, access);
      break;
    case Kind::stale:
      replace(payload, history(access, access.reg.value()).before, "stale value", "read");
      break;
    default:
      flip(payload.get_data_ptr(), access, "read");
  }
}

}  // namespace regatta::checker

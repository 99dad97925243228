// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with a scheme whose register file goes wrong once, at a write that its knobs name: "lost" leaves the
// write out, "stale" answers reads with what the row held before, until the next write, "swapped" exchanges the
// register with another one of the warp, "strayed" with the same one of another warp.
#include <regatta/assembly/tool.h>
#include <regatta/baseline/windowed_file.h>
#include <regatta/protocol/warp_registers.h>
#include <regatta/schemes/schemes.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

using namespace regatta;

namespace {

struct Fault {
  std::string kind = "none";
  unsigned cta = 0, warp = 0, reg = 0;
  std::uint64_t sequence = 0;  ///< of the instruction that writes, in its warp
};

class FaultyFile : public models::WindowedFile<FaultyFile> {
 public:
  FaultyFile(const sc_core::sc_module_name& name, const models::RegisterFileConfig& config, support::ClockDomain& clock,
             const Fault& fault)
      : WindowedFile(name, config, std::make_unique<models::FixedWindows>(), clock), fault_(fault) {}

  void kernel_started(const protocol::KernelContext& context) override {
    WindowedFile::kernel_started(context);
    rows_.resize(static_cast<std::size_t>(capacity_registers()), context.warp_size);
    registers_ = context.registers_per_warp;
    warp_size_ = context.warp_size;
  }
  void warp_started(const protocol::WarpInfo& warp) override {
    WindowedFile::warp_started(warp);
    resident_.insert(warp.warp.value());
    if (!done_ && warp.cta_index == fault_.cta && warp.warp_in_cta == fault_.warp) slot_ = warp.warp.value();
  }
  void warp_finished(const protocol::WarpInfo& warp) override {
    WindowedFile::warp_finished(warp);
    resident_.erase(warp.warp.value());
    if (slot_ == warp.warp.value()) slot_.reset();
  }
  void register_energy(support::EnergyGroup& g) override { g.costs_nothing("a fault"); }

 private:
  friend class BankedFile<FaultyFile>;
  static constexpr bool answers_late = false;
  unsigned bank(const tlm::tlm_generic_payload&, const protocol::WarpAccess& a) const { return bank_of(a.warp, a.reg); }
  void debug_transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank) {
    transfer_now(payload, access, bank);
  }
  bool is_meant(const protocol::WarpAccess& a) const {
    return !done_ && slot_ == a.warp.value() && a.reg.value() == fault_.reg && a.instruction != nullptr &&
           a.instruction->sequence == fault_.sequence;
  }
  std::uint64_t transfer(tlm::tlm_generic_payload& payload, protocol::WarpAccess& access, unsigned bank,
                         std::uint64_t done) {
    const std::size_t row = row_of(access);
    std::uint32_t* const lanes = rows_[row];
    if (payload.is_read()) {
      copy_row(payload, stale_row_ == row ? stale_.data() : lanes);
      access.origin = protocol::Origin{"bank", bank};
      return done;
    }
    if (stale_row_ == row) stale_row_.reset();
    if (!is_meant(access)) {
      copy_row(payload, lanes);
      return done;
    }
    done_ = true;
    if (fault_.kind == "lost") return done;
    std::copy(lanes, lanes + warp_size_, stale_.begin());
    copy_row(payload, lanes);
    if (fault_.kind == "stale") {
      stale_row_ = row;
    } else {
      std::swap_ranges(lanes, lanes + warp_size_, rows_[other_row(access)]);
    }
    return done;
  }
  std::size_t other_row(const protocol::WarpAccess& a) {
    protocol::WarpAccess other;
    other.warp = a.warp;
    other.reg = protocol::RegisterId(static_cast<std::uint8_t>((a.reg.value() + 1) % registers_));
    if (fault_.kind == "strayed") {
      for (const std::uint16_t slot : resident_) {
        if (slot == a.warp.value()) continue;
        other.warp = protocol::WarpSlot(slot);
        other.reg = a.reg;
      }
    }
    return row_of(other);
  }

  const Fault& fault_;
  protocol::WarpRegisters rows_;
  std::array<std::uint32_t, trace::max_lanes> stale_{};
  std::optional<std::size_t> stale_row_;
  std::set<std::uint16_t> resident_;
  std::optional<std::uint16_t> slot_;
  unsigned registers_ = 1;
  bool done_ = false;
};

class FaultyScheme : public assembly::Scheme {
 public:
  std::string name() const override { return "faulty_file"; }
  std::string help() const override { return "goes wrong once"; }
  void declare(support::OptionSet& o) override {
    o.add("plant.kind", fault_.kind, "what goes wrong", {"none", "lost", "stale", "swapped", "strayed"});
    o.add("plant.cta", fault_.cta, "", "CTA");
    o.add("plant.warp", fault_.warp, "", "warp in the CTA");
    o.add("plant.register", fault_.reg, "", "register");
    o.add("plant.sequence", fault_.sequence, "", "instruction of the warp, from 1");
  }
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = assembly::baseline_parts(context);
    parts.storage.reset();
    parts.storage = std::make_unique<FaultyFile>("faulty_file", context.machine.register_file, context.clock, fault_);
    return parts;
  }

 private:
  Fault fault_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  assembly::SchemeRegistry registry = schemes::all();
  registry.add(std::make_unique<FaultyScheme>());
  return assembly::run_tool(argc, argv, std::move(registry));
}

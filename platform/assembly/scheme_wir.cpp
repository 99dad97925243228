// SPDX-License-Identifier: Apache-2.0
//
// Warp instruction reuse: which modules make it, and what it reports.
#include "scheme_wir.h"

#include <regatta/models/residency/occupancy.h>
#include <regatta/models/wir/affine.h>
#include <regatta/models/wir/allocation_stage.h>
#include <regatta/models/wir/rename_stage.h>
#include <regatta/models/wir/reuse_unit.h>
#include <regatta/models/wir/watcher.h>

namespace regatta::assembly {

using namespace models::wir;  // NOLINT(google-build-using-namespace): the scheme is made of these

namespace {

/// Occupancy by physical registers in place of the register file's. With as many as the logical ones of the resident
/// warps the machine cannot deadlock (models/wir, README); fewer than one CTA's are none.
class RenamedOccupancy : public models::OccupancyResidency {
 public:
  RenamedOccupancy(const sc_core::sc_module_name& name, unsigned physical)
      : OccupancyResidency(name), physical_(physical) {}
  unsigned kernel_started(const protocol::KernelContext& context, const protocol::SmLimits& limits) override {
    // Warps are dealt to the sub-cores, each of which has its share.
    const unsigned parts = limits.sub_cores;
    const unsigned needed = (context.warps_per_cta + parts - 1) / parts * parts * context.registers_per_warp;
    if (physical_ < needed) {
      throw support::ConfigError("wir.physical_registers = " + std::to_string(physical_) + ", expected at least " +
                                 std::to_string(needed) + ": kernel " + context.kernel->name + " has CTAs of " +
                                 std::to_string(context.warps_per_cta) + " warps with " +
                                 std::to_string(context.registers_per_warp) +
                                 " registers each, and with fewer physical ones a CTA could wait for itself");
    }
    return OccupancyResidency::kernel_started(context, limits);
  }

 private:
  unsigned physical_;
};

}  // namespace

void WirScheme::validate(const MachineConfig& m) const {
  if (!config_.reuses()) return;
  const auto& file = m.register_file;
  const auto refuse = [](const std::string& what, const std::string& found, const std::string& expected) {
    throw support::ConfigError("configuration: scheme wir: " + what + " = " + found + ", expected " + expected);
  };
  if (file.ports == "2r1w") refuse("register_file.ports", file.ports, "1r1w or 1rw");
  if (file.priority != "fcfs") refuse("register_file.priority", file.priority, "fcfs: renamed banks have no other");
  if (m.sm.lanes != 32 && m.sm.lanes != 64) refuse("sm.lanes", std::to_string(m.sm.lanes), "32 or 64");
  if (config_.physical_registers != 0 && config_.physical_registers < file.banks) {
    refuse("wir.physical_registers", std::to_string(config_.physical_registers),
           "at least register_file.banks = " + std::to_string(file.banks) + ", or 0");
  }
}

SmParts WirScheme::build(const BuildContext& c) {
  SmParts parts = baseline_parts(c);
  if (!config_.reuses()) {
    parts.observers.push_back(std::make_unique<AffineMeter>("affine", nullptr));
    return parts;
  }
  WirConfig config = config_;
  config.registers = c.machine.register_file.registers;
  config.banks = c.machine.register_file.banks;
  config.latency = c.machine.register_file.latency;
  config.arbitration = c.machine.register_file.arbitration;
  config.shared_port = c.machine.register_file.ports == "1rw";
  config.write_queue = c.machine.register_file.write_queue;
  config.max_warps = c.machine.sm.max_warps;
  config.max_ctas = c.machine.sm.max_ctas;
  config.schedulers = c.machine.sm.schedulers;
  parts.residency.reset();
  parts.residency = std::make_unique<RenamedOccupancy>("residency", config.physical());
  parts.storage.reset();  // its name is the renamed file's
  auto file = std::make_unique<PhysicalRegisterFile>("register_file", config, c.clock_period);
  auto stage = allocation_stage(*file);
  auto gate = std::make_unique<RenameStage>(*file);
  parts.reuse_point = reuse_unit(*file);
  parts.observers.push_back(std::make_unique<Watcher>(file->state()));
  if (config.affine()) parts.observers.push_back(std::make_unique<AffineMeter>("affine", stage.get()));
  if (config.repeats) parts.observers.push_back(std::make_unique<RepeatMeter>(file->state()));
  parts.gates.push_back(std::move(gate));
  parts.writeback_point = std::move(stage);
  files_.push_back(file.get());
  parts.storage = std::move(file);
  return parts;
}

std::unique_ptr<AllocationStage> WirScheme::allocation_stage(PhysicalRegisterFile& file) const {
  return std::make_unique<AllocationStage>(file);
}

std::unique_ptr<ReuseUnit> WirScheme::reuse_unit(PhysicalRegisterFile& file) const {
  return std::make_unique<ReuseUnit>(file);
}

void WirScheme::report(nlohmann::ordered_json& document) const {
  if (files_.empty()) return;
  RegisterState::Counters n;
  std::uint64_t bank_reads = 0, bank_writes = 0, register_cycles = 0, cycles = 0, low = 0, peak = 0;
  for (PhysicalRegisterFile* file : files_) {
    RegisterState& s = file->state();
    const RegisterState::Counters& m = s.counters;
    for (auto counter : {&RegisterState::Counters::reused_arithmetic, &RegisterState::Counters::reused_load,
                         &RegisterState::Counters::reused_pending, &RegisterState::Counters::instructions,
                         &RegisterState::Counters::signature_hits, &RegisterState::Counters::signature_misses,
                         &RegisterState::Counters::false_positives, &RegisterState::Counters::verify_hits,
                         &RegisterState::Counters::verify_misses, &RegisterState::Counters::dummy_movs,
                         &RegisterState::Counters::executed_sp, &RegisterState::Counters::executed_sfu,
                         &RegisterState::Counters::executed_dp, &RegisterState::Counters::executed_mem,
                         &RegisterState::Counters::repeats_sampled, &RegisterState::Counters::repeats_found,
                         &RegisterState::Counters::racy_loads}) {
      n.*counter += m.*counter;
    }
    bank_reads += file->bank_reads();
    bank_writes += file->bank_writes();
    register_cycles += s.allocator.register_cycles(s.now());
    cycles += s.now();
    low += s.low_cycles();
    peak = std::max<std::uint64_t>(peak, s.allocator.peak());
  }
  const auto share = [](std::uint64_t part, std::uint64_t all) { return all == 0 ? 0.0 : double(part) / double(all); };
  const std::uint64_t reused = n.reused_arithmetic + n.reused_load + n.reused_pending;
  using Json = nlohmann::ordered_json;
  Json wir;
  wir["model"] = config_.model;
  wir["reused"] = {{"arithmetic", n.reused_arithmetic}, {"load", n.reused_load}, {"pending", n.reused_pending}};
  wir["bypass_fraction"] = share(reused, n.instructions);
  if (config_.repeats) wir["repeated_fraction_1k"] = share(n.repeats_found, n.repeats_sampled);
  wir["vsb"] = {{"hits", n.signature_hits - n.false_positives},
                {"misses", n.signature_misses},
                {"false_positives", n.false_positives}};
  wir["verify_cache"] = {{"hits", n.verify_hits}, {"misses", n.verify_misses}};
  wir["dummy_movs"] = n.dummy_movs;
  wir["racy_loads"] = n.racy_loads;
  wir["backend"] = {{"sp", n.executed_sp + n.executed_dp},
                    {"sfu", n.executed_sfu},
                    {"mem", n.executed_mem},
                    {"rf_read", bank_reads},
                    {"rf_write", bank_writes}};
  wir["physical_registers"] = {{"mean", share(register_cycles, cycles)}, {"peak", peak}};
  wir["low_register_cycles"] = low;
  document["wir"] = std::move(wir);
}

}  // namespace regatta::assembly

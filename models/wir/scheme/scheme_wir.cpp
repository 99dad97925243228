// SPDX-License-Identifier: Apache-2.0
//
// Warp instruction reuse: its modules and its report.
#include <regatta/assembly/connect_lookup.h>
#include <regatta/assembly/conservation.h>
#include <regatta/assembly/run_facts.h>
#include <regatta/assembly/waits.h>
#include <regatta/baseline/occupancy_residency.h>
#include <regatta/wir/affine.h>
#include <regatta/wir/repeat_meter.h>
#include <regatta/wir/scheme_wir.h>
#include <regatta/wir/wir.h>

#include <algorithm>

// stats.json names the residency by its class, so the class stays in this namespace although its file is in another
// folder: results must not depend on that.
namespace regatta::assembly {

namespace {

/// Occupancy limited by physical registers instead of the register file's. With as many as the logical registers of the
/// resident warps, the machine cannot deadlock (models/wir/BLOCKS.md). With fewer than one CTA needs, no CTA is
/// resident.
class RenamedOccupancy : public models::OccupancyResidency {
 public:
  RenamedOccupancy(const sc_core::sc_module_name& name, unsigned physical)
      : OccupancyResidency(name), physical_(physical) {}
  protocol::ResourcePlan plan(const protocol::KernelContext& context, const protocol::SmLimits& limits) override {
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
    return OccupancyResidency::plan(context, limits);
  }

 private:
  unsigned physical_;
};

}  // namespace

}  // namespace regatta::assembly

namespace regatta::schemes {

using namespace models::wir;  // NOLINT(google-build-using-namespace): the scheme is made of these

namespace {

ReuseShape reuse_shape(const WirConfig& c) { return {c.reuses() ? c.reuse_entries : 0, c.reuse_associative}; }

VsbShape vsb_shape(const WirConfig& c, const assembly::MachineConfig& m) {
  return {m.sm.lanes, c.reuses() && c.signatures() ? c.vsb_entries : 0, c.hash_bits};
}

/// Makes the twin of a block's state that the options name, if they name one.
template <class Kinds, class Shape, class Block>
void add_twin(const Kinds& kinds, const char* name, const cosim::TwinOptions& options, const Shape& shape, Block& block,
              const assembly::BuildContext& context, assembly::SmParts& parts) {
  cosim::TwinConfig config;
  config.name = name;
  config.options = options;
  config.clock = &context.clock;
  config.state = [&block] { return block.describe_entries(); };
  auto made = kinds.make(config, shape);
  if (made.twin == nullptr) return;
  block.set_twin(made.twin);
  parts.modules.push_back(std::move(made.module));
}

}  // namespace

void WirScheme::validate(const assembly::MachineConfig& m) const {
  reuse_twin_kinds().validate(config_.reuse_twin, reuse_shape(config_));
  vsb_twin_kinds().validate(config_.vsb_twin, vsb_shape(config_, m));
  if (!config_.reuses()) return;
  const auto& file = m.register_file;
  const auto refuse = [this](const std::string& what, const std::string& found, const std::string& expected) {
    throw support::ConfigError("configuration: scheme " + name() + ": " + what + " = " + found + ", expected " +
                               expected);
  };
  if (file.priority != "fcfs") refuse("register_file.priority", file.priority, "fcfs: renamed banks have no other");
  if (m.sm.lanes != 32 && m.sm.lanes != 64) refuse("sm.lanes", std::to_string(m.sm.lanes), "32 or 64");
  // A physical register's number has 16 bits, and the highest one stands for none.
  const unsigned most = models::wir::no_register.value() - 1;
  if (config_.physical_registers == 0 && file.registers > most) {
    refuse("register_file.registers", std::to_string(file.registers), "at most " + std::to_string(most));
  }
  if (config_.physical_registers != 0 && config_.physical_registers < file.banks) {
    refuse("wir.physical_registers", std::to_string(config_.physical_registers),
           "at least register_file.banks = " + std::to_string(file.banks) + ", or 0");
  }
}

std::vector<std::pair<std::string, std::string>> WirScheme::written_files() const {
  const auto of = [](const cosim::TwinOptions& o) { return o.implementation == "model" ? "" : o.waveform; };
  return {{"--reuse_buffer.waveform", of(config_.reuse_twin)}, {"--vsb.waveform", of(config_.vsb_twin)}};
}

// As many physical registers as the machine has rows suffice for the CTAs of any residency.
std::optional<assembly::Takings> WirScheme::takings() const {
  using assembly::Place;
  assembly::Takings t;
  t.takes = {Place::storage, Place::reuse_point, Place::writeback_point,
             Place::gates,   Place::listeners,   Place::observers};
  t.yields = {Place::residency};
  return t;
}

void WirScheme::add_parts(const assembly::BuildContext& c, assembly::SmParts& parts) {
  if (!config_.reuses()) {
    parts.observers.push_back(std::make_unique<AffineMeter>("affine", nullptr, c.machine.register_file.registers,
                                                            c.machine.register_file.banks));
    return;
  }
  const WirMachine config{config_, c.machine.register_file, c.machine.sm.max_warps, c.machine.sm.max_ctas,
                          c.machine.sm.schedulers};
  parts.residency.reset();
  parts.residency = std::make_unique<assembly::RenamedOccupancy>("residency", config.physical());
  parts.storage.reset();  // its name is the renamed file's
  auto file = std::make_unique<PhysicalRegisterFile>("register_file", config, c.clock);
  Wir::Stages stages;
  stages.allocation = [&](const sc_core::sc_module_name& name, InFlightTable& in_flight) {
    return allocation_stage(name, config, c, in_flight);
  };
  stages.reuse = [&](const sc_core::sc_module_name& name, InFlightTable& in_flight) {
    return reuse_unit(name, config, c, in_flight);
  };
  stages.front = [&] { return reuse_front(c); };
  stages.check = c.check_protocol;
  auto wir = std::make_unique<Wir>("wir", config, c.clock, *file, stages);
  wir->connect_lookups(
      [&](const char* name, auto& from, auto& to) { return assembly::connect_lookup(c, parts, name, from, to); });
  if (wir->checks != nullptr) {
    for (protocol::LifecycleListener* const checker : wir->checks->listeners()) parts.listeners.push_back(checker);
  }
  add_twin(reuse_twin_kinds(), "reuse_buffer_twin", config.reuse_twin, reuse_shape(config), wir->reuse_buffer, c,
           parts);
  add_twin(vsb_twin_kinds(), "vsb_twin", config.vsb_twin, vsb_shape(config, c.machine), wir->vsb, c, parts);
  parts.listeners.insert(parts.listeners.end(),
                         {&wir->rename_tables, &wir->allocator, &wir->reuse_buffer, &wir->vsb, &wir->verify_cache});
  if (wir->front != nullptr) parts.listeners.push_back(wir->front.get());
  Blocks blocks{wir.get(), file.get(), nullptr, wir->reuse, wir->allocation, &wir->rename->instructions()};
  if (config.affine()) {
    parts.observers.push_back(
        std::make_unique<AffineMeter>("affine", wir->allocation, config.physical(), config.file.banks));
  }
  if (config.repeats) {
    auto meter = std::make_unique<RepeatMeter>("repeats", file->in_flight(), wir->rename_tables);
    blocks.repeats = meter.get();
    parts.observers.push_back(std::move(meter));
  }
  sms_.push_back(blocks);
  parts.gates.push_back(std::move(wir->owned_rename));
  parts.reuse_point = std::move(wir->owned_reuse);
  parts.writeback_point = std::move(wir->owned_allocation);
  parts.modules.push_back(std::move(wir));
  parts.storage = std::move(file);
}

void WirScheme::add_laws(assembly::ConservationLaws& laws, const std::string& sm) const {
  if (!config_.reuses()) return;
  const std::string file = sm + ".register_file.";
  laws.add("the renamed banks are read for operands that were written, verify-reads and copies",
           {file + "bank_reads", file + "unmapped_reads"}, {file + "reads", file + "verify_reads", file + "moves"});
  laws.add("what the reuse point bypasses has a result that the reuse stage was given",
           {sm + ".pipeline.bypassed_registers"}, {sm + ".wir.reuse.reused_registers"});
}

std::string WirScheme::idle(const assembly::RunFacts& facts) const {
  if (facts.count("sm*.wir.reuse.reused_registers") != 0) return {};
  return "no effect: no instruction took the result of another one";
}

void WirScheme::add_waits(assembly::Waits& waits) const {
  using Of = assembly::Wait::Of;
  waits.add_latency("sm*.wir.rename.instructions", "wir.delay");
  waits.add("sm*.wir.rename_tables.long_renames", Of::warps, {"wir.rename_ports"});
  waits.add("sm*.wir.allocation.signature_read_waits", Of::warps, {"vsb.ports"});
  waits.add("sm*.wir.vsb.write_waits", Of::warps, {"vsb.ports"});
  waits.add("sm*.wir.allocation.allocator_waits", Of::warps, {"wir.allocator_ports"});
  waits.add("sm*.wir.allocation.starved_cycles", Of::warps, {"wir.physical_registers"});
  waits.add("sm*.wir.allocator.low_register_cycles", Of::module, {"wir.physical_registers"});
  waits.add("sm*.wir.reuse_buffer.read_waits", Of::warps, {"reuse_buffer.ports"});
  waits.add("sm*.wir.reuse_buffer.write_waits", Of::warps, {"reuse_buffer.ports"});
  waits.add("sm*.wir.retry_queue.full", Of::warps, {"retry_queue.entries"});
  waits.add("sm*.wir.verify_cache.misses", Of::warps, {"verify_cache.entries"});
  waits.add("sm*.register_file.verify_retries", Of::warps, {"verify_cache.entries", "verify_cache.ports"});
  waits.add("sm*.pipeline.resident_cta_cycles", Of::residents, {"wir.physical_registers"});
}

std::unique_ptr<AllocationStage> WirScheme::allocation_stage(const sc_core::sc_module_name& name,
                                                             const WirConfig& config,
                                                             const assembly::BuildContext& context,
                                                             InFlightTable& in_flight) const {
  return std::make_unique<AllocationStage>(name, config, context.clock, in_flight);
}

std::unique_ptr<ReuseUnit> WirScheme::reuse_unit(const sc_core::sc_module_name& name, const WirMachine& config,
                                                 const assembly::BuildContext& context,
                                                 InFlightTable& in_flight) const {
  return std::make_unique<ReuseUnit>(name, config, context.clock, in_flight);
}

std::unique_ptr<ReuseFront> WirScheme::reuse_front(const assembly::BuildContext&) const { return nullptr; }

void WirScheme::register_stats(support::StatGroup& g, const std::vector<support::StatGroup>&) {
  if (sms_.empty()) return;
  const auto sum = [this](auto&& of) {
    double all = 0;
    for (const Blocks& sm : sms_) all += static_cast<double>(of(sm));
    return all;
  };
  const auto total = [&](const char* name, auto of, const char* unit, const char* what) {
    g.derived(
        name, [sum, of] { return sum(of); }, unit, what);
  };
  const auto share = [&](const char* name, auto part, auto all, const char* what) {
    g.derived(
        name,
        [sum, part, all] {
          const double whole = sum(all);
          return whole == 0 ? 0.0 : sum(part) / whole;
        },
        "ratio", what);
  };
  const char* const instructions = "warp instructions";
  const char* const registers = "warp registers";
  const auto arithmetic = [](const Blocks& sm) { return sm.reuse->counters().reused_arithmetic; };
  const auto load = [](const Blocks& sm) { return sm.reuse->counters().reused_load; };
  const auto pending = [](const Blocks& sm) { return sm.reuse->counters().reused_pending; };
  total("reused.arithmetic", arithmetic, instructions, "that took another instruction's result at once");
  total("reused.load", load, instructions, "loads that took another instruction's result at once");
  total("reused.pending", pending, instructions, "that waited for another instruction's result and took it");
  share(
      "bypass_fraction", [=](const Blocks& sm) { return arithmetic(sm) + load(sm) + pending(sm); },
      [](const Blocks& sm) { return *sm.instructions; },
      "fraction of instructions that took another instruction's result");
  if (config_.repeats) {
    const auto sampled = [](const Blocks& sm) { return sm.repeats->counters().sampled; };
    share(
        "repeated_fraction_1k", [](const Blocks& sm) { return sm.repeats->counters().found; }, sampled,
        "fraction of instructions that repeat a computation of their window of 1,000");
    share(
        "repeated_loads_fraction_1k", [](const Blocks& sm) { return sm.repeats->counters().loads; }, sampled,
        "fraction of instructions that read memory and repeat a computation of their window of 1,000");
    share(
        "repeated_often_fraction_1k", [](const Blocks& sm) { return sm.repeats->counters().often; }, sampled,
        "fraction of instructions whose computation appears more than 10 times in their window");
    g.derived(
        "barriers_max",
        [this] {
          std::uint64_t most = 0;
          for (const Blocks& sm : sms_) most = std::max(most, sm.repeats->counters().barriers_max);
          return double(most);
        },
        "barriers", "that a warp passed, at most");
    const char* const bars[reuse_bars] = {"none", "effect",    "special", "predicate", "wide",
                                          "kind", "divergent", "pinned",  "unwritten", "load"};
    for (unsigned b = 0; b < reuse_bars; ++b) {
      g.derived(
          std::string("barred.") + bars[b],
          [sum, b] { return sum([b](const Blocks& sm) { return sm.repeats->counters().barred[b]; }); }, instructions,
          "that this keeps from the reuse buffer (none: nothing does)");
      g.derived(
          std::string("barred_repeats.") + bars[b],
          [sum, b] { return sum([b](const Blocks& sm) { return sm.repeats->counters().barred_repeats[b]; }); },
          instructions, "that this keeps from the reuse buffer and that repeat a computation of their window");
    }
  }
  const auto false_positives = [](const Blocks& sm) { return sm.allocation->counters().false_positives; };
  const auto hits = [](const Blocks& sm) { return sm.wir->vsb.hits(); };
  g.derived(
      "vsb.hits", [=] { return sum(hits) - sum(false_positives); }, registers,
      "results whose value was already in a register");
  total(
      "vsb.misses", [](const Blocks& sm) { return sm.wir->vsb.misses(); }, registers,
      "results whose hash was not in the value signature buffer");
  total("vsb.false_positives", false_positives, registers, "candidates of the same hash with another value");
  total(
      "verify_cache.hits", [](const Blocks& sm) { return sm.wir->verify_cache.hits(); }, registers,
      "candidates compared in the verify cache");
  total(
      "verify_cache.misses", [](const Blocks& sm) { return sm.wir->verify_cache.misses(); }, registers,
      "candidates that were not in the verify cache");
  total(
      "dummy_movs", [](const Blocks& sm) { return sm.allocation->counters().dummy_movs; }, instructions,
      "injected for first divergent writes");
  total(
      "racy_loads", [](const Blocks& sm) { return sm.reuse->counters().racy_loads; }, instructions,
      "loads of racy kernels that were not bypassed because the reusable result differs from the traced one");
  using protocol::Unit;
  const auto executed = [&](const char* name, std::vector<Unit> units, const char* what) {
    g.derived(
        name,
        [sum, units = std::move(units)] {
          return sum([&](const Blocks& sm) {
            std::uint64_t all = 0;
            for (const Unit u : units) all += sm.reuse->counters().executed[static_cast<unsigned>(u)];
            return all;
          });
        },
        instructions, what);
  };
  executed("backend.sp", {Unit::sp, Unit::dp}, "executed by SP and DP pipelines");
  executed("backend.sfu", {Unit::sfu}, "executed by the SFU");
  executed("backend.mem", {Unit::lsu}, "executed by the load-store unit");
  g.derived(
      "backend.rf_read", [sum] { return sum([](const Blocks& sm) { return sm.file->bank_reads(); }); }, registers,
      "bank reads");
  g.derived(
      "backend.rf_write", [sum] { return sum([](const Blocks& sm) { return sm.file->bank_writes(); }); }, registers,
      "bank writes");
  g.derived(
      "physical_registers.mean",
      [sum] {
        const double cycles = sum([](const Blocks& sm) { return sm.wir->allocator.now(); });
        const double used = sum([](const Blocks& sm) { return sm.wir->allocator.register_cycles(); });
        return cycles == 0 ? 0.0 : used / cycles;
      },
      registers, "in use, of an SM, mean over all cycles");
  g.derived(
      "physical_registers.peak",
      [this] {
        unsigned peak = 0;
        for (const Blocks& sm : sms_) peak = std::max(peak, sm.wir->allocator.peak());
        return double(peak);
      },
      registers, "in use at most, of an SM");
  g.derived(
      "low_register_cycles", [sum] { return sum([](const Blocks& sm) { return sm.wir->allocator.low_cycles(); }); },
      "cycles", "of SMs in low-register mode");
}

void add_wir(assembly::SchemeRegistry& registry) { registry.add(std::make_unique<WirScheme>()); }

}  // namespace regatta::schemes

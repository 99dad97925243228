// SPDX-License-Identifier: Apache-2.0
//
// Faults put into RegMutex and Reg+DRAM from outside: each is found, and what is wrong is said.
#include <regatta/protocol/forwarding.h>
#include <regatta/protocol/interposer.h>
#include <regatta/schemes/schemes.h>
#include <regatta/support/energy.h>

#include <map>
#include <set>
#include <utility>

#include "finereg_support.h"

using namespace regatta;
using protocol::AccessClass;
using protocol::DynamicInstruction;
using protocol::IssueGate;

namespace {

/// A scheme of the registry whose parts the test changes.
class Changed : public assembly::Scheme {
 public:
  using Change = std::function<void(assembly::SmParts&)>;
  Changed(assembly::Scheme& scheme, Change change) : scheme_(scheme), change_(std::move(change)) {}
  std::string name() const override { return scheme_.name(); }
  std::string help() const override { return scheme_.help(); }
  void declare(support::OptionSet& options) override { scheme_.declare(options); }
  std::vector<std::string> energy_structures() const override { return scheme_.energy_structures(); }
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = scheme_.build(context);
    if (change_) change_(parts);
    return parts;
  }

 private:
  assembly::Scheme& scheme_;
  Change change_;
};

/// A gate with a fault, in the place of the gate that it stands before.
class GateFault : public sc_core::sc_module, public protocol::ForwardingGate, public support::StatProvider {
 public:
  GateFault(const sc_core::sc_module_name& name, std::unique_ptr<IssueGate> gate)
      : sc_module(name), ForwardingGate(std::move(gate)) {}
  void register_stats(support::StatGroup&) override {}
  void register_energy(support::EnergyGroup& g) override { g.costs_nothing("a fault"); }
};

/// Agrees to every third acquire and takes no section.
class DropsAcquires : public GateFault {
 public:
  using GateFault::GateFault;
  void issued(const DynamicInstruction& d) override {
    if (d.injected && trace::is_regmutex_acquire(*d.info) && ++acquires_ % 3 == 0) return;
    GateFault::issued(d);
  }

 private:
  unsigned acquires_ = 0;
};

/// Returns a section when a load of one of its registers is issued.
class ReleasesEarly : public GateFault {
 public:
  using GateFault::GateFault;
  void kernel_started(const protocol::KernelContext& context) override {
    sets_ = models::SharedRegisterPool::sets_of(*context.kernel);
    GateFault::kernel_started(context);
  }
  void issued(const DynamicInstruction& d) override {
    if (d.injected) {
      const bool is_returned = trace::is_regmutex_release(*d.info) && returned_.erase(d.warp.value()) != 0;
      if (!is_returned) GateFault::issued(d);
      return;
    }
    const protocol::InstructionTraits& t = *d.traits;
    if (!t.is_memory || t.write_count == 0 || !sets_.is_extended(t.writes[0].value())) return;
    if (!returned_.insert(d.warp.value()).second) return;
    DynamicInstruction release = d;
    release.injected = true;
    release.info = &release_;
    GateFault::issued(release);
  }
  void written_back(const DynamicInstruction&) override {}

 private:
  const trace::StaticInstruction release_ = trace::regmutex_instruction(trace::regmutex_release, 1);
  trace::RegMutexRegisters sets_;
  std::set<unsigned> returned_;  ///< by warp slot, until the program releases it
};

/// Between the registers in DRAM and the L1: sends some requests elsewhere.
class Misdirects : public protocol::Interposer<256> {
 public:
  /// The address that a request goes to.
  using Redirect = std::function<std::uint64_t(std::uint64_t address, const protocol::MemoryAccess& access)>;
  Misdirects(const sc_core::sc_module_name& name, Redirect redirect)
      : Interposer(name), redirect_(std::move(redirect)) {}
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_REQ) p.set_address(redirect_(p.get_address(), protocol::memory_access(p)));
    return Interposer::nb_transport_fw(p, phase, delay);
  }

 private:
  Redirect redirect_;
};

/// Of a register: warp slots have 256 lines each.
constexpr std::uint64_t line = 128, lines_of_warp = 256 * line;

std::string stalling(const std::string& name, const char* base) {
  test::stalling_trace(name);
  tool::AnnotateOptions o;
  o.launch = name + ".toml";
  o.out = name + ".rgt";
  o.pass_options["regmutex-base"] = base;
  tool::annotate(o);
  return o.out;
}

using Knobs = std::vector<std::pair<std::string, std::string>>;

assembly::SimulationResult simulate(const std::string& path, const std::string& name, const Knobs& values,
                                    Changed::Change change) {
  assembly::SchemeRegistry registry = schemes::all();
  Changed scheme(registry.get(name), std::move(change));
  assembly::MachineConfig machine;
  support::OptionSet knobs;
  machine.declare(knobs);
  scheme.declare(knobs);
  assembly::load_machine(knobs, machine, "finereg");
  for (const auto& [knob, value] : values) knobs.set(knob, value, "test", "test");
  return test::simulate(path, scheme, machine);
}

/// What the run says, whether it ends with a message or with an exception.
template <class Run>
std::string complaint_of(Run&& run) {
  sc_core::sc_report_handler::set_actions("regatta/register_file", sc_core::SC_FATAL, sc_core::SC_THROW);
  try {
    const assembly::SimulationResult r = run();
    CHECK((r.mismatches != 0 || r.ending != assembly::Ending::completed));
    return r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

void tells(const std::string& message, const std::string& part) {
  CAPTURE(message, part);
  CHECK(message.find(part) != std::string::npos);
}

/// RegMutex with five base registers and sections for a few warps.
assembly::SimulationResult regmutex(const std::string& name, Changed::Change change) {
  return simulate(stalling(name, "5"), "vt_regmutex", {{"regmutex.pool_registers", "12"}}, std::move(change));
}

template <class Fault>
void put_before_pool(assembly::SmParts& parts) {
  std::unique_ptr<IssueGate> pool = std::move(parts.gates.back());
  parts.gates.back() = std::make_unique<Fault>("fault", std::move(pool));
}

/// Registers in DRAM, with places for two CTAs in the file.
assembly::SimulationResult dram(const std::string& name, Misdirects::Redirect redirect) {
  const std::string path = stalling(name, "0");
  const Knobs knobs{{"register_file.registers", std::to_string(2 * test::rows_of_cta(path))}};
  if (!redirect) return simulate(path, "reg_dram", knobs, {});
  return simulate(path, "reg_dram", knobs, [redirect](assembly::SmParts& parts) {
    auto fault = std::make_unique<Misdirects>("fault", redirect);
    parts.l1_clients.back()->bind(fault->in);
    parts.l1_clients.back() = &fault->out;
    parts.interposers.push_back(std::move(fault));
  });
}

}  // namespace

TEST_CASE("rivals' faults: without one, RegMutex runs clean") {
  const auto r = regmutex("rivals_regmutex", {});
  test::require_clean(r);
  const auto& pool = r.stats.at("sm0.register_pool");
  CHECK(pool.at("acquires").get<unsigned>() >= 32);
  CHECK(pool.at("refusals").get<unsigned>() > 0);
  CHECK(pool.at("acquires") == pool.at("releases"));
}

TEST_CASE("rivals' faults: an acquire that takes no section is reported") {
  const std::string message = complaint_of([] { return regmutex("rivals_drop", put_before_pool<DropsAcquires>); });
  tells(message, "names an extended register, expected it to hold a section");
}

TEST_CASE("rivals' faults: a section that is returned too early is found") {
  const std::string message = complaint_of([] { return regmutex("rivals_early", put_before_pool<ReleasesEarly>); });
  tells(message, "it is of the extended set, and the warp holds no section");
}

TEST_CASE("rivals' faults: without one, Reg+DRAM runs clean") {
  const auto r = dram("rivals_dram", {});
  test::require_clean(r);
  const auto& spill = r.stats.at("sm0.register_spill");
  CHECK(spill.at("lines_written").get<unsigned>() > 100);
  CHECK(spill.at("lines_read").get<unsigned>() > 100);
  CHECK(spill.at("merged_results").get<unsigned>() > 10);
}

TEST_CASE("rivals' faults: a line of another CTA that is read back is a wrong value") {
  unsigned reads = 0;
  const std::string message = complaint_of([&reads] {
    return dram("rivals_line", [&reads](std::uint64_t address, const protocol::MemoryAccess& access) {
      const bool comes_back = access.access == AccessClass::register_read && access.last_read;
      return comes_back && ++reads % 7 == 0 ? address ^ 2 * lines_of_warp : address;
    });
  });
  CHECK(reads > 7);
  tells(message, "value mismatch: kernel k launch 0");
}

TEST_CASE("rivals' faults: a result that is merged into another line is a wrong value") {
  std::map<std::uint32_t, std::uint64_t> wrong;  // by the number of the result
  unsigned merges = 0;
  const std::string message = complaint_of([&] {
    return dram("rivals_merge", [&](std::uint64_t address, const protocol::MemoryAccess& access) {
      constexpr unsigned merge_read = 2, merge_write = 3;  // of the tag
      const std::uint32_t number = access.tag & 0xfffffff;
      if (access.tag >> 28 == merge_read && ++merges % 3 == 0) return wrong[number] = address ^ line;
      if (access.tag >> 28 == merge_write && wrong.count(number) != 0) {
        const std::uint64_t other = wrong[number];
        wrong.erase(number);
        return other;
      }
      return address;
    });
  });
  CHECK(merges > 2);
  tells(message, "value mismatch: kernel k launch 0");
}

// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim whose SMs never sleep: every scheme has one more gate, which asks to be asked in every cycle.
#include <regatta/assembly/tool.h>
#include <regatta/schemes/schemes.h>
#include <regatta/support/clock_domain.h>

using namespace regatta;

namespace {

/// Agrees to everything, and has the SM look in every cycle in which a warp is resident.
class Insomnia : public protocol::IssueGate, public protocol::GateReporter {
 public:
  explicit Insomnia(support::ClockDomain& clock)
      : clock_(clock),
        client_(
            clock, [](void* gate) { static_cast<Insomnia*>(gate)->nudge(); }, this) {}
  bool keeps_cycle_time() const override { return true; }
  void connect(protocol::GateListener& listener) override { listener_ = &listener; }
  bool may_issue(const protocol::DynamicInstruction&) override { return true; }
  void warp_started(const protocol::WarpInfo&) override {
    if (resident_++ == 0) client_.request(clock_.now() + 1);
  }
  void warp_finished(const protocol::WarpInfo&) override { --resident_; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  void nudge() {
    if (resident_ == 0) return;
    listener_->reconsider(protocol::Cycle(clock_.now() + 1));
    client_.request(clock_.now() + 1);
  }

  support::ClockDomain& clock_;
  support::CycleClient client_;
  protocol::GateListener* listener_ = nullptr;
  unsigned resident_ = 0;
  sc_core::sc_event changed_;
};

/// Another scheme, whose SM never sleeps.
class Sleepless : public assembly::Scheme {
 public:
  explicit Sleepless(assembly::Scheme& scheme) : scheme_(scheme) {}
  std::string name() const override { return scheme_.name(); }
  std::string help() const override { return scheme_.help(); }
  void declare(support::OptionSet& options) override { scheme_.declare(options); }
  void validate(const assembly::MachineConfig& machine) const override { scheme_.validate(machine); }
  std::vector<std::string> stat_groups() const override { return scheme_.stat_groups(); }
  void register_stats(support::StatGroup& group, const std::vector<support::StatGroup>& modules) override {
    scheme_.register_stats(group, modules);
  }
  void add_laws(assembly::ConservationLaws& laws, const std::string& sm) const override { scheme_.add_laws(laws, sm); }
  void report(nlohmann::ordered_json& document) const override { scheme_.report(document); }
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = scheme_.build(context);
    parts.gates.push_back(std::make_unique<Insomnia>(context.clock));
    return parts;
  }

 private:
  assembly::Scheme& scheme_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  const assembly::SchemeRegistry known = schemes::all();
  assembly::SchemeRegistry registry;
  for (const auto& scheme : known.schemes()) registry.add(std::make_unique<Sleepless>(*scheme));
  registry.mark_own();  // sleep must make no difference; contracts are checked elsewhere
  return assembly::run_tool(argc, argv, std::move(registry));
}

// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with schemes of careless parts: "wrong_pick", whose scheduler picks warps that are not ready; "shut",
// whose gate never opens; "busy", whose gate is busy for ever; "free", whose gate declares no energy;
// "misspelt", whose gate declares energy of an unknown structure; "moody", whose gate agrees at random; "tired",
// whose gate is busy for ever after some instructions; and "own_scheduler", which does nothing wrong.
#include <regatta/assembly/tool.h>
#include <regatta/baseline/schedulers.h>
#include <regatta/schemes/schemes.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>

#include <functional>
#include <string>
#include <utility>

using namespace regatta;

namespace {

class WrongPick : public models::LooseRoundRobin {
 public:
  unsigned pick(protocol::WarpMask ready) override { return static_cast<unsigned>(__builtin_ctzll(~ready)); }
};

/// Agrees or does not; goes on notifying itself, cycle after cycle, where it is busy.
class Gate : public sc_core::sc_module, public protocol::IssueGate {
 public:
  Gate(const sc_core::sc_module_name& name, bool open, sc_core::sc_time busy = {})
      : sc_module(name), open_(open), busy_(std::move(busy)), changed_("changed"), again_("again") {
    SC_HAS_PROCESS(Gate);
    SC_METHOD(try_again);
    sensitive << again_;
    dont_initialize();
  }
  bool may_issue(const protocol::DynamicInstruction&) override {
    if (busy_ != sc_core::SC_ZERO_TIME) again_.notify(busy_);
    return open_;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  void try_again() { again_.notify(busy_); }

  bool open_;
  sc_core::sc_time busy_;
  sc_core::sc_event changed_, again_;
};

/// A gate whose energy belongs to a structure that nobody knows.
class Misspelt : public Gate, public support::StatProvider {
 public:
  Misspelt(const sc_core::sc_module_name& name, std::string structure)
      : Gate(name, true), structure_(std::move(structure)) {}
  void register_stats(support::StatGroup&) override {}
  void register_energy(support::EnergyGroup& g) override { g.event(structure_, "register_file.read", reads_); }

 private:
  std::string structure_;
  std::uint64_t reads_ = 0;
};

/// Busy for ever once some instructions have issued.
class Tired : public Gate {
 public:
  Tired(const sc_core::sc_module_name& name, unsigned instructions, const sc_core::sc_time& busy)
      : Gate(name, false, busy), left_(instructions) {}
  bool may_issue(const protocol::DynamicInstruction& d) override { return left_ != 0 || Gate::may_issue(d); }
  void issued(const protocol::DynamicInstruction&) override { left_ -= left_ != 0 ? 1 : 0; }

 private:
  unsigned left_;
};

/// Agrees at random: to two instructions of three.
class Moody : public Gate {
 public:
  explicit Moody(const sc_core::sc_module_name& name) : Gate(name, true) {}
  bool may_issue(const protocol::DynamicInstruction&) override {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    if ((state_ >> 33) % 3 != 0) return true;
    mood_.notify(sc_core::SC_ZERO_TIME);
    return false;
  }
  const sc_core::sc_event& changed() const override { return mood_; }

 private:
  std::uint64_t state_ = 1;
  sc_core::sc_event mood_{"mood"};
};

class Careless : public assembly::Scheme {
 public:
  using Change = std::function<void(assembly::SmParts&, const assembly::BuildContext&)>;
  Careless(std::string name, Change change) : name_(std::move(name)), change_(std::move(change)) {}
  std::string name() const override { return name_; }
  std::string help() const override { return "breaks a contract"; }
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = assembly::baseline_parts(context);
    change_(parts, context);
    return parts;
  }

 private:
  std::string name_;
  Change change_;
};

}  // namespace

int sc_main(int argc, char** argv) {
  using assembly::BuildContext;
  using assembly::SmParts;
  assembly::SchemeRegistry registry = schemes::all();
  const auto add = [&registry](const char* name, Careless::Change change) {
    registry.add(std::make_unique<Careless>(name, std::move(change)));
  };
  add("wrong_pick",
      [](SmParts& parts, const BuildContext&) { parts.scheduler = [] { return std::make_unique<WrongPick>(); }; });
  add("own_scheduler", [](SmParts& parts, const BuildContext&) {
    parts.scheduler = [] { return std::make_unique<models::LooseRoundRobin>(); };
  });
  add("shut",
      [](SmParts& parts, const BuildContext&) { parts.gates.push_back(std::make_unique<Gate>("shut", false)); });
  add("busy", [](SmParts& parts, const BuildContext& c) {
    parts.gates.push_back(std::make_unique<Gate>("busy", false, c.clock.period()));
  });
  add("tired", [](SmParts& parts, const BuildContext& c) {
    parts.gates.push_back(std::make_unique<Tired>("tired", 2000, c.clock.period()));
  });
  add("moody", [](SmParts& parts, const BuildContext&) { parts.gates.push_back(std::make_unique<Moody>("moody")); });
  add("free", [](SmParts& parts, const BuildContext&) { parts.gates.push_back(std::make_unique<Gate>("free", true)); });
  add("misspelt", [](SmParts& parts, const BuildContext&) {
    parts.gates.push_back(std::make_unique<Misspelt>("misspelt", "register_structure"));
  });
  return assembly::run_tool(argc, argv, std::move(registry));
}

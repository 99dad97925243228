// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with two more schemes, each of which does one thing wrong: "forgetful" is the baseline with a write-back
// point that loses the 500th result, "credulous" the baseline with a reuse point that bypasses the 20th load with a
// wrong value.
#include <regatta/assembly/tool.h>
#include <regatta/schemes/schemes.h>
#include <regatta/support/energy.h>

using namespace regatta;

namespace {

class Forgetful : public sc_core::sc_module, public protocol::WritebackPoint, public support::StatProvider {
 public:
  explicit Forgetful(const sc_core::sc_module_name& name) : sc_module(name), changed_("changed") {}
  Decision decide(protocol::DynamicInstruction&, unsigned) override {
    return ++seen_ == 500 ? Decision::drop : Decision::write;
  }
  const sc_core::sc_event& changed() const override { return changed_; }
  void register_stats(support::StatGroup&) override {}
  void register_energy(support::EnergyGroup& g) override { g.costs_nothing("a fault"); }

 private:
  unsigned seen_ = 0;
  sc_core::sc_event changed_;
};

class ForgetfulScheme : public assembly::Scheme {
 public:
  std::string name() const override { return "forgetful"; }
  std::string help() const override { return "loses a value"; }
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = assembly::baseline_parts(context);
    parts.writeback_point = std::make_unique<Forgetful>("forgetful");
    return parts;
  }
};

class Credulous : public sc_core::sc_module, public protocol::ReusePoint {
 public:
  explicit Credulous(const sc_core::sc_module_name& name) : sc_module(name), changed_("changed") {}
  Decision decide(protocol::DynamicInstruction& d) override {
    if (d.info->op_class != trace::OpClass::load || d.traits->write_count != 1 || ++seen_ != 20)
      return Decision::execute;
    for (std::uint32_t& lane : d.results[0].lane) lane ^= 1u;
    return Decision::bypass;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  unsigned seen_ = 0;
  sc_core::sc_event changed_;
};

class CredulousScheme : public assembly::Scheme {
 public:
  std::string name() const override { return "credulous"; }
  std::string help() const override { return "reuses a wrong value"; }
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = assembly::baseline_parts(context);
    parts.reuse_point = std::make_unique<Credulous>("credulous");
    return parts;
  }
};

}  // namespace

int sc_main(int argc, char** argv) {
  assembly::SchemeRegistry registry = schemes::all();
  registry.add(std::make_unique<ForgetfulScheme>());
  registry.add(std::make_unique<CredulousScheme>());
  return assembly::run_tool(argc, argv, std::move(registry));
}

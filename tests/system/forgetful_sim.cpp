// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with one more scheme: "forgetful", the baseline with a write-back point that loses the 500th result.
#include <regatta/assembly/tool.h>

using namespace regatta;

namespace {

class Forgetful : public sc_core::sc_module, public protocol::WritebackPoint {
 public:
  explicit Forgetful(const sc_core::sc_module_name& name) : sc_module(name), changed_("changed") {}
  Decision decide(protocol::DynamicInstruction&, unsigned) override {
    return ++seen_ == 500 ? Decision::drop : Decision::write;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

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

}  // namespace

int sc_main(int argc, char** argv) {
  assembly::SchemeRegistry registry = assembly::SchemeRegistry::with_builtin();
  registry.add(std::make_unique<ForgetfulScheme>());
  return assembly::run_tool(argc, argv, std::move(registry));
}

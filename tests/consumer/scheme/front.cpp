// SPDX-License-Identifier: Apache-2.0
//
// A block in front of WIR's reuse buffer that forwards everything, in a scheme derived from the installed one. The
// machine is built and its hierarchy printed: the block stands between stage and buffer, and is told of its victims.
#include <regatta/assembly/simulation.h>
#include <regatta/models/wir/reuse_front.h>
#include <regatta/schemes/scheme_wir.h>

#include <iostream>
#include <string>

using namespace regatta::models::wir;
namespace assembly = regatta::assembly;
namespace protocol = regatta::protocol;

namespace {

class Front : public ReuseFront,
              public protocol::Lookup<ReuseRequest, ReuseAnswer>,
              public protocol::LookupClient<ReuseAnswer>,
              public ReuseUpdates,
              public ReferenceKeeper,
              public ReuseVictims {
 public:
  explicit Front(const sc_core::sc_module_name& name) : ReuseFront(name, *this, *this) {
    updates.bind(*this);
    keeper.bind(*this);
  }
  ReuseVictims* victims() override { return this; }
  protocol::LookupReply look_up(const ReuseRequest& request, std::uint32_t tag, ReuseAnswer& answer) override {
    return buffer.requests->look_up(request, tag, answer);
  }
  const sc_core::sc_event& changed() const override { return buffer.requests->changed(); }
  void answered(std::uint32_t tag, const ReuseAnswer& answer) override { lookups.answers->answered(tag, answer); }
  std::uint64_t book_write() override { return behind->book_write(); }
  void update(const ReuseUpdate& u) override { behind->update(u); }
  void count_retries(std::uint64_t times) override { behind->count_retries(times); }
  void fetch_ahead(std::uint32_t fold) const override { behind->fetch_ahead(fold); }
  void replaced(const ReuseTag&, const ReuseResult&) override {}
  void count(ReferenceCounts&) const override {}
};

class WirWithFront : public regatta::schemes::WirScheme {
 public:
  std::string name() const override { return "wir_front"; }

 protected:
  std::unique_ptr<ReuseFront> reuse_front(const assembly::BuildContext&) const override {
    return std::make_unique<Front>("front");
  }
};

}  // namespace

int sc_main(int, char**) {
  WirWithFront scheme;
  const assembly::MachineConfig machine;
  const std::string text = assembly::Simulation::hierarchy(machine, scheme, {});
  for (const char* expected : {"port -> sm0.wir.front", "front                             Front"}) {
    if (text.find(expected) != std::string::npos) continue;
    std::cerr << text << "FAILED: not in the hierarchy: " << expected << "\n";
    return 1;
  }
  return 0;
}

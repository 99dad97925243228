// SPDX-License-Identifier: Apache-2.0
//
// regatta-sim with one more scheme: --scheme wir_front has a block between the reuse stage and the reuse buffer of WIR.
// The block forwards everything and counts. It is where a victim buffer or a filter begins.
#include <regatta/assembly/tool.h>
#include <regatta/schemes/schemes.h>
#include <regatta/support/energy.h>
#include <regatta/support/stats.h>
#include <regatta/wir/reuse_front.h>
#include <regatta/wir/scheme_wir.h>

#include <memory>

namespace {

using namespace regatta::models::wir;
namespace assembly = regatta::assembly;
namespace protocol = regatta::protocol;
namespace support = regatta::support;

class CountingFront : public ReuseFront,
                      public protocol::Lookup<ReuseRequest, ReuseAnswer>,
                      public protocol::LookupClient<ReuseAnswer>,
                      public ReuseUpdates,
                      public ReferenceKeeper,
                      public ReuseVictims,
                      public support::StatProvider {
 public:
  explicit CountingFront(const sc_core::sc_module_name& name) : ReuseFront(name, *this, *this) {
    updates.bind(*this);
    keeper.bind(*this);
  }

  // Lookups: the tag is forwarded, so a late answer needs no record here.
  protocol::LookupReply look_up(const ReuseRequest& request, std::uint32_t tag, ReuseAnswer& answer) override {
    const protocol::LookupReply reply = buffer.requests->look_up(request, tag, answer);
    if (reply != protocol::LookupReply::busy) ++lookups_;
    return reply;
  }
  void answered(std::uint32_t tag, const ReuseAnswer& answer) override { lookups.answers->answered(tag, answer); }
  const sc_core::sc_event& changed() const override { return buffer.requests->changed(); }

  // Updates.
  std::uint64_t book_write() override { return behind->book_write(); }
  void update(const ReuseUpdate& u) override { behind->update(u); }
  void count_retries(std::uint64_t times) override { behind->count_retries(times); }
  void fetch_ahead(std::uint32_t fold) const override { behind->fetch_ahead(fold); }

  // A victim buffer would share the registers here, and give them up when the allocator asks.
  ReuseVictims* victims() override { return this; }
  void replaced(const ReuseTag&, const ReuseResult&) override { ++replaced_; }
  void count(ReferenceCounts&) const override {}

  void register_stats(support::StatGroup& group) override {
    group.counter("lookups", lookups_, "lookups", "forwarded and accepted, retries included");
    group.counter("replaced", replaced_, "results", "that the reuse buffer lost to newer ones");
  }
  void register_energy(support::EnergyGroup& group) override { group.costs_nothing("it keeps nothing"); }

 private:
  std::uint64_t lookups_ = 0, replaced_ = 0;
};

class WirWithFront : public regatta::schemes::WirScheme {
 public:
  std::string name() const override { return "wir_front"; }
  std::string help() const override { return "WIR with a block that counts before the reuse buffer"; }

 protected:
  std::unique_ptr<ReuseFront> reuse_front(const assembly::BuildContext&) const override {
    return std::make_unique<CountingFront>("front");
  }
};

}  // namespace

int sc_main(int argc, char** argv) {
  auto registry = regatta::schemes::all();
  registry.add(std::make_unique<WirWithFront>());
  return assembly::run_tool(argc, argv, std::move(registry));
}

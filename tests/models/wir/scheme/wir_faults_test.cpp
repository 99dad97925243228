// SPDX-License-Identifier: Apache-2.0
//
// Faults put into warp instruction reuse from outside: each is found out. And random programs on as few registers as
// there may be.
#include <regatta/wir/reuse_front.h>

#include "wir_random.h"
#include "wir_support.h"

using namespace regatta;
using models::wir::AllocationStage;
using models::wir::InFlightTable;
using models::wir::Wir;
using models::wir::WirConfig;
using test::Knobs;
using test::random_program;
using test::TraceBuilder;
using test::Values;

namespace {

/// Takes every candidate for the value's register.
class Credulous : public AllocationStage {
 public:
  using AllocationStage::AllocationStage;

 protected:
  bool same_value(const std::uint32_t*, const std::uint32_t*) const override { return true; }
};

class CredulousWir : public schemes::WirScheme {
 protected:
  std::unique_ptr<AllocationStage> allocation_stage(const sc_core::sc_module_name& name, const WirConfig& config,
                                                    const assembly::BuildContext& context,
                                                    InFlightTable& in_flight) const override {
    return std::make_unique<Credulous>(name, config, context.clock, in_flight);
  }
};

/// Behind the rename stage in the list of gates: makes it forget what stores are.
class ForgetStores : public protocol::IssueGate {
 public:
  explicit ForgetStores(models::wir::RenameStage& stage) : stage_(stage) {}
  bool may_issue(const protocol::DynamicInstruction&) override { return true; }
  void kernel_started(const protocol::KernelContext&) override {
    for (models::wir::StaticCode& c : stage_.code()) c.effect = models::wir::MemoryEffect::none;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  models::wir::RenameStage& stage_;
  sc_core::sc_event changed_;
};

/// Gives up a reference of a rename entry's register behind its owner's back, once.
class LoseReference : public protocol::Observer {
 public:
  LoseReference(Wir& wir, unsigned at) : wir_(wir), left_(at) {}
  std::vector<protocol::Event> interests() const override { return {protocol::Event::issued}; }
  void issued(protocol::Cycle, const protocol::DynamicInstruction&) override {
    if (left_ == 0 || --left_ != 0) return;
    for (const models::wir::RenameEntry& e : wir_.rename_tables.view().entries()) {
      if (!e.valid()) continue;
      wir_.allocator.release(e.reg);
      return;
    }
  }

 private:
  Wir& wir_;
  unsigned left_;
};

std::string loads_around_a_store(const std::string& name) {
  TraceBuilder b;
  Values v(b);
  v.op("lane.64", 0, {});
  for (unsigned n = 0; n < 2; ++n) {
    b.load(trace::MemorySpace::global, 1 + n, 0);
    b.kernel().instructions.back().opcode = "load";
    v.op("add", 4 + n, {1 + n, 1 + n});
    if (n == 0) b.store(trace::MemorySpace::global, 0, 4);
  }
  b.exit();
  b.launch(1, 32);
  b.begin_cta();
  b.begin_warp();
  for (std::uint32_t i = 0; i < b.kernel().instructions.size(); ++i) {
    b.execute(i, 0, {4096});
    if (i == 3) v.memory = 1;
  }
  b.end_warp();
  b.end_cta();
  return b.write(name);
}

/// Registers of one CTA: what there must be at least.
constexpr const char* smallest = "24";

void check_random(const std::string& model, const std::string& physical, unsigned seed, unsigned lookup_delay = 0) {
  const std::string path =
      random_program("wir_random_" + model + physical + std::to_string(seed) + std::to_string(lookup_delay), seed);
  test::WatchedWir scheme(nullptr);
  const auto r = test::simulate_wir(
      path, scheme, {{"wir.model", model}, {"wir.physical_registers", physical}, {"wir.hash_bits", "6"}}, lookup_delay);
  test::require_clean(r);
  if (physical == smallest) CHECK(r.stats.at("sm0.wir.allocator").at("registers_peak") == 24);
}

}  // namespace

TEST_CASE("a verify-read that is skipped is found out") {
  const std::string path = random_program("wir_credulous", 5);
  CredulousWir scheme;
  const auto r = test::simulate_wir(path, scheme, {{"wir.hash_bits", "2"}});
  CHECK(r.ending == assembly::Ending::value_mismatch);
  CHECK(r.mismatches > 0);
}
TEST_CASE("the same values with verify-reads are right") {
  const std::string path = random_program("wir_not_credulous", 5);
  test::WatchedWir scheme(nullptr);
  const auto r = test::simulate_wir(path, scheme, {{"wir.hash_bits", "2"}});
  test::require_clean(r);
  CHECK(r.stats.at("sm0.wir.allocation").at("false_positives") > 100);
}
TEST_CASE("a store flag that is ignored is found out") {
  const std::string path = loads_around_a_store("wir_ignored_flag");
  test::WatchedWir scheme(nullptr, [](assembly::SmParts& parts, Wir&) {
    auto& stage = dynamic_cast<models::wir::RenameStage&>(*parts.gates.front());
    parts.gates.push_back(std::make_unique<ForgetStores>(stage));
  });
  const auto r = test::simulate_wir(path, scheme, {});
  CHECK(r.ending == assembly::Ending::value_mismatch);
  CHECK(r.message.find(" from sm0.wir.reuse_buffer, physical register ") != std::string::npos);
}
TEST_CASE("the same loads with the flag are right") {
  const std::string path = loads_around_a_store("wir_flag");
  test::WatchedWir scheme(nullptr);
  test::require_clean(test::simulate_wir(path, scheme, {}));
}
TEST_CASE("a lost reference is found out by the next recount") {
  const std::string path = random_program("wir_lost_reference", 5);
  test::WatchedWir scheme(nullptr, [](assembly::SmParts& parts, Wir& wir) {
    parts.observers.push_back(std::make_unique<LoseReference>(wir, 40));
  });
  CHECK_THROWS_WITH(test::simulate_wir(path, scheme, {}), Catch::Matchers::Contains("is counted"));
}
TEST_CASE("a lost reference is found out without recounts, too") {
  const std::string path = random_program("wir_lost_reference_late", 5);
  test::WatchedWir scheme(nullptr, [](assembly::SmParts& parts, Wir& wir) {
    parts.observers.push_back(std::make_unique<LoseReference>(wir, 40));
  });
  bool found = false;
  try {
    const auto r = test::simulate_wir(path, scheme, {{"wir.recount", "0"}});
    found = r.ending != assembly::Ending::completed;
  } catch (const std::exception&) {
    found = true;  // a SystemC report, or a count that went below nothing
  }
  CHECK(found);
}

namespace {

/// Between the reuse stage and the buffer: forwards everything, and keeps nothing.
class PassThrough : public models::wir::ReuseFront,
                    public protocol::Lookup<models::wir::ReuseRequest, models::wir::ReuseAnswer>,
                    public protocol::LookupClient<models::wir::ReuseAnswer>,
                    public models::wir::ReuseUpdates,
                    public models::wir::ReferenceKeeper {
 public:
  PassThrough(const sc_core::sc_module_name& name, std::uint64_t& forwarded)
      : ReuseFront(name, *this, *this), forwarded_(forwarded) {
    updates.bind(*this);
    keeper.bind(*this);
  }
  protocol::LookupReply look_up(const models::wir::ReuseRequest& request, std::uint32_t tag,
                                models::wir::ReuseAnswer& answer) override {
    ++forwarded_;
    return buffer.requests->look_up(request, tag, answer);
  }
  const sc_core::sc_event& changed() const override { return buffer.requests->changed(); }
  void answered(std::uint32_t tag, const models::wir::ReuseAnswer& answer) override {
    lookups.answers->answered(tag, answer);
  }
  std::uint64_t book_write() override { return behind->book_write(); }
  void update(const models::wir::ReuseUpdate& u) override { behind->update(u); }
  void count_retries(std::uint64_t times) override { behind->count_retries(times); }
  void fetch_ahead(std::uint32_t fold) const override { behind->fetch_ahead(fold); }
  void count(models::wir::ReferenceCounts&) const override {}

 private:
  std::uint64_t& forwarded_;
};

class WithFront : public schemes::WirScheme {
 public:
  mutable std::uint64_t forwarded = 0;

 protected:
  std::unique_ptr<models::wir::ReuseFront> reuse_front(const assembly::BuildContext&) const override {
    return std::make_unique<PassThrough>("front", forwarded);
  }
};

}  // namespace

TEST_CASE("a block in front of the reuse buffer passes every lookup on") {
  WithFront scheme;
  const auto r = test::simulate_wir(random_program("wir_front", 6), scheme,
                                    {{"wir.physical_registers", smallest}, {"wir.model", "rl"}});
  test::require_clean(r);
  const auto& buffer = r.stats.at("sm0.wir.reuse_buffer");
  // Without pending-retry nobody retries: a lookup reads the buffer, or finds its ports taken.
  CHECK(static_cast<double>(scheme.forwarded) ==
        buffer.at("reads").get<double>() + buffer.at("read_waits").get<double>());
  CHECK(scheme.forwarded > 1000);
}
TEST_CASE("a block in front of the reuse buffer, and delays on both sides of it") {
  WithFront scheme;
  const auto r =
      test::simulate_wir(random_program("wir_front_late", 7), scheme, {{"wir.physical_registers", smallest}}, 7);
  test::require_clean(r);
  CHECK(r.stats.at("sm0.wir.retry_queue").at("queued") > 0);
}

namespace {

/// A block in front of the buffer that breaks the contract of its ports, once, at the hundredth request.
enum class FrontFault {
  within_call,
  same_cycle,
  twice,
  never,
  unbooked,
  unused_port,
  no_reference,
  no_register,
  no_such
};
class FaultyFront : public PassThrough {
 public:
  FaultyFront(const sc_core::sc_module_name& name, FrontFault fault) : PassThrough(name, count_), fault_(fault) {
    SC_HAS_PROCESS(FaultyFront);
    SC_METHOD(deliver);
    sensitive << due_;
    dont_initialize();
  }
  protocol::LookupReply look_up(const models::wir::ReuseRequest& request, std::uint32_t tag,
                                models::wir::ReuseAnswer& answer) override {
    const protocol::LookupReply reply = PassThrough::look_up(request, tag, answer);
    if (reply != protocol::LookupReply::answered || ++answers_ != 100) return reply;
    answer_ = answer;
    tag_ = tag;
    switch (fault_) {
      case FrontFault::within_call:
        lookups.answers->answered(tag, answer);
        return protocol::LookupReply::later;
      case FrontFault::same_cycle:
        due_.notify(sc_core::SC_ZERO_TIME);
        return protocol::LookupReply::later;
      case FrontFault::twice:
        due_.notify(sc_core::sc_time(20, sc_core::SC_NS));
        return protocol::LookupReply::answered;
      case FrontFault::never:
        return protocol::LookupReply::later;
      case FrontFault::unbooked:
        behind->update({});
        return reply;
      case FrontFault::unused_port:
        behind->book_write();
        return reply;
      case FrontFault::no_register:
      case FrontFault::no_such:
        answer.found = models::wir::ReuseAnswer::Found::result;
        answer.result.fill(models::wir::no_register);
        if (fault_ == FrontFault::no_such) answer.result[0] = models::wir::PhysicalRegister(5000);
        return reply;
      case FrontFault::no_reference:
        for (unsigned i = 0; i < 1024; ++i) references->release(models::wir::PhysicalRegister(i));
        return reply;
    }
    return reply;
  }

 private:
  void deliver() { lookups.answers->answered(tag_, answer_); }
  FrontFault fault_;
  std::uint64_t count_ = 0;
  unsigned answers_ = 0;
  std::uint32_t tag_ = 0;
  models::wir::ReuseAnswer answer_;
  sc_core::sc_event due_;
};

class WithFaultyFront : public schemes::WirScheme {
 public:
  explicit WithFaultyFront(FrontFault fault) : fault_(fault) {}

 protected:
  std::unique_ptr<models::wir::ReuseFront> reuse_front(const assembly::BuildContext&) const override {
    return std::make_unique<FaultyFront>("front", fault_);
  }

 private:
  FrontFault fault_;
};

/// What a run says about the fault; "" if it ends as if there were none.
std::string fault_found(const std::string& name, FrontFault fault, bool check_protocol = true) {
  const std::string path = random_program(name, 8);
  WithFaultyFront scheme(fault);
  try {
    const auto r = test::simulate_wir(path, scheme, {}, 0, check_protocol);
    return r.ending == assembly::Ending::completed ? "" : r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

}  // namespace

#define REGATTA_FRONT_FAULT(fault, message)                                                              \
  TEST_CASE("a front whose fault is " #fault " is found out") {                                          \
    CHECK_THAT(fault_found("wir_front_" #fault, FrontFault::fault), Catch::Matchers::Contains(message)); \
  }
REGATTA_FRONT_FAULT(within_call, "sm0.front_protocol before sm0.wir.front in cycle ")
REGATTA_FRONT_FAULT(same_cycle, "in the cycle of its request; expected one answer")
REGATTA_FRONT_FAULT(twice, "sm0.front_protocol before sm0.wir.front in cycle ")
REGATTA_FRONT_FAULT(never, "  sm0.front_protocol before sm0.wir.front: not answered are tag ")
REGATTA_FRONT_FAULT(unbooked, "sm0.wir.update_protocol in cycle ")
REGATTA_FRONT_FAULT(unused_port, "1 write ports are booked and not used")
REGATTA_FRONT_FAULT(no_reference, "sm0.wir.front gives up a reference to physical register ")
REGATTA_FRONT_FAULT(no_register, "was answered with a result that has no register for destination 0; expected one of")
REGATTA_FRONT_FAULT(no_such, "was answered with a result that has register 5000 for destination 0; expected one of")

TEST_CASE("without checkers, a late answer that nobody waits for ends the run with a message") {
  CHECK_THAT(fault_found("wir_front_within_plain", FrontFault::within_call, false),
             Catch::Matchers::Contains("sm0.wir.reuse in cycle ") &&
                 Catch::Matchers::Contains("was given an answer with tag "));
}
TEST_CASE("without checkers, a second answer ends the run with a message") {
  CHECK_THAT(fault_found("wir_front_twice_plain", FrontFault::twice, false),
             Catch::Matchers::Contains("sm0.wir.reuse in cycle ") &&
                 Catch::Matchers::Contains("was given an answer with tag "));
}

#define REGATTA_RANDOM(model)                                                                                        \
  TEST_CASE("random programs under " model) { check_random(model, "1024", 1); }                                      \
  TEST_CASE("random programs under " model " with the fewest registers") { check_random(model, smallest, 2); }       \
  TEST_CASE("other random programs under " model " with the fewest registers") { check_random(model, smallest, 3); } \
  TEST_CASE("random programs under " model " with the fewest registers and late answers") {                          \
    check_random(model, smallest, 4, 7);                                                                             \
  }
REGATTA_RANDOM("r")
REGATTA_RANDOM("rl")
REGATTA_RANDOM("rlp")
REGATTA_RANDOM("rlpv")
REGATTA_RANDOM("rpv")
REGATTA_RANDOM("rlpvc")
REGATTA_RANDOM("novsb")
REGATTA_RANDOM("affine_rlpv")

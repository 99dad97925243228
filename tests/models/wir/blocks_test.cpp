// SPDX-License-Identifier: Apache-2.0
//
// Every block of warp instruction reuse by itself, driven over its ports only, as a test bench of an RTL twin would:
// exact replies, cycles, references and statistics.
#include <regatta/models/wir/register_allocator.h>
#include <regatta/models/wir/rename_tables.h>
#include <regatta/models/wir/retry_queue.h>
#include <regatta/models/wir/reuse_buffer.h>
#include <regatta/models/wir/value_signature_buffer.h>
#include <regatta/models/wir/verify_cache.h>
#include <regatta/protocol/lookup_delay.h>
#include <regatta/test/catch.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace regatta::models::wir;
using regatta::protocol::CtaInfo;
using regatta::protocol::CtaSlot;
using regatta::protocol::DynamicInstruction;
using regatta::protocol::KernelContext;
using regatta::protocol::LookupClient;
using regatta::protocol::LookupDelay;
using regatta::protocol::LookupInitiator;
using regatta::protocol::LookupReply;
using regatta::protocol::RegisterId;
using regatta::protocol::WarpInfo;
using regatta::protocol::WarpSlot;

namespace {

const sc_core::sc_time block_period(1, sc_core::SC_NS);
std::uint64_t block_cycle() { return sc_core::sc_time_stamp().value() / block_period.value(); }
/// Runs the kernel to the begin of the cycle. The first call ends the elaboration.
void block_run_to(std::uint64_t cycle) {
  REQUIRE(cycle >= block_cycle());
  sc_core::sc_start(static_cast<double>(cycle - block_cycle()) * block_period);
}

PhysicalRegister physical_at(unsigned n) { return PhysicalRegister(static_cast<std::uint16_t>(n)); }
RegisterId logical_at(unsigned n) { return RegisterId(static_cast<std::uint8_t>(n)); }
WarpSlot warp_at(unsigned n) { return WarpSlot(static_cast<std::uint16_t>(n)); }

WirConfig block_config() {
  WirConfig config;
  config.physical_registers = 64;
  return config;
}

double stat_of(regatta::support::StatProvider& block, const std::string& name) {
  regatta::support::StatGroup group("block");
  block.register_stats(group);
  for (const regatta::support::Stat& s : group.stats()) {
    if (s.name == name) return s.counter != nullptr ? static_cast<double>(*s.counter) : s.value();
  }
  FAIL("no statistic " << name);
  return 0;
}

/// A launch of one kernel with CTAs of one warp.
struct BlockLaunch {
  explicit BlockLaunch(unsigned registers) {
    kernel.registers_per_thread = registers;
    context.kernel = &kernel;
    context.registers_per_warp = registers;
  }
  regatta::trace::Kernel kernel;
  KernelContext context;
};

using CallLog = std::vector<std::string>;

/// Stands for the register allocator, and notes every call.
class LoggedReferences : public sc_core::sc_module, public References {
 public:
  sc_core::sc_export<References> in;
  explicit LoggedReferences(const sc_core::sc_module_name& name) : sc_module(name), in("in") { in.bind(*this); }

  void hold(const PhysicalRegister* regs, unsigned count) override {
    for (unsigned i = 0; i < count; ++i) {
      if (regs[i] != no_register) note("hold", regs[i]);
    }
  }
  void end_hold(PhysicalRegister reg) override { note("end_hold", reg); }
  bool share(const PhysicalRegister* regs, unsigned count) override {
    unsigned n = 0;
    for (; n < count && regs[n] != no_register; ++n) {
      if (full.count(regs[n].value()) == 0) continue;
      note("refuse", regs[n]);
      return false;
    }
    for (unsigned i = 0; i < n; ++i) note("share", regs[i]);
    return true;
  }
  void release(PhysicalRegister reg) override {
    if (reg != no_register) note("release", reg);
  }
  void replace(PhysicalRegister before) override { note("replace", before); }
  bool low() override { return mode_ = is_low; }
  void settle() override { calls_.emplace_back("settle"); }
  const bool& low_mode() const override { return mode_; }
  void check() const override {}

  void set_low(bool now_low) { is_low = mode_ = now_low; }
  /// The calls since the last take().
  CallLog take() { return std::exchange(calls_, {}); }

  std::set<unsigned> full;  ///< registers whose counter is at its end
  bool is_low = false;

 private:
  void note(const std::string& what, PhysicalRegister reg) {
    calls_.push_back(what + ' ' + (reg == no_register ? "none" : std::to_string(reg.value())));
  }
  bool mode_ = false;
  CallLog calls_;
};

/// Asks a block that answers at once.
template <class Request, class Answer>
class BlockUser : public sc_core::sc_module, public LookupClient<Answer> {
 public:
  LookupInitiator<Request, Answer> lookups;
  explicit BlockUser(const sc_core::sc_module_name& name) : sc_module(name), lookups("lookup", *this) {}

  LookupReply ask(const Request& request, Answer& answer) {
    return lookups.requests->look_up(request, next_tag_++, answer);
  }
  Answer get(const Request& request) {
    Answer answer{};
    REQUIRE(ask(request, answer) == LookupReply::answered);
    return answer;
  }
  bool is_busy(const Request& request) {
    Answer answer{};
    return ask(request, answer) == LookupReply::busy;
  }
  void answered(std::uint32_t, const Answer&) override { FAIL("a late answer of a block that answers at once"); }

 private:
  std::uint32_t next_tag_ = 0;
};

/// The registers that a keeper gives up as of an idle cycle.
std::vector<unsigned> given_up(ReferenceKeeper& keeper, std::uint64_t cycle) {
  std::array<PhysicalRegister, ReferenceKeeper::most_given_up> regs;
  const unsigned count = keeper.give_up_idle(cycle, regs.data());
  REQUIRE(count <= regs.size());
  std::vector<unsigned> values;
  for (unsigned i = 0; i < count; ++i) values.push_back(regs[i].value());
  return values;
}

/// The registers to which a keeper's entries refer, each as often as it is counted.
std::vector<unsigned> counted_by(const ReferenceKeeper& keeper) {
  ReferenceCounts counts;
  counts.references.resize(64);
  counts.holds.resize(64);
  keeper.count(counts);
  CHECK_FALSE(counts.incomplete);
  std::vector<unsigned> values;
  for (unsigned r = 0; r < 64; ++r) values.insert(values.end(), counts.references[r], r);
  return values;
}

using RegisterList = std::vector<unsigned>;

/// Lets a keeper give up entries until it was asked for `times` more.
void give_up_times(ReferenceKeeper& keeper, unsigned times) {
  keeper.give_up_while([&times] { return times != 0 && times-- != 0; });
}

// Rename tables.

class RenameUser : public BlockUser<RenameRequest, RenamedSources> {
 public:
  sc_core::sc_port<RenameAccess> access;
  sc_core::sc_port<ReferenceKeeper> keeper;
  explicit RenameUser(const sc_core::sc_module_name& name) : BlockUser(name), access("access"), keeper("keeper") {}
};

struct RenameBench {
  explicit RenameBench(const WirConfig& config = block_config()) : tables("tables", config, block_period) {
    tables.references.bind(references.in);
    user.lookups.bind(tables.lookups);
    user.access.bind(tables.access);
    user.keeper.bind(tables.keeper);
    block_run_to(0);
    tables.kernel_started(launch.context);
  }
  static RenameRequest request(unsigned warp, std::initializer_list<unsigned> sources, unsigned destinations = 0) {
    RenameRequest r;
    r.warp = warp_at(warp);
    r.sources = static_cast<std::uint8_t>(sources.size());
    r.destinations = static_cast<std::uint8_t>(destinations);
    std::transform(sources.begin(), sources.end(), r.registers.begin(), logical_at);
    return r;
  }
  void write(unsigned warp, unsigned logical, unsigned reg, bool pinned = false, bool same = false) {
    user.access->write(warp_at(warp), logical_at(logical), RenameEntry{physical_at(reg), pinned}, same);
  }

  BlockLaunch launch{8};
  LoggedReferences references{"references"};
  RenameTables tables;
  RenameUser user{"user"};
};

// Reuse buffer.

using ReuseFound = ReuseAnswer::Found;

class ReuseUser : public BlockUser<ReuseRequest, ReuseAnswer> {
 public:
  sc_core::sc_port<ReuseUpdates> updates;
  sc_core::sc_port<ReferenceKeeper> keeper;
  explicit ReuseUser(const sc_core::sc_module_name& name) : BlockUser(name), updates("updates"), keeper("keeper") {}
};

ReuseTag reuse_tag(std::uint32_t opcode, std::initializer_list<unsigned> sources) {
  ReuseTag tag;
  tag.opcode = opcode;
  std::transform(sources.begin(), sources.end(), tag.sources.begin(), physical_at);
  return tag;
}
ReuseRequest reuse_request(const ReuseTag& tag, std::uint32_t owner, bool retry = false) {
  ReuseRequest r;
  r.tag = tag;
  r.fold = tag.fold();
  r.owner = owner;
  r.retry = retry;
  return r;
}
ReuseUpdate reuse_update(const ReuseTag& tag, std::uint32_t owner, std::initializer_list<unsigned> result,
                         bool claimed = true) {
  ReuseUpdate u;
  u.tag = tag;
  u.fold = tag.fold();
  u.owner = owner;
  u.claimed = claimed;
  std::transform(result.begin(), result.end(), u.result.begin(), physical_at);
  return u;
}
bool same_answer(const ReuseAnswer& a, const ReuseAnswer& b) {
  return a.found == b.found && a.claimed == b.claimed && a.evicted == b.evicted &&
         (a.found != ReuseFound::result || a.result == b.result);
}

struct ReuseBench {
  explicit ReuseBench(const WirConfig& config = block_config()) : buffer("buffer", config, block_period) {
    buffer.references.bind(references.in);
    user.lookups.bind(buffer.lookups);
    user.updates.bind(buffer.updates);
    user.keeper.bind(buffer.keeper);
    block_run_to(0);
  }
  ReuseAnswer get(const ReuseTag& tag, std::uint32_t owner, bool retry = false) {
    return user.get(reuse_request(tag, owner, retry));
  }
  bool is_busy(const ReuseTag& tag, std::uint32_t owner, bool retry = false) {
    // A busy block writes no answer.
    ReuseAnswer mark;
    mark.found = ReuseFound::unshared;
    mark.claimed = mark.evicted = true;
    mark.result[1] = physical_at(63);
    ReuseAnswer answer = mark;
    if (user.ask(reuse_request(tag, owner, retry), answer) != LookupReply::busy) return false;
    CHECK(same_answer(answer, mark));
    CHECK(answer.result == mark.result);
    return true;
  }
  /// Claims an entry and completes it, in the present cycle.
  void enter(const ReuseTag& tag, std::uint32_t owner, std::initializer_list<unsigned> result) {
    REQUIRE(get(tag, owner).claimed);
    user.updates->update(reuse_update(tag, owner, result));
  }
  double stat(const std::string& name) { return stat_of(buffer, name); }

  LoggedReferences references{"references"};
  ReuseBuffer buffer;
  ReuseUser user{"user"};
};

/// A buffer in which all tags have one place.
WirConfig one_entry() {
  WirConfig config = block_config();
  config.reuse_entries = 1;
  config.signature_entries = 1;
  return config;
}

// Value signature buffer.

using LaneValues = std::array<std::uint32_t, regatta::trace::max_lanes>;

class SignatureUser : public BlockUser<SignatureRequest, SignatureAnswer> {
 public:
  sc_core::sc_port<SignatureAccess> access;
  sc_core::sc_port<ReferenceKeeper> keeper;
  explicit SignatureUser(const sc_core::sc_module_name& name) : BlockUser(name), access("access"), keeper("keeper") {}
};

struct SignatureBench {
  explicit SignatureBench(const WirConfig& config = block_config()) : buffer("buffer", config, block_period) {
    buffer.references.bind(references.in);
    user.lookups.bind(buffer.lookups);
    user.access.bind(buffer.access);
    user.keeper.bind(buffer.keeper);
    block_run_to(0);
    buffer.kernel_started(launch.context);
  }
  SignatureAnswer get(const LaneValues& value) { return user.get(SignatureRequest{value.data()}); }
  double stat(const std::string& name) { return stat_of(buffer, name); }

  BlockLaunch launch{8};
  LoggedReferences references{"references"};
  ValueSignatureBuffer buffer;
  SignatureUser user{"user"};
};

LaneValues lanes_with(std::uint32_t first) {
  LaneValues value;
  for (unsigned i = 0; i < value.size(); ++i) value[i] = first + 3 * i;
  return value;
}

// Verify cache.

class VerifyUser : public BlockUser<VerifyRequest, VerifyAnswer> {
 public:
  sc_core::sc_port<CachedValues> values;
  explicit VerifyUser(const sc_core::sc_module_name& name) : BlockUser(name), values("values") {}
};

struct VerifyBench {
  explicit VerifyBench(const WirConfig& config = block_config()) : cache("cache", config, block_period) {
    user.lookups.bind(cache.lookups);
    user.values.bind(cache.values);
    block_run_to(0);
    cache.kernel_started(launch.context);
  }
  VerifyAnswer get(unsigned reg, const LaneValues& value) {
    return user.get(VerifyRequest{physical_at(reg), value.data()});
  }
  void fill(unsigned reg, const LaneValues& value) { user.values->fill(physical_at(reg), value.data()); }

  BlockLaunch launch{8};
  VerifyCache cache;
  VerifyUser user{"user"};
};

// Register allocator.

class AllocatorUser : public BlockUser<AllocationRequest, GrantedRegisters> {
 public:
  sc_core::sc_port<References> references;
  sc_core::sc_port<ReaderCredits> credits;
  explicit AllocatorUser(const sc_core::sc_module_name& name)
      : BlockUser(name), references("references"), credits("credits") {}
};

/// Owns the references that a test gives to it.
class FakeKeeper : public sc_core::sc_module, public ReferenceKeeper {
 public:
  sc_core::sc_export<ReferenceKeeper> keeper;
  sc_core::sc_port<References> references;
  explicit FakeKeeper(const sc_core::sc_module_name& name)
      : sc_module(name), keeper("keeper"), references("references") {
    keeper.bind(*this);
  }
  unsigned give_up_idle(std::uint64_t cycle, PhysicalRegister* regs) override {
    asked.push_back(cycle);
    const auto at = gives.find(cycle);
    if (at == gives.end()) return 0;
    owned.erase(std::remove(owned.begin(), owned.end(), at->second), owned.end());
    regs[0] = physical_at(at->second);
    return 1;
  }
  void give_up_while(const std::function<bool()>& more) override {
    while (!owned.empty() && more()) drop();
  }
  void give_up_all() override {
    while (!stubborn && !owned.empty()) drop();
  }
  void count(ReferenceCounts& counts) const override {
    for (const unsigned r : owned) counts.add(physical_at(r));
    if (lie != no_register) counts.add(lie);
    if (under_way) counts.incomplete = true;
    for (const unsigned r : readers) {
      counts.add(physical_at(r));
      ++counts.holds[r];
    }
  }

  RegisterList owned, readers;
  std::map<std::uint64_t, unsigned> gives;  ///< the register that it gives up in an idle cycle
  std::vector<std::uint64_t> asked;         ///< the cycles for which it was asked
  PhysicalRegister lie = no_register;       ///< it says that it has one more reference to it
  bool under_way = false;                   ///< it says that its counts are incomplete
  bool stubborn = false;                    ///< it keeps its references at the end of a kernel

 private:
  void drop() {
    references->release(physical_at(owned.back()));
    owned.pop_back();
  }
};

/// Notes the cycles in which ReaderCredits::opened() is notified.
class OpenedWatch : public sc_core::sc_module {
 public:
  sc_core::sc_port<ReaderCredits> credits;
  explicit OpenedWatch(const sc_core::sc_module_name& name) : sc_module(name), credits("credits") {
    SC_HAS_PROCESS(OpenedWatch);
    SC_METHOD(notice);
  }
  std::vector<std::uint64_t> cycles;

 private:
  void notice() {
    if (std::exchange(watching_, true)) cycles.push_back(block_cycle());
    next_trigger(credits->opened());
  }
  bool watching_ = false;
};

WirConfig few_registers(unsigned physical, unsigned release_latency = 2) {
  WirConfig config;
  config.physical_registers = physical;
  config.release_latency = release_latency;
  return config;
}

struct AllocatorBench {
  explicit AllocatorBench(const WirConfig& config, unsigned registers = 3)
      : launch(registers), allocator("allocator", config, block_period) {
    user.lookups.bind(allocator.allocation);
    user.references.bind(allocator.references);
    user.credits.bind(allocator.credits);
    watch.credits.bind(allocator.credits);
    for (FakeKeeper* const k : {&first, &second}) {
      allocator.keepers.bind(k->keeper);
      k->references.bind(allocator.references);
    }
    block_run_to(0);
    allocator.kernel_started(launch.context);
  }
  /// The registers granted, or none if the allocator is busy.
  RegisterList take(unsigned registers) {
    GrantedRegisters granted;
    if (user.ask(AllocationRequest{registers, false}, granted) == LookupReply::busy) return {};
    RegisterList values;
    for (unsigned i = 0; i < registers; ++i) values.push_back(granted.regs[i].value());
    return values;
  }
  bool is_busy(unsigned registers) { return user.is_busy(AllocationRequest{registers, false}); }
  void release(unsigned reg) { user.references->release(physical_at(reg)); }
  void hold(unsigned reg) {
    const PhysicalRegister r = physical_at(reg);
    user.references->hold(&r, 1);
  }
  void end_hold(unsigned reg) { user.references->end_hold(physical_at(reg)); }
  bool share(std::initializer_list<unsigned> shared) {
    ReuseResult regs;
    std::transform(shared.begin(), shared.end(), regs.begin(), physical_at);
    return user.references->share(regs.data(), pair_results);
  }
  const RegisterPool& view() { return user.credits->view(); }
  unsigned references(unsigned reg) { return view().references(physical_at(reg)); }
  unsigned holds(unsigned reg) { return view().holds(physical_at(reg)); }
  double stat(const std::string& name) { return stat_of(allocator, name); }

  BlockLaunch launch;
  RegisterAllocator allocator;
  AllocatorUser user{"user"};
  OpenedWatch watch{"watch"};
  FakeKeeper first{"first"}, second{"second"};
};

/// The text of the SystemC error that `work` reports; empty if there is none.
template <class F>
std::string error_of(F&& work) {
  try {
    work();
  } catch (const sc_core::sc_report& report) {
    return report.get_msg();
  }
  return {};
}

using Cycles = std::vector<std::uint64_t>;

// Retry queue.

class RetryUser : public sc_core::sc_module {
 public:
  sc_core::sc_port<RetryAccess> access;
  explicit RetryUser(const sc_core::sc_module_name& name) : sc_module(name), access("access") {}
};

struct RetryBench {
  explicit RetryBench(const WirConfig& config) : queue("queue", config, block_period) {
    user.access.bind(queue.access);
    block_run_to(0);
  }
  static WirConfig places(unsigned n) {
    WirConfig config;
    config.retry_entries = n;
    return config;
  }
  bool push(DynamicInstruction& d) { return user.access->push(d, skipped); }
  DynamicInstruction* head() { return user.access->head(skipped); }

  RetryQueue queue;
  RetryUser user{"user"};
  std::uint64_t skipped = 0;
  DynamicInstruction a, b, c, d;
};

}  // namespace

TEST_CASE("rename tables alone: entries of sources are answered, and each valid one is held") {
  RenameBench b;
  block_run_to(1);
  b.write(3, 2, 5);
  b.write(3, 4, 7, true);
  CHECK(b.references.take() == CallLog{"replace none", "replace none"});

  block_run_to(2);
  const RenamedSources s = b.user.get(RenameBench::request(3, {4, 1, 2}, 1));
  CHECK(s.entries[0].reg == physical_at(7));
  CHECK(s.entries[0].pinned);
  CHECK_FALSE(s.entries[1].valid());
  CHECK(s.entries[2].reg == physical_at(5));
  CHECK_FALSE(s.entries[2].pinned);
  CHECK(s.further_cycles == 0);
  CHECK(b.references.take() == CallLog{"hold 7", "hold 5"});

  // In the same cycle, in the order of the calls: the table is as of acceptance.
  b.write(3, 2, 9);
  CHECK(b.references.take() == CallLog{"replace 5"});
  CHECK(b.user.get(RenameBench::request(3, {2})).entries[0].reg == physical_at(9));
  CHECK(b.references.take() == CallLog{"hold 9"});

  // Another warp has a table of its own. Destinations are read, but not held.
  CHECK_FALSE(b.user.get(RenameBench::request(2, {2})).entries[0].valid());
  b.user.get(RenameBench::request(3, {}, 2));
  CHECK(b.references.take().empty());
  CHECK(stat_of(b.tables, "reads") == 4 + 1 + 1 + 2);
  CHECK(stat_of(b.tables, "writes") == 3);
}

TEST_CASE("rename tables alone: registers beyond the ports of a cycle take further cycles") {
  WirConfig two = block_config();
  two.rename_ports = 2;
  RenameTables narrow("narrow", two, block_period);
  RenameUser narrow_user("narrow_user");
  narrow_user.lookups.bind(narrow.lookups);
  narrow_user.access.bind(narrow.access);
  narrow_user.keeper.bind(narrow.keeper);
  LoggedReferences ignored("ignored");
  narrow.references.bind(ignored.in);
  RenameBench b;
  narrow.kernel_started(b.launch.context);

  struct Case {
    unsigned destinations, four_ports, two_ports;
  };
  // Three sources each.
  for (const Case& c : {Case{0, 0, 1}, Case{1, 0, 1}, Case{2, 1, 2}, Case{4, 1, 3}, Case{5, 1, 3}, Case{6, 2, 4}}) {
    CAPTURE(c.destinations);
    const RenameRequest request = RenameBench::request(0, {1, 2, 3}, c.destinations);
    CHECK(b.user.get(request).further_cycles == c.four_ports);
    CHECK(narrow_user.get(request).further_cycles == c.two_ports);
  }
  CHECK(stat_of(b.tables, "long_renames") == 4);
  CHECK(stat_of(narrow, "long_renames") == 6);
  CHECK(stat_of(b.tables, "reads") == 6 * 3 + 0 + 1 + 2 + 4 + 5 + 6);
}

TEST_CASE("rename tables alone: a write gives up the earlier register unless it stays") {
  RenameBench b;
  block_run_to(1);
  b.write(0, 1, 10);
  b.write(0, 2, 10);
  b.write(1, 1, 11);
  CHECK(b.references.take() == CallLog{"replace none", "replace none", "replace none"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{10, 10, 11});
  b.write(0, 1, 12);
  CHECK(b.references.take() == CallLog{"replace 10"});
  b.write(0, 1, 12, true, true);
  CHECK(b.references.take().empty());
  CHECK(b.user.access->view().at(warp_at(0), logical_at(1)).pinned);
  CHECK(b.user.access->view().place(warp_at(0), logical_at(1)) == regatta::models::Row(12));
  CHECK_FALSE(b.user.access->view().place(warp_at(0), logical_at(3)).has_value());
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{10, 11, 12});
  CHECK(stat_of(b.tables, "writes") == 5);
  CHECK(stat_of(b.tables, "reads") == 0);
}

TEST_CASE("rename tables alone: a half has one write per cycle") {
  RenameBench b;
  block_run_to(10);
  CHECK(b.user.access->book_write(0) == 10);
  CHECK(b.user.access->book_write(0) == 11);
  CHECK(b.user.access->book_write(0) == 12);
  CHECK(b.user.access->book_write(1) == 10);
  CHECK(b.user.access->book_write(1) == 11);
  block_run_to(12);
  CHECK(b.user.access->book_write(1) == 12);
  CHECK(b.user.access->book_write(0) == 13);
  block_run_to(20);
  CHECK(b.user.access->book_write(0) == 20);
}

TEST_CASE("rename tables alone: a warp that ends gives up its valid entries and no others") {
  RenameBench b;
  block_run_to(1);
  b.write(1, 7, 20);
  b.write(1, 0, 21);
  b.write(1, 3, 20);
  b.write(2, 0, 22);
  b.references.take();
  WarpInfo warp;
  warp.warp = warp_at(1);
  b.tables.warp_finished(warp);
  CHECK(b.references.take() == CallLog{"settle", "release 21", "release 20", "release 20"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{22});
  CHECK_FALSE(b.user.get(RenameBench::request(1, {0})).entries[0].valid());
  b.tables.warp_finished(warp);
  CHECK(b.references.take() == CallLog{"settle"});
}

TEST_CASE("reuse buffer alone: a first lookup claims, a second waits, and one after the update has the result") {
  ReuseBench b;
  const ReuseTag tag = reuse_tag(4, {1, 2});
  block_run_to(1);
  ReuseAnswer answer = b.get(tag, 1);
  CHECK(answer.found == ReuseFound::nothing);
  CHECK(answer.claimed);
  CHECK_FALSE(answer.evicted);
  CHECK(b.references.take() == CallLog{"share 1", "share 2"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{1, 2});

  block_run_to(2);
  answer = b.get(tag, 2);
  CHECK(answer.found == ReuseFound::pending);
  CHECK_FALSE(answer.claimed);
  CHECK(b.references.take().empty());

  block_run_to(3);
  CHECK(b.user.updates->book_write() == 3);
  b.user.updates->update(reuse_update(tag, 1, {9}));
  CHECK(b.references.take() == CallLog{"share 9"});

  block_run_to(4);
  answer = b.get(tag, 3);
  CHECK(answer.found == ReuseFound::result);
  CHECK_FALSE(answer.claimed);
  CHECK(answer.result[0] == physical_at(9));
  CHECK(answer.result[1] == no_register);
  CHECK(b.references.take() == CallLog{"share 9"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{1, 2, 9});

  CHECK(b.stat("lookups") == 3);
  CHECK(b.stat("reads") == 3);
  CHECK(b.stat("writes") == 2);
  CHECK(b.stat("retries") == 0);
  CHECK(b.stat("read_waits") == 0);
  CHECK(b.stat("write_waits") == 0);
}

TEST_CASE("reuse buffer alone: lookups beyond the read ports of a cycle are refused without effect") {
  ReuseBench b;
  const ReuseTag tag = reuse_tag(1, {3});
  block_run_to(5);
  CHECK(b.get(tag, 1).claimed);
  CHECK(b.get(tag, 2).found == ReuseFound::pending);
  b.references.take();
  CHECK(b.is_busy(reuse_tag(2, {4}), 3));
  CHECK(b.is_busy(tag, 4));
  CHECK(b.is_busy(tag, 2, true));  // a retry's refusal is no wait of a lookup
  CHECK(b.references.take().empty());
  CHECK(b.stat("reads") == 2);
  CHECK(b.stat("lookups") == 2);
  CHECK(b.stat("retries") == 0);
  CHECK(b.stat("read_waits") == 2);

  block_run_to(6);
  CHECK(b.get(reuse_tag(2, {4}), 3).claimed);  // the refused lookup has claimed nothing
  CHECK(b.get(tag, 4).found == ReuseFound::pending);
  CHECK(b.is_busy(tag, 5));
  CHECK(b.stat("reads") == 4);
  CHECK(b.stat("read_waits") == 3);
}

TEST_CASE("reuse buffer alone: a miss that finds no write port for its claim has read, and asks again") {
  ReuseBench b;
  const ReuseTag old = reuse_tag(1, {3}), tag = reuse_tag(2, {4});
  REQUIRE(old.fold() % 256 != tag.fold() % 256);
  block_run_to(1);
  b.enter(old, 1, {9});
  b.references.take();

  block_run_to(2);
  CHECK(b.user.updates->book_write() == 2);
  CHECK(b.user.updates->book_write() == 2);
  CHECK(b.user.updates->book_write() == 3);
  CHECK(b.stat("write_waits") == 1);
  CHECK(b.is_busy(tag, 2));
  CHECK(b.references.take().empty());
  CHECK(b.get(old, 3).found == ReuseFound::result);  // a hit needs no write port
  CHECK(b.is_busy(tag, 4));                          // no read port either: no wait for the write port
  CHECK(b.stat("reads") == 1 + 2);
  CHECK(b.stat("lookups") == 1 + 1);
  CHECK(b.stat("write_waits") == 2);
  CHECK(b.stat("read_waits") == 1);
  b.references.take();

  // One write port of cycle 3 is taken. Another instruction gets the other one, and claims the tag.
  block_run_to(3);
  CHECK(b.get(tag, 4).claimed);
  CHECK(b.references.take() == CallLog{"share 4"});
  CHECK(b.get(tag, 2).found == ReuseFound::pending);
  CHECK(b.stat("reads") == 5);
  CHECK(b.stat("write_waits") == 2);

  // Refused again, and then a miss still.
  const ReuseTag other = reuse_tag(5, {6});
  block_run_to(4);
  CHECK(b.user.updates->book_write() == 4);
  CHECK(b.user.updates->book_write() == 4);
  CHECK(b.is_busy(other, 5));
  block_run_to(5);
  CHECK(b.get(other, 5).claimed);
  CHECK(b.stat("write_waits") == 3);
}

TEST_CASE("reuse buffer alone: a full counter keeps a result, a claim, or an update out") {
  ReuseBench b;
  const ReuseTag tag = reuse_tag(1, {3, 4});
  block_run_to(1);
  b.references.full = {4};
  CHECK(b.get(tag, 1).found == ReuseFound::nothing);
  CHECK_FALSE(b.get(tag, 2).claimed);
  CHECK(b.references.take() == CallLog{"refuse 4", "refuse 4"});
  CHECK(b.stat("writes") == 0);

  b.references.full = {9};
  block_run_to(2);
  CHECK(b.get(tag, 3).claimed);
  b.references.take();
  // The owner's result cannot be entered: the entry leaves.
  b.user.updates->update(reuse_update(tag, 3, {9}));
  CHECK(b.references.take() == CallLog{"refuse 9", "release 3", "release 4"});
  CHECK(counted_by(*b.user.keeper.operator->()).empty());

  b.references.full.clear();
  block_run_to(3);
  b.enter(tag, 4, {9, 10});
  b.references.take();
  b.references.full = {10};
  block_run_to(4);
  CHECK(b.get(tag, 5).found == ReuseFound::unshared);
  CHECK(b.references.take() == CallLog{"refuse 10"});
  b.references.full.clear();
  const ReuseAnswer answer = b.get(tag, 5);
  CHECK(answer.found == ReuseFound::result);
  CHECK(answer.result[0] == physical_at(9));
  CHECK(answer.result[1] == physical_at(10));
  CHECK(b.references.take() == CallLog{"share 9", "share 10"});
}

TEST_CASE("reuse buffer alone: an owner without a result gives its entry up") {
  ReuseBench b;
  const ReuseTag tag = reuse_tag(1, {3});
  block_run_to(1);
  CHECK(b.get(tag, 1).claimed);
  b.references.take();
  b.user.updates->update(reuse_update(tag, 1, {}));
  CHECK(b.references.take() == CallLog{"settle", "release 3"});
  CHECK(counted_by(*b.user.keeper.operator->()).empty());
}

TEST_CASE("reuse buffer alone: a claim takes a place from another entry, whose owner then updates nothing") {
  ReuseBench b(one_entry());
  const ReuseTag tag = reuse_tag(1, {3}), other = reuse_tag(1, {5, 6});
  block_run_to(1);
  CHECK(b.get(tag, 1).claimed);
  CHECK(b.get(other, 2).claimed);
  CHECK(b.references.take() == CallLog{"share 3", "share 5", "share 6", "release 3"});
  b.user.updates->update(reuse_update(tag, 1, {9}));
  CHECK(b.references.take() == CallLog{"share 9", "release 9"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{5, 6});
  b.user.updates->update(reuse_update(other, 2, {10}));
  CHECK(b.references.take() == CallLog{"share 10"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{5, 6, 10});
}

TEST_CASE("reuse buffer alone: in low-register mode a miss evicts instead of claiming") {
  ReuseBench b(one_entry());
  const ReuseTag tag = reuse_tag(1, {3, 4}), other = reuse_tag(1, {5});
  block_run_to(1);
  b.enter(tag, 1, {9});
  b.references.take();
  b.references.set_low(true);

  block_run_to(2);
  CHECK(b.get(tag, 2).found == ReuseFound::result);
  CHECK(b.references.take() == CallLog{"settle", "share 9"});
  ReuseAnswer answer = b.get(other, 3);
  CHECK(answer.found == ReuseFound::nothing);
  CHECK(answer.evicted);
  CHECK_FALSE(answer.claimed);
  CHECK(b.references.take() == CallLog{"settle", "release 3", "release 4", "release 9"});
  CHECK(counted_by(*b.user.keeper.operator->()).empty());

  // No write port is needed, and an empty place gives nothing.
  block_run_to(3);
  b.user.updates->book_write();
  b.user.updates->book_write();
  answer = b.get(tag, 4);
  CHECK(answer.evicted);
  CHECK_FALSE(answer.claimed);
  CHECK(b.references.take() == CallLog{"settle"});
  CHECK(b.stat("low_evictions") == 2);
  CHECK(b.stat("write_waits") == 0);

  block_run_to(4);
  b.references.set_low(false);
  answer = b.get(tag, 5);
  CHECK(answer.claimed);
  CHECK_FALSE(answer.evicted);
}

TEST_CASE("reuse buffer alone: an idle cycle gives up an entry, and one with an access gives up nothing") {
  ReuseBench b(one_entry());
  ReferenceKeeper& keeper = *b.user.keeper.operator->();
  const ReuseTag tag = reuse_tag(1, {3, 4});
  block_run_to(5);
  CHECK(b.get(tag, 1).claimed);
  block_run_to(6);
  b.user.updates->update(reuse_update(tag, 1, {9}));
  block_run_to(8);
  CHECK(b.get(tag, 2, true).found == ReuseFound::result);  // a retry is no access
  b.references.take();
  CHECK(given_up(keeper, 6).empty());
  CHECK(given_up(keeper, 8) == RegisterList{3, 4, 9});
  CHECK(given_up(keeper, 9).empty());   // no entry is left
  CHECK(b.references.take().empty());   // the allocator releases them
  CHECK(b.stat("low_evictions") == 2);  // and cycle 6 looked at none

  block_run_to(10);
  CHECK(b.get(tag, 3).claimed);
  CHECK(given_up(keeper, 10).empty());
  CHECK(given_up(keeper, 11) == RegisterList{3, 4});  // pending: the sources only
}

TEST_CASE("reuse buffer alone: idle cycles give up every entry, one at a time") {
  WirConfig config = block_config();
  config.reuse_entries = 4;
  ReuseBench b(config);
  ReferenceKeeper& keeper = *b.user.keeper.operator->();
  std::set<unsigned> places;
  for (std::uint32_t opcode = 0; places.size() < 4; ++opcode) {
    const auto n = static_cast<unsigned>(places.size());
    const ReuseTag tag = reuse_tag(opcode, {10 + n});
    if (!places.insert(tag.fold() % 4).second) continue;
    block_run_to(n + 1);
    b.enter(tag, n + 1, {20 + n});
  }
  std::set<unsigned> gone;
  for (std::uint64_t cycle = 100; cycle < 200; ++cycle) {
    const RegisterList regs = given_up(keeper, cycle);
    if (regs.empty()) continue;
    REQUIRE(regs.size() == 2);
    CHECK(regs[1] == regs[0] + 10);
    CHECK(gone.insert(regs[0]).second);
  }
  CHECK(gone == std::set<unsigned>{10, 11, 12, 13});
  CHECK(counted_by(keeper).empty());
}

TEST_CASE("reuse buffer alone: entries are given up as long as it takes, and all of them at the end") {
  WirConfig config = block_config();
  config.reuse_entries = 2;
  ReuseBench b(config);
  ReferenceKeeper& keeper = *b.user.keeper.operator->();
  std::array<ReuseTag, 2> tags;
  for (std::uint32_t i = 0; i < 2; ++i) {
    std::uint32_t opcode = 0;
    do {
      tags[i] = reuse_tag(opcode++, {10 + i});
    } while (tags[i].fold() % 2 != i);
    block_run_to(i + 1);
    b.enter(tags[i], i + 1, {20 + i});
  }
  b.references.take();
  give_up_times(keeper, 1);
  CHECK(b.references.take() == CallLog{"release 10", "release 20"});
  CHECK(counted_by(keeper) == RegisterList{11, 21});
  keeper.give_up_all();
  CHECK(b.references.take() == CallLog{"release 11", "release 21"});
  keeper.give_up_all();
  CHECK(b.references.take().empty());
}

TEST_CASE("reuse buffer alone: a CTA that ends takes its loads along") {
  ReuseBench b;
  ReuseTag first = reuse_tag(1, {3}), second = reuse_tag(1, {4}), other = reuse_tag(1, {5});
  first.block = 1;
  second.block = 2;
  REQUIRE(std::set<unsigned>{first.fold() % 256, second.fold() % 256, other.fold() % 256}.size() == 3);
  block_run_to(1);
  b.enter(first, 1, {13});
  b.enter(second, 2, {14});
  block_run_to(2);
  b.enter(other, 3, {15});
  b.references.take();
  CtaInfo cta;
  cta.cta = CtaSlot(0);
  b.buffer.cta_finished(cta);
  CHECK(b.references.take() == CallLog{"settle", "release 3", "release 13"});
  block_run_to(3);
  CHECK(b.get(second, 4).found == ReuseFound::result);
  CHECK(b.get(other, 5).found == ReuseFound::result);
  block_run_to(4);
  CHECK(b.get(first, 6).found == ReuseFound::nothing);
}

TEST_CASE("reuse buffer alone: retries are counted apart, and one that misses changes nothing") {
  ReuseBench b;
  const ReuseTag tag = reuse_tag(1, {3});
  block_run_to(1);
  ReuseAnswer answer = b.get(tag, 1, true);
  CHECK(answer.found == ReuseFound::nothing);
  CHECK_FALSE(answer.claimed);
  CHECK_FALSE(answer.evicted);
  CHECK(b.references.take().empty());
  CHECK(b.get(tag, 2).claimed);  // the retry has claimed nothing
  b.references.take();
  block_run_to(2);
  CHECK(b.get(tag, 1, true).found == ReuseFound::pending);
  b.user.updates->update(reuse_update(tag, 2, {9}));
  b.references.take();
  CHECK(b.get(tag, 1, true).found == ReuseFound::result);
  CHECK(b.references.take() == CallLog{"share 9"});
  CHECK(b.is_busy(tag, 3));  // a retry takes a read port like other lookups
  b.user.updates->count_retries(5);
  CHECK(b.stat("retries") == 3 + 5);
  CHECK(b.stat("reads") == 1);
  CHECK(b.stat("lookups") == 1);
}

TEST_CASE("reuse buffer alone: without pending-retry a result is entered when it is known") {
  WirConfig config = block_config();
  config.model = "rl";
  ReuseBench b(config);
  const ReuseTag tag = reuse_tag(1, {3, 4});
  block_run_to(1);
  b.user.updates->book_write();
  b.user.updates->book_write();
  CHECK_FALSE(b.get(tag, 1).claimed);  // and needs no write port
  CHECK(b.references.take().empty());
  block_run_to(2);
  CHECK(b.get(tag, 2).found == ReuseFound::nothing);
  b.user.updates->update(reuse_update(tag, 1, {9}, false));
  CHECK(b.references.take() == CallLog{"share 9", "share 3", "share 4"});
  CHECK(b.get(tag, 3).found == ReuseFound::result);
  b.references.take();
  b.user.updates->update(reuse_update(tag, 2, {10}, false));
  CHECK(b.references.take() == CallLog{"share 10", "share 3", "share 4", "release 3", "release 4", "release 9"});
  CHECK(b.stat("writes") == 2);

  b.references.full = {4};
  b.user.updates->update(reuse_update(tag, 3, {11}, false));
  CHECK(b.references.take() == CallLog{"share 11", "refuse 4", "release 11"});
  b.references.full.clear();
  b.references.set_low(true);
  b.user.updates->update(reuse_update(tag, 3, {12}, false));
  CHECK(b.references.take() == CallLog{"share 12", "release 12"});
  CHECK(b.stat("writes") == 2);
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{3, 4, 10});
}

namespace {

/// Asks a buffer behind a delay, and its twin without one. Enters results when answers come.
class DelayedReuseUser : public sc_core::sc_module, public LookupClient<ReuseAnswer> {
 public:
  LookupInitiator<ReuseRequest, ReuseAnswer> lookups;
  sc_core::sc_port<ReuseUpdates> updates;
  DelayedReuseUser(const sc_core::sc_module_name& name, ReuseUser& twin_user)
      : sc_module(name), lookups("lookup", *this), updates("updates"), twin(twin_user) {}

  /// False: the block is busy.
  bool ask(const ReuseRequest& request) {
    ReuseAnswer answer;
    answer.found = ReuseFound::unshared;
    const LookupReply reply = lookups.requests->look_up(request, request.owner, answer);
    REQUIRE(answer.found == ReuseFound::unshared);  // nothing is answered at once
    if (reply == LookupReply::busy) return false;
    REQUIRE(reply == LookupReply::later);
    open.emplace(request.owner, Open{request, twin.get(request), block_cycle()});
    return true;
  }
  void answered(std::uint32_t tag, const ReuseAnswer& answer) override {
    const auto at = open.find(tag);
    REQUIRE(at != open.end());  // once each
    const Open o = at->second;
    open.erase(at);
    REQUIRE(same_answer(answer, o.expected));
    late.insert(block_cycle() - o.since);
    ++answers;
    overtakings += tag < newest ? 1 : 0;
    newest = std::max(newest, tag);
    ++found[answer.found];
    claims += answer.claimed ? 1 : 0;
    evictions += answer.evicted ? 1 : 0;
    if (!answer.claimed) return;
    const ReuseUpdate u = reuse_update(o.request.tag, tag, {20 + tag % 20});
    updates->update(u);
    twin.updates->update(u);
  }

  struct Open {
    ReuseRequest request;
    ReuseAnswer expected;
    std::uint64_t since;
  };
  ReuseUser& twin;
  std::map<std::uint32_t, Open> open;
  std::set<std::uint64_t> late;
  std::map<ReuseFound, unsigned> found;
  unsigned answers = 0, overtakings = 0, claims = 0, evictions = 0;
  std::uint32_t newest = 0;
};

}  // namespace

TEST_CASE("reuse buffer alone: behind a delay every answer comes once, later, and with the same content") {
  constexpr unsigned most_late = 6;
  WirConfig config = block_config();
  config.reuse_entries = 16;
  config.reuse_ports = 16;  // more than there are requests in a cycle: only the delay refuses
  ReuseBuffer delayed("delayed", config, block_period);
  LoggedReferences references("delayed_references");
  delayed.references.bind(references.in);
  LookupDelay<ReuseRequest, ReuseAnswer> delay("delay", block_period, most_late, 5);
  delay.out.bind(delayed.lookups);
  ReuseUser twin_user("twin_user");
  ReuseBuffer twin("twin", config, block_period);
  LoggedReferences twin_references("twin_references");
  twin.references.bind(twin_references.in);
  twin_user.lookups.bind(twin.lookups);
  twin_user.updates.bind(twin.updates);
  twin_user.keeper.bind(twin.keeper);
  DelayedReuseUser user("delayed_user", twin_user);
  user.lookups.bind(delay.in);
  user.updates.bind(delayed.updates);

  std::mt19937 random(3);
  std::uint32_t owner = 0;
  unsigned accepted = 0, refused = 0;
  for (std::uint64_t cycle = 0; cycle < 2000; ++cycle) {
    block_run_to(cycle);
    const bool low = cycle % 100 >= 90;
    const std::set<unsigned> full = cycle % 50 < 25 ? std::set<unsigned>{3, 25, 29, 33} : std::set<unsigned>{};
    for (LoggedReferences* const r : {&references, &twin_references}) {
      r->set_low(low);
      r->full = full;
    }
    for (auto n = static_cast<unsigned>(random() % 4); n != 0; --n) {
      const ReuseTag tag =
          reuse_tag(static_cast<std::uint32_t>(random() % 12), {static_cast<unsigned>(random() % 4), 5});
      if (user.ask(reuse_request(tag, ++owner, random() % 8 == 0))) {
        ++accepted;
      } else {
        ++refused;
      }
    }
    REQUIRE(references.take() == twin_references.take());
  }
  block_run_to(2000 + most_late + 1);
  CHECK(user.open.empty());
  CHECK(user.answers == accepted);
  CHECK(delay.delayed() == accepted);
  CHECK(refused > accepted / 16);
  CHECK(user.late == std::set<std::uint64_t>{1, 2, 3, 4, 5, 6});
  CHECK(user.overtakings > 100);
  // All kinds of answers were among them.
  for (const ReuseFound f : {ReuseFound::nothing, ReuseFound::pending, ReuseFound::result, ReuseFound::unshared})
    CHECK(user.found[f] > 10);
  CHECK(user.claims > 10);
  CHECK(user.evictions > 10);
  for (const char* const name : {"lookups", "reads", "retries", "writes", "low_evictions"}) {
    CAPTURE(name);
    CHECK(stat_of(delayed, name) == stat_of(twin, name));
  }
  CHECK(stat_of(delayed, "read_waits") == 0);
  CHECK(counted_by(delayed) == counted_by(twin));
}

TEST_CASE("signature buffer alone: a value entered before is a candidate, with one reference") {
  SignatureBench b;
  const LaneValues value = lanes_with(100), other = lanes_with(101);
  const H3Hash hash(32, 32);
  REQUIRE(hash(value.data()) != hash(other.data()));
  block_run_to(1);
  SignatureAnswer answer = b.get(value);
  CHECK(answer.hash == hash(value.data()));
  CHECK(answer.candidate == no_register);
  CHECK(b.references.take().empty());
  b.user.access->enter(answer.hash, physical_at(3));
  CHECK(b.references.take() == CallLog{"share 3"});
  CHECK(counted_by(*b.user.keeper.operator->()) == RegisterList{3});

  block_run_to(2);
  const LaneValues equal = value;
  answer = b.get(equal);
  CHECK(answer.hash == hash(value.data()));
  CHECK(answer.candidate == physical_at(3));
  CHECK(b.references.take() == CallLog{"share 3"});
  answer = b.get(other);
  CHECK(answer.hash == hash(other.data()));
  CHECK(answer.candidate == no_register);
  CHECK(b.references.take().empty());
  CHECK(b.stat("hits") == 1);
  CHECK(b.stat("misses") == 2);
  CHECK(b.stat("reads") == 3);
  CHECK(b.stat("hashes") == 3);
  CHECK(b.stat("writes") == 1);
}

TEST_CASE("signature buffer alone: a value in the place of another one replaces it") {
  SignatureBench b;
  const H3Hash hash(32, 32);
  const LaneValues value = lanes_with(100);
  LaneValues other = value;
  do {
    ++other[0];
  } while (hash(other.data()) % 256 != hash(value.data()) % 256);
  REQUIRE(hash(other.data()) != hash(value.data()));
  block_run_to(1);
  b.user.access->enter(hash(value.data()), physical_at(3));
  CHECK(b.get(other).candidate == no_register);
  b.references.take();
  b.user.access->enter(hash(other.data()), physical_at(4));
  CHECK(b.references.take() == CallLog{"share 4", "release 3"});
  CHECK(b.get(value).candidate == no_register);
  CHECK(b.get(other).candidate == physical_at(4));
  b.references.take();
  b.user.access->evict(hash(value.data()));  // the place, whatever it holds
  CHECK(b.references.take() == CallLog{"release 4"});
  CHECK(counted_by(*b.user.keeper.operator->()).empty());
}

TEST_CASE("signature buffer alone: two values with one hash, and lanes that a warp does not have") {
  WirConfig config = block_config();
  config.hash_bits = 4;
  SignatureBench b(config);
  const H3Hash hash(32, 4);
  const LaneValues value = lanes_with(100);
  LaneValues other = value;
  do {
    ++other[0];
  } while (hash(other.data()) != hash(value.data()));
  block_run_to(1);
  b.user.access->enter(hash(value.data()), physical_at(3));
  CHECK(b.get(other).candidate == physical_at(3));  // the user has to verify it

  LaneValues last_lane = value;
  do {
    ++last_lane[20];
  } while (hash(last_lane.data()) == hash(value.data()));
  CHECK(b.get(last_lane).hash != b.get(value).hash);
  b.launch.context.warp_size = 16;
  b.buffer.kernel_started(b.launch.context);
  CHECK(b.get(last_lane).hash == b.get(value).hash);
}

TEST_CASE("signature buffer alone: a full counter makes a candidate a miss, and keeps a register out") {
  SignatureBench b;
  const LaneValues value = lanes_with(100), other = lanes_with(101);
  block_run_to(1);
  b.user.access->enter(b.get(value).hash, physical_at(3));
  b.references.take();
  b.references.full = {3, 4};
  CHECK(b.get(value).candidate == no_register);
  CHECK(b.references.take() == CallLog{"refuse 3"});
  CHECK(b.stat("hits") == 0);
  CHECK(b.stat("misses") == 2);
  b.user.access->enter(b.get(other).hash, physical_at(4));
  CHECK(b.references.take() == CallLog{"refuse 4"});
  CHECK(b.stat("writes") == 1);
  b.references.full.clear();
  CHECK(b.get(value).candidate == physical_at(3));
  CHECK(b.get(other).candidate == no_register);
}

TEST_CASE("signature buffer alone: ports are booked, and the third access of a cycle is in the next one") {
  SignatureBench b;
  block_run_to(7);
  CHECK(b.user.access->book_read() == 7);
  CHECK(b.user.access->book_read() == 7);
  CHECK(b.user.access->book_read() == 8);
  CHECK(b.user.access->book_hash() == 7);  // one per scheduler
  CHECK(b.user.access->book_hash() == 7);
  CHECK(b.user.access->book_hash() == 8);
  CHECK(b.user.access->book_write(9) == 9);
  CHECK(b.user.access->book_write(9) == 9);
  CHECK(b.stat("write_waits") == 0);
  CHECK(b.user.access->book_write(9) == 10);
  CHECK(b.stat("write_waits") == 1);
  block_run_to(8);
  CHECK(b.user.access->book_read() == 8);
  CHECK(b.user.access->book_read() == 9);
  CHECK(b.user.access->book_write(8) == 10);
  CHECK(b.stat("write_waits") == 3);
}

TEST_CASE("signature buffer alone: in low-register mode a new register evicts and is not entered") {
  SignatureBench b(one_entry());
  ReferenceKeeper& keeper = *b.user.keeper.operator->();
  const LaneValues value = lanes_with(100), other = lanes_with(101);
  block_run_to(1);
  b.user.access->enter(b.get(value).hash, physical_at(3));
  b.references.take();
  b.references.set_low(true);
  block_run_to(2);
  CHECK(b.get(value).candidate == physical_at(3));
  CHECK(b.references.take() == CallLog{"settle", "share 3"});
  const std::uint32_t hash = b.get(other).hash;
  b.references.take();
  b.user.access->enter(hash, physical_at(4));
  CHECK(b.references.take() == CallLog{"release 3"});
  CHECK(counted_by(keeper).empty());
  b.user.access->enter(hash, physical_at(4));
  CHECK(b.references.take().empty());
  CHECK(b.stat("low_evictions") == 2);
  CHECK(b.stat("writes") == 1);
  b.references.set_low(false);
  b.user.access->enter(hash, physical_at(4));
  CHECK(b.references.take() == CallLog{"share 4"});
}

TEST_CASE("signature buffer alone: an idle cycle gives up an entry, and one with an access gives up nothing") {
  SignatureBench b(one_entry());
  ReferenceKeeper& keeper = *b.user.keeper.operator->();
  const LaneValues value = lanes_with(100);
  block_run_to(1);
  const std::uint32_t hash = b.get(value).hash;
  CHECK(given_up(keeper, 1).empty());
  block_run_to(2);
  b.user.access->enter(hash, physical_at(3));
  b.references.take();
  CHECK(given_up(keeper, 2).empty());
  CHECK(given_up(keeper, 3) == RegisterList{3});
  CHECK(given_up(keeper, 4).empty());
  CHECK(b.references.take().empty());  // the allocator releases it
  b.user.access->enter(hash, physical_at(5));
  b.references.take();
  give_up_times(keeper, 0);
  CHECK(b.references.take().empty());
  give_up_times(keeper, 1);
  CHECK(b.references.take() == CallLog{"release 5"});
  b.user.access->enter(hash, physical_at(6));
  b.references.take();
  keeper.give_up_all();
  CHECK(b.references.take() == CallLog{"release 6"});
  CHECK(counted_by(keeper).empty());
}

TEST_CASE("verify cache alone: a value read from its bank is compared until the register is written") {
  VerifyBench b;
  const LaneValues value = lanes_with(1);
  LaneValues other = value;
  ++other[31];
  block_run_to(1);
  CHECK_FALSE(b.get(5, value).hit);
  b.fill(5, value);

  block_run_to(2);
  VerifyAnswer answer = b.get(5, value);
  CHECK(answer.hit);
  CHECK(answer.equal);
  CHECK(answer.cycles == 1);
  answer = b.get(5, other);
  CHECK(answer.hit);
  CHECK_FALSE(answer.equal);
  CHECK(answer.cycles == 1);

  block_run_to(3);
  b.user.values->written(physical_at(69));  // another one with the same low bits
  CHECK(b.get(5, value).hit);
  b.user.values->written(physical_at(5));
  CHECK_FALSE(b.get(5, value).hit);
  CHECK(stat_of(b.cache, "hits") == 3);
  CHECK(stat_of(b.cache, "fills") == 1);
  CHECK(stat_of(b.cache, "misses") == 1);

  // What a narrower warp does not have is not compared.
  b.launch.context.warp_size = 16;
  b.cache.kernel_started(b.launch.context);
  block_run_to(10);
  CHECK_FALSE(b.get(5, value).hit);
  b.fill(5, value);
  CHECK(b.get(5, other).equal);
}

TEST_CASE("verify cache alone: lookups beyond the ports take further cycles") {
  VerifyBench b;
  const LaneValues value = lanes_with(1);
  b.fill(5, value);
  block_run_to(4);
  for (const unsigned cycles : {1u, 1u, 2u, 2u, 3u}) CHECK(b.get(5, value).cycles == cycles);
  block_run_to(5);
  CHECK(b.get(5, value).cycles == 2);  // a port of cycle 6
  CHECK(b.get(5, value).cycles == 3);
  block_run_to(20);
  CHECK_FALSE(b.get(6, value).hit);  // a miss takes a port, too
  CHECK(b.get(5, value).cycles == 1);
  CHECK(b.get(5, value).cycles == 2);
}

TEST_CASE("verify cache alone: what was used least recently leaves, and a model without the cache keeps nothing") {
  WirConfig config = block_config();
  config.model = "rlp";
  VerifyCache none("none", config, block_period);
  VerifyUser none_user("none_user");
  none_user.lookups.bind(none.lookups);
  none_user.values.bind(none.values);
  config.model = "rlpv";
  config.verify_entries = 2;
  VerifyBench b(config);
  const LaneValues value = lanes_with(1);
  b.fill(1, value);
  b.fill(2, value);
  CHECK(b.get(1, value).hit);
  b.fill(3, value);
  CHECK(b.get(1, value).hit);
  CHECK_FALSE(b.get(2, value).hit);
  CHECK(b.get(3, value).hit);
  none_user.values->fill(physical_at(1), value.data());
  CHECK_FALSE(none_user.get(VerifyRequest{physical_at(1), value.data()}).hit);
}

TEST_CASE("register allocator alone: registers are granted in order, one per cycle and port") {
  WirConfig wide = few_registers(8);
  wide.allocator_ports = 2;
  RegisterAllocator two_ports("two_ports", wide, block_period);
  BlockUser<AllocationRequest, GrantedRegisters> two_user("two_user");
  two_user.lookups.bind(two_ports.allocation);
  AllocatorBench b(few_registers(8));
  two_ports.kernel_started(b.launch.context);

  block_run_to(5);
  GrantedRegisters g = b.user.get({3, false});
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(g.regs[i] == physical_at(i));
    CHECK(g.waits[i] == i);
    CHECK(b.references(i) == 1);
  }
  b.user.get({0, false});
  block_run_to(6);
  g = b.user.get({1, false});
  CHECK(g.regs[0] == physical_at(3));
  CHECK(g.waits[0] == 2);  // the port is taken in cycles 6 and 7
  CHECK(b.references(3) == 1);
  CHECK(b.references(4) == 0);
  CHECK(b.view().in_use() == 4);
  CHECK(b.stat("allocations") == 4);
  CHECK(b.stat("registers_peak") == 4);
  block_run_to(10);
  CHECK(b.stat("register_cycles") == 3 * 1 + 4 * 4);

  g = two_user.get({4, false});
  for (unsigned i = 0; i < 4; ++i) CHECK(g.waits[i] == i / 2);
}

TEST_CASE("register allocator alone: it is busy if too few registers are free, and then the machine is low") {
  AllocatorBench b(few_registers(4));
  block_run_to(1);
  CHECK(b.take(3) == RegisterList{0, 1, 2});
  CHECK_FALSE(b.user.references->low());
  CHECK(b.is_busy(2));
  CHECK(b.user.references->low());
  CHECK(b.user.references->low_mode());
  CHECK(b.view().in_use() == 3);  // nothing was taken
  CHECK(b.stat("allocations") == 3);

  // The instruction needs fewer by now.
  b.user.get({0, true});
  CHECK_FALSE(b.user.references->low());
  CHECK_FALSE(b.user.references->low_mode());
  CHECK(b.take(1) == RegisterList{3});
  CHECK(b.user.references->low_mode());  // none is left
  block_run_to(11);
  CHECK(b.stat("low_register_cycles") == 10);
}

TEST_CASE("register allocator alone: what an instruction needs keeps the mode low until it has it") {
  AllocatorBench b(few_registers(4));
  block_run_to(1);
  CHECK(b.take(3) == RegisterList{0, 1, 2});
  CHECK(b.is_busy(3));
  b.release(0);
  block_run_to(3);
  CHECK(b.user.references->low());  // two are free
  CHECK(b.take(1) == RegisterList{3});
  CHECK(b.user.references->low());  // another instruction's grant changes nothing
  b.release(1);
  b.release(2);
  block_run_to(5);
  CHECK(b.user.references->low());
  block_run_to(6);
  CHECK_FALSE(b.user.references->low());
  CHECK(b.take(3) == RegisterList{0, 1, 2});
  CHECK(b.user.references->low());
  b.release(3);
  block_run_to(8);
  CHECK_FALSE(b.user.references->low());  // one register is enough again
}

TEST_CASE("register allocator alone: keepers are asked once for each past cycle of low-register mode") {
  AllocatorBench b(few_registers(4));
  block_run_to(10);
  CHECK(b.take(4) == RegisterList{0, 1, 2, 3});
  b.first.owned = {0, 1, 2, 3};
  b.first.gives[12] = 2;
  CHECK(b.first.asked.empty());  // not for the present cycle
  block_run_to(11);
  b.user.references->settle();
  b.user.references->settle();
  CHECK(b.first.asked == Cycles{10});

  // Register 2 is free two cycles after cycle 12, and then one is enough.
  block_run_to(20);
  b.user.references->settle();
  CHECK(b.first.asked == Cycles{10, 11, 12, 13});
  CHECK(b.second.asked == b.first.asked);
  CHECK(b.references(2) == 0);
  CHECK(b.view().free() == 1);
  CHECK_FALSE(b.user.references->low_mode());
  CHECK(b.stat("low_register_cycles") == 4);

  // An instruction needs two.
  CHECK(b.is_busy(2));
  b.second.gives[21] = 0;
  b.first.owned = {1, 3};
  block_run_to(30);
  b.user.references->settle();
  CHECK(b.first.asked == Cycles{10, 11, 12, 13, 20, 21, 22});
  CHECK(b.stat("low_register_cycles") == 4 + 3);
  CHECK(b.take(2) == RegisterList{2, 0});
}

TEST_CASE("register allocator alone: a released register is free after the latency, one per cycle") {
  AllocatorBench b(few_registers(4, 3));
  block_run_to(5);
  CHECK(b.take(4) == RegisterList{0, 1, 2, 3});
  CHECK(b.share({1}));
  block_run_to(7);
  b.release(1);  // it has another owner
  b.release(2);
  b.release(0);
  b.user.references->release(no_register);
  CHECK(b.references(1) == 1);
  block_run_to(9);
  CHECK(b.is_busy(1));
  block_run_to(10);
  CHECK(b.take(1) == RegisterList{2});
  CHECK(b.is_busy(1));
  block_run_to(11);
  CHECK(b.take(1) == RegisterList{0});
  block_run_to(20);
  CHECK(b.is_busy(1));
  CHECK(b.stat("references") == 1);
}

TEST_CASE("register allocator alone: an owner takes over a reference and gives up its earlier one") {
  AllocatorBench b(few_registers(4));
  block_run_to(1);
  CHECK(b.take(1) == RegisterList{0});
  b.user.references->replace(no_register);
  CHECK(b.references(0) == 1);
  CHECK(b.share({0}));
  b.user.references->replace(physical_at(0));
  CHECK(b.references(0) == 1);
  CHECK(b.stat("references") == 3);
}

TEST_CASE("register allocator alone: a full counter refuses all registers of a request, and no hold") {
  WirConfig config = few_registers(4);
  config.counter_bits = 2;
  AllocatorBench b(config);
  block_run_to(1);
  CHECK(b.take(2) == RegisterList{0, 1});
  CHECK(b.share({1}));
  CHECK(b.share({1}));
  CHECK(b.references(1) == 3);
  CHECK_FALSE(b.share({0, 1}));
  CHECK(b.references(0) == 1);
  CHECK(b.references(1) == 3);
  CHECK(b.stat("saturations") == 1);
  b.hold(1);
  CHECK(b.references(1) == 4);
  CHECK(b.holds(1) == 1);
  b.end_hold(1);
  CHECK(b.references(1) == 3);
  CHECK(b.holds(1) == 0);
  b.release(1);
  CHECK(b.share({0, 1}));
  CHECK(b.references(0) == 2);
  CHECK(b.references(1) == 3);
  CHECK_THROWS_AS(b.hold(3), std::logic_error);  // it is free
}

TEST_CASE("register allocator alone: credits of readers return with the last one, which a refused one learns") {
  // Two warps of three registers fit: two registers may be held by readers alone.
  AllocatorBench b(few_registers(8));
  const ReaderCredits& credits = *b.user.credits.operator->();
  CHECK(credits.credits_left(2));
  CHECK_FALSE(credits.credits_left(3));
  block_run_to(1);
  CHECK(b.take(2) == RegisterList{0, 1});
  b.hold(0);
  b.hold(0);
  b.hold(1);
  CHECK(b.holds(0) == 2);
  CHECK(b.holds(1) == 1);
  CHECK(b.references(0) == 3);
  b.user.credits->promise(physical_at(0));
  CHECK(credits.credits_left(1));
  CHECK_FALSE(credits.credits_left(2));
  b.user.credits->promise(physical_at(1));
  CHECK(credits.credits_left(0));
  CHECK_FALSE(credits.credits_left(1));
  b.user.credits->refused();

  block_run_to(5);
  b.end_hold(0);
  CHECK_FALSE(credits.credits_left(1));
  block_run_to(6);
  CHECK(b.watch.cycles.empty());
  b.end_hold(0);
  CHECK(b.holds(0) == 0);
  CHECK(b.references(0) == 1);
  CHECK(credits.credits_left(1));
  CHECK_FALSE(credits.credits_left(2));
  block_run_to(9);
  CHECK(b.watch.cycles == Cycles{6});

  // Nobody was refused since.
  b.end_hold(1);
  CHECK(credits.credits_left(2));
  CHECK_FALSE(credits.credits_left(3));
  block_run_to(12);
  CHECK(b.watch.cycles == Cycles{6});

  // A refused one learns of every register without readers, with or without a credit.
  b.hold(0);
  b.user.credits->refused();
  b.end_hold(0);
  block_run_to(13);
  CHECK(b.watch.cycles == Cycles{6, 12});
  CHECK(credits.credits_left(2));
  CHECK_FALSE(credits.credits_left(3));
}

TEST_CASE("register allocator alone: a recount names a register whose owners do not agree with its counter") {
  AllocatorBench b(few_registers(8));
  block_run_to(1);
  CHECK(b.take(3) == RegisterList{0, 1, 2});
  b.hold(1);
  b.first.owned = {0, 2};
  b.second.owned = {1};
  b.second.readers = {1};
  CHECK(b.allocator.recount().empty());
  CHECK(error_of([&] { b.user.references->check(); }).empty());

  b.second.lie = physical_at(2);
  const std::string two = "physical register 2 is counted 1 times (0 by readers) and referred to 2 times (0)";
  CHECK(b.allocator.recount() == two);
  CHECK(error_of([&] { b.user.references->check(); }) == two);
  b.second.lie = no_register;
  b.second.readers.clear();
  CHECK(b.allocator.recount() == "physical register 1 is counted 2 times (1 by readers) and referred to 1 times (0)");
  b.first.under_way = true;  // references that are on their way cannot be compared
  CHECK(b.allocator.recount().empty());
}

TEST_CASE("register allocator alone: a register that is still referred to at the end of a kernel is an error") {
  AllocatorBench b(few_registers(8));
  const auto finish = [&] { return error_of([&] { b.allocator.kernel_finished(b.launch.context); }); };
  block_run_to(1);
  CHECK(finish().empty());
  CHECK(b.take(2) == RegisterList{0, 1});
  CHECK(finish() == "physical register 0 is counted 1 times (0 by readers) and referred to 0 times (0)");
  b.first.owned = {0};
  b.second.owned = {1};
  b.second.stubborn = true;
  CHECK(finish() == "1 physical registers are still referred to when no warp is left");
  CHECK(b.references(0) == 0);
  CHECK(b.references(1) == 1);
  b.second.stubborn = false;
  CHECK(finish().empty());
  CHECK(b.references(1) == 0);
}

TEST_CASE("register allocator alone: with capped registers the resident warps set the limit") {
  WirConfig config = few_registers(8);
  config.model = "rlpvc";
  AllocatorBench b(config);
  const WarpInfo warp;
  CHECK(b.view().limit() == 0);
  CHECK(b.is_busy(1));
  b.allocator.warp_started(warp);
  b.allocator.warp_started(warp);
  CHECK(b.view().limit() == 6);
  CHECK_FALSE(b.user.credits->credits_left(1));
  block_run_to(1);
  CHECK(b.take(4) == RegisterList{0, 1, 2, 3});
  CHECK(b.take(1) == RegisterList{4});
  CHECK(b.is_busy(2));
  b.first.owned = {0, 1, 2, 4};
  b.second.owned = {3};
  // Three registers for the warp that is left. The last keeper gives up first.
  b.allocator.warp_finished(warp);
  CHECK(b.view().limit() == 3);
  CHECK(b.second.owned.empty());
  CHECK(b.first.owned == RegisterList{0, 1, 2});
  CHECK(b.view().referenced() == 3);
  b.allocator.warp_finished(warp);
  CHECK(b.first.owned.empty());
  CHECK(error_of([&] { b.allocator.kernel_finished(b.launch.context); }).empty());
}

TEST_CASE("retry queue alone: a FIFO of limited length") {
  RetryBench r(RetryBench::places(3));
  block_run_to(10);
  CHECK(r.head() == nullptr);
  CHECK(r.push(r.a));
  CHECK(r.push(r.b));
  CHECK(r.push(r.c));
  CHECK_FALSE(r.push(r.d));
  CHECK(stat_of(r.queue, "queued") == 3);
  CHECK(stat_of(r.queue, "full") == 1);
  for (DynamicInstruction* const expected : {&r.a, &r.b, &r.c}) {
    CHECK(r.head() == expected);
    r.user.access->pop(false);
  }
  CHECK(r.head() == nullptr);
  CHECK(r.push(r.d));
  CHECK(r.head() == &r.d);
  CHECK(r.skipped == 0);
  CHECK(stat_of(r.queue, "queued") == 4);
}

TEST_CASE("retry queue alone: one retries per cycle, and goes to the tail if its result is pending") {
  RetryBench r(RetryBench::places(4));
  block_run_to(10);
  r.push(r.a);
  r.push(r.b);
  r.push(r.c);
  CHECK(r.head() == &r.a);
  CHECK(r.head() == &r.a);
  r.user.access->to_tail();
  block_run_to(11);
  CHECK(r.head() == &r.b);
  r.user.access->to_tail();
  CHECK(r.skipped == 0);
  // Cycles 12 and 13 pass: c and a have retried.
  block_run_to(14);
  CHECK(r.head() == &r.b);
  CHECK(r.skipped == 2);
  CHECK(r.head() == &r.b);
  CHECK(r.skipped == 2);
  r.user.access->to_tail();
  // Cycles 15 to 18: c, a, b, c. One that comes meanwhile is behind the one that has retried last.
  block_run_to(19);
  CHECK(r.push(r.d));
  CHECK(r.skipped == 2 + 4);
  for (DynamicInstruction* const expected : {&r.a, &r.b, &r.c, &r.d}) {
    CHECK(r.head() == expected);
    r.user.access->to_tail();
  }
  CHECK(r.skipped == 6);
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(r.head() != nullptr);
    r.user.access->pop(false);
  }
  // Nobody retries while the queue is empty.
  block_run_to(30);
  r.push(r.a);
  CHECK(r.head() == &r.a);
  CHECK(r.skipped == 6);
}

TEST_CASE("retry queue alone: one that may come back keeps its place") {
  RetryBench r(RetryBench::places(2));
  block_run_to(1);
  r.push(r.a);
  r.push(r.b);
  CHECK(r.head() == &r.a);
  r.user.access->pop(true);
  CHECK_FALSE(r.push(r.c));
  CHECK(r.head() == &r.b);
  block_run_to(4);
  r.user.access->put_back(r.a, r.skipped);
  CHECK(r.skipped == 2);  // b in cycles 2 and 3
  CHECK(r.head() == &r.b);
  CHECK_FALSE(r.push(r.c));
  r.user.access->pop(true);
  CHECK(r.head() == &r.a);
  CHECK_FALSE(r.push(r.c));
  r.user.access->free_place();
  CHECK(r.push(r.c));
  CHECK_FALSE(r.push(r.d));
  CHECK(r.head() == &r.a);
  CHECK(stat_of(r.queue, "queued") == 3);  // coming back is no new wait
  CHECK(stat_of(r.queue, "full") == 4);
}

TEST_CASE("retry queue alone: after a change all that wait have to retry") {
  RetryBench r(RetryBench::places(3));
  block_run_to(1);
  r.user.access->retry_all();
  CHECK_FALSE(r.user.access->must_retry());
  r.push(r.a);
  r.push(r.b);
  CHECK_FALSE(r.user.access->must_retry());
  r.user.access->retry_all();
  for (unsigned i = 0; i < 2; ++i) {
    CHECK(r.user.access->must_retry());
    r.user.access->to_tail();
  }
  CHECK_FALSE(r.user.access->must_retry());
  r.user.access->retry_all();
  CHECK(r.user.access->must_retry());
  r.user.access->pop(false);
  r.user.access->pop(false);
  CHECK_FALSE(r.user.access->must_retry());
}

TEST_CASE("retry queue alone: a model without pending-retry has no places") {
  WirConfig config = RetryBench::places(16);
  config.model = "rl";
  RetryBench r(config);
  CHECK_FALSE(r.push(r.a));
  CHECK(r.head() == nullptr);
  CHECK(stat_of(r.queue, "full") == 1);
}

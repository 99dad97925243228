// SPDX-License-Identifier: Apache-2.0
//
// Benches in which a block of warp instruction reuse stands alone: what is bound to its ports.
#pragma once

#include <regatta/protocol/lookup_delay.h>
#include <regatta/test/catch.h>
#include <regatta/test/clock.h>
#include <regatta/wir/register_allocator.h>
#include <regatta/wir/rename_tables.h>
#include <regatta/wir/retry_queue.h>
#include <regatta/wir/reuse_buffer.h>
#include <regatta/wir/verify_cache.h>
#include <regatta/wir/vsb.h>

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

namespace regatta::test::wir_blocks {

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

inline const sc_core::sc_time block_period(1, sc_core::SC_NS);
inline std::uint64_t block_cycle() { return sc_core::sc_time_stamp().value() / block_period.value(); }
/// Runs the kernel to the begin of the cycle. The first call ends the elaboration.
inline void block_run_to(std::uint64_t cycle) {
  REQUIRE(cycle >= block_cycle());
  sc_core::sc_start(static_cast<double>(cycle - block_cycle()) * block_period);
}

inline PhysicalRegister physical_at(unsigned n) { return PhysicalRegister(static_cast<std::uint16_t>(n)); }
inline RegisterId logical_at(unsigned n) { return RegisterId(static_cast<std::uint8_t>(n)); }
inline WarpSlot warp_at(unsigned n) { return WarpSlot(static_cast<std::uint16_t>(n)); }

inline WirMachine block_config() {
  WirMachine config;
  config.physical_registers = 64;
  return config;
}

inline double stat_of(regatta::support::StatProvider& block, const std::string& name) {
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
  void replace(PhysicalRegister before, PhysicalRegister) override { note("replace", before); }
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
inline std::vector<unsigned> given_up(ReferenceKeeper& keeper, std::uint64_t cycle) {
  std::array<PhysicalRegister, ReferenceKeeper::most_given_up> regs;
  const unsigned count = keeper.give_up_idle(cycle, regs.data());
  REQUIRE(count <= regs.size());
  std::vector<unsigned> values;
  for (unsigned i = 0; i < count; ++i) values.push_back(regs[i].value());
  return values;
}

/// The registers to which a keeper's entries refer, each as often as it is counted.
inline std::vector<unsigned> counted_by(const ReferenceKeeper& keeper) {
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
inline void give_up_times(ReferenceKeeper& keeper, unsigned times) {
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
  explicit RenameBench(const WirMachine& config = block_config())
      : tables("tables", config, test::clock(block_period)) {
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

inline ReuseTag reuse_tag(std::uint32_t opcode, std::initializer_list<unsigned> sources) {
  ReuseTag tag;
  tag.opcode = opcode;
  std::transform(sources.begin(), sources.end(), tag.sources.begin(), physical_at);
  return tag;
}
inline ReuseRequest reuse_request(const ReuseTag& tag, std::uint32_t owner, bool retry = false) {
  ReuseRequest r;
  r.tag = tag;
  r.fold = tag.fold();
  r.owner = owner;
  r.retry = retry;
  return r;
}
inline ReuseUpdate reuse_update(const ReuseTag& tag, std::uint32_t owner, std::initializer_list<unsigned> result,
                                bool claimed = true) {
  ReuseUpdate u;
  u.tag = tag;
  u.fold = tag.fold();
  u.owner = owner;
  u.claimed = claimed;
  std::transform(result.begin(), result.end(), u.result.begin(), physical_at);
  return u;
}
inline bool same_answer(const ReuseAnswer& a, const ReuseAnswer& b) {
  return a.found == b.found && a.claimed == b.claimed && a.evicted == b.evicted &&
         (a.found != ReuseFound::result || a.result == b.result);
}

struct ReuseBench {
  explicit ReuseBench(const WirMachine& config = block_config(), ReuseVictims* victims = nullptr)
      : buffer("buffer", config, test::clock(block_period)) {
    if (victims != nullptr) buffer.victims.bind(*victims);
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
inline WirMachine one_entry() {
  WirMachine config = block_config();
  config.reuse_entries = 1;
  config.vsb_entries = 1;
  return config;
}

// Value signature buffer.

using LaneValues = std::array<std::uint32_t, regatta::trace::max_lanes>;

class SignatureUser : public BlockUser<VsbRequest, VsbAnswer> {
 public:
  sc_core::sc_port<VsbAccess> access;
  sc_core::sc_port<ReferenceKeeper> keeper;
  explicit SignatureUser(const sc_core::sc_module_name& name) : BlockUser(name), access("access"), keeper("keeper") {}
};

struct VsbBench {
  explicit VsbBench(const WirMachine& config = block_config()) : buffer("buffer", config, test::clock(block_period)) {
    buffer.references.bind(references.in);
    user.lookups.bind(buffer.lookups);
    user.access.bind(buffer.access);
    user.keeper.bind(buffer.keeper);
    block_run_to(0);
    buffer.kernel_started(launch.context);
  }
  VsbAnswer get(const LaneValues& value) { return user.get(VsbRequest{value.data()}); }
  double stat(const std::string& name) { return stat_of(buffer, name); }

  BlockLaunch launch{8};
  LoggedReferences references{"references"};
  Vsb buffer;
  SignatureUser user{"user"};
};

inline LaneValues lanes_with(std::uint32_t first) {
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
  explicit VerifyBench(const WirMachine& config = block_config()) : cache("cache", config, test::clock(block_period)) {
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

inline WirMachine few_registers(unsigned physical, unsigned release_latency = 2) {
  WirMachine config;
  config.physical_registers = physical;
  config.release_latency = release_latency;
  return config;
}

struct AllocatorBench {
  explicit AllocatorBench(const WirMachine& config, unsigned registers = 3)
      : launch(registers), allocator("allocator", config, test::clock(block_period)) {
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
inline std::string error_of(F&& work) {
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
  explicit RetryBench(const WirMachine& config) : queue("queue", config, test::clock(block_period)) {
    user.access.bind(queue.access);
    block_run_to(0);
  }
  static WirMachine places(unsigned n) {
    WirMachine config;
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

}  // namespace regatta::test::wir_blocks

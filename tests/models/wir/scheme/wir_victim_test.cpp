// SPDX-License-Identifier: Apache-2.0
//
// A victim buffer in front of the reuse buffer, as an outside user would write it, and the mistakes that such a block
// can make: each ends a run with --check-protocol, with a message that names the block.
#include <regatta/support/energy.h>
#include <regatta/wir/reuse_front.h>

#include <deque>

#include "wir_random.h"
#include "wir_support.h"

using namespace regatta;
using namespace models::wir;
using Catch::Matchers::Contains;
using test::Knobs;
using test::TraceBuilder;
using test::Values;

namespace {

enum class Mistake {
  none,
  keeps_sources,     ///< an entry that is dropped does not release its sources
  releases_twice,    ///< an entry that is dropped releases its result twice
  does_not_share,    ///< answers with the entry's own reference
  forgets_to_count,  ///< count() leaves out the results
  keeps_at_end,      ///< give_up_all() gives up nothing
  other_owner,       ///< forwards an update with another owner
  other_tag,         ///< forwards an update with another tag
  drops_update,      ///< does not forward an update
  drops_retries,     ///< does not forward count_retries()
  no_settle,
  late_settle,     ///< settles when it has looked at its entries
  stale_loads,     ///< does not drop the loads of a CTA that ends
  adds_registers,  ///< the same, and count() does not tell their tags
  wrong_result,
};

/// Keeps the results that the reuse buffer loses.
class VictimBuffer : public ReuseFront,
                     public protocol::Lookup<ReuseRequest, ReuseAnswer>,
                     public protocol::LookupClient<ReuseAnswer>,
                     public ReuseUpdates,
                     public ReferenceKeeper,
                     public ReuseVictims,
                     public support::StatProvider {
 public:
  VictimBuffer(const sc_core::sc_module_name& name, support::ClockDomain& clock, Mistake mistake)
      : ReuseFront(name, *this, *this), mistake_(mistake), clock_(clock) {
    updates.bind(*this);
    keeper.bind(*this);
  }

  protocol::LookupReply look_up(const ReuseRequest& request, std::uint32_t tag, ReuseAnswer& answer) override {
    if (references->low_mode() && mistake_ != Mistake::no_settle && mistake_ != Mistake::late_settle) {
      references->settle();
    }
    if (!request.retry) accessed_ = clock_.now();
    for (const Entry& e : entries_) {
      if (!(e.tag == request.tag)) continue;
      if (mistake_ == Mistake::wrong_result) {
        // The result of some other computation.
        const Entry& other = entries_[(hits_ + 1) % entries_.size()];
        if (!references->share(other.result.data(), pair_results)) break;
        answer.result = other.result;
      } else {
        if (mistake_ != Mistake::does_not_share && !references->share(e.result.data(), pair_results)) break;
        answer.result = e.result;
      }
      answer.found = ReuseAnswer::Found::result;
      ++hits_;
      return protocol::LookupReply::answered;
    }
    if (mistake_ == Mistake::late_settle && references->low_mode()) {
      const protocol::LookupReply reply = buffer.requests->look_up(request, tag, answer);
      references->settle();
      return reply;
    }
    return buffer.requests->look_up(request, tag, answer);
  }
  void answered(std::uint32_t tag, const ReuseAnswer& answer) override { lookups.answers->answered(tag, answer); }
  const sc_core::sc_event& changed() const override { return buffer.requests->changed(); }

  std::uint64_t book_write() override { return behind->book_write(); }
  void update(const ReuseUpdate& u) override {
    ReuseUpdate forwarded = u;
    if (++updates_ == 20) {
      if (mistake_ == Mistake::drops_update) return;
      if (mistake_ == Mistake::other_owner) forwarded.owner += 1000;
      if (mistake_ == Mistake::other_tag) ++forwarded.tag.opcode;
    }
    behind->update(forwarded);
  }
  void count_retries(std::uint64_t times) override {
    if (mistake_ != Mistake::drops_retries) behind->count_retries(times);
  }
  void fetch_ahead(std::uint32_t fold) const override { behind->fetch_ahead(fold); }

  ReuseVictims* victims() override { return this; }
  void replaced(const ReuseTag& tag, const ReuseResult& result) override {
    if (!references->share(result.data(), pair_results)) return;
    if (!references->share(tag.sources.data(), pair_operands)) {
      for (const PhysicalRegister reg : result) references->release(reg);
      return;
    }
    if (entries_.size() == 16) {
      drop(entries_.front());
      entries_.pop_front();
    }
    entries_.push_back({tag, result});
  }

  unsigned give_up_idle(std::uint64_t cycle, PhysicalRegister* regs) override {
    if (accessed_ == cycle || entries_.empty()) return 0;
    unsigned count = 0;
    for (const PhysicalRegister reg : entries_.front().tag.sources) {
      if (reg != no_register) regs[count++] = reg;
    }
    for (const PhysicalRegister reg : entries_.front().result) {
      if (reg != no_register) regs[count++] = reg;
    }
    entries_.pop_front();
    return count;
  }
  void give_up_while(const std::function<bool()>& more) override {
    while (!entries_.empty() && more()) drop_first();
  }
  void give_up_all() override {
    while (!entries_.empty() && mistake_ != Mistake::keeps_at_end) drop_first();
  }
  void count(ReferenceCounts& counts) const override {
    for (const Entry& e : entries_) {
      if (mistake_ == Mistake::adds_registers) {
        for (const PhysicalRegister reg : e.tag.sources) counts.add(reg);
        for (const PhysicalRegister reg : e.result) counts.add(reg);
      } else {
        counts.add(e.tag, mistake_ == Mistake::forgets_to_count ? ReuseResult{} : e.result);
      }
    }
  }
  void cta_finished(const protocol::CtaInfo& cta) override {
    if (mistake_ == Mistake::stale_loads || mistake_ == Mistake::adds_registers) return;
    references->settle();
    for (std::size_t i = 0; i < entries_.size();) {
      if (entries_[i].tag.block != cta.cta.value() + 1) {
        ++i;
        continue;
      }
      drop(entries_[i]);
      entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  void register_stats(support::StatGroup& g) override { g.counter("hits", hits_, "lookups", "answered by an entry"); }
  void register_energy(support::EnergyGroup& g) override { g.event("reuse_structures", "wir.reuse_buffer", hits_); }

 private:
  struct Entry {
    ReuseTag tag;
    ReuseResult result;
  };
  void drop_first() {
    const Entry e = entries_.front();
    entries_.pop_front();
    drop(e);
  }
  void drop(const Entry& e) {
    for (const PhysicalRegister reg : e.result) references->release(reg);
    if (mistake_ == Mistake::releases_twice) references->release(e.result[0]);
    if (mistake_ == Mistake::keeps_sources) return;
    for (const PhysicalRegister reg : e.tag.sources) references->release(reg);
  }

  const Mistake mistake_;
  support::ClockDomain& clock_;
  std::deque<Entry> entries_;
  std::uint64_t accessed_ = ~std::uint64_t{0};
  std::uint64_t hits_ = 0, updates_ = 0;
};

class WithVictims : public schemes::WirScheme {
 public:
  explicit WithVictims(Mistake mistake) : mistake_(mistake) {}

 protected:
  std::unique_ptr<ReuseFront> reuse_front(const assembly::BuildContext& c) const override {
    return std::make_unique<VictimBuffer>("victims", c.clock, mistake_);
  }

 private:
  Mistake mistake_;
};

/// CTAs of one warp that load the same values behind a barrier, twice, so that the second load may be reused. They use
/// a slot one after the other.
std::string loads_of_ctas(const std::string& name, unsigned ctas = 20) {
  TraceBuilder b;
  Values v(b);
  constexpr unsigned loads = 6;
  for (unsigned i = 0; i < loads; ++i) v.op("lane." + std::to_string(64 * i), i, {});
  b.barrier();
  for (unsigned n = 0; n < 2 * loads; ++n) {
    b.load(trace::MemorySpace::global, loads + n % loads, n % loads);
    b.kernel().instructions.back().opcode = "load";
    v.op("add", loads, {loads + n % loads, loads + n % loads});
  }
  b.exit();
  b.launch(ctas, 32);
  for (unsigned cta = 0; cta < ctas; ++cta) {
    b.begin_cta();
    b.begin_warp();
    b.execute_straight({4096});
    b.end_warp();
    b.end_cta();
  }
  return b.write(name);
}

/// Two warps of the same long chain of operations: one waits for the results of the other, and the SM sleeps meanwhile.
std::string waits_for_results(const std::string& name) {
  TraceBuilder b;
  Values v(b);
  v.op("lane.1", 0, {});
  for (unsigned n = 0; n < 40; ++n) v.op("mul", 0, {0, 0}, trace::OpClass::sfu);
  b.exit();
  test::run_each(b, v, 2);
  return b.write(name);
}

const Knobs small_buffer = {{"reuse_buffer.entries", "8"}, {"wir.recount", "0"}};
const Knobs scarce = {{"reuse_buffer.entries", "8"}, {"wir.recount", "0"}, {"wir.physical_registers", "40"}};
const Knobs one_slot = {{"reuse_buffer.entries", "4"}, {"wir.recount", "0"}, {"sm.ctas", "1"}};

/// What a run says; "" if it ends as if there were no mistake.
std::string message_of(Mistake mistake, const std::string& path, const Knobs& knobs, unsigned lookup_delay = 0) {
  WithVictims scheme(mistake);
  try {
    const auto r = test::simulate_wir(path, scheme, knobs, lookup_delay);
    if (mistake == Mistake::none) CHECK(r.stats.at("sm0.wir.victims").at("hits") > 0);
    return r.ending == assembly::Ending::completed ? "" : r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

/// The parts occur in the message.
void check_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) CHECK_THAT(message, Contains(part));
}

std::string of_random(const std::string& name, Mistake mistake, const Knobs& knobs = small_buffer) {
  return message_of(mistake, test::random_program("wir_victim_" + name, 9), knobs);
}

}  // namespace

#define REGATTA_VICTIMS_RIGHT(name, ...) \
  TEST_CASE("victim buffer without a mistake: " name) { CHECK(of_random(name, Mistake::none, __VA_ARGS__) == ""); }
REGATTA_VICTIMS_RIGHT("small", small_buffer)
REGATTA_VICTIMS_RIGHT("scarce", scarce)
REGATTA_VICTIMS_RIGHT("recounted", Knobs{{"reuse_buffer.entries", "8"}, {"wir.recount", "1"}})
REGATTA_VICTIMS_RIGHT("without_pending", Knobs{{"reuse_buffer.entries", "8"}, {"wir.model", "rl"}})
REGATTA_VICTIMS_RIGHT("capped", Knobs{{"reuse_buffer.entries", "8"}, {"wir.model", "rlpvc"}})

TEST_CASE("victim buffer without a mistake: late answers") {
  CHECK(message_of(Mistake::none, test::random_program("wir_victim_late", 9), small_buffer, 7) == "");
}
TEST_CASE("victim buffer without a mistake: late answers and few registers") {
  CHECK(message_of(Mistake::none, test::random_program("wir_victim_late_scarce", 9), scarce, 7) == "");
}
TEST_CASE("victim buffer without a mistake: loads of CTAs that use one slot") {
  CHECK(message_of(Mistake::none, loads_of_ctas("wir_victim_loads"), one_slot) == "");
}

#define REGATTA_VICTIM_MISTAKE(mistake, knobs, ...)                           \
  TEST_CASE("victim buffer whose mistake is " #mistake " is named") {         \
    check_parts(of_random(#mistake, Mistake::mistake, knobs), {__VA_ARGS__}); \
  }
REGATTA_VICTIM_MISTAKE(keeps_sources, small_buffer, "sm0.wir.front_references in cycle ", "sm0.wir.victims has ",
                       " by its calls and answers (took ", " by release()), and count() says ")
REGATTA_VICTIM_MISTAKE(releases_twice, small_buffer, "sm0.wir.victims has ", " by its calls and answers (took ",
                       " by release()), and count() says ")
REGATTA_VICTIM_MISTAKE(does_not_share, small_buffer, "sm0.wir.victims has 0 references to physical register ",
                       " by an answer), and count() says 1; expected share() and release() for each")
REGATTA_VICTIM_MISTAKE(forgets_to_count, small_buffer, "sm0.wir.victims has 1 reference to physical register ",
                       " by an answer), and count() says 0; expected share()")
REGATTA_VICTIM_MISTAKE(keeps_at_end, small_buffer, "sm0.wir.victims has ",
                       " after give_up_all(), the first to physical register ",
                       "; expected none at the end of a kernel")
REGATTA_VICTIM_MISTAKE(
    other_owner, small_buffer, "sm0.wir.update_protocol in cycle ",
    "sm0.wir.victims calls update() with `claimed` for owner ",
    ", for which sm0.wir.reuse_buffer has claimed no entry since its last update(); expected one update")
REGATTA_VICTIM_MISTAKE(other_tag, small_buffer, "sm0.wir.victims calls update() with `claimed` for owner ",
                       ", for which sm0.wir.reuse_buffer has claimed an entry with another tag, in cycle ")
REGATTA_VICTIM_MISTAKE(
    drops_update, small_buffer,
    "sm0.wir.victims has not called update() for 1 entry that sm0.wir.reuse_buffer claimed, the first in cycle ")
REGATTA_VICTIM_MISTAKE(no_settle, scarce,
                       "sm0.wir.victims forwards to sm0.wir.reuse_buffer before settle() in low-register mode; "
                       "expected its look_up() to begin")
REGATTA_VICTIM_MISTAKE(late_settle, scarce,
                       "sm0.wir.victims forwards to sm0.wir.reuse_buffer before settle() in low-register mode")
REGATTA_VICTIM_MISTAKE(wrong_result, small_buffer, "value mismatch: ", " from sm0.wir.victims, physical register ")

TEST_CASE("victim buffer whose mistake is drops_retries is named") {
  check_parts(message_of(Mistake::drops_retries, waits_for_results("wir_victim_retries"), {}),
              {"sm0.wir.front_update_protocol in cycle ", ": sm0.wir.victims was told of ",
               " retries by count_retries() and forwarded 0; expected all"});
}
TEST_CASE("victim buffer that returns the load of an ended CTA is named although the value is right") {
  check_parts(message_of(Mistake::adds_registers, loads_of_ctas("wir_victim_returned"), one_slot),
              {": sm0.wir.victims answers owner ", ", a load of the CTA in slot 0, with physical register ",
               ", which no load of this CTA has entered; expected the loads of a CTA to be dropped in cta_finished()"});
}
TEST_CASE("victim buffer that keeps the load of an ended CTA is named although no CTA takes the slot again") {
  const Knobs many_slots = {{"reuse_buffer.entries", "4"}, {"wir.recount", "0"}};
  check_parts(
      message_of(Mistake::stale_loads, loads_of_ctas("wir_victim_kept", 4), many_slots),
      {"sm0.wir.front_references in cycle ", ": sm0.wir.victims has the result of a load that an ended CTA of slot ",
       " has entered; expected the loads of a CTA to be dropped in cta_finished()"});
}

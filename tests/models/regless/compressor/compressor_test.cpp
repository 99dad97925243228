// SPDX-License-Identifier: Apache-2.0
//
// The compressor between an initiator and memory: hand-made cases, and random traffic against a map of values.
#include <regatta/protocol/base_protocol_checker.h>
#include <regatta/regless/compressor.h>
#include <regatta/test/bad_requests.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <random>

#include <regatta/test/clock.h>
#include <regatta/test/line_memory.h>

using namespace regatta;
using models::Compressor;
using models::CompressorConfig;
using protocol::AccessClass;
using protocol::Supplier;

namespace {

using Lanes = std::array<std::uint32_t, 32>;

Lanes constant(std::uint32_t v) {
  Lanes l;
  l.fill(v);
  return l;
}
Lanes noise(std::uint32_t seed) {
  Lanes l{};
  for (std::uint32_t i = 0; i < 32; ++i) l[i] = seed * 2654435761u + i * i * 40503u;
  return l;
}

/// Sends requests in order, as a staging shard does: one per cycle, held ones block.
class Initiator : public sc_core::sc_module, tlm::tlm_bw_transport_if<> {
 public:
  struct Request {
    AccessClass access;
    unsigned warp, reg;
    bool last;
    Lanes value;  ///< of a write; what came of a read
    std::uint64_t sent = 0, answered = 0;
    Supplier supplier = Supplier::unknown;
  };
  protocol::MemoryInitiatorSocket socket{"socket"};
  std::deque<Request> requests;  ///< of which `next` are sent
  std::size_t next = 0, answers = 0;
  std::function<void(Request&)> on_read;

  Initiator(const sc_core::sc_module_name& name, support::ClockDomain& clock, const models::RegisterMap& map)
      : sc_module(name), clock_(clock), period_(clock.period()), map_(map), pool_(128) {
    socket.bind(*this);
  }
  std::size_t add(AccessClass access, unsigned warp, unsigned reg, const Lanes& value = {}, bool last = false) {
    requests.push_back({access, warp, reg, last, value});
    return requests.size() - 1;
  }
  bool held() const { return held_ != nullptr; }
  bool done() const { return next == requests.size() && answers == requests.size() && pool_.outstanding() == 0; }

  /// Once per cycle.
  void cycle() {
    if (held_ != nullptr || next == requests.size() || free_at_ > clock_.now()) return;
    Request& r = requests[next];
    tlm::tlm_generic_payload* p =
        pool_.take(r.access == AccessClass::register_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND,
                   map_.address(map_.index(protocol::WarpSlot(static_cast<std::uint16_t>(r.warp)),
                                           protocol::RegisterId(static_cast<std::uint8_t>(r.reg)))));
    protocol::MemoryAccess& a = protocol::memory_access(*p);
    a.access = r.access;
    a.last_read = r.last;
    a.tag = static_cast<std::uint32_t>(next);
    if (r.access == AccessClass::register_write) std::memcpy(p->get_data_ptr(), r.value.data(), 128);
    r.sent = clock_.now();
    ++next;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = period_;
    held_ = p;
    switch (socket->nb_transport_fw(*p, phase, delay)) {
      case tlm::TLM_ACCEPTED:
        return;
      case tlm::TLM_UPDATED:
        held_ = nullptr;
        break;
      case tlm::TLM_COMPLETED:
        held_ = nullptr;
        answered(*p, clock_.now() + delay.value() / period_.value());
        break;
    }
  }

 private:
  void answered(tlm::tlm_generic_payload& p, std::uint64_t at) {
    Request& r = requests[protocol::memory_access(p).tag];
    REQUIRE(r.answered == 0);
    REQUIRE(p.get_response_status() == tlm::TLM_OK_RESPONSE);
    r.answered = at;
    r.supplier = protocol::memory_access(p).supplier;
    ++answers;
    if (r.access == AccessClass::register_read) {
      std::memcpy(r.value.data(), p.get_data_ptr(), 128);
      if (on_read) on_read(r);
    }
    p.release();
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    const std::uint64_t at = clock_.now() + delay.value() / period_.value();
    if (held_ == &p) {
      held_ = nullptr;
      free_at_ = at;
    }
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    answered(p, at);
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  support::ClockDomain& clock_;
  sc_core::sc_time period_;
  const models::RegisterMap& map_;
  protocol::MemoryPayloadPool pool_;
  tlm::tlm_generic_payload* held_ = nullptr;
  std::uint64_t free_at_ = 0;
};

/// A unit that answers `latency` cycles later, as one in RTL does, and as its model `Unit` does.
template <class Unit, class Request, class Answer>
class Late : public sc_core::sc_module, public protocol::Lookup<Request, Answer> {
 public:
  protocol::LookupTarget<Request, Answer> lookups{"lookup", *this};
  Late(const sc_core::sc_module_name& name, support::ClockDomain& clock, unsigned latency, Unit& model)
      : sc_module(name),
        clock_(clock),
        latency_(latency),
        model_(model),
        client_(
            clock, [](void* m) { static_cast<Late*>(m)->work(); }, this) {}
  protocol::LookupReply look_up(const Request& request, std::uint32_t tag, Answer&) override {
    open_.push_back({request, tag, clock_.now() + latency_});
    client_.request(open_.front().due);
    return protocol::LookupReply::later;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  struct Open {
    Request request;
    std::uint32_t tag;
    std::uint64_t due;
  };
  void work() {
    Answer answer{};
    const std::uint32_t tag = open_.front().tag;
    model_.look_up(open_.front().request, tag, answer);
    open_.pop_front();
    if (!open_.empty()) client_.request(open_.front().due);
    lookups.answers->answered(tag, answer);
  }

  support::ClockDomain& clock_;
  const unsigned latency_;
  Unit& model_;
  std::deque<Open> open_;
  sc_core::sc_event changed_;
  support::CycleClient client_;
};
using LateMatcher = Late<models::PatternMatcher, models::WarpValue, models::CompressedValue>;
using LateExpander = Late<models::PatternExpander, models::CompressedValue, models::WarpValue>;

CompressorConfig config_of(unsigned lines = 12) {
  CompressorConfig c;
  c.lines = lines;
  return c;
}

/// 16 warps in one shard.
constexpr models::RegisterSpace space{0, 16, 1, 128};

struct Bench {
  /// `late`, `late_expansion`: cycles that matcher and expander take to answer; 0: the model, which answers at once.
  explicit Bench(const CompressorConfig& c = config_of(), unsigned seed = 1, unsigned late = 0,
                 unsigned late_expansion = 0)
      : config(c),
        map(space),
        initiator("initiator", test::clock(period), map),
        matcher("matcher"),
        late_matcher("late_matcher", test::clock(period), late, matcher),
        expander("expander"),
        late_expander("late_expander", test::clock(period), late_expansion, expander),
        compressor("compressor", c, space, 0, test::clock(period)),
        memory("memory", test::clock(period), seed) {
    compressor.matcher.bind(late == 0 ? matcher.lookups : late_matcher.lookups);
    compressor.expander.bind(late_expansion == 0 ? expander.lookups : late_expander.lookups);
    initiator.socket.bind(above.in);
    above.out.bind(compressor.upstream);
    compressor.downstream.bind(below.in);
    below.out.bind(memory.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  void wait(unsigned cycles = 1) {
    for (; cycles != 0; --cycles) {
      initiator.cycle();
      sc_core::sc_start(period);
      const std::string wrong = compressor.check();
      if (!wrong.empty()) FAIL(wrong);
    }
  }
  /// Until all that was asked for is answered.
  void finish() {
    for (unsigned i = 0; i < 1000000 && !(initiator.done() && compressor.idle() && memory.idle()); ++i) wait();
    CHECK(initiator.done());
    CHECK(compressor.idle());
    CHECK(memory.fault == "");
    for (auto* c : {&above, &below}) {
      c->finish();
      CHECK(c->rules().violations() == 0);
    }
  }
  const Initiator::Request& read(unsigned warp, unsigned reg, bool last = false) {
    const std::size_t i = initiator.add(AccessClass::register_read, warp, reg, {}, last);
    for (unsigned n = 0; n < 5000 && initiator.requests[i].answered == 0; ++n) wait();
    REQUIRE(initiator.requests[i].answered != 0);
    return initiator.requests[i];
  }
  void write(unsigned warp, unsigned reg, const Lanes& v) {
    initiator.add(AccessClass::register_write, warp, reg, v);
    wait(30);
  }
  std::uint64_t statistic(const std::string& name) {
    support::StatGroup g;
    compressor.register_stats(g);
    for (const auto& s : g.stats()) {
      if (s.name == name) return *s.counter;
    }
    FAIL("no statistic " << name);
    return 0;
  }
  bool compressed(unsigned warp, unsigned reg) const {
    return compressor.is_compressed(protocol::WarpSlot(static_cast<std::uint16_t>(warp)),
                                    protocol::RegisterId(static_cast<std::uint8_t>(reg)));
  }

  const sc_core::sc_time period{1, sc_core::SC_NS};
  CompressorConfig config;
  models::RegisterMap map;
  Initiator initiator;
  models::PatternMatcher matcher;
  LateMatcher late_matcher;
  models::PatternExpander expander;
  LateExpander late_expander;
  Compressor compressor;
  test::LineMemory memory;
  protocol::BaseProtocolChecker<256> above{"above"}, below{"below"};
};

}  // namespace

TEST_CASE("compressor: what has a pattern stays inside, what has none goes on") {
  Bench b;
  b.write(0, 0, constant(7));
  b.write(1, 0, noise(1));
  CHECK(b.compressed(0, 0));
  CHECK(!b.compressed(1, 0));
  REQUIRE(b.memory.seen.size() == 1);
  CHECK(b.memory.seen[0].access == AccessClass::register_write);
  const auto& r = b.read(0, 0);
  CHECK(r.value == constant(7));
  CHECK(r.supplier == Supplier::compressor);
  CHECK(r.answered - r.sent == 1 + 3);  // on the wire; bit vector, tags, expansion
  const auto& s = b.read(1, 0);
  CHECK(s.value == noise(1));
  CHECK(s.supplier == Supplier::l1);
  CHECK(b.statistic("matched_constant") == 1);
  CHECK(b.statistic("incompressible") == 1);
  // Another value in the same register, of the other kind.
  b.write(0, 0, noise(2));
  b.write(1, 0, constant(9));
  CHECK(!b.compressed(0, 0));
  CHECK(b.compressed(1, 0));
  CHECK(b.read(0, 0).value == noise(2));
  CHECK(b.read(1, 0).value == constant(9));
  b.finish();
}

TEST_CASE("compressor: invalidations and last reads end where the value is") {
  Bench b;
  b.write(0, 0, constant(7));
  b.write(1, 0, noise(1));
  b.write(2, 0, constant(8));
  b.write(3, 0, noise(3));
  b.memory.seen.clear();
  b.initiator.add(AccessClass::register_invalidate, 0, 0);
  b.initiator.add(AccessClass::register_invalidate, 1, 0);
  b.wait(30);
  CHECK(!b.compressed(0, 0));
  REQUIRE(b.memory.seen.size() == 1);
  CHECK(b.memory.seen[0].access == AccessClass::register_invalidate);
  CHECK(b.statistic("cleared") == 1);
  CHECK(b.read(2, 0, true).value == constant(8));
  CHECK(!b.compressed(2, 0));
  CHECK(b.read(3, 0, true).value == noise(3));
  CHECK(b.memory.lines.empty());
  b.finish();
}

namespace {
/// Cycles from the request to the L1's, of a value without a pattern.
std::uint64_t time_of_incompressible(unsigned match_latency, unsigned late) {
  CompressorConfig c = config_of();
  c.match_latency = match_latency;
  Bench b(c, 1, late);
  b.write(1, 0, noise(1));
  b.finish();
  REQUIRE(b.memory.seen.size() == 1);
  return b.memory.seen[0].cycle - b.initiator.requests[0].sent;
}
}  // namespace

// A matcher in RTL takes its time itself, which must not be added once more.
TEST_CASE("compressor: a value without a pattern leaves after the matcher's latency, model") {
  CHECK(time_of_incompressible(6, 0) == 7);
}
TEST_CASE("compressor: a value without a pattern leaves after the matcher's latency, late answers") {
  CHECK(time_of_incompressible(6, 6) == 7);
}
TEST_CASE("compressor: a value without a pattern leaves after the matcher's latency, an early answer") {
  CHECK(time_of_incompressible(6, 3) == 7);
}
TEST_CASE("compressor: a value without a pattern leaves after the matcher's latency, a slower matcher") {
  CHECK(time_of_incompressible(6, 9) == 10);
}

namespace {
/// When reads of values with and without a pattern are answered, in turn; `late`: cycles of an expander that answers
/// late.
std::vector<std::uint64_t> times_of_reads(unsigned expand_latency, unsigned late) {
  CompressorConfig c = config_of();
  c.expand_latency = expand_latency;
  Bench b(c, 1, 0, late);
  for (unsigned w = 0; w < 4; ++w) b.write(w, 0, w % 2 == 0 ? constant(w) : noise(w));
  const std::size_t first = b.initiator.requests.size();
  for (unsigned round = 0; round < 8; ++round) {
    for (unsigned w = 0; w < 4; ++w) b.initiator.add(AccessClass::register_read, w, 0);
  }
  b.finish();
  std::vector<std::uint64_t> times;
  for (std::size_t i = first; i < b.initiator.requests.size(); ++i) {
    times.push_back(b.initiator.requests[i].answered - b.initiator.requests[first].sent);
  }
  return times;
}
}  // namespace

// What passes from the L1 does not wait for an expander that has not answered yet. The same times both ways.
const std::vector<std::uint64_t> with_an_expander_of_5{7,  5,  9,  8,  11, 10, 13, 12, 15, 14, 17, 16, 19, 18, 21, 20,
                                                       23, 22, 25, 24, 27, 26, 29, 28, 31, 30, 33, 32, 35, 34, 37, 36};
TEST_CASE("compressor: reads with an expander of 5 cycles, a latency of the model") {
  CHECK(times_of_reads(5, 0) == with_an_expander_of_5);
}
TEST_CASE("compressor: reads with an expander of 5 cycles, late answers") {
  CHECK(times_of_reads(1, 5) == with_an_expander_of_5);
}

TEST_CASE("compressor: lines leave least recently used first and come back as bytes") {
  Bench b(config_of(2));
  b.memory.shortest = b.memory.longest = 20;
  // Three lines: registers 0, 1 and 2 of 16 warps begin lines 0, 1 and 2.
  b.write(0, 0, constant(1));
  b.write(0, 1, constant(2));
  CHECK(b.statistic("lines_begun") == 2);
  CHECK(b.read(0, 0).value == constant(1));
  b.write(0, 2, constant(3));  // drives out the line of register 1
  REQUIRE(b.memory.seen.size() == 1);
  const auto index = b.map.index(protocol::WarpSlot(0), protocol::RegisterId(1));
  CHECK(b.memory.seen[0].address == b.map.compressed_line(index));
  const std::vector<unsigned char>& line = b.memory.lines.at(b.memory.seen[0].address);
  const unsigned slot = b.map.compressed_slot(index);
  CHECK(models::state_of(line.data(), slot) == models::Pattern::constant);
  CHECK(models::slot_of(line.data(), slot)[0] == 2);
  CHECK(b.statistic("misses") == 0);
  const auto& r = b.read(0, 1);
  CHECK(r.value == constant(2));
  CHECK(r.supplier == Supplier::l1);
  CHECK(b.statistic("misses") == 1);
  CHECK(b.statistic("lines_fetched") == 1);
  // A value for a line that is elsewhere waits for it, as other values are in it.
  b.write(0, 0, constant(4));
  b.wait(40);
  CHECK(b.read(0, 0).value == constant(4));
  b.finish();
}

TEST_CASE("compressor: a dirty line whose registers have all died gives way unwritten") {
  Bench b(config_of(1));
  b.write(0, 0, constant(1));
  b.write(1, 0, constant(2));
  CHECK(b.read(0, 0, true).value == constant(1));
  b.initiator.add(AccessClass::register_invalidate, 1, 0);
  b.wait(30);
  b.write(0, 1, constant(3));  // takes the only place
  CHECK(b.memory.seen.empty());
  CHECK(b.statistic("lines_dropped") == 1);
  CHECK(b.statistic("lines_written_back") == 0);
  // A register of the line dies, another lives: it is written back, and comes back.
  b.write(1, 1, constant(4));
  CHECK(b.read(0, 1, true).value == constant(3));
  b.write(0, 0, constant(5));
  CHECK(b.statistic("lines_dropped") == 1);
  CHECK(b.statistic("lines_written_back") == 1);
  CHECK(b.read(1, 1).value == constant(4));
  CHECK(b.read(0, 0).value == constant(5));
  b.finish();
}

TEST_CASE("compressor: a request behind a fetch waits only where it must") {
  Bench b(config_of(1));
  b.write(0, 0, constant(1));
  b.write(0, 1, constant(2));  // drives out the line of register 0
  b.write(5, 9, noise(1));
  b.memory.shortest = b.memory.longest = 200;
  const std::size_t waits = b.initiator.add(AccessClass::register_read, 0, 0);
  const std::size_t passes = b.initiator.add(AccessClass::register_write, 6, 9, noise(2));
  const std::size_t overwrites = b.initiator.add(AccessClass::register_write, 0, 0, noise(3));
  const std::size_t after = b.initiator.add(AccessClass::register_read, 0, 0);
  b.wait(50);
  const models::RegisterMap& m = b.map;
  const auto uncompressed = [&](unsigned w, unsigned r) {
    return m.address(
        m.index(protocol::WarpSlot(static_cast<std::uint16_t>(w)), protocol::RegisterId(static_cast<std::uint8_t>(r))));
  };
  CHECK(b.memory.seen.back().address == uncompressed(6, 9));
  CHECK(b.initiator.requests[waits].answered == 0);
  CHECK(b.initiator.requests[passes].answered != 0);
  CHECK(b.initiator.requests[overwrites].answered != 0);  // posted
  b.wait(900);
  CHECK(b.initiator.requests[waits].value == constant(1));
  CHECK(b.initiator.requests[after].value == noise(3));
  b.finish();
}

TEST_CASE("compressor: cycles of waiting are counted by what they wait for") {
  CompressorConfig c = config_of(2);
  c.fetches = 1;
  Bench b(c);
  b.memory.shortest = b.memory.longest = 100;
  for (unsigned r = 0; r < 4; ++r) b.write(0, r, constant(r));  // lines 0 and 1 are with the L1
  b.wait(300);
  for (const char* name : {"line_wait_cycles", "place_wait_cycles", "fetch_wait_cycles", "way_wait_cycles"}) {
    CHECK(b.statistic(name) == 0);
  }
  // The second one needs another line, and there is one fetch at a time.
  const std::size_t first = b.initiator.add(AccessClass::register_read, 0, 0);
  const std::size_t second = b.initiator.add(AccessClass::register_read, 0, 1);
  b.wait(400);
  const std::uint64_t took = b.initiator.requests[first].answered - b.initiator.requests[first].sent;
  CHECK(b.initiator.requests[second].answered > b.initiator.requests[first].answered);
  CHECK(took > 100);
  const std::uint64_t lines = b.statistic("line_wait_cycles"), fetches = b.statistic("fetch_wait_cycles");
  CHECK(lines > 2 * 100);
  CHECK(lines < 2 * took);
  CHECK(fetches > 100 - 10);
  CHECK(fetches < took);
  CHECK(b.statistic("place_wait_cycles") == 0);
  CHECK(b.statistic("way_wait_cycles") == 0);
  b.finish();
}

TEST_CASE("compressor: cycles of waiting for a line to give way") {
  CompressorConfig c = config_of(1);
  Bench b(c);
  b.memory.shortest = b.memory.longest = 100;
  b.write(0, 0, constant(1));
  b.write(0, 1, constant(2));
  b.wait(300);
  b.initiator.add(AccessClass::register_read, 0, 0);  // the only line is being fetched
  b.initiator.add(AccessClass::register_write, 0, 2, constant(3));
  b.wait(400);
  CHECK(b.statistic("place_wait_cycles") > 100 - 10);
  CHECK(b.statistic("place_wait_cycles") < 200);
  CHECK(b.statistic("fetch_wait_cycles") == 0);
  b.finish();
}

TEST_CASE("compressor: cycles of waiting for the way to the L1") {
  CompressorConfig c = config_of();
  c.queue = 2;
  Bench b(c);
  b.memory.take_nothing = true;
  for (unsigned w = 0; w < 12; ++w) b.initiator.add(AccessClass::register_write, w, 3, noise(w));
  b.wait(60);
  b.memory.resume();
  b.wait(200);
  CHECK(b.statistic("way_wait_cycles") > 30);
  CHECK(b.statistic("way_wait_cycles") <= 60);
  CHECK(b.statistic("place_wait_cycles") == 0);
  b.finish();
}

TEST_CASE("compressor: a full queue holds the next request until there is room") {
  CompressorConfig c = config_of();
  c.queue = 2;
  Bench b(c);
  b.memory.take_nothing = true;
  for (unsigned w = 0; w < 12; ++w) b.initiator.add(AccessClass::register_write, w, 3, noise(w));
  b.wait(60);
  CHECK(b.initiator.held());
  CHECK(b.initiator.next < 12);
  CHECK(b.statistic("held_requests") > 0);
  b.memory.resume();
  b.wait(200);
  CHECK(b.initiator.next == 12);
  for (unsigned w = 0; w < 12; ++w) CHECK(b.read(w, 3).value == noise(w));
  b.finish();
}

TEST_CASE("compressor: a warp that starts finds no register compressed") {
  Bench b;
  for (unsigned r = 0; r < 20; ++r) b.write(2, r, constant(r));
  b.write(3, 0, constant(1));
  b.compressor.warp_started(protocol::WarpSlot(2));
  for (unsigned r = 0; r < 20; ++r) CHECK(!b.compressed(2, r));
  CHECK(b.compressed(3, 0));
  CHECK(b.compressor.check() == "");
  b.finish();
}

namespace {

void random_traffic(unsigned lines, unsigned fetches, unsigned queue, unsigned seed, unsigned refusals,
                    unsigned longest) {
  CAPTURE(lines, fetches, queue, seed, refusals, longest);
  CompressorConfig c = config_of(lines);
  c.fetches = fetches;
  c.queue = queue;
  Bench b(c, seed);
  b.memory.refusals = refusals;
  b.memory.longest = longest;
  std::mt19937 random(seed);
  std::map<unsigned, Lanes> truth;        // of registers that have a value, in the order of the requests
  std::map<std::size_t, Lanes> expected;  // of reads under way
  std::map<unsigned, unsigned> reading;   // a register is not asked for twice at a time
  unsigned checked = 0;
  b.initiator.on_read = [&](Initiator::Request& r) {
    for (auto it = expected.begin(); it != expected.end(); ++it) {
      if (&b.initiator.requests[it->first] != &r) continue;
      if (r.value != it->second) FAIL("wrong value of warp " << r.warp << " register " << r.reg);
      ++checked;
      expected.erase(it);
      break;
    }
    --reading[r.reg * 16 + r.warp];
  };
  for (unsigned n = 0; n < 6000; ++n) {
    const auto warp = static_cast<unsigned>(random() % 16), reg = static_cast<unsigned>(random() % 6);
    const unsigned key = reg * 16 + warp;
    const unsigned dice = random() % 10;
    if (dice < 5) {
      Lanes v = random() % 3 == 0 ? noise(static_cast<std::uint32_t>(random())) : constant(0);
      if (v == constant(0)) {
        const std::uint32_t strides[] = {0, 1, 4};
        const std::uint32_t stride = strides[random() % 3], low = static_cast<std::uint32_t>(random());
        const std::uint32_t high = random() % 2 != 0 ? low + 16 * stride : static_cast<std::uint32_t>(random());
        for (std::uint32_t i = 0; i < 32; ++i) v[i] = (i < 16 ? low : high) + i % 16 * stride;
      }
      truth[key] = v;
      b.initiator.add(AccessClass::register_write, warp, reg, v);
    } else if (truth.count(key) != 0 && reading[key] == 0) {
      if (dice == 5) {
        truth.erase(key);
        b.initiator.add(AccessClass::register_invalidate, warp, reg);
      } else {
        ++reading[key];
        const bool last = dice == 6;
        expected[b.initiator.add(AccessClass::register_read, warp, reg, {}, last)] = truth[key];
        if (last) truth.erase(key);
      }
    }
    if (random() % 200 == 0) {  // a warp ends when nothing of it is under way
      for (unsigned i = 0; i < 1000000 && !(b.initiator.done() && b.compressor.idle()); ++i) b.wait();
      REQUIRE(b.initiator.done());
      const auto w = static_cast<unsigned>(random() % 16);
      b.compressor.warp_started(protocol::WarpSlot(static_cast<std::uint16_t>(w)));
      for (unsigned r = 0; r < 6; ++r) truth.erase(r * 16 + w);
    }
    b.wait(static_cast<unsigned>(random() % 3));
  }
  b.finish();
  CHECK(checked > 1000);
  CHECK(expected.empty());
  CHECK(b.statistic("hits") > 0);
  CHECK(b.statistic("expanded") + b.statistic("incompressible") > 0);
  if (lines < 6) CHECK(b.statistic("lines_written_back") > 0);
  for (const char* p : {"constant", "stride1", "stride4", "half1", "half4"}) {
    CHECK(b.statistic(std::string("matched_") + p) > 0);
  }
}

}  // namespace

TEST_CASE("compressor: random traffic, two lines") { random_traffic(2, 1, 4, 1, 20, 30); }
TEST_CASE("compressor: random traffic, one line, slow memory") { random_traffic(1, 1, 1, 2, 60, 100); }
TEST_CASE("compressor: random traffic, many lines and fetches") { random_traffic(4, 4, 16, 3, 10, 300); }
TEST_CASE("compressor: random traffic, all of it fits") { random_traffic(12, 2, 8, 4, 0, 3); }

TEST_CASE("compressor: lines that are no warp register are refused") {
  models::RegisterSpace half = space;
  half.line_bytes = 64;
  CHECK_THROWS_AS(CompressorConfig().validate(half), support::ConfigError);
}

TEST_CASE("compressor: bad requests end in an error that names the socket") {
  Bench b;
  // Behind the checker, which would speak first.
  test::refuses_bad_memory_requests(b.above.out, "compressor.upstream", 128, AccessClass::register_read);
  protocol::MemoryPayloadPool pool(128);
  tlm::tlm_generic_payload* const p = pool.take(tlm::TLM_READ_COMMAND, 0x1000);
  try {
    test::begin(b.above.out, *p);
    FAIL("a load is no request for a register");
  } catch (const sc_core::sc_report& r) {
    CHECK(r.get_msg() == std::string("compressor: a request of class data_load; expected one of a register line"));
  }
  p->release();
}

// SPDX-License-Identifier: Apache-2.0
//
// Instructions inserted for one scheme: their places in the code, their fetch slots, and their way to a decode point.
#include "recorder.h"

#include <algorithm>
#include <map>

using namespace regatta;
using test::Recording;
using test::TraceBuilder;
using trace::OpClass;

namespace {

/// Takes words, and gives a warp's places back when the instruction behind the words issues.
class WordSink : public protocol::DecodePoint, public protocol::Observer {
 public:
  struct Decoded {
    unsigned warp = 0;
    std::uint32_t inserted = 0;
    std::uint64_t sequence = 0;
  };

  explicit WordSink(unsigned places) : places_(places) {}

  std::string scheme() const override { return "words"; }
  bool keeps_cycle_time() const override { return true; }
  unsigned room(protocol::WarpSlot warp) const override {
    const auto held = held_.find(warp.value());
    return places_ - (held == held_.end() ? 0 : static_cast<unsigned>(held->second.size()));
  }
  void decoded(const protocol::WarpInfo& warp, std::uint32_t inserted, std::uint64_t sequence) override {
    std::vector<std::uint64_t>& held = held_[warp.warp.value()];
    held.push_back(sequence);
    most_held = std::max(most_held, held.size());
    late = late || sequence <= issued_[warp.warp.value()];
    words.push_back(Decoded{warp.warp.value(), inserted, sequence});
  }
  void warp_started(const protocol::WarpInfo&) override { ++started; }
  void warp_finished(const protocol::WarpInfo& warp) override {
    ++finished;
    left_over = left_over || !held_[warp.warp.value()].empty();
    issued_[warp.warp.value()] = 0;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

  std::vector<protocol::Event> interests() const override { return {protocol::Event::issued}; }
  void issued(protocol::Cycle, const protocol::DynamicInstruction& d) override {
    std::vector<std::uint64_t>& held = held_[d.warp.value()];
    held.erase(std::remove_if(held.begin(), held.end(), [&](std::uint64_t s) { return s <= d.sequence; }), held.end());
    issued_[d.warp.value()] = d.sequence;
    changed_.notify(sc_core::SC_ZERO_TIME);
  }

  std::vector<Decoded> words;
  std::size_t most_held = 0;
  unsigned started = 0, finished = 0;
  bool late = false;       ///< a word came when what is behind it had issued
  bool left_over = false;  ///< words nobody took the place of

 private:
  unsigned places_;
  std::map<unsigned, std::vector<std::uint64_t>> held_;
  std::map<unsigned, std::uint64_t> issued_;
  sc_core::sc_event changed_{"sink_changed"};
};

/// `words` inserted instructions of `scheme` in front of every instruction whose index divides by `every`.
void insert_words(TraceBuilder& b, unsigned every, unsigned words, const std::string& scheme = "words") {
  trace::Kernel& kernel = b.kernel();
  for (std::uint32_t i = 0; i < kernel.instructions.size(); i += every) {
    for (unsigned n = 0; n < words; ++n) {
      trace::InsertedInstruction inserted;
      inserted.before = i;
      inserted.instruction.opcode = "word";
      inserted.instruction.scheme = scheme;
      kernel.inserted.push_back(inserted);
    }
  }
}

/// 60 independent instructions and an exit.
void independent_kernel(TraceBuilder& b) {
  for (unsigned i = 0; i < 60; ++i) b.op(OpClass::int_add, {i + 1}, {100 + i % 16});
  b.exit();
}

Recording run(TraceBuilder& b, const std::string& name, const assembly::MachineConfig& m, WordSink& sink) {
  return test::record(b, name, m, [&sink](assembly::SmParts& parts) {
    parts.decode_point = &sink;
    // The recording must see the parts alive; the sink is the test's own.
    class Ears : public protocol::Observer {
     public:
      explicit Ears(WordSink& sink) : sink_(sink) {}
      bool keeps_cycle_time() const override { return true; }
      std::vector<protocol::Event> interests() const override { return sink_.interests(); }
      void issued(protocol::Cycle now, const protocol::DynamicInstruction& d) override { sink_.issued(now, d); }

     private:
      WordSink& sink_;
    };
    parts.observers.push_back(std::make_unique<Ears>(sink));
  });
}

std::uint64_t stat(const Recording& r, const char* name) { return r.result.stats["sm0.pipeline"][name]; }

/// Cycles between the issues of instructions 12 and 52 when fetch is what bounds them.
void fetch_slots(const std::string& name, unsigned width, unsigned latency, unsigned every, unsigned words) {
  CAPTURE(width, latency, every, words);
  assembly::MachineConfig m;
  m.sm.fetch_width = width;
  m.sm.fetch_latency = latency;
  m.sm.buffer_entries = 16;
  m.sm.collectors = 16;
  TraceBuilder b;
  independent_kernel(b);
  insert_words(b, every, words);
  b.launch(1, 32);
  b.run_all();
  WordSink sink(64);
  const Recording r = run(b, name, m, sink);
  const std::uint64_t slots = 40 + 40 / every * words;
  CHECK(r.gap(12, 52) == slots / width * std::max(latency, width));
  const std::uint64_t total = (60 + every) / every * words;
  CHECK(stat(r, "inserted_instructions") == total);
  CHECK(stat(r, "fetched_instructions") == 61 + total);
  CHECK(stat(r, "warp_instructions") == 61);
  CHECK(sink.words.size() == total);
  CHECK_FALSE(sink.late);
  CHECK_FALSE(sink.left_over);
}

}  // namespace

TEST_CASE("decode point: a word takes a fetch slot, one instruction a fetch") { fetch_slots("words_1", 1, 2, 2, 1); }
TEST_CASE("decode point: a word takes a fetch slot, two instructions a fetch") { fetch_slots("words_2", 2, 4, 4, 2); }
TEST_CASE("decode point: fetches of nothing but words") { fetch_slots("words_only", 2, 3, 4, 8); }
TEST_CASE("decode point: no words cost nothing") { fetch_slots("no_words", 2, 2, 1, 0); }

TEST_CASE("decode point: words that it holds take no fetch slot, and come in order") {
  TraceBuilder b;
  independent_kernel(b);
  insert_words(b, 2, 3);
  b.launch(2, 64);
  b.run_all();
  class HoldingSink : public WordSink, public protocol::InsertionCache {
   public:
    using WordSink::WordSink;
    bool held(protocol::WarpSlot, std::uint32_t inserted) override { return inserted % 3 != 1; }
  };
  HoldingSink sink(4);
  assembly::MachineConfig m;
  m.sm.icache.enabled = true;
  m.sm.icache.line_bytes = 64;
  const Recording r = run(b, "held_words", m, sink);
  const std::uint64_t words = 4 * 31 * 3;
  CHECK(sink.words.size() == words);
  CHECK(stat(r, "inserted_instructions") == words);
  CHECK(stat(r, "held_insertions") == words / 3 * 2);
  CHECK(stat(r, "fetched_instructions") == 4 * 61 + words / 3);
  CHECK_FALSE(sink.late);
  std::map<unsigned, std::uint32_t> next;
  for (const WordSink::Decoded& d : sink.words) CHECK(d.inserted % 93 == next[d.warp]++ % 93);
}

TEST_CASE("decode point: words that it holds and that occupy no code cost no cycle") {
  TraceBuilder b;
  independent_kernel(b);
  insert_words(b, 2, 5);
  b.launch(1, 32);
  b.run_all();
  class FreeSink : public WordSink, public protocol::InsertionCache {
   public:
    using WordSink::WordSink;
    bool held(protocol::WarpSlot, std::uint32_t) override { return true; }
    bool in_code() const override { return false; }
  };
  FreeSink sink(64);
  assembly::MachineConfig m;
  m.sm.fetch_width = 2;
  m.sm.fetch_latency = 4;
  m.sm.buffer_entries = 16;
  m.sm.collectors = 16;
  const Recording r = run(b, "free_words", m, sink);
  // As without words: 40 instructions, two a fetch.
  CHECK(r.gap(12, 52) == 40 / 2 * 4);
  CHECK(stat(r, "held_insertions") == 31 * 5);
  CHECK(stat(r, "fetched_instructions") == 61);
}

TEST_CASE("decode point: words of another scheme are not in the stream") {
  TraceBuilder b;
  independent_kernel(b);
  insert_words(b, 1, 3, "another");
  b.launch(1, 32);
  b.run_all();
  WordSink sink(1);
  const Recording r = run(b, "another_scheme", {}, sink);
  CHECK(sink.words.empty());
  CHECK(stat(r, "fetched_instructions") == 61);
}

TEST_CASE("decode point: without one the words are nowhere and no statistic names them") {
  TraceBuilder b;
  independent_kernel(b);
  insert_words(b, 1, 3);
  b.launch(1, 32);
  b.run_all();
  const Recording r = test::record(b, "no_decode_point");
  CHECK(stat(r, "fetched_instructions") == 61);
  CHECK_FALSE(r.result.stats["sm0.pipeline"].contains("inserted_instructions"));
}

TEST_CASE("decode point: words come in program order, before what stands behind them, and again on every way there") {
  TraceBuilder b;
  b.op(OpClass::int_add, {1}, {100});  // 0
  b.op(OpClass::int_add, {2}, {101});  // 1: a loop's head
  b.op(OpClass::int_add, {3}, {102});  // 2
  b.branch(1);                         // 3
  b.op(OpClass::int_add, {4}, {103});  // 4
  b.exit();                            // 5
  insert_words(b, 1, 1);
  const std::vector<std::uint32_t> way{0, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5};
  b.launch(1, 96);
  b.begin_cta();
  for (unsigned warp = 0; warp < 3; ++warp) {
    b.begin_warp();
    for (std::uint32_t index : way) b.execute(index);
    b.end_warp();
  }
  b.end_cta();
  WordSink sink(2);
  assembly::MachineConfig m;
  m.sm.fetch_width = 4;
  const Recording r = run(b, "words_of_a_loop", m, sink);
  CHECK(sink.words.size() == 3 * way.size());
  CHECK(sink.most_held <= 2);
  CHECK_FALSE(sink.late);
  CHECK(sink.started == 3);
  CHECK(sink.finished == 3);
  std::map<unsigned, std::size_t> place;
  for (const WordSink::Decoded& d : sink.words) {
    const std::size_t at = place[d.warp]++;
    CHECK(d.inserted == way[at]);
    CHECK(d.sequence == at + 1);
  }
}

TEST_CASE("decode point: little room holds fetch back and loses nothing") {
  TraceBuilder b;
  independent_kernel(b);
  insert_words(b, 3, 2);
  b.launch(2, 128);
  b.run_all();
  WordSink sink(2);
  const Recording r = run(b, "little_room", {}, sink);
  CHECK(sink.words.size() == 8 * 2 * 21);
  CHECK(sink.most_held == 2);
  CHECK_FALSE(sink.late);
  CHECK_FALSE(sink.left_over);
}

TEST_CASE("decode point: words take room in the code's cache lines") {
  assembly::MachineConfig m;
  m.sm.icache.enabled = true;
  m.sm.icache.line_bytes = 64;
  TraceBuilder b;
  independent_kernel(b);
  insert_words(b, 1, 1);
  b.launch(1, 32);
  b.run_all();
  WordSink sink(64);
  const Recording r = run(b, "words_in_lines", m, sink);
  // 61 instructions and as many words of 8 bytes.
  CHECK(stat(r, "line_waits") == (2 * 61 * 8 + 63) / 64);
}

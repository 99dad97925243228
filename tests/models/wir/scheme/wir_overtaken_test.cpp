// SPDX-License-Identifier: Apache-2.0
//
// A reader that the reuse stage keeps while a younger instruction of its warp overwrites a source. Renaming allows it:
// the two have different physical registers. In sub-cores, reads of fixed latency do not hold younger writes back.
#include <algorithm>

#include "wir_support.h"

using namespace regatta;
using models::wir::InFlightTable;
using models::wir::ReuseUnit;
using models::wir::WirMachine;
using test::Fate;
using test::run_each;
using test::TraceBuilder;
using test::Values;

namespace {

/// Cycles for which an instruction is kept, by static index.
using Kept = std::map<std::uint32_t, unsigned>;

/// Keeps instructions before it decides them.
class KeepsReaders : public ReuseUnit {
 public:
  KeepsReaders(const sc_core::sc_module_name& name, const WirMachine& config, const assembly::BuildContext& context,
               InFlightTable& in_flight, const Kept& kept)
      : ReuseUnit(name, config, context.clock, in_flight), clock_(context.clock), kept_(kept) {}
  Decision decide(protocol::DynamicInstruction& d) override {
    const auto kept = kept_.find(d.traits->index);
    if (kept == kept_.end()) return ReuseUnit::decide(d);
    reader_ = &d;
    until_ = clock_.now() + kept->second;
    return Decision::keep;
  }
  std::size_t resume_kept(unsigned asked, DecidedList& decided) override {
    if (reader_ == nullptr || clock_.now() < until_) return ReuseUnit::resume_kept(asked, decided);
    protocol::DynamicInstruction& d = *std::exchange(reader_, nullptr);
    const Decision made = ReuseUnit::decide(d);
    if (made == Decision::keep) return 0;
    decided[0] = {&d, made};
    return 1;
  }
  bool needs_cycle() const override { return reader_ != nullptr || ReuseUnit::needs_cycle(); }

 private:
  support::ClockDomain& clock_;
  const Kept& kept_;
  protocol::DynamicInstruction* reader_ = nullptr;
  std::uint64_t until_ = 0;
};

class KeepingWir : public test::WatchedWir {
 public:
  KeepingWir(std::vector<Fate>& fates, const Kept& kept) : WatchedWir(&fates), kept_(kept) {}

 protected:
  std::unique_ptr<ReuseUnit> reuse_unit(const sc_core::sc_module_name& name, const WirMachine& config,
                                        const assembly::BuildContext& context,
                                        InFlightTable& in_flight) const override {
    return std::make_unique<KeepsReaders>(name, config, context, in_flight, kept_);
  }

 private:
  const Kept& kept_;
};

}  // namespace

TEST_CASE("a reader that the reuse stage keeps gets the old value of a source that its warp overwrites meanwhile") {
  constexpr unsigned longest = 30;
  TraceBuilder b;
  Values v(b);
  Kept kept;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (unsigned cycles = 1; cycles <= longest; ++cycles) {
    v.op("id." + std::to_string(2 * cycles), 0, {10});  // R10: behind all before it
    const auto reader = v.op("add", 1, {0, 0});
    // Four registers of one bank: the last one waits in the result queue for the others.
    const auto writer = b.op(trace::OpClass::int_add, {2, 4, 6, 0}, {});
    auto& wide = b.kernel().instructions[writer];
    wide.opcode = "id." + std::to_string(2 * cycles + 1);
    wide.operands.push_back(trace::Operand{trace::Operand::Kind::special, 1, false, 0});
    v.op("add", 10, {0, 1});
    kept.emplace(reader, cycles);
    pairs.emplace_back(reader, writer);
  }
  b.exit();
  run_each(b, v, 1);
  std::vector<Fate> fates;
  KeepingWir scheme(fates, kept);
  const auto result = test::simulate_wir(b.write("wir_overtaken"), scheme, {}, 0, true, "h100");
  test::require_clean(result);
  // Some of the readers have read before the younger result is there, some read while it waits for its bank, and some
  // later.
  const auto behind = [&](std::pair<std::uint32_t, std::uint32_t> pair) {
    const auto written = [&](std::uint32_t index) {
      const auto of_index = [&](const Fate& f) { return f.index == index; };
      return static_cast<std::int64_t>(std::find_if(fates.begin(), fates.end(), of_index)->written);
    };
    return written(pair.first) - written(pair.second);
  };
  CHECK(behind(pairs.front()) < 0);
  CHECK(behind(pairs.back()) > 0);
}

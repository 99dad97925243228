// SPDX-License-Identifier: Apache-2.0
#include <regatta/recorders/register_use.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "recorded.h"

using namespace regatta;

namespace {

const protocol::Cycle now(0);

void start(recorders::RegisterUse& use, unsigned registers_per_warp) {
  protocol::KernelContext context;
  context.registers_per_warp = registers_per_warp;
  use.kernel_started(now, context);
}

protocol::WarpInfo warp(unsigned slot) {
  protocol::WarpInfo info;
  info.warp = protocol::WarpSlot(std::uint16_t(slot));
  return info;
}

void issue(recorders::RegisterUse& use, unsigned slot, std::vector<unsigned> reads, std::vector<unsigned> writes,
           bool injected = false) {
  protocol::InstructionTraits traits;
  for (const unsigned r : reads) traits.reads[traits.read_count++] = protocol::RegisterId(std::uint8_t(r));
  for (const unsigned w : writes) traits.writes[traits.write_count++] = protocol::RegisterId(std::uint8_t(w));
  protocol::DynamicInstruction d;
  d.traits = &traits;
  d.warp = protocol::WarpSlot(std::uint16_t(slot));
  d.injected = injected;
  use.issued(now, d);
}

/// The same by brute force, from a log of everything: each warp has a number of its own, whatever its slot.
class UseLog : public protocol::Observer {
 public:
  struct Step {
    enum class Kind { started, finished, issued } kind;
    unsigned slot;
    std::uint64_t registers;
    std::vector<unsigned> names;
  };
  explicit UseLog(std::vector<Step>& steps) : steps_(steps) {}
  std::vector<protocol::Event> interests() const override {
    return {protocol::Event::kernel_started, protocol::Event::warp_started, protocol::Event::warp_finished,
            protocol::Event::issued};
  }
  void kernel_started(protocol::Cycle, const protocol::KernelContext& c) override { registers_ = c.registers_per_warp; }
  void warp_started(protocol::Cycle, const protocol::WarpInfo& w) override {
    steps_.push_back({Step::Kind::started, w.warp.value(), registers_, {}});
  }
  void warp_finished(protocol::Cycle, const protocol::WarpInfo& w) override {
    steps_.push_back({Step::Kind::finished, w.warp.value(), registers_, {}});
  }
  void issued(protocol::Cycle, const protocol::DynamicInstruction& d) override {
    Step s{Step::Kind::issued, d.warp.value(), 0, {}};
    for (unsigned i = 0; i < d.info->destination_count; ++i) s.names.push_back(d.info->destinations[i]);
    for (unsigned i = 0; i < d.traits->read_count; ++i) s.names.push_back(d.traits->reads[i].value());
    steps_.push_back(s);
  }

 private:
  std::vector<Step>& steps_;
  std::uint64_t registers_ = 0;
};

std::vector<double> shares(const std::vector<UseLog::Step>& steps, std::uint64_t window) {
  std::vector<double> found;
  std::map<unsigned, unsigned> warp_of;         // slot -> warp
  std::map<unsigned, std::uint64_t> allocated;  // resident within the window: warp -> registers
  std::set<unsigned> resident;
  std::map<unsigned, std::uint64_t> registers;  // warp -> registers
  std::set<std::pair<unsigned, unsigned>> named;
  unsigned warps = 0;
  std::uint64_t issued = 0;
  for (const UseLog::Step& s : steps) {
    if (s.kind == UseLog::Step::Kind::started) {
      warp_of[s.slot] = warps;
      registers[warps] = s.registers;
      resident.insert(warps);
      allocated[warps] = s.registers;
      ++warps;
    } else if (s.kind == UseLog::Step::Kind::finished) {
      resident.erase(warp_of.at(s.slot));
    } else {
      for (const unsigned r : s.names) named.insert({warp_of.at(s.slot), r});
      if (++issued % window != 0) continue;
      std::uint64_t all = 0;
      for (const auto& [w, n] : allocated) all += n;
      found.push_back(double(named.size()) / double(all));
      named.clear();
      allocated.clear();
      for (const unsigned w : resident) allocated[w] = registers.at(w);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("register use: named registers of a window over the registers of the warps within it") {
  recorders::RegisterUse use(2);
  start(use, 8);
  use.warp_started(now, warp(0));
  use.warp_started(now, warp(1));
  issue(use, 0, {1, 2}, {1});
  issue(use, 1, {}, {7}, true);  // nothing was fetched for it
  issue(use, 1, {1}, {3});       // window 1: R1, R2 of warp 0, R1, R3 of warp 1: 4 of 16
  use.warp_finished(now, warp(1));
  issue(use, 0, {1}, {});
  issue(use, 0, {1}, {1});  // window 2: one of 16, warp 1 was there when it began
  issue(use, 0, {4}, {5});
  use.warp_started(now, warp(1));  // another warp in the slot
  issue(use, 1, {1}, {3});         // window 3: 4 of 16
  issue(use, 1, {1}, {3});         // cut short
  use.finish();
  CHECK(use.windows() == 3);
  CHECK(use.sum() == Approx(4.0 / 16 + 1.0 / 16 + 4.0 / 16));
  CHECK(use.lowest() == 1.0 / 16);
  CHECK(use.highest() == 4.0 / 16);
}

TEST_CASE("register use: a slot's next warp has registers of its own, launches have registers of their own") {
  recorders::RegisterUse use(3);
  start(use, 4);
  use.warp_started(now, warp(0));
  issue(use, 0, {0}, {});
  use.warp_finished(now, warp(0));
  start(use, 2);
  use.warp_started(now, warp(0));
  issue(use, 0, {0}, {});
  issue(use, 0, {0}, {});
  use.finish();
  CHECK(use.windows() == 1);
  CHECK(use.sum() == Approx(2.0 / 6));
}

TEST_CASE("register use: a run shorter than a window has one window, one without instructions has none") {
  recorders::RegisterUse use(1000), none(1000);
  start(use, 4);
  use.warp_started(now, warp(3));
  issue(use, 3, {0}, {1});
  use.finish();
  CHECK(use.windows() == 1);
  CHECK(use.sum() == 0.5);
  none.finish();
  CHECK(none.windows() == 0);
}

TEMPLATE_TEST_CASE_SIG("register use: equals a brute force over a whole run, as stats.json tells it", "",
                       ((std::uint64_t Window), Window), 1, 37, 1000) {
  const std::uint64_t window = Window;
  std::vector<UseLog::Step> steps;
  test::FunctionScheme scheme([&](const assembly::BuildContext& context) {
    assembly::SmParts parts = assembly::baseline_parts(context);
    parts.observers.push_back(std::make_unique<UseLog>(steps));
    return parts;
  });
  const std::string name = "register_use_" + std::to_string(window);
  const trace::Reader reader(test::mixed_trace(name.c_str(), 30));
  assembly::SimulationOptions options;
  options.recording.register_use_instructions = window;
  assembly::Simulation simulation({}, scheme, options, reader);
  const auto r = simulation.run();
  test::require_clean(r);
  const std::vector<double> expected = shares(steps, window);
  REQUIRE(expected.size() == r.warp_instructions / window);
  double sum = 0;
  for (const double s : expected) sum += s;
  CHECK(r.register_use.mean == Approx(sum / double(expected.size())));
  CHECK(r.register_use.lowest == *std::min_element(expected.begin(), expected.end()));
  CHECK(r.register_use.highest == *std::max_element(expected.begin(), expected.end()));
  CHECK(r.register_use.highest <= 1);
  const auto document = assembly::stats_document(r, reader, "gtx980", "baseline", support::OptionSet());
  CHECK(document.at("register_use").at("window") == window);
  CHECK(document.at("register_use").at("mean") == r.register_use.mean);
}

TEST_CASE("register use: not asked for, not there") {
  const auto r = test::record_run(test::mixed_trace("no_register_use"), {});
  test::require_clean(r);
  const trace::Reader reader("no_register_use.rgt");
  CHECK_FALSE(assembly::stats_document(r, reader, "gtx980", "baseline", support::OptionSet()).contains("register_use"));
}

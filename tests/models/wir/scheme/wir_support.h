// SPDX-License-Identifier: Apache-2.0
//
// Hand-made traces under warp instruction reuse, watched.
#pragma once

#include <regatta/wir/scheme_wir.h>
#include <regatta/wir/wir.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness.h"

namespace regatta::test {

/// What became of an instruction, in cycles.
struct Fate {
  unsigned warp = 0;  ///< slot
  std::uint32_t index = 0;
  std::uint64_t issued = 0, bypassed = 0, written = 0, retired = 0;
  bool is_bypassed = false;
  bool is_written = false;  ///< a result went to a bank
};

struct Watched {
  std::vector<Fate> fates;  ///< in order of issue
  assembly::SimulationResult result;
  nlohmann::json wir;  ///< the scheme's own statistics
  /// "reuse_buffer.reads": of a block of the hierarchy; "verify_reads": of the register file.
  std::uint64_t counter(const std::string& name) const {
    const std::size_t dot = name.find('.');
    const std::string module = dot == std::string::npos ? "register_file" : "wir." + name.substr(0, dot);
    return result.stats.at("sm0." + module).at(name.substr(dot + 1)).get<std::uint64_t>();
  }
  const Fate& of(unsigned warp, std::uint32_t index) const {
    for (const Fate& f : fates) {
      if (f.warp == warp && f.index == index) return f;
    }
    FAIL("warp " << warp << " did not issue instruction " << index);
    return fates.front();
  }
};

class FateRecorder : public protocol::Observer {
 public:
  explicit FateRecorder(std::vector<Fate>& fates) : fates_(fates) {}
  std::vector<protocol::Event> interests() const override {
    using protocol::Event;
    return {Event::issued, Event::bypassed, Event::register_written, Event::retired};
  }
  void issued(protocol::Cycle now, const protocol::DynamicInstruction& d) override {
    open_[d.pool_index] = fates_.size();
    Fate f;
    f.warp = d.warp.value();
    f.index = d.traits->index;
    f.issued = now.value();
    fates_.push_back(f);
  }
  void bypassed(protocol::Cycle now, const protocol::DynamicInstruction& d) override {
    at(d).bypassed = now.value();
    at(d).is_bypassed = true;
  }
  void register_written(protocol::Cycle now, const protocol::DynamicInstruction& d, unsigned, bool written) override {
    at(d).written = now.value();
    at(d).is_written = at(d).is_written || written;
  }
  void retired(protocol::Cycle now, const protocol::DynamicInstruction& d) override { at(d).retired = now.value(); }

 private:
  Fate& at(const protocol::DynamicInstruction& d) { return fates_[open_.at(d.pool_index)]; }
  std::vector<Fate>& fates_;
  std::map<std::uint32_t, std::size_t> open_;
};

/// The scheme as it is, with observers or gates of a test's own, or a faulty stage.
class WatchedWir : public schemes::WirScheme {
 public:
  using Extra = std::function<void(assembly::SmParts&, models::wir::Wir&)>;
  explicit WatchedWir(std::vector<Fate>* fates, Extra extra = {}) : fates_(fates), extra_(std::move(extra)) {}
  assembly::SmParts build(const assembly::BuildContext& context) override {
    assembly::SmParts parts = WirScheme::build(context);
    if (fates_ != nullptr) parts.observers.push_back(std::make_unique<FateRecorder>(*fates_));
    if (extra_) extra_(parts, blocks());
    return parts;
  }

 private:
  std::vector<Fate>* fates_;
  Extra extra_;
};

using Knobs = std::vector<std::pair<std::string, std::string>>;

/// Runs a trace under the scheme with these knobs. References are recounted after every instruction.
inline assembly::SimulationResult simulate_wir(const std::string& path, schemes::WirScheme& scheme, const Knobs& knobs,
                                               unsigned lookup_delay = 0, bool check_protocol = true,
                                               const char* preset = "gtx480") {
  assembly::MachineConfig machine;
  support::OptionSet options;
  machine.declare(options);
  scheme.declare(options);
  assembly::load_machine(options, machine, preset);
  options.set("icache.enabled", "false", "test", "test");
  options.set("constant_cache.enabled", "false", "test", "test");
  options.set("wir.recount", "1", "test", "test");
  for (const auto& [name, value] : knobs) options.set(name, value, "test", "test");
  return simulate(path, scheme, machine, 1, check_protocol, lookup_delay);
}

inline Watched watch(TraceBuilder& builder, const std::string& name, const Knobs& knobs,
                     const WatchedWir::Extra& extra = {}) {
  Watched w;
  WatchedWir scheme(&w.fates, extra);
  w.result = simulate_wir(builder.write(name), scheme, knobs);
  w.wir = w.result.stats.at("wir");
  return w;
}

/// The values of a small machine: an instruction's opcode says what it does. "const.N": lane x N + N; "lane.N": lane +
/// N; "add", "mul": of the sources; "id.N": the warp's own; "load": what is in memory.
class Values {
 public:
  explicit Values(TraceBuilder& builder) : builder_(builder) {
    builder.set_rule([this](std::uint32_t index, unsigned lane, const std::vector<std::uint32_t>& sources) {
      return value(builder_.kernel().instructions[index].opcode, lane, sources);
    });
  }
  std::uint32_t op(const std::string& opcode, unsigned destination, const std::vector<unsigned>& sources,
                   trace::OpClass c = trace::OpClass::int_add) {
    const std::uint32_t index = builder_.op(c, {destination}, sources);
    trace::StaticInstruction& i = builder_.kernel().instructions[index];
    i.opcode = opcode;
    // Not a computation of its own: its value depends on the warp.
    if (opcode.rfind("id.", 0) == 0) i.operands.push_back(trace::Operand{trace::Operand::Kind::special, 1, false, 0});
    return index;
  }
  std::uint32_t own = 0;     ///< the warp that executes
  std::uint32_t memory = 0;  ///< what "load" finds
  /// What "id.K" gives warp `own`.
  std::function<std::uint32_t(std::uint32_t own, std::uint32_t k, unsigned lane)> mine =
      [](std::uint32_t own, std::uint32_t k, unsigned lane) { return own * 1000003 + k * 7919 + lane * lane; };

 private:
  std::uint32_t value(const std::string& opcode, unsigned lane, const std::vector<std::uint32_t>& sources) const {
    const auto number = [&] { return static_cast<std::uint32_t>(std::stoul(opcode.substr(opcode.find('.') + 1))); };
    if (opcode.rfind("const.", 0) == 0) return lane * number() + number();
    if (opcode.rfind("lane.", 0) == 0) return lane + number();
    if (opcode.rfind("id.", 0) == 0) return mine(own, number(), lane);
    if (opcode == "load") return memory * 65537 + lane;
    if (opcode == "add") return sources.at(0) + sources.at(1);
    if (opcode == "mul") return sources.at(0) * sources.at(1);
    return lane;
  }
  TraceBuilder& builder_;
};

/// Every warp runs the kernel from start to end; CTAs of one warp.
inline void run_each(TraceBuilder& b, Values& values, unsigned warps) {
  b.launch(warps, 32);
  for (unsigned w = 0; w < warps; ++w) {
    values.own = w;
    b.begin_cta();
    b.begin_warp();
    b.execute_straight();
    b.end_warp();
    b.end_cta();
  }
}

// gtx480: a read takes a cycle of arbitration and one of the bank, an addition four, a write one.
inline constexpr std::uint64_t read_cycles = 2, add_cycles = 4, write_cycles = 1;
inline constexpr std::uint64_t bare = read_cycles + add_cycles + write_cycles;

}  // namespace regatta::test

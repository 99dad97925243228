// SPDX-License-Identifier: Apache-2.0
//
// Blocks that break the contract of their extension point: the simulation ends, and the message says which instruction
// it was about.
#include "harness.h"

#include <functional>

using namespace regatta;
using assembly::BuildContext;
using assembly::SmParts;

namespace {

/// Keeps everything; `hand_back` makes something wrong of what is kept.
class WrongReuse : public sc_core::sc_module, public protocol::ReusePoint {
 public:
  using HandBack = std::function<Decided(protocol::DynamicInstruction&)>;
  WrongReuse(const sc_core::sc_module_name& name, HandBack hand_back)
      : sc_module(name), hand_back_(std::move(hand_back)), changed_("changed") {}
  Decision decide(protocol::DynamicInstruction& d) override {
    kept_ = &d;
    return Decision::keep;
  }
  std::size_t resume_kept(unsigned, DecidedList& decided) override {
    decided[0] = hand_back_(*kept_);
    return 1;
  }
  bool needs_cycle() const override { return true; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  HandBack hand_back_;
  protocol::DynamicInstruction* kept_ = nullptr;
  sc_core::sc_event changed_;
};

/// Bypasses whatever comes, or what `which` says.
class WrongBypass : public sc_core::sc_module, public protocol::ReusePoint {
 public:
  WrongBypass(const sc_core::sc_module_name& name, bool (*which)(const trace::StaticInstruction&))
      : sc_module(name), which_(which), changed_("changed") {}
  Decision decide(protocol::DynamicInstruction& d) override {
    return which_(*d.info) ? Decision::bypass : Decision::execute;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  bool (*which_)(const trace::StaticInstruction&);
  sc_core::sc_event changed_;
};

/// Keeps the first result, and hands it back twice.
class TwiceResults : public sc_core::sc_module, public protocol::WritebackPoint {
 public:
  explicit TwiceResults(const sc_core::sc_module_name& name) : sc_module(name), changed_("changed") {}
  unsigned arrive(protocol::DynamicInstruction& d) override {
    if (kept_ != nullptr) return 0;
    kept_ = &d;
    return keep;
  }
  std::size_t resume_kept(RecalledList& recalled) override {
    recalled[0] = recalled[1] = {kept_, 0};
    return 2;
  }
  Decision decide(protocol::DynamicInstruction&, unsigned) override { return Decision::write; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  protocol::DynamicInstruction* kept_ = nullptr;
  sc_core::sc_event changed_;
};

using WritebackDecision = protocol::WritebackPoint::Decision;

/// Keeps the first result and hands back a number of them, or decides wrongly.
class WrongResults : public sc_core::sc_module, public protocol::WritebackPoint {
 public:
  WrongResults(const sc_core::sc_module_name& name, std::size_t hand_back, Decision decision, bool alters = false)
      : sc_module(name), hand_back_(hand_back), decision_(decision), alters_(alters), changed_("changed") {}
  unsigned arrive(protocol::DynamicInstruction&) override { return hand_back_ != 0 ? keep : 0; }
  std::size_t resume_kept(RecalledList&) override { return hand_back_; }
  Decision decide(protocol::DynamicInstruction& d, unsigned destination) override {
    if (alters_) d.results[destination].lane[0] ^= 1;
    return decision_;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  std::size_t hand_back_;
  Decision decision_;
  bool alters_;
  sc_core::sc_event changed_;
};

/// Decides the same for all, and changes something of each.
class WrongDecision : public sc_core::sc_module, public protocol::ReusePoint {
 public:
  WrongDecision(const sc_core::sc_module_name& name, Decision decision, void (*change)(protocol::DynamicInstruction&))
      : sc_module(name), decision_(decision), change_(change), changed_("changed") {}
  Decision decide(protocol::DynamicInstruction& d) override {
    if (change_ != nullptr) change_(d);
    return decision_;
  }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  Decision decision_;
  void (*change_)(protocol::DynamicInstruction&);
  sc_core::sc_event changed_;
};

/// The message of the block "wrong" of SM 0, without the cycle.
std::string said(const std::string& point, const std::string& what) {
  return "regatta/" + point + ": sm0.wrong: " + what;
}

/// The message that ends a run with the parts that `change` makes of the baseline's.
std::string message_of(const std::string& name, const std::function<void(SmParts&)>& change) {
  try {
    test::simulate_with(test::mixed_trace("contract_" + name, 2), [&](const BuildContext& c) {
      SmParts parts = assembly::baseline_parts(c);
      change(parts);
      return parts;
    });
  } catch (const sc_core::sc_report& report) {
    std::string message = std::string(report.get_msg_type()) + ": " + report.get_msg();
    const std::size_t cycle = message.find(" in cycle ");
    if (cycle != std::string::npos) message.erase(cycle, message.find(':', cycle) - cycle);
    return message;
  }
  return "";
}

std::string reuse_message(const std::string& name, WrongReuse::HandBack hand_back) {
  return message_of(
      name, [&](SmParts& parts) { parts.reuse_point = std::make_unique<WrongReuse>("wrong", std::move(hand_back)); });
}

std::string bypass_message(const std::string& name, bool (*which)(const trace::StaticInstruction&)) {
  return message_of(name, [&](SmParts& parts) { parts.reuse_point = std::make_unique<WrongBypass>("wrong", which); });
}

using Decision = protocol::ReusePoint::Decision;

}  // namespace

TEST_CASE("contract: a reuse point that hands back nothing") {
  CHECK(reuse_message("nothing", [](protocol::DynamicInstruction&) {
          return protocol::ReusePoint::Decided{nullptr, Decision::execute};
        }) == said("reuse_point", "resume_kept() hands back no instruction; expected an instruction that it keeps"));
}

TEST_CASE("contract: a reuse point that hands an instruction back twice") {
  const std::string message = reuse_message("twice", [](protocol::DynamicInstruction& d) {
    static protocol::DynamicInstruction* const first = &d;
    return protocol::ReusePoint::Decided{first, Decision::execute};
  });
  CHECK(message == said("reuse_point",
                        "resume_kept() hands back warp 3 (CTA 0) PC 0x0 constant_load, which it does not "
                        "keep; expected an instruction that it keeps"));
}

TEST_CASE("contract: a reuse point that hands back without a decision") {
  CHECK(reuse_message("undecided",
                      [](protocol::DynamicInstruction& d) {
                        return protocol::ReusePoint::Decided{&d, Decision::keep};
                      }) ==
        said("reuse_point",
             "resume_kept() hands back warp 3 (CTA 0) PC 0x0 constant_load neither to execute nor to "
             "bypass; expected execute or bypass"));
}

TEST_CASE("contract: a reuse point that bypasses a store") {
  CHECK(bypass_message("store", [](const trace::StaticInstruction& i) { return i.writes_memory; }) ==
        said("reuse_point",
             "bypasses warp 0 (CTA 0) PC 0x38 store, which writes memory or a predicate; expected to "
             "bypass what writes general registers only"));
}

TEST_CASE("contract: a reuse point that bypasses what writes a predicate") {
  CHECK(bypass_message("predicate",
                       [](const trace::StaticInstruction& i) { return i.destination_predicate_count != 0; }) ==
        said("reuse_point",
             "bypasses warp 0 (CTA 0) PC 0x10 int_add, which writes memory or a predicate; "
             "expected to bypass what writes general registers only"));
}

TEST_CASE("contract: a write-back point that hands a result back twice") {
  CHECK(
      message_of("results", [](SmParts& parts) { parts.writeback_point = std::make_unique<TwiceResults>("wrong"); }) ==
      said("writeback_point",
           "resume_kept() hands back warp 0 (CTA 0) PC 0x0 constant_load, which it does not "
           "keep; expected an instruction that it keeps"));
}

TEST_CASE("contract: a write-back point that hands back more than the list holds") {
  CHECK(message_of("crowd", [](SmParts& parts) {
          parts.writeback_point = std::make_unique<WrongResults>("wrong", 9, WritebackDecision::write);
        }) == said("writeback_point", "resume_kept() hands back 9 instructions; expected at most 8"));
}

TEST_CASE("contract: a write-back point with a decision of its own") {
  CHECK(message_of("own_decision",
                   [](SmParts& parts) {
                     parts.writeback_point =
                         std::make_unique<WrongResults>("wrong", 0, static_cast<WritebackDecision>(7));
                   }) == said("writeback_point",
                              "decide() answers 7 for warp 0 (CTA 0) PC 0x0 constant_load; expected write, "
                              "wait or drop"));
}

TEST_CASE("contract: a write-back point that alters a result, with --check-protocol") {
  CHECK(message_of("alters",
                   [](SmParts& parts) {
                     parts.writeback_point = std::make_unique<WrongResults>("wrong", 0, WritebackDecision::write, true);
                   }) == said("writeback_point",
                              "decide() changes its results of warp 0 (CTA 0) PC 0x0 constant_load; expected "
                              "an instruction that stays what it was"));
}

TEST_CASE("contract: a reuse point with a decision of its own") {
  CHECK(message_of("reuse_decision",
                   [](SmParts& parts) {
                     parts.reuse_point = std::make_unique<WrongDecision>("wrong", static_cast<Decision>(9), nullptr);
                   }) == said("reuse_point",
                              "decide() answers 9 for warp 0 (CTA 0) PC 0x0 constant_load; expected execute, "
                              "wait, bypass or keep"));
}

TEST_CASE("contract: a reuse point that alters what it has executed, with --check-protocol") {
  CHECK(message_of("reuse_results",
                   [](SmParts& parts) {
                     parts.reuse_point = std::make_unique<WrongDecision>(
                         "wrong", Decision::execute,
                         [](protocol::DynamicInstruction& d) { d.results[0].lane[3] ^= 1; });
                   }) == said("reuse_point",
                              "decide() changes its results of warp 0 (CTA 0) PC 0x0 constant_load; expected "
                              "nothing but the results of what it bypasses to change"));
}

TEST_CASE("contract: a reuse point that switches lanes off, with --check-protocol") {
  CHECK(message_of("reuse_lanes",
                   [](SmParts& parts) {
                     parts.reuse_point = std::make_unique<WrongDecision>(
                         "wrong", Decision::execute, [](protocol::DynamicInstruction& d) { d.active &= 1; });
                   }) == said("reuse_point",
                              "decide() changes its lanes of warp 0 (CTA 0) PC 0x0 constant_load; expected "
                              "nothing but the results of what it bypasses to change"));
}

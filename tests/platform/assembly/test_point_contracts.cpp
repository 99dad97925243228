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
  std::size_t again(unsigned, DecidedList& decided) override {
    decided[0] = hand_back_(*kept_);
    return 1;
  }
  bool restless() const override { return true; }
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
  std::size_t again(RecalledList& recalled) override {
    recalled[0] = recalled[1] = {kept_, 0};
    return 2;
  }
  Decision decide(protocol::DynamicInstruction&, unsigned) override { return Decision::write; }
  const sc_core::sc_event& changed() const override { return changed_; }

 private:
  protocol::DynamicInstruction* kept_ = nullptr;
  sc_core::sc_event changed_;
};

/// The message that ends a run with the parts that `change` makes of the baseline's.
std::string message_of(const std::string& name, const std::function<void(SmParts&)>& change) {
  try {
    test::simulate_with(test::mixed_trace("contract_" + name, 2), [&](const BuildContext& c) {
      SmParts parts = assembly::baseline_parts(c);
      change(parts);
      return parts;
    });
  } catch (const sc_core::sc_report& report) {
    return std::string(report.get_msg_type()) + ": " + report.get_msg();
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
        }) == "regatta/reuse_point: again() hands back no instruction");
}

TEST_CASE("contract: a reuse point that hands an instruction back twice") {
  const std::string message = reuse_message("twice", [](protocol::DynamicInstruction& d) {
    static protocol::DynamicInstruction* const first = &d;
    return protocol::ReusePoint::Decided{first, Decision::execute};
  });
  CHECK(message == "regatta/reuse_point: again() hands back warp 3's 0x0 constant_load, which it does not keep");
}

TEST_CASE("contract: a reuse point that hands back without a decision") {
  CHECK(reuse_message("undecided", [](protocol::DynamicInstruction& d) {
          return protocol::ReusePoint::Decided{&d, Decision::keep};
        }) == "regatta/reuse_point: again() hands back warp 3's 0x0 constant_load neither to execute nor to bypass");
}

TEST_CASE("contract: a reuse point that bypasses a store") {
  CHECK(bypass_message("store", [](const trace::StaticInstruction& i) { return i.writes_memory; }) ==
        "regatta/reuse_point: bypasses warp 0's 0x38 store, which writes memory or a predicate");
}

TEST_CASE("contract: a reuse point that bypasses what writes a predicate") {
  CHECK(bypass_message("predicate", [](const trace::StaticInstruction& i) {
          return i.destination_predicate_count != 0;
        }) == "regatta/reuse_point: bypasses warp 0's 0x10 int_add, which writes memory or a predicate");
}

TEST_CASE("contract: a write-back point that hands a result back twice") {
  CHECK(message_of("results", [](SmParts& parts) {
          parts.writeback_point = std::make_unique<TwiceResults>("wrong");
        }) == "regatta/writeback_point: again() hands back warp 0's 0x0 constant_load, which it does not keep");
}

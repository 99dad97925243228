// SPDX-License-Identifier: Apache-2.0
#include <regatta/wir/reference_checker.h>

#include <regatta/support/block_name.h>

#include <algorithm>

namespace regatta::models::wir {

namespace {
std::string number(PhysicalRegister reg) { return "physical register " + std::to_string(reg.value()); }
std::string times(std::uint64_t count) { return count == 1 ? "1 reference" : std::to_string(count) + " references"; }
}  // namespace

/// What one block calls.
class ReferenceChecker::User : public References {
 public:
  User(ReferenceChecker& checker, const std::string& name) : in(name.c_str()), checker_(checker) { in.bind(*this); }

  sc_core::sc_export<References> in;
  sc_core::sc_port<References>* port = nullptr;

  // The instruction that will read the registers has these references, and not the block.
  void hold(const PhysicalRegister* regs, unsigned count) override { checker_.out->hold(regs, count); }
  void end_hold(PhysicalRegister reg) override {
    checker_.lose(reg, name(), "end_hold()", true);
    checker_.out->end_hold(reg);
  }
  bool share(const PhysicalRegister* regs, unsigned count) override {
    checker_.called(false, "share()");
    if (!checker_.out->share(regs, count)) return false;
    for (unsigned i = 0; i < count && regs[i] != no_register; ++i) checker_.gain(regs[i]);
    return true;
  }
  void release(PhysicalRegister reg) override {
    checker_.called(false, "release()");
    if (reg != no_register) checker_.lose(reg, name(), "release()", false);
    checker_.out->release(reg);
  }
  void replace(PhysicalRegister before, PhysicalRegister after) override {
    if (before != no_register) checker_.lose(before, name(), "replace()", false);
    if (checker_.giver_ != nullptr) checker_.giver_->lose(after, name(), "replace()", false);
    checker_.gain(after);
    checker_.out->replace(before, after);
  }
  bool low() override {
    checker_.called(true, "low()");
    return checker_.out->low();
  }
  void settle() override {
    checker_.called(true, "settle()");
    checker_.out->settle();
  }
  const bool& low_mode() const override { return checker_.out->low_mode(); }
  void check() const override {
    checker_.all_.compare();
    checker_.out->check();
  }

 private:
  std::string name() const { return port->get_parent_object()->name(); }
  ReferenceChecker& checker_;
};

void ReferenceCheckers::compare() const {
  for (ReferenceChecker* const checker : all_) {
    if (checker->take_count().incomplete) return;
  }
  for (const ReferenceChecker* const checker : all_) checker->compare_count();
}

const ReferenceCounts& ReferenceChecker::take_count() {
  counts_.references.assign(balances_.size(), 0);
  counts_.holds.assign(balances_.size(), 0);
  counts_.incomplete = false;
  loads_.clear();
  counts_.loads = &loads_;
  keeper_out->count(counts_);
  return counts_;
}

ReferenceChecker::ReferenceChecker(const sc_core::sc_module_name& name, support::ClockDomain& clock, unsigned registers,
                                   const std::vector<std::string>& users, ReferenceCheckers& all)
    : sc_module(name),
      keeper_in("keeper_in"),
      keeper_out("keeper_out"),
      out("out"),
      all_(all),
      clock_(clock),
      balances_(registers) {
  keeper_in.bind(*this);
  for (const std::string& user : users) users_.push_back(std::make_unique<User>(*this, user));
  all.add(*this);
}

ReferenceChecker::~ReferenceChecker() = default;

void ReferenceChecker::connect(unsigned user, sc_core::sc_port<References>& port) {
  users_[user]->port = &port;
  port.bind(users_[user]->in);
}

std::string ReferenceChecker::block_name() const { return support::block_name(block()); }

void ReferenceChecker::violation(const std::string& what) const {
  SC_REPORT_ERROR("regatta/wir",
                  (std::string(name()) + " in cycle " + std::to_string(clock_.now()) + ": " + what).c_str());
}

void ReferenceChecker::gain(PhysicalRegister reg, bool hold) {
  if (reg.value() >= balances_.size()) return;  // the stage reports it
  Balance& b = balances_[reg.value()];
  ++b.gained;
  b.holds += hold ? 1 : 0;
  ++total_;
}

void ReferenceChecker::lose(PhysicalRegister reg, const std::string& who, const char* how, bool hold) {
  if (reg.value() >= balances_.size()) return;  // the stage reports it
  Balance& b = balances_[reg.value()];
  if (b.gained == b.lost || (hold && b.holds == 0)) {
    const std::string owner = block_name();
    violation(who + " gives up a reference to " + number(reg) + " by " + how + ", and " +
              (who == owner ? "" : owner + " ") + "has " + (hold && b.gained != b.lost ? "no hold on it" : "none") +
              (b.last == nullptr
                   ? ": it never had one"
                   : "; the last was given up in cycle " + std::to_string(b.last_cycle) + " by " + b.last) +
              "; expected each reference to be given up once, and share() before a register is handed on");
    return;
  }
  ++b.lost;
  b.holds -= hold ? 1 : 0;
  --total_;
  b.last = how;
  b.last_cycle = clock_.now();
  if (b.gained == b.lost) b.gained = b.lost = 0;
}

void ReferenceChecker::compare() {
  if (!take_count().incomplete) compare_count();
}

void ReferenceChecker::compare_count() const {
  const auto ended =
      std::find_if(loads_.begin(), loads_.end(), [this](const ReuseTag& t) { return !all_.loads_.has(t); });
  if (ended != loads_.end()) {
    violation(block_name() + " has the result of a load that an ended CTA of slot " + std::to_string(ended->block - 1) +
              " has entered; expected the loads of a CTA to be dropped in cta_finished()");
  }
  for (std::size_t r = 0; r < balances_.size(); ++r) {
    const Balance& b = balances_[r];
    if (b.gained - b.lost == counts_.references[r] && b.holds == counts_.holds[r]) continue;
    const bool holds = b.gained - b.lost == counts_.references[r];
    violation(block_name() + " has " +
              (holds ? std::to_string(b.holds) + " holds on " : times(b.gained - b.lost) + " to ") +
              number(PhysicalRegister(static_cast<std::uint16_t>(r))) + " by its calls and answers (took " +
              std::to_string(b.gained) + ", gave up " + std::to_string(b.lost) +
              (b.last == nullptr ? "" : ", last in cycle " + std::to_string(b.last_cycle) + " by " + b.last) +
              "), and count() says " + std::to_string(holds ? counts_.holds[r] : counts_.references[r]) +
              "; expected share() and release() for each reference that its entries gain and lose");
    return;
  }
}

unsigned ReferenceChecker::give_up_idle(std::uint64_t cycle, PhysicalRegister* regs) {
  const unsigned count = keeper_out->give_up_idle(cycle, regs);
  for (unsigned i = 0; i < count; ++i) lose(regs[i], block_name(), "give_up_idle()", false);
  return count;
}

void ReferenceChecker::give_up_all() {
  keeper_out->give_up_all();
  if (total_ == 0) return;
  std::size_t first = 0;
  while (balances_[first].gained == balances_[first].lost) ++first;
  violation(block_name() + " has " + times(total_) + " after give_up_all(), the first to " +
            number(PhysicalRegister(static_cast<std::uint16_t>(first))) + "; expected none at the end of a kernel");
}

void ReferenceChecker::begin_visit() {
  if (!all_.visits_.empty() && all_.visits_.back().unsettled) {
    all_.visits_.back().unsettled = false;
    all_.visits_.back().block->unsettled("forwards to " + block_name() + " before settle()");
  }
  all_.visits_.push_back({this, out->low_mode() && total_ != 0 && settled_ != clock_.now()});
}

void ReferenceChecker::end_visit(bool accepted) {
  const bool was_unsettled = all_.visits_.back().unsettled;
  all_.visits_.pop_back();
  if (was_unsettled && accepted) unsettled("answers without settle()");
}

void ReferenceChecker::called(bool settles, const char* call) {
  if (settles) settled_ = clock_.now();
  if (all_.visits_.empty() || all_.visits_.back().block != this || !all_.visits_.back().unsettled) return;
  all_.visits_.back().unsettled = false;
  if (!settles) unsettled(std::string("calls ") + call + " before settle()");
}

void ReferenceChecker::unsettled(const std::string& what) const {
  violation(block_name() + " " + what +
            " in low-register mode; expected its look_up() to begin with settle() if low_mode() is set");
}

}  // namespace regatta::models::wir

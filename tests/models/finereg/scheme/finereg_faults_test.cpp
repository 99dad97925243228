// SPDX-License-Identifier: Apache-2.0
//
// Faults put into FineReg from outside: each is found, and what is wrong is said.
#include <regatta/support/energy.h>

#include "finereg_support.h"

using namespace regatta;
using models::ChainPointers;
using models::PendingChain;
using models::PendingEntries;
using models::PendingTag;
using protocol::CtaSlot;
using test::FineRegFaults;
using test::LiveVectorTarget;

namespace {

/// Forgets the highest live register of some vectors.
class DropsBits : public sc_core::sc_module,
                  public protocol::Lookup<std::uint32_t, std::uint64_t>,
                  public protocol::LookupClient<std::uint64_t> {
 public:
  LiveVectorTarget in{"in", *this};
  protocol::LookupInitiator<std::uint32_t, std::uint64_t> out{"out", *this};
  explicit DropsBits(const sc_core::sc_module_name& name) : sc_module(name) {}
  protocol::LookupReply look_up(const std::uint32_t& pc, std::uint32_t tag, std::uint64_t& vector) override {
    const protocol::LookupReply reply = out.requests->look_up(pc, tag, vector);
    vector = without(vector);
    return reply;
  }
  void answered(std::uint32_t tag, const std::uint64_t& vector) override { in.answers->answered(tag, without(vector)); }
  const sc_core::sc_event& changed() const override { return out.requests->changed(); }

 private:
  std::uint64_t without(std::uint64_t vector) {
    if (vector == 0 || ++answers_ % 5 != 0) return vector;
    return vector & ~(std::uint64_t{1} << (63 - __builtin_clzll(vector)));
  }
  unsigned answers_ = 0;
};

/// Never writes an end bit.
class LosesEnds : public sc_core::sc_module, public PendingEntries {
 public:
  LosesEnds(const sc_core::sc_module_name& name, PendingEntries& file) : sc_module(name), file_(file) {}
  unsigned entries() const override { return file_.entries(); }
  bool can_read() const override { return file_.can_read(); }
  bool can_write() const override { return file_.can_write(); }
  PendingTag read(unsigned entry, trace::WarpValue& value) override { return file_.read(entry, value); }
  void write(unsigned entry, const PendingTag& tag, const trace::WarpValue& value) override {
    file_.write(entry, tag, value);
  }
  void merge(unsigned entry, protocol::LaneMask lanes, const trace::WarpValue& value) override {
    file_.merge(entry, lanes, value);
  }
  void write_tag(unsigned entry, const PendingTag& tag) override {
    PendingTag written = tag;
    written.end = false;
    file_.write_tag(entry, written);
  }
  const PendingTag& tag(unsigned entry) const override { return file_.tag(entry); }

 private:
  PendingEntries& file_;
};

/// Gives a CTA the chain of another that has one of the same length.
class SwapsChains : public sc_core::sc_module, public ChainPointers {
 public:
  SwapsChains(const sc_core::sc_module_name& name, ChainPointers& table) : sc_module(name), table_(table) {}
  PendingChain get(CtaSlot cta) override {
    const PendingChain own = table_.get(cta);
    for (std::uint16_t other = 0; other < models::monitored_ctas; ++other) {
      if (CtaSlot(other) == cta || own.count == 0) continue;
      const PendingChain chain = table_.get(CtaSlot(other));
      if (chain.count == own.count) return chain;
    }
    return own;
  }
  void set(CtaSlot cta, const PendingChain& chain) override { table_.set(cta, chain); }

 private:
  ChainPointers& table_;
};

/// Leaves results where they would have gone: all are written to the register file.
class WritesAll : public sc_core::sc_module, public protocol::WritebackPoint, public support::StatProvider {
 public:
  /// `in_file`: only those of CTAs that still have a place there.
  WritesAll(const sc_core::sc_module_name& name, std::unique_ptr<models::RegisterMover> mover, bool in_file)
      : sc_module(name), mover_(std::move(mover)), in_file_(in_file) {}
  Decision decide(protocol::DynamicInstruction& d, unsigned destination) override {
    return in_file_ && !mover_->places->has_place(d.cta) ? mover_->decide(d, destination) : Decision::write;
  }
  void register_stats(support::StatGroup&) override {}
  void register_energy(support::EnergyGroup& g) override { g.costs_nothing("a fault"); }
  const sc_core::sc_event& changed() const override { return mover_->changed(); }
  bool keeps_cycle_time() const override { return true; }
  void attach(protocol::SmControl& control) override { mover_->attach(control); }
  void kernel_started(const protocol::KernelContext& context) override { mover_->kernel_started(context); }
  void kernel_finished(const protocol::KernelContext& context) override { mover_->kernel_finished(context); }
  void cta_launched(const protocol::CtaInfo& cta) override { mover_->cta_launched(cta); }
  void cta_switched(const protocol::CtaInfo& cta, bool active) override { mover_->cta_switched(cta, active); }
  void cta_finished(const protocol::CtaInfo& cta) override { mover_->cta_finished(cta); }
  void warp_started(const protocol::WarpInfo& warp) override { mover_->warp_started(warp); }
  void warp_finished(const protocol::WarpInfo& warp) override { mover_->warp_finished(warp); }

 private:
  std::unique_ptr<models::RegisterMover> mover_;
  bool in_file_;
};

template <class Module>
Module& keep(assembly::SmParts& parts, std::unique_ptr<Module> module) {
  Module& made = *module;
  parts.interposers.push_back(std::move(module));
  return made;
}

/// What the run says, whether it ends with a message or with an exception.
std::string complaint(const std::string& name, FineRegFaults faults) {
  sc_core::sc_report_handler::set_actions("regatta/register_file", sc_core::SC_FATAL, sc_core::SC_THROW);
  try {
    const auto r = test::simulate_finereg(test::stalling_trace(name), std::move(faults));
    CHECK((r.mismatches != 0 || r.ending != assembly::Ending::completed));
    return r.message;
  } catch (const std::exception& e) {
    return e.what();
  }
}

void says(const std::string& message, const std::string& part) {
  CAPTURE(message, part);
  CHECK(message.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("FineReg part by part runs clean") {
  const auto r = test::simulate_finereg(test::stalling_trace("finereg_clean"), {});
  test::require_clean(r);
  CHECK(r.stats.at("sm0.mover").at("moved_in").get<unsigned>() > 100);
  CHECK(r.stats.at("sm0.mover").at("merged_results").get<unsigned>() > 10);
}

TEST_CASE("FineReg faults: a live bit that is dropped is a wrong value") {
  FineRegFaults faults;
  faults.vectors = [](assembly::SmParts& parts, LiveVectorTarget& cache) -> LiveVectorTarget& {
    DropsBits& drops = keep(parts, std::make_unique<DropsBits>("drops_bits"));
    drops.out.bind(cache);
    return drops.in;
  };
  const std::string message = complaint("finereg_bit", std::move(faults));
  says(message, "value mismatch: kernel k launch 0 CTA 2 warp 0");
  says(message, "register R7 lanes 0xdddddddd");
  // It was dropped as dead.
  says(message, "write-back point sm0.mover dropped what was written to it last");
}

TEST_CASE("FineReg faults: an end bit that is lost is reported") {
  FineRegFaults faults;
  faults.entries = [](assembly::SmParts& parts, PendingEntries& file) -> PendingEntries& {
    return keep(parts, std::make_unique<LosesEnds>("loses_ends", file));
  };
  const std::string message = complaint("finereg_end", std::move(faults));
  says(message, "regatta/rmu: sm0.mover in cycle ");
  says(message,
       ": the chain of CTA slot 0 leads to entry 15 with warp 1, R7, with 1 registers to come; expected a register of "
       "this "
       "CTA that was put there");
}

TEST_CASE("FineReg faults: a load that lands in the old place, which another CTA has, is reported") {
  FineRegFaults faults;
  faults.results = [](std::unique_ptr<models::RegisterMover> mover) {
    return std::make_unique<WritesAll>("writes_all", std::move(mover), false);
  };
  says(complaint("finereg_old_place", std::move(faults)),
       "regatta/register_file: warp 0 register R7 has no row: the warp is not resident, or the register lies beyond "
       "its 8 "
       "(the file has 32 rows)");
}

TEST_CASE("FineReg faults: a load that lands in the old place while registers move is a wrong value") {
  FineRegFaults faults;
  faults.results = [](std::unique_ptr<models::RegisterMover> mover) {
    return std::make_unique<WritesAll>("writes_all", std::move(mover), true);
  };
  const std::string message = complaint("finereg_old_row", std::move(faults));
  says(message, "value mismatch: kernel k launch 0 CTA ");
  says(message, " add.u32 (PTX line 26) register R7 lanes 0xdddddddd: lane 0 expected 0x");
}

TEST_CASE("FineReg faults: registers that go to the wrong CTA are reported") {
  FineRegFaults faults;
  faults.pointers = [](assembly::SmParts& parts, ChainPointers& table) -> ChainPointers& {
    return keep(parts, std::make_unique<SwapsChains>("swaps_chains", table));
  };
  says(complaint("finereg_wrong_cta", std::move(faults)),
       ": the chain of CTA slot 0 leads to entry 16 with warp 0, R0, with 16 registers to come; expected a register of "
       "this "
       "CTA that was put there");
}

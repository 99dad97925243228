// SPDX-License-Identifier: Apache-2.0
#include <regatta/support/energy.h>
#include <regatta/wir/affine.h>
#include <regatta/wir/allocation_stage.h>

namespace regatta::models::wir {

namespace {

enum class AffineUnit : std::uint8_t { none, integer, fp32 };

/// The unit whose energy an operation costs, if its result is affine when its sources are (the paper: such as mov, add,
/// sub, mul). A multiplication is affine when a factor is the same in all lanes, which the result shows.
AffineUnit unit_of(trace::OpClass c) {
  using trace::OpClass;
  switch (c) {
    case OpClass::int_add:
    case OpClass::int_mul:
    case OpClass::int_mad:
    case OpClass::int64:
      return AffineUnit::integer;
    case OpClass::fp32_add:
    case OpClass::fp32_mul:
    case OpClass::fp32_mad:
      return AffineUnit::fp32;
    default:
      return AffineUnit::none;
  }
}

}  // namespace

AffineMeter::AffineMeter(const sc_core::sc_module_name& name, const AllocationStage* stage, unsigned registers,
                         unsigned banks)
    : sc_module(name), stage_(stage), registers_(registers), banks_(banks) {}

std::vector<protocol::Event> AffineMeter::interests() const {
  using protocol::Event;
  return {Event::kernel_started, Event::operands_delivered, Event::register_written};
}

void AffineMeter::kernel_started(protocol::Cycle, const protocol::KernelContext& context) {
  warp_size_ = context.warp_size;
  all_lanes_ = trace::all_lanes(warp_size_);
}

void AffineMeter::operands_delivered(protocol::Cycle, const protocol::DynamicInstruction& d) {
  bool all = true;
  for (unsigned i = 0; i < d.traits->read_count; ++i) {
    const bool affine = is_affine(d.operands[i].lane.data(), warp_size_);
    reads_ += affine ? 1 : 0;
    all = all && affine;
  }
  const AffineUnit unit = unit_of(d.info->op_class);
  if (!all || unit == AffineUnit::none || d.active != all_lanes_ || d.traits->write_count == 0) return;
  for (unsigned i = 0; i < d.traits->write_count; ++i) {
    if (!is_affine(d.results[i].lane.data(), warp_size_)) return;
  }
  ++instructions_;
  saved_lanes_[unit == AffineUnit::fp32 ? 1 : 0] += warp_size_ - 1;
}

void AffineMeter::register_written(protocol::Cycle, const protocol::DynamicInstruction& d, unsigned destination,
                                   bool written) {
  if (written && d.active == all_lanes_ && is_affine(d.results[destination].lane.data(), warp_size_)) ++writes_;
}

void AffineMeter::register_stats(support::StatGroup& g) {
  g.counter("affine_reads", reads_, "warp registers", "read by instructions whose lanes were a stride apart");
  g.counter("affine_writes", writes_, "warp registers", "written in full, with lanes a stride apart");
  g.counter("affine_instructions", instructions_, "warp instructions",
            "with affine sources and result, which cost one lane of their unit");
  g.counter("saved_integer_lanes", saved_lanes_[0], "thread instructions",
            "lanes of affine integer instructions that cost nothing");
  g.counter("saved_fp32_lanes", saved_lanes_[1], "thread instructions",
            "lanes of affine fp32 instructions that cost nothing");
  g.counter("affine_verify_reads", stage_ != nullptr ? stage_->counters().affine_verify_reads : none_, "warp registers",
            "candidates read to be compared whose lanes were a stride apart");
}

void AffineMeter::register_energy(support::EnergyGroup& g) {
  // One bank of a group of eight is accessed instead of all; the rest is subtracted from the energy that the register
  // file and the units declare.
  const double saved = -7.0 / 8 * warp_size_ / 32.0;
  constexpr double per_lane = 1.0 / 32;
  const support::ArrayGeometry size{double(registers_) * warp_size_ * trace::bytes_per_lane, double(banks_)};
  g.event("register_structures", "register_file.read", reads_, saved, size);
  g.event("register_structures", "register_file.read",
          stage_ != nullptr ? stage_->counters().affine_verify_reads : none_, saved, size);
  g.event("register_structures", "register_file.write", writes_, saved, size);
  g.event("execution", "execution.integer", saved_lanes_[0], -per_lane);
  g.event("execution", "execution.fp32", saved_lanes_[1], -per_lane);
}

}  // namespace regatta::models::wir

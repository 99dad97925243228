// SPDX-License-Identifier: Apache-2.0
#include "writeback.h"

#include "contract.h"

namespace regatta::sm {

Writeback::Writeback(const sc_core::sc_module_name& name, Core& core) : Writeback(name, core, true) {}

Writeback::Writeback(const sc_core::sc_module_name& name, Core& core, bool holds_pipelines)
    : sc_module(name),
      write_socket("write_socket"),
      core_(core),
      holds_pipelines_(holds_pipelines),
      by_kind_(core.config.writeback_order != "completion"),
      memory_first_(core.config.writeback_order == "memory"),
      writes_to_(core, "operand_storage", "write") {
  write_socket.bind(*this);
}

void Writeback::connect(protocol::WritebackPoint* point, const std::string& storage) {
  point_ = point;
  writes_to_.set_target(storage);
  if (core_.config.check_contracts) before_ = std::make_unique<InstructionSnapshot>();
}

bool Writeback::stays(DynamicInstruction& d) {
  const unsigned cycles = point_->arrive(d);
  if (cycles == 0) return false;
  if (cycles == protocol::WritebackPoint::keep) {
    ++kept_;
    d.kept_by = protocol::KeptBy::writeback_point;
  } else {
    core_.at(core_.now + cycles, Work::Kind::staged, d.pool_index);
  }
  return true;
}

/// What the write-back point keeps no more.
void Writeback::recall() {
  protocol::WritebackPoint::RecalledList recalled;
  std::size_t count = 0;
  do {
    count = point_->resume_kept(recalled);
    if (__builtin_expect(count > recalled.size(), 0)) {
      broken_contract(core_, "writeback_point", support::block_name(*point_),
                      "resume_kept() hands back " + std::to_string(count) + " instructions",
                      "at most " + std::to_string(recalled.size()));
    }
    kept_ -= count;
    for (std::size_t i = 0; i < count; ++i) {
      DynamicInstruction& d =
          take_back(core_, recalled[i].instruction, protocol::KeptBy::writeback_point, "writeback_point", *point_);
      if (recalled[i].cycles == 0) {
        staged(d);
      } else {
        core_.at(core_.now + recalled[i].cycles, Work::Kind::staged, d.pool_index);
      }
    }
  } while (count == recalled.size());
  core_.progress = true;  // no sleep while it keeps any
}

void Writeback::finished(DynamicInstruction& d, Cycle when) {
  if (d.completed < when) d.completed = when;
  if (--d.writes_pending == 0) core_.at(d.completed, Work::Kind::released, d.pool_index);
}

void Writeback::send(DynamicInstruction& d, unsigned destination) {
  protocol::OperandPayload& p = payloads_.take();
  p.prepare(tlm::TLM_WRITE_COMMAND, d.warp, d.traits->writes[destination], d.active, core_.kernel.warp_size,
            d.results[destination]);
  p.access().instruction = &d;
  p.access().operand = static_cast<std::uint8_t>(destination);
  ++writes_;
  if (d.active != core_.all_lanes) ++partial_writes_;
  const std::uint64_t cycles = send_request(write_socket, p.payload(), writes_to_, channel_, core_);
  if (__builtin_expect(static_cast<int>(cycles == not_completed), 0) != 0) return;
  payloads_.give_back(p);
  finished(d, core_.now + cycles);
}

protocol::WritebackPoint::Decision Writeback::ask(DynamicInstruction& d, unsigned destination) {
  using Decision = protocol::WritebackPoint::Decision;
  if (__builtin_expect(static_cast<int>(before_ != nullptr), 0) != 0) return checked_ask(d, destination);
  const Decision decision = point_->decide(d, destination);
  if (__builtin_expect(static_cast<int>(decision > Decision::drop), 0) != 0) unknown_decision(d, decision);
  return decision;
}

[[gnu::always_inline]] inline Writeback::Progress Writeback::hand_over(DynamicInstruction& d, unsigned destination) {
  if (!channel_.open(core_.now)) return Progress::held;
  protocol::WritebackPoint::Decision decision = protocol::WritebackPoint::Decision::write;
  if (d.active == 0) {
    decision = protocol::WritebackPoint::Decision::drop;
  } else if (point_ != nullptr) {
    decision = ask(d, destination);
    if (decision == protocol::WritebackPoint::Decision::wait) return Progress::held;
  }
  const bool written = decision == protocol::WritebackPoint::Decision::write;
  core_.observers.notify(protocol::Event::register_written,
                         [&](protocol::Observer& o) { o.register_written(core_.now, d, destination, written); });
  if (written) {
    send(d, destination);
  } else {
    ++dropped_;
    finished(d, core_.now + 1);
  }
  return Progress::done;
}

Writeback::Progress Writeback::write(DynamicInstruction& d, unsigned destination) { return hand_over(d, destination); }

Writeback::Progress Writeback::write(DynamicInstruction& d) {
  const unsigned count = d.traits->write_count;
  if (destination_ == 0) {
    // One more than the writes, so that the instruction cannot finish before the last one is sent.
    d.writes_pending = static_cast<std::uint8_t>(count + 1);
    d.completed = core_.now + 1;
  }
  for (; destination_ < count; ++destination_) {
    if (hand_over(d, destination_) == Progress::held) return Progress::held;
  }
  destination_ = 0;
  if (d.writes_pending == 1 && d.completed == core_.now + 1) {
    core_.released_next.push_back(d.pool_index);
  } else {
    finished(d, d.completed);
  }
  return Progress::done;
}

support::Ring<DynamicInstruction*>& Writeback::next() {
  if (!by_kind_) return results_;
  if (current_ != nullptr) return *current_;
  return memory_.empty() || (!memory_first_ && !results_.empty()) ? results_ : memory_;
}

void Writeback::serve() {
  for (unsigned n = 0; n < core_.config.writeback_width && waiting_ != 0; ++n) {
    support::Ring<DynamicInstruction*>& queue = next();
    const unsigned before = destination_;
    if (write(*queue.front()) == Progress::held) {
      if (current_ == nullptr || destination_ != before) held_since_ = core_.now;
      current_ = &queue;
      ++held_attempts_;
      if (destination_ != before) core_.progress = true;
      return;  // END_REQ or the write-back point's event wakes the SM
    }
    current_ = nullptr;
    queue.pop();
    --waiting_;
    core_.progress = true;
  }
  if (waiting_ != 0) core_.progress = true;
}

tlm::tlm_sync_enum Writeback::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                              sc_core::sc_time& delay) {
  protocol::WarpAccess& access = protocol::warp_access(payload);
  const Cycle when = writes_to_.arrival(payload, phase, delay, access.instruction != nullptr, channel_.holds(payload));
  channel_.answered(payload, when);
  core_.schedule_tick(when);
  if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
  DynamicInstruction& d = *access.instruction;
  payloads_.give_back(payload);
  finished(d, when);
  phase = tlm::END_RESP;
  return tlm::TLM_COMPLETED;
}

void Writeback::register_stats(support::StatGroup& g) {
  g.counter("writes", writes_, "warp registers", "destination registers sent to the operand storage");
  g.counter("partial_writes", partial_writes_, "warp registers", "of these, with at least one lane switched off");
  g.counter("dropped", dropped_, "warp registers",
            "results not written: no active lane, or dropped by the write-back point");
  g.counter("held_attempts", held_attempts_, "attempts", "to write the oldest result that back-pressure refused");
}

}  // namespace regatta::sm
